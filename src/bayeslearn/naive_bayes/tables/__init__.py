"""Naive Bayes over the columns of a table: words, numbers and counts together, with holes."""
