"""Searches over graphs, over classes of graphs and over orders."""
