"""Contract suites and tools for tests of one's own stores, schedules and fetchers."""
