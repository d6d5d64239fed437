"""Tanbark's classifiers beside the models that are used most, on the same splits, with and without missing values."""
