"""Learners that keep their examples: nearest neighbours, their distances and their indexes."""
