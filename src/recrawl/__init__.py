"""Keeps a collection of web pages fresh with the fewest fetches.

Importing this package pulls in NumPy and nothing else.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
