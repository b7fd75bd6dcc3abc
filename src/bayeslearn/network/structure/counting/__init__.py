"""Counts of families and the scores read off them."""
