"""Hostile arrays from a recipe: types, layouts and numbers that callers have, and some that nobody should have.

A recipe is JSON: ``{"kind": "float", "layout": "strided", "shape": [30, 3], "seed": 7}``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import numpy as np

from bayeslearn.errors import BayeslearnError

Numbers = np.ndarray[Any, Any]


### numbers


def spread(rng: np.random.Generator, n: int, scale: float) -> Numbers:
    """Numbers about 0 of a size."""
    return rng.normal(size=n) * scale


#: Columns of floats by name: `make(rng, n)`.
COLUMNS: dict[str, Any] = {
    "normal": lambda rng, n: spread(rng, n, 1.0),
    "1e300": lambda rng, n: np.clip(spread(rng, n, 1e300), -1e308, 1e308),
    "1e200": lambda rng, n: spread(rng, n, 1e200),
    "1e160": lambda rng, n: spread(rng, n, 1e160),
    "1e153": lambda rng, n: spread(rng, n, 1e153),
    "1e100": lambda rng, n: spread(rng, n, 1e100),
    "1e-100": lambda rng, n: spread(rng, n, 1e-100),
    "1e-160": lambda rng, n: spread(rng, n, 1e-160),
    "1e-300": lambda rng, n: spread(rng, n, 1e-300),
    "subnormal": lambda rng, n: rng.integers(-9, 10, n) * 5e-324,
    "constant": lambda _, n: np.full(n, 3.0),
    "zero": lambda _, n: np.zeros(n),
    "constant 1e300": lambda _, n: np.full(n, 1e300),
    "1e15 and a little": lambda rng, n: 1e15 + spread(rng, n, 1.0),
    "1e8 and very little": lambda rng, n: 1e8 + spread(rng, n, 1e-7),
    "two values": lambda rng, n: rng.integers(0, 2, n) * 1.0,
    "whole": lambda rng, n: rng.integers(-3, 4, n) * 1.0,
    "one far": lambda rng, n: np.where(np.arange(n) == n // 2, 1e160, spread(rng, n, 1.0)),
    "one very far": lambda rng, n: np.where(np.arange(n) == n // 2, -1e300, spread(rng, n, 1.0)),
    "both ends": lambda _, n: np.where(np.arange(n) % 2, 1.7e308, -1.7e308),
    "all sizes": lambda rng, n: 10.0 ** rng.uniform(-300, 300, n),
}

WEIGHTS: dict[str, Any] = {
    "none": lambda _, n: None,
    "ones": lambda _, n: np.ones(n),
    "usual": lambda rng, n: rng.random(n) + 0.1,
    "1e300": lambda rng, n: (rng.random(n) + 0.1) * 1e300,
    "1e-300": lambda rng, n: (rng.random(n) + 0.1) * 1e-300,
    "subnormal": lambda rng, n: rng.integers(1, 9, n) * 5e-324,
    "some zero": lambda rng, n: rng.integers(0, 2, n) * 1.0,
    "all zero": lambda _, n: np.zeros(n),
    "one huge": lambda _, n: np.where(np.arange(n) == 0, 1e300, 1e-300),
    "all sizes": lambda rng, n: 10.0 ** rng.uniform(-300, 300, n),
}

### types and layouts

#: Types by name: `change(array of floats)`.
KINDS: dict[str, Any] = {
    "float": lambda x: x,
    "float32": lambda x: x.astype(np.float32),
    "float16": lambda x: x.astype(np.float16),
    "long double": lambda x: x.astype(np.longdouble),
    "whole": lambda x: np.rint(2 * x).astype(np.int64),
    "codes": lambda x: (x > 0).astype(np.int64),
    "int8": lambda x: (x > 0).astype(np.int8),
    "uint64": lambda x: (x > 0).astype(np.uint64) * np.uint64(2**64 - 1),
    "huge": lambda x: np.where(x > 0, 2**62, -(2**62)),
    "far codes": lambda x: np.where(x > 1, 10**8, 0),
    "negative codes": lambda x: np.where(x > 1, -5, 0),
    "bool": lambda x: x > 0,
    "complex": lambda x: x + 1j,
    "objects": lambda x: x.astype(object),
    "nothing": lambda x: np.full(x.shape, None),
    "words": lambda x: np.where(x > 0, "yes", "no"),
    "mixed": lambda x: np.where(x > 0, "yes", x.astype(object)),
    "bytes": lambda x: np.where(x > 0, b"yes", b"no"),
    "swapped": lambda x: x.astype(x.dtype.newbyteorder(">")),
    "swapped whole": lambda x: np.rint(x).astype(">i4"),
    "dates": lambda x: np.rint(1e3 * x).astype("datetime64[D]"),
    "nan": lambda x: np.where(x > 1, np.nan, x),
    "all nan": lambda x: np.full(x.shape, np.nan),
    "inf": lambda x: np.where(x > 1, np.inf, x),
    "large objects": lambda x: np.array([10**30 if v > 0 else 1 for v in x.ravel()], object).reshape(x.shape),
}


def strided(x: Numbers) -> Numbers:
    """The same numbers with others between them."""
    wide = np.repeat(x, 2, axis=0)
    return wide[::2]


def read_only(x: Numbers) -> Numbers:
    view = x.view()
    view.flags.writeable = False
    return view


def unaligned(x: Numbers) -> Numbers:
    """The same numbers at an odd address."""
    if x.dtype.hasobject:
        return x
    room = np.zeros(x.nbytes + 1, np.uint8)
    found = room[1:].view(x.dtype).reshape(x.shape) if x.nbytes else x
    found[...] = x
    return found


LAYOUTS: dict[str, Any] = {
    "plain": lambda x: x,
    "fortran": np.asfortranarray,
    "strided": strided,
    "backwards": lambda x: x[::-1],
    "read-only": read_only,
    "unaligned": unaligned,
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape) if len(x) else x,
    "masked": lambda x: np.ma.masked_array(x, mask=np.zeros(x.shape, bool)),
    "list": lambda x: x.tolist(),
    "no dimension": lambda x: x.reshape(-1)[0] if x.size else x,
    "one more dimension": lambda x: x[..., None],
    "flat": lambda x: x.reshape(-1),
    "no rows": lambda x: x[:0],
    "no columns": lambda x: x[:, :0] if x.ndim > 1 else x[:0],
    "one row": lambda x: x[:1],
    "one more row": lambda x: np.concatenate([x, x[:1]]),
}

USUAL = {"kind": "float", "layout": "plain"}


def described(rng: Random, *shape: int, often: float = 0.5) -> dict[str, Any]:
    """The recipe of an array, usual or not."""
    seed = rng.randrange(1 << 30)
    if rng.random() < often:
        return {**USUAL, "shape": list(shape), "seed": seed}
    layout = rng.choice(list(LAYOUTS)) if rng.random() < 0.6 else "plain"
    return {"kind": rng.choice(list(KINDS)), "layout": layout, "shape": list(shape), "seed": seed}


def built(recipe: dict[str, Any]) -> Any:
    """The array of a recipe."""
    x = np.random.default_rng(recipe["seed"]).normal(size=recipe["shape"])
    with np.errstate(all="ignore"):
        return LAYOUTS[recipe["layout"]](KINDS[recipe["kind"]](x))


### laws


@contextmanager
def refused_by_all() -> Iterator[None]:
    """A block in which the library may refuse by a named error, or scikit-learn by its own checks of arrays."""
    try:
        yield
    except BayeslearnError:
        pass
    except (ValueError, TypeError, RuntimeWarning) as error:
        if not raised_by_scikit_learn(error):
            raise


def raised_by_scikit_learn(error: BaseException) -> bool:
    """Whether an error comes from scikit-learn: its checks of arguments, or a learner that we were given."""
    trace = error.__traceback__
    places = []
    while trace is not None:
        places.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    ours = max((i for i, place in enumerate(places) if "/bayeslearn/" in place), default=-1)
    return any("/sklearn/" in place for place in places[ours + 1 :])


def require_probabilities(p: Any) -> None:
    """Finite, within 0 and 1, and each row sums to one."""
    p = np.asarray(p)
    assert np.isfinite(p).all(), f"probabilities {p[~np.isfinite(p).all(axis=-1)][:2]}"
    assert (p >= 0).all()
    assert (p <= 1 + 1e-9).all()
    assert np.allclose(p.sum(axis=-1), 1, atol=1e-6), f"sums {p.sum(axis=-1)[:5]}"


def require_finite(x: Any) -> None:
    x = np.asarray(x, dtype=float)
    assert np.isfinite(x).all(), f"answers {x[~np.isfinite(x)][:3]}"
