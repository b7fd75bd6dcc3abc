"""The one place where arguments are checked, so that deeper code reads without checks.

Each function returns the checked value in its working form, or raises a named error that says what was given.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayeslearn.errors import ParameterError, ProbabilityError, ShapeError, WeightError, listed, near

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "choice",
    "first_position",
    "float_array",
    "generator",
    "integer",
    "not_negative",
    "number",
    "probabilities",
    "weights",
]


def __dir__() -> list[str]:
    return __all__


T = TypeVar("T")

#: How far probabilities may be from summing to one before they are refused.
SUM_TOLERANCE = 1e-6


def choice(name: str, value: T, options: Iterable[T]) -> T:
    """One of a few options."""
    options = list(options)
    if value not in options:
        close = near([value], options, 1)
        meant = f"did you mean {close[0]!r}? " if close else ""
        raise ParameterError(
            f"unexpected value for `{name}`: {value!r}", hint=f"{meant}choose one of {listed(options, 20)}"
        )
    return value


def number(
    name: str,
    value: float,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
) -> float:
    """A finite number within bounds (`above`/`below` exclude the bound, `least`/`most` include it)."""
    try:
        value = float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"`{name}` must be a number, got {value!r}", value=value) from None
    bounds = [
        (above is None or value > above, f"above {above}"),
        (least is None or value >= least, f"at least {least}"),
        (below is None or value < below, f"below {below}"),
        (most is None or value <= most, f"at most {most}"),
        (math.isfinite(value), "finite"),
    ]
    broken = [rule for holds, rule in bounds if not holds]
    if broken:
        raise ParameterError(f"`{name}` must be {' and '.join(broken)}, got {value:g}", value=value)
    return value


def integer(name: str, value: int, *, least: int | None = None, most: int | None = None) -> int:
    """A whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ParameterError(f"`{name}` must be a whole number, got {value!r}", value=value)
    return int(number(name, value, least=least, most=most))


def weights(value: ArrayLike | None, n: int, *, name: str = "weights") -> NDArray[np.float64]:
    """Row weights: n numbers, finite and not negative; ones when not given."""
    if value is None:
        return np.ones(n)
    w = float_array(name, value)
    if w.shape != (n,):
        raise ShapeError(f"expected {name} of shape ({n},), got {w.shape}")
    return not_negative(name, w, error=WeightError)


def not_negative(
    name: str, array: NDArray[np.float64], *, error: type[Exception] = ParameterError
) -> NDArray[np.float64]:
    """An array whose every entry is finite and at least zero."""
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        where = first_position(bad)
        raise error(f"`{name}` must be finite and not negative, got {array[bad][0]} at position {where}")
    return array


def probabilities(value: ArrayLike, *, name: str = "probabilities", axis: int | None = -1) -> NDArray[np.float64]:
    """Numbers that are not negative and sum to one along `axis` (over everything when None)."""
    p = not_negative(name, float_array(name, value), error=ProbabilityError)
    total = np.asarray(p.sum(axis=axis))
    off = np.abs(total - 1) > SUM_TOLERANCE
    if off.any():
        where = f" in row {first_position(off)}" if off.ndim else ""
        raise ProbabilityError(
            f"`{name}` must sum to 1, got a sum of {total[off].flat[0]:.6g}{where}",
            hint="divide by the sum if these are relative weights",
            total=float(total[off].flat[0]),
        )
    return p / (total if axis is None else np.expand_dims(total, axis))


def float_array(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Anything that NumPy can read as an array of floats."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"`{name}` must be numbers, got {value!r:.80}") from None


def generator(rng: np.random.Generator | np.random.RandomState | int | None) -> np.random.Generator:
    """A random generator from a seed, a generator, scikit-learn's `random_state`, or nothing."""
    if isinstance(rng, np.random.RandomState):
        return np.random.default_rng(rng.randint(2**32, dtype=np.uint32))
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ParameterError(f"`rng` must be a seed or a numpy Generator, got {rng!r}") from None


def first_position(mask: NDArray[np.bool_]) -> Any:
    """Where a mask is first true: an index, or a tuple of them."""
    position = tuple(int(i) for i in np.argwhere(mask)[0])
    return position[0] if len(position) == 1 else position
