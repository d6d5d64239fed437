"""Whether two versions of the library learn and predict the same."""
