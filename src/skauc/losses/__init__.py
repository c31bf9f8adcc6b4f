"""Losses over pairs of rows, differentiated with respect to the scores."""
