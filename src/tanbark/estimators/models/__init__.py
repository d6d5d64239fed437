"""The classifiers, one file per family of models."""
