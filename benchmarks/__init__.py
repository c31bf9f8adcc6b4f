"""Seeded workloads that anyone can run again: ``python -m benchmarks.NAME``."""
