"""The application: the cycle of a visit, the crawler around it, and the questions users ask."""
