"""Structures that need no search: naive Bayes, super-parents, k-dependence, and graphs given by the user."""
