"""How sure a structure is: resamples, posteriors, and rows that were kept back."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return __all__
