"""Learning from files and other sources of rows, and prediction from file to file."""
