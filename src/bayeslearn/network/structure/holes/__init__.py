"""Structures from rows with holes, and with variables that no row shows."""
