"""A bound as an answer: what was asked for, the formula, the numbers put in, and what follows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn import validation
from bayeslearn.errors import CapacityError, ParameterError
from bayeslearn.theory.sizes import whole

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The smallest error or probability that is worked with.
SMALLEST = 1e-100


@dataclass(frozen=True)
class Bound:
    """What a theorem says of one quantity once the others are given.

    `holds` is False where the theorem says nothing, as when a probability would be bounded by more than one.
    """

    quantity: str
    value: float
    formula: str
    filled: str
    sentence: str
    numbers: Mapping[str, Any]
    holds: bool = True

    def __str__(self) -> str:
        return f"{self.sentence}\n{self.formula} = {self.filled}"

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        words = {"formula": self.formula, "filled": self.filled, "sentence": self.sentence, "holds": self.holds}
        return {"quantity": self.quantity, "value": self.value, **words, "given": dict(self.numbers)}


def probability(name: str, value: float) -> float:
    """A number strictly between 0 and 1, and not so small that its square is none."""
    value = validation.number(name, value, above=0, below=1)
    if value < SMALLEST:
        raise ParameterError(f"`{name}` must be at least {SMALLEST:g}, got {value:g}", value=value)
    return value


def the_unknown(**given: Any) -> str:
    """The one name that has no value."""
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        names = ", ".join(f"`{name}`" for name in given)
        left = "none" if not missing else " and ".join(f"`{name}`" for name in missing)
        raise ParameterError(f"give all but one of {names}; left out: {left}", hint="the one left out is worked out")
    return missing[0]


def up(x: float) -> int:
    """The least whole number that is at least x, as far as floats can tell."""
    if not math.isfinite(x):
        raise CapacityError("the number of examples is more than a float can hold (1.8e308)", hint="allow more error")
    return max(1, math.ceil(x - 1e-12 * abs(x)))


def down(x: float) -> int:
    """The largest whole number that is at most x, as far as floats can tell."""
    return math.floor(x + 1e-12 * abs(x))


def sample(name: str, value: int) -> int:
    """A number of examples."""
    value = whole(name, value, least=1)
    if value > 10**300:
        raise ParameterError(f"`{name}` must be at most 10^300, got a number of {value.bit_length()} bits")
    return value


def sure(delta: float) -> str:
    """1 − δ, where a tiny δ is not rounded away."""
    return f"1 − {delta:.2g}" if delta < 1e-4 else f"{1 - delta:.4g}"


def shown(x: float) -> str:
    """A number for a sentence: four digits, whole ones in full."""
    if isinstance(x, int):
        return f"{x:,}" if abs(x) < 10**15 else f"{float(x):.4g}"
    return f"{x:.4g}"
