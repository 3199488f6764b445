"""Worlds of pages that change, schedules run on them, and what came of it."""
