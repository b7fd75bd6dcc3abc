"""Concept learning: conjunctions, Find-S, candidate elimination; the public names are those of the parent package."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return __all__
