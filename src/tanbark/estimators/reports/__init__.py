"""What is said of models: explanations, uncertainty, measures and comparisons."""
