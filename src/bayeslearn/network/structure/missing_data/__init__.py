"""Structures from rows with holes, and with variables that no row shows."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return __all__
