"""The one place where arguments are checked, so that deeper code reads without checks.

Each function returns the checked value in its working form, or raises a named error with what was given. Arrays
that index memory pass through `lengths`, `offsets` or `indices` before a kernel sees them, and what is kept of a
caller's arrays through `owned`; see ``kernels/README.md``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from bayeslearn.errors import ParameterError, ProbabilityError, ShapeError, WeightError, listed, near
from bayeslearn.other_names import VALUES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = [
    "broadcast",
    "choice",
    "first_position",
    "float_array",
    "generator",
    "indices",
    "integer",
    "lengths",
    "lock",
    "not_negative",
    "number",
    "offsets",
    "owned",
    "positive_count",
    "probabilities",
    "weights",
    "whole_number",
    "whole_numbers",
]


def __dir__() -> list[str]:
    return __all__


T = TypeVar("T")

#: How far probabilities may be from summing to one before they are refused.
SUM_TOLERANCE = 1e-6

#: The largest whole number that arrays hold, and that a parameter may be.
MAX_INTEGER = 2**63 - 1


def choice(name: str, value: T, options: Iterable[T]) -> T:
    """Return one of a few options; words match in any case, with `-` for `_`."""
    options = list(options)
    if value not in options:
        wanted = as_word(value)
        for known in options:
            if isinstance(known, str) and as_word(known) == wanted:
                return known
        close = [VALUES[wanted]] if wanted in VALUES and VALUES[wanted] in options else near([value], options, 1)
        meant = f"did you mean {close[0]!r}? " if close else ""
        raise ParameterError(
            f"unexpected value for `{name}`: {value!r}", hint=f"{meant}choose one of {listed(options, 20)}"
        )
    return value


def as_word(value: Any) -> Any:
    """An option as it is compared: in lower case, with `_` for `-`."""
    return value.lower().replace("-", "_") if isinstance(value, str) else value


def number(
    name: str,
    value: float,
    *,
    above: float | None = None,
    min_value: float | None = None,
    below: float | None = None,
    max_value: float | None = None,
) -> float:
    """A finite number within bounds (`above`/`below` exclude the bound, `least`/`most` include it)."""
    try:
        value = float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"`{name}` must be a number, got {value!r:.80}", value=value) from None
    except OverflowError:
        raise ParameterError(f"`{name}` must be at most {np.finfo(float).max:g}, got a larger number") from None
    bounds = [
        (above is None or value > above, f"above {above}"),
        (min_value is None or value >= min_value, f"at least {min_value}"),
        (below is None or value < below, f"below {below}"),
        (max_value is None or value <= max_value, f"at most {max_value}"),
        (math.isfinite(value), "finite"),
    ]
    broken = [rule for holds, rule in bounds if not holds]
    if broken:
        raise ParameterError(f"`{name}` must be {' and '.join(broken)}, got {value:g}", value=value)
    return value


def integer(name: str, value: int, *, min_value: int | None = None, max_value: int | None = None) -> int:
    """A whole number within bounds, and within those of 64-bit integers."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ParameterError(f"`{name}` must be a whole number, got {value!r:.80}", value=value)
    found = int(value)
    min_value, max_value = (
        -MAX_INTEGER if min_value is None else min_value,
        MAX_INTEGER if max_value is None else max_value,
    )
    if not min_value <= found <= max_value:
        rule = f"at least {min_value}" if found < min_value else f"at most {max_value}"
        shown = f"{found}" if abs(found) < 10**24 else f"a number of {digits(found)} digits"
        raise ParameterError(f"`{name}` must be {rule}, got {shown}", value=value)
    return found


def digits(value: int) -> int:
    """About how many decimal digits a whole number has; it may be too long to be written."""
    return int(abs(value).bit_length() * math.log10(2)) + 1


def whole_number(text: str) -> int | None:
    """The nonnegative whole number that a text has in ASCII digits; None if there is none, or it is too large.

    >>> whole_number("12"), whole_number("²"), whole_number("-1"), whole_number("9" * 30)
    (12, None, None, None)
    """
    word = text.strip()
    if not (word.isascii() and word.isdecimal()) or len(word) > 4_000:  # `isdecimal` alone takes digits of any script
        return None
    found = int(word)
    return found if found <= MAX_INTEGER else None


def count_or_names(option: str, text: str) -> int | list[str]:
    """How many, or their names, of which there are at least two.

    >>> count_or_names("--states", "3"), count_or_names("--states", "low, high")
    (3, ['low', 'high'])
    """
    return [name.strip() for name in text.split(",")] if "," in text else positive_count(option, text)


def positive_count(option: str, text: str, words: tuple[str, ...] = ()) -> int:
    """The whole number above 0 that an option is given as text; `words` are what it could be instead.

    >>> positive_count("-k", "12", ("auto",))
    12
    """
    found = whole_number(text)
    if found:
        return found
    word = text.strip()
    if word.isascii() and word.isdecimal() and word.strip("0"):
        raise ParameterError(f"{option} is at most {MAX_INTEGER}, got a number of {len(word.lstrip('0'))} digits")
    others = "" if not words else f", {' or '.join(words)}" if len(words) > 1 else f", or {words[0]}"
    raise ParameterError(
        f"{option} is a whole number above 0{others}, got {text!r:.40}", hint=f"for instance {option} 5"
    )


