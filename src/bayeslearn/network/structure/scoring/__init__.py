"""Counts of families and the scores read off them."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return __all__
