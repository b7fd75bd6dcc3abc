"""Finding the structure of a network: scores, searches and tests."""
