"""Solvers of the optimisation problems."""
