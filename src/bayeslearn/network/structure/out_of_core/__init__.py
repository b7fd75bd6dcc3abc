"""Structures of data that stay where they are: what passes over a source must bring, and how few of them do."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return __all__
