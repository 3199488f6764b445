"""Seams: what the application asks of a store, a fetcher, a clock, an extractor."""
