"""Model files: JSON that holds counts and smoothing, of every kind of classifier and of earlier versions."""
