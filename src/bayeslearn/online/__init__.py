"""Learners that answer before they are told: Halving and Weighted-Majority."""
