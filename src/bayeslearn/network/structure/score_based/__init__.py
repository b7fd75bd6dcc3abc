"""Searches over graphs, over classes of graphs and over orders."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return __all__
