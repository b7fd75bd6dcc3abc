"""Structures from tests of independence."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return __all__
