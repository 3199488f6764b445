"""Stores: where pages are remembered.  One outside thing a folder."""
