"""Time and memory, as ratios to peers within one run."""
