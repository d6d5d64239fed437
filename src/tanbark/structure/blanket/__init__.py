"""The Markov blanket of the class by minimum message length."""
