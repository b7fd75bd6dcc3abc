"""Structures from tests of independence."""
