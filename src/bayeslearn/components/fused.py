"""Columns of one distribution taken as one component, so that each step of EM takes them at once.

    p(x | row) = Π_columns p(x_column | θ_row, column)        rows of parameters (k, columns, ...)

Gaussian columns that are independent become one Gaussian with a diagonal covariance, and categorical columns with equal
numbers of states one table. The numbers are those of the columns one by one; :class:`Fusion` leads back to these.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeslearn import kernels
from bayeslearn.components.component import Component, NormalKernels, StateKernels
from bayeslearn.components.rows import Rows
from bayeslearn.distributions.categorical import Categorical, Counts
from bayeslearn.distributions.moments import Moments
from bayeslearn.distributions.multivariate_normal import MultivariateNormal
from bayeslearn.distributions.normal import Normal, require_spread
from bayeslearn.errors import EvidenceError
from bayeslearn.tables.table import read_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.distributions.sufficient_statistics import Assignment

    Floats = NDArray[np.float64]


def columns_first(cells: NDArray[Any]) -> NDArray[Any]:
    """Cells (rows, columns) as kernels take them, (columns, rows)."""
    return read_only(np.ascontiguousarray(cells.T))


@dataclass(frozen=True)
class FusedNormals(MultivariateNormal):
    """Gaussian columns that are independent in each row of parameters."""

    @classmethod
    def of(cls, parts: Sequence[Component]) -> Self:
        """Of these columns."""
        return cls(len(parts), "diag")

    def log_prob(self, parameters: Any, x: Any, *, groups: Any = None) -> Floats:  # noqa: ARG002 - rows face all
        """Σ_columns ln N(x | μ, σ²), (n, rows)."""
        mean, var = parameters
        tables = NormalKernels().density((mean.T.ravel(), var.T.ravel())).tables[0]
        joint = np.zeros((len(mean), len(x)))
        kernels.add_normal_logs(columns_first(x), tables.reshape(self.dim, len(mean), -1), joint)
        return joint.T

    def expected(self, cells: Floats, to: Assignment, parameters: Any) -> Moments:  # noqa: ARG002 - cells are enough
        """Moments (rows, columns)."""
        shown = collected(NormalKernels(), self.dim, Component.of(Normal()), cells, to)  # (columns, 3, rows)
        return Moments(*(np.ascontiguousarray(a) for a in shown.transpose(1, 2, 0)))

    def require_regular(self, parameters: Any, what: str) -> None:
        """Variances that have not collapsed, column by column."""
        variances, names = np.asarray(parameters[1]), what.split(", ")
        try:
            require_spread(variances, what)
        except EvidenceError:
            if len(names) == len(variances.T):
                for name, var in zip(names, variances.T, strict=True):
                    require_spread(var, name)
            raise

    def column_parameters(self, parameters: Any, column: int) -> Any:
        """The parameters of one column."""
        return self.marginals(parameters)[column][1]


@dataclass(frozen=True)
class FusedStates(Categorical):
    """Categorical columns with equal numbers of states, independent in each row of parameters."""

    name: ClassVar[str] = "columns of states"
    n: int = 1

    points_of_columns: ClassVar[bool] = True

    @classmethod
    def of(cls, parts: Sequence[Component]) -> Self:
        """Of these columns."""
        return cls(parts[0].distribution.n_states, len(parts))

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return self.n

    @classmethod
    def accepts(cls, variables: Sequence[Any]) -> bool:
        """Columns of states."""
        return all(hasattr(variable, "states") for variable in variables)

    def zero(self, rows: tuple[int, ...] = ()) -> Counts:
        """No data."""
        return Counts.zero((*rows, self.n, self.n_states))

    def log_prob(self, parameters: Any, x: Any, *, groups: Any = None) -> Floats:  # noqa: ARG002 - rows face all
        """Σ_columns ln θ_x, (n, rows)."""
        tables = StateKernels().density(np.moveaxis(parameters, 1, 0).reshape(-1, self.n_states)).tables[0]
        joint = np.zeros((len(parameters), len(x)))
        kernels.add_state_logs(columns_first(x), tables.reshape(self.n, len(parameters), -1), joint)
        return joint.T

    def expected(self, cells: NDArray[Any], to: Assignment, parameters: Any) -> Counts:  # noqa: ARG002 - as of numbers
        """Counts (rows, columns, states)."""
        one = Component.of(Categorical(self.n_states))
        shown = collected(StateKernels(), self.n, one, cells, to)  # (columns, 1 + states + 1, rows)
        return Counts(np.ascontiguousarray(shown[:, 1 : self.n_states + 1].transpose(2, 0, 1)))

    def log_evidence(self, prior: Any, statistics: Counts) -> Floats:
        """The sum over the columns."""
        return super().log_evidence(prior, statistics).sum(axis=-1)

    def log_likelihood(self, statistics: Counts, parameters: Any) -> Floats:
        """The sum over the columns."""
        return super().log_likelihood(statistics, parameters).sum(axis=-1)

    def n_parameters(self, rows: int) -> int:
        """All but one probability of each row and column."""
        return self.n * super().n_parameters(rows)

    def column_parameters(self, parameters: Any, column: int) -> Any:
        """The parameters of one column."""
        return parameters[:, column]


def collected(
    found: NormalKernels | StateKernels, n: int, one: Component, cells: NDArray[Any], to: Assignment
) -> Floats:
    """What kernels collect of n columns like `one` by the shares of their rows, the rows of parameters last."""
    columns, labels = columns_first(cells), np.zeros(len(cells), np.int32)
    shares = np.ascontiguousarray(to.sample_weight.T)
    return np.concatenate([np.asarray(found.collect([one] * n, columns, labels, w, 1)) for w in shares], axis=-1)


### there and back


@dataclass(frozen=True, eq=False)
class Fusion:
    """Components, those that were fused from them, and the places of their columns."""

    parts: tuple[Component, ...]
    fused: tuple[Component, ...]
    places: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, parts: Sequence[Component]) -> Self | None:
        """The fusion of components; None if no two can be taken at once."""
        groups: dict[Any, list[int]] = {}
        for i, part in enumerate(parts):
            groups.setdefault(key if (key := fusible(part)) is not None else i, []).append(i)
        if len(groups) == len(parts) and not any(map(is_diagonal, parts)):
            return None
        fused = tuple(joined([parts[i] for i in places]) for places in groups.values())
        return cls(tuple(parts), fused, tuple(map(tuple, groups.values())))

    def rows(self, rows: Rows) -> Rows:
        """Rows in the form of the fused components."""

        def side_by_side(places: tuple[int, ...]) -> NDArray[Any]:
            if len(places) == 1:
                return rows.cells[places[0]]
            return read_only(np.stack([rows.cells[i] for i in places]).T)

        return Rows(tuple(side_by_side(places) for places in self.places), rows.sample_weight)

    def stack(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Priors or parameters of all components as those of the fused ones."""
        return tuple(
            values[places[0]] if len(places) == 1 else stacked([values[i] for i in places]) for places in self.places
        )

    def parameters(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The parameters of all components from those of the fused ones."""
        found: dict[int, Any] = {}
        for part, places, θ in zip(self.fused, self.places, values, strict=True):
            each = [θ] if len(places) == 1 else [part.distribution.column_parameters(θ, c) for c in range(len(places))]
            found |= dict(zip(places, each, strict=True))
        return tuple(found[i] for i in range(len(self.parts)))

    def statistics(self, known: Any) -> dict[str, Any]:
        """The statistics of all components, by name, from those of the fused ones."""
        found: dict[str, Any] = {}
        for part, places in zip(self.fused, self.places, strict=True):
            s = known[part.name]
            for c, i in enumerate(places):
                found[self.parts[i].name] = s if len(places) == 1 else type(s)(*(a[:, c] for a in s.arrays()))
        return {part.name: found[part.name] for part in self.parts}


#: What takes the columns of a distribution together, by its name.
FUSED: dict[str, Any] = {"gaussian": FusedNormals, "categorical": FusedStates}


def fusible(part: Component) -> Any:
    """What the components that are taken at once have in common; None for those that are taken one by one."""
    return part.distribution if part.distribution.name in FUSED else None


def is_diagonal(part: Component) -> bool:
    """Whether columns that are independent are one component already."""
    return bool(part.distribution == MultivariateNormal(len(part.columns), "diag"))


def joined(parts: Sequence[Component]) -> Component:
    """One component of all."""
    if len(parts) == 1:
        one = parts[0]
        return Component(one.columns, FusedNormals(len(one.columns), "diag")) if is_diagonal(one) else one
    return Component(tuple(part.variable for part in parts), FUSED[parts[0].distribution.name].of(parts))


def stacked(values: Sequence[Any]) -> Any:
    """Arrays, tuples of arrays, or values with arrays: a column each, the second axis."""
    first = values[0]
    if isinstance(first, tuple):
        return type(first)(*(np.stack(arrays, axis=1) for arrays in zip(*values, strict=True)))
    if isinstance(first, np.ndarray):
        return np.stack(values, axis=1)
    names = [field.name for field in fields(first)]
    return type(first)(*(np.stack([getattr(v, name) for v in values], axis=1) for name in names))
