"""Fetching over HTTP: polite, conditional, bounded."""
