"""Networks of states and numbers: linear Gaussian nodes, exact inference, and learning with missing values."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return __all__
