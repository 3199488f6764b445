"""Figures of tables: each function takes rows and returns a figure; nothing is shown or saved.

They need matplotlib, the extra ``plots``.
"""
