"""The default store: one SQLite file."""
