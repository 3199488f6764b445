"""How often pages change, and how often to fetch them: estimators and budgets, pure functions."""
