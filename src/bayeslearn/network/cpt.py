"""Conditional probability tables.

    p[i_1, …, i_m, k] = P(child = state k | parent 1 = state i_1, …, parent m = state i_m)

Axes are the parents in their order, then the child; every row along the last axis sums to one. A table that was learned
keeps what it rests on: the counts and the prior, of the same shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import EvidenceError, ParameterError, ProbabilityError, ShapeError, listed
from bayeslearn.tables.variables import Discrete

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.families import Counts, Dirichlet
    from bayeslearn.network.learning.uncertainty import Support

#: Published tables are rounded: a row this near to one is divided by its sum, and that is noted.
ROW_TOLERANCE = 1e-4

#: The rounding of one.
EPSILON = float(np.finfo(np.float64).eps)

#: Rows nearer to one than this are as good as exact.
EXACT = 1e-9


@dataclass(frozen=True, eq=False)
class Cpt:
    """P(child | parents); see the module for the order of the axes.

    >>> from bayeslearn.tables import Discrete
    >>> storm, bus = Discrete("Storm", ("yes", "no")), Discrete("Bus", ("yes", "no"))
    >>> Cpt(Discrete("Camp", ("yes", "no")), (storm, bus), [[[0.4, 0.6], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]]])
    Cpt(Camp | Storm, Bus)
    """

    variable: Discrete
    parents: tuple[Discrete, ...]
    p: NDArray[np.float64]
    counts: Counts | None = None
    prior: Dirichlet | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", tuple(self.parents))
        self._check_variables()
        p = validation.float_array(f"table of {self.name}", self.p)
        self._check_shape("the table", p.shape)
        if self.counts is not None:
            self._check_shape("the counts", self.counts.n.shape)
        if self.prior is not None:
            self._check_shape("the prior", self.prior.alpha.shape)
        p = self._normalised(p)
        p.flags.writeable = False
        object.__setattr__(self, "p", p)

    def __repr__(self) -> str:
        given = f" | {', '.join(v.name for v in self.parents)}" if self.parents else ""
        return f"Cpt({self.name}{given})"

    @property
    def name(self) -> str:
        """The name of the child."""
        return self.variable.name

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the parents, then of the child."""
        return (*(v.size for v in self.parents), self.variable.size)

    @property
    def free_parameters(self) -> int:
        """Numbers that are not fixed by the rows summing to one."""
        return int(np.prod(self.shape[:-1], dtype=np.int64)) * (self.variable.size - 1)

    # -- what it rests on

    @property
    def learned(self) -> bool:
        """Whether it is known what the table rests on; one that was merely given stays as it is."""
        return self.counts is not None or self.prior is not None

    @property
    def seen(self) -> Counts:
        """The real cases of every cell, none when there are no counts."""
        from bayeslearn.families import Counts  # noqa: PLC0415 - tables that are only asked load no families

        return Counts.zero(self.shape) if self.counts is None else self.counts

    @property
    def alpha(self) -> NDArray[np.float64]:
        """α of every cell: the cases that the prior counts for, none without a prior."""
        return np.zeros(self.shape) if self.prior is None else self.prior.alpha

    @property
    def posterior(self) -> Dirichlet:
        """Dirichlet(n + α): what is known of every row after the cases."""
        from bayeslearn.families import Dirichlet  # noqa: PLC0415 - as above

        self.require_learned()
        return Dirichlet(self.seen.n + self.alpha)

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Equal-tailed bounds of every cell; in a row that rests on nothing, 0 and 1.

        >>> from bayeslearn.families import Counts, Dirichlet
        >>> side = Discrete("Side", ("head", "point"))
        >>> tack = Cpt(side, (), [0.8, 0.2], Counts([80, 20]), Dirichlet([1, 1]))
        >>> low, high = tack.interval()
        >>> print(f"{low[0]:.3f} to {high[0]:.3f}")
        0.711 to 0.866
        """
        from bayeslearn.families import Dirichlet  # noqa: PLC0415 - as above

        alpha = self.posterior.alpha
        nothing = alpha.sum(axis=-1, keepdims=True) == 0
        low, high = Dirichlet(np.where(nothing, 1.0, alpha)).interval(level)
        anything = nothing & (self.variable.size > 1)
        return np.where(anything, 0.0, low), np.where(anything, 1.0, high)

    def support(self, given: Mapping[str, Any] | None = None) -> Support:
        """What a row rests on, named by the states of the parents.

        >>> from bayeslearn.families import Counts, Dirichlet
        >>> side = Discrete("Side", ("head", "point"))
        >>> print(Cpt(side, (), [0.8, 0.2], Counts([80, 20]), Dirichlet([1, 1])).support())
        Side rests on 100 real and 2 prior cases
        """
        from bayeslearn.network.learning.uncertainty import support  # noqa: PLC0415 - learning knows tables, not reverse

        return support(self, given or {})

    def require_learned(self) -> None:
        """Refuse what only a table with counts or a prior can answer."""
        if not self.learned:
            raise EvidenceError(
                f"the table of {self.name!r} was given, not learned: on how many cases it rests is not known",
                hint="learn it with fit_tables, or give it counts or a prior",
                column=self.name,
            )

    # -- in another order

    def over(self, parents: Iterable[str]) -> NDArray[np.float64]:
        """The table with its parents in another order."""
        names, wanted = [v.name for v in self.parents], list(parents)
        if sorted(names) != sorted(wanted):
            raise ParameterError(f"the parents of {self.name!r} are {listed(names) or 'none'}, got {listed(wanted)}")
        return np.transpose(self.p, (*(names.index(name) for name in wanted), len(names)))

    # -- checks

    def _check_variables(self) -> None:
        for v in (self.variable, *self.parents):
            if not isinstance(v, Discrete):
                raise ParameterError(f"a table is over Discrete variables, got {v!r}")
        names = [v.name for v in (self.variable, *self.parents)]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ParameterError(f"the table of {self.name!r} names {twice[0]!r} twice among itself and its parents")

    def _check_shape(self, what: str, shape: tuple[int, ...]) -> None:
        if shape != self.shape:
            sizes = " x ".join(f"{v.size} ({v.name})" for v in (*self.parents, self.variable))
            raise ShapeError(f"{what} of {self.name!r} must have shape {self.shape}, that is {sizes}, got {shape}")

    def _normalised(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows divided by their sums, unless these miss one by float rounding alone: so a table survives a copy."""
        rounding = self.variable.size * EPSILON
        if p.min() >= 0 and p.max() <= 2 and np.abs(np.add.reduce(p, axis=-1) - 1).max() <= rounding:
            return p.copy()
        with np.errstate(invalid="ignore", over="ignore"):
            sums = np.asarray(p.sum(axis=-1))
        bad = ~(np.abs(sums - 1) <= ROW_TOLERANCE) | ~(p >= 0).all(axis=-1)
        if bad.any():
            raise self._bad_row(p, tuple(int(i) for i in np.argwhere(bad)[0]))
        sums[np.abs(sums - 1) <= rounding] = 1
        return p / sums[..., None]

    def _bad_row(self, p: NDArray[np.float64], where: tuple[int, ...]) -> ProbabilityError:
        row = {v.name: v.states[i] for v, i in zip(self.parents, where, strict=True)}
        place = f" for {', '.join(f'{name}={state}' for name, state in row.items())}" if row else ""
        return ProbabilityError(
            f"the row of {self.name!r}{place} must be probabilities that sum to 1, got {listed(p[where].tolist())}",
            hint="divide each row by its sum if these are relative weights",
            row=row,
        )


def missed_one(sums: NDArray[np.float64]) -> bool:
    """Whether sums of rows, as they were given, miss one by more than rounding of floats explains."""
    return bool(np.abs(sums - 1).max() > EXACT)
