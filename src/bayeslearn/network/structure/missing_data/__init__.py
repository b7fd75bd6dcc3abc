"""Structures from rows with missing values, and with hidden variables."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return __all__
