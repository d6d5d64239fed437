"""Questions to a fitted classifier: what to ask next, what if, what to decide, how odd a row is."""
