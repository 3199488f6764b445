"""Pages, visits and the rules between them: columns in, columns out, NumPy only."""
