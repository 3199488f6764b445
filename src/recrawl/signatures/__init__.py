"""Signatures: is this the same content?  One kind a file."""
