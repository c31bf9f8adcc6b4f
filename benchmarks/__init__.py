"""Seeded benchmarks of speed, quality and the cluster engine."""
