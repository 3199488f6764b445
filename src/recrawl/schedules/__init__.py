"""Schedules: when is a page fetched next?  One schedule a file, named after it."""
