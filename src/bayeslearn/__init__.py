"""Bayesian learning where evidence adds.

Everything public is reachable from here and loaded when first used: ``import bayeslearn`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

#: The rooms of the house, in reading order. Each is imported when first touched: ``bayeslearn.families``.
_ROOMS = ("errors", "validation", "kernels", "tables", "families", "em", "hypotheses")

#: The names people use every day, and the room each lives in.
_NAMES: dict[str, str] = {}

__all__ = ["__version__", *_ROOMS, *_NAMES]  # noqa: PLE0604 - the tables above hold strings


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"bayeslearn.{name}")
    if name in _NAMES:
        return getattr(importlib.import_module(f"bayeslearn.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'bayeslearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
