"""Trees: the best tree or forest by a score of arcs."""
