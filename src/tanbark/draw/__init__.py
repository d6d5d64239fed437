"""Drawing networks and explanations: text, layout and SVG."""
