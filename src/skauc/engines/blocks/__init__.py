"""Blocks of rows: the rows, their labels and weights, and their columns of the basis."""
