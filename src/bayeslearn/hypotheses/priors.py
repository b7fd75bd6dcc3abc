"""Names and priors of a finite set of hypotheses, in whatever form the user has them.

None                 every hypothesis alike           {"cancer": 0.008, ...}   a probability for each name
[0.4, 0.3, 0.3]      in the order of the hypotheses   Finite.code_lengths(L)   P(h) ∝ 2^−L(h)
lambda h: 0.5**len   relative weight of a hypothesis: divided by the sum
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, ProbabilityError, ShapeError, listed
from bayeslearn.families import Finite

Names: TypeAlias = tuple[Hashable, ...]
PriorLike: TypeAlias = Finite | Mapping[Any, float] | Sequence[float] | Callable[[Any], float] | None


def named(hypotheses: Any) -> tuple[Names, tuple[Any, ...]]:
    """Names and hypotheses from a mapping, a list of (name, hypothesis) pairs, or a list of hypotheses.

    >>> named([max, min, ("third", len)])[0]
    ('max', 'min', 'third')
    """
    try:
        given = list(hypotheses.items() if isinstance(hypotheses, Mapping) else hypotheses)
    except TypeError:
        raise ParameterError(f"expected a list of hypotheses, got {hypotheses!r:.80}") from None
    if not given:
        raise ParameterError("expected at least one hypothesis, got none")
    pairs = [item if isinstance(hypotheses, Mapping) or _is_pair(item) else (None, item) for item in given]
    names = _unique([_own_name(h) if name is None else name for name, h in pairs], [name is None for name, _ in pairs])
    return names, tuple(h for _, h in pairs)


def as_prior(prior: PriorLike, names: Names, hypotheses: Sequence[Any]) -> Finite:
    """The prior over `names` as a distribution."""
    if prior is None:
        return Finite.uniform(len(names))
    if isinstance(prior, Finite):
        return _fitting(prior, len(names))
    if isinstance(prior, Mapping):
        return Finite.given(by_name("prior", prior, names))
    if callable(prior):
        return _relative([prior(h) for h in hypotheses], names)
    return _fitting(Finite.given(prior), len(names))


def by_name(what: str, values: Mapping[Any, float], names: Names) -> list[float]:
    """Numbers given per name, in the order of the hypotheses; every name once, no other."""
    odd = [name for name in values if name not in names]
    left = [name for name in names if name not in values]
    if odd or left:
        problem = f"names {odd[0]!r}, which is no hypothesis" if odd else f"says nothing of {left[0]!r}"
        raise ParameterError(f"`{what}` {problem}", hint=f"the hypotheses are {listed(names)}")
    return [values[name] for name in names]


### inside


def _is_pair(item: Any) -> bool:
    """A name with its hypothesis: the name is text, or what follows it can label or be called."""
    if not isinstance(item, tuple) or len(item) != 2:
        return False
    return isinstance(item[0], str) or (not callable(item[0]) and (callable(item[1]) or hasattr(item[1], "predict")))


def _own_name(hypothesis: Any) -> str:
    return str(getattr(hypothesis, "__name__", type(hypothesis).__name__))


def _unique(names: list[Any], automatic: list[bool]) -> Names:
    """Automatic names that repeat are numbered; given ones must differ."""
    doubled = {name for name in names if names.count(name) > 1}
    counts: dict[Any, int] = {}
    final = []
    for name, by_us in zip(names, automatic, strict=True):
        counts[name] = counts.get(name, 0) + 1
        final.append(f"{name}-{counts[name]}" if by_us and name in doubled else name)
    if len(set(final)) < len(final):
        twice = next(name for name in final if final.count(name) > 1)
        raise ParameterError(f"two hypotheses share the name {twice!r}", hint="give each hypothesis its own name")
    return tuple(final)


def _fitting(prior: Finite, size: int) -> Finite:
    if prior.log_p.shape != (size,):
        raise ShapeError(f"expected a prior over {size} hypotheses, got one of shape {prior.log_p.shape}")
    return prior


def _relative(weights: list[float], names: Names) -> Finite:
    w = validation.float_array("prior", weights)
    bad = ~(np.isfinite(w) & (w >= 0))
    if bad.any():
        where = validation.first_position(bad)
        raise ProbabilityError(f"the prior weight of {names[where]!r} must be finite and not negative, got {w[where]}")
    if not w.any():
        raise ProbabilityError("the prior gives weight zero to every hypothesis")
    with np.errstate(divide="ignore"):
        return Finite(np.log(w))
