"""How quickly the explorer page answers."""