def weights(value: ArrayLike | None, n: int, *, name: str = "sample_weight") -> NDArray[np.float64]:
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


### arrays that index memory


def integers(name: str, value: ArrayLike) -> NDArray[np.integer[Any]]:
    """A list of whole numbers, of the type that they have."""
    found = np.atleast_1d(np.asarray(value))
    if found.ndim != 1 or (found.size and not np.issubdtype(found.dtype, np.integer)):
        raise ShapeError(f"`{name}` must be whole numbers in a list, got {value!r:.80}")
    return found if found.size else found.astype(np.int64)


def whole_numbers(name: str, value: ArrayLike) -> NDArray[np.int64]:
    """A list of whole numbers as 64-bit integers; none of them wraps."""
    found = integers(name, value)
    if found.dtype == np.uint64 and found.max(initial=0) > MAX_INTEGER:
        raise ParameterError(f"`{name}` must be at most {MAX_INTEGER}, got {found.max()}")
    return found.astype(np.int64)


def lengths(name: str, value: ArrayLike, total: int, *, of: str = "entries", min_value: int = 0) -> NDArray[np.int64]:
    """Whole numbers that are at least `least` and add up to `total`; a sum that wraps does not."""
    found = whole_numbers(name, value)
    if (found < min_value).any():
        where = first_position(found < min_value)
        raise ShapeError(f"`{name}` must be at least {min_value}, got {found[where]} at position {where}")
    near = float(found.sum(dtype=np.float64))  # none is negative, so that a sum that wraps is large here
    added = int(found.sum()) if near < MAX_INTEGER / 2 else near
    if added != total:
        shown = f"{added:.6g}" if isinstance(added, float) else str(added)
        raise ShapeError(f"`{name}` add up to {shown}, but there are {total} {of}", total=added, rows=total)
    return found


def offsets(name: str, value: ArrayLike, total: int) -> NDArray[np.int64]:
    """Whole numbers that start at 0, never fall and end at `total`: where parts of an array begin and end."""
    found = whole_numbers(name, value)
    falls = found[1:] < found[:-1]
    if falls.any():
        where = first_position(falls)
        raise ShapeError(f"`{name}` must not fall, got {found[where]} before {found[where + 1]} at position {where}")
    if not len(found) or found[0] != 0 or found[-1] != total:
        ends = f"{found[0]}..{found[-1]}" if len(found) else "nothing"
        raise ShapeError(f"`{name}` must go from 0 to {total}, got {ends}")
    return found


def indices(name: str, value: ArrayLike, n: int, *, min_value: int = 0) -> NDArray[np.integer[Any]]:
    """Whole numbers that are at least `least` and below `n`, of the type that they have."""
    found = integers(name, value)
    if found.size and not (min_value <= int(found.min()) and int(found.max()) < n):
        where = first_position((found < min_value) | (found >= n))
        raise ParameterError(f"`{name}` must lie within {min_value}..{n - 1}, got {found[where]} at position {where}")
    return found


### arrays that are kept


def owned(values: ArrayLike, dtype: DTypeLike | None = None, *, order: Literal["C", "K"] = "C") -> NDArray[Any]:
    """A read-only array without another owner that can write to it: itself if there is none, else a copy in this order.

    A read-only view is not enough, because its base may be written to.
    """
    if type(values) is np.ndarray and (dtype is None or values.dtype == dtype) and is_frozen(values, order):
        return values
    return lock(np.array(values, dtype=dtype, order=order, copy=True))


def lock(array: NDArray[Any]) -> NDArray[Any]:
    """An array that was just made, read-only from now on: `owned` returns it unchanged."""
    if isinstance(array, np.ndarray):  # operations make numbers of arrays without dimensions
        array.flags.writeable = False
    return array


def is_frozen(array: NDArray[Any], order: Literal["C", "K"] = "K") -> bool:
    """Whether the memory of an array is read-only to all who share it: no base can be written to."""
    if order == "C" and not array.flags.c_contiguous:
        return False
    base: Any = array
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return False
        base = base.base
    return base is None or type(base) is bytes


### numbers


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
        found = np.asarray(value)
        if found.dtype.kind not in "cMm":  # complex numbers, dates and durations lose what they are
            return np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ParameterError(f"`{name}` must be numbers, got {value!r:.80}")


def generator(random_state: np.random.Generator | np.random.RandomState | int | None) -> np.random.Generator:
    """A random generator from a seed, a generator, scikit-learn's `random_state`, or nothing."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, dtype=np.uint32))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ParameterError(f"`random_state` must be a seed or a numpy Generator, got {random_state!r}") from None


def broadcast(name: str, values: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Numbers repeated to a shape, where they fit it."""
    array = float_array(name, values)
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ShapeError(f"`{name}` has the shape {array.shape}, which does not fit {shape}") from None


def first_position(mask: NDArray[np.bool_]) -> Any:
    """Where a mask is first true: an index, or a tuple of them."""
    position = tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))
    return position[0] if len(position) == 1 else position
