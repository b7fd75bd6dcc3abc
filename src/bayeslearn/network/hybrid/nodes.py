"""Numeric nodes of a network: a number given states and other numbers.

    p(y | d, x) = N(y; a_d + b_dᵀ x, v_d)          d: states of the discrete parents, x: values of the numeric parents

A row (a, b, v) belongs to each configuration d; without numeric parents it is a normal distribution for each, with
v = 0 a deterministic function. A node on the scale ``"log"`` is a log-normal column: y is its natural logarithm, here
and wherever the node is a parent, and the density of the column has the factor 1/x.

A node that was learned keeps what it is based on: the joint moments of (x, y) in each configuration, and the prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions import Counts, JointMoments, LinearGaussian, RegressionPrior
from bayeslearn.errors import DataError, EvidenceError, ParameterError, ShapeError
from bayeslearn.printable import printable
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables.frames import frame_of
from bayeslearn.tables.variables import DiscreteVariable, NumericVariable, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.inference.results import Backend

    Floats = NDArray[np.float64]

#: The scale of a numeric node: its values, or their natural logarithms.
Scale = Literal["linear", "log"]


@dataclass(frozen=True)
class Linear:
    """The numbers of a linear Gaussian node: intercept, coefficients of the numeric parents, and variance.

    Each may have leading axes for the discrete parents in their order; without them it holds for all configurations.

    >>> Linear(39.2, var=198.0)
    Linear(intercept=39.2, coef=(), var=198.0, scale='linear')
    >>> Linear([-2293.0, -22367.0], coef=[[267.0, 7.0], [266.0, 1438.0]], var=[2.18e7, 3.31e7]).var
    [21800000.0, 33100000.0]
    """

    intercept: Any
    coef: Any = ()
    var: Any = 1.0
    scale: Scale = "linear"


@dataclass(frozen=True, eq=False)
class LinearGaussianCPD(Reported):
    """A number given its parents; see the module.

    Attributes
    ----------
    variable
        The column.
    parents
        Discrete and numeric variables, in the order of the graph.
    intercept, coef, var
        a, b and v: an axis for each discrete parent, and for b one more for the numeric parents.
    scale
        ``"log"`` for a log-normal column.
    statistics, prior
        What a learned node is based on.

    >>> sex = DiscreteVariable("sex", ("f", "m"))
    >>> LinearGaussianCPD(NumericVariable("size"), (sex,), [165, 178], (), [40, 50])
    LinearGaussianCPD(size | sex)
    """

    variable: NumericVariable
    parents: tuple[Variable, ...]
    intercept: Floats
    coef: Floats
    var: Floats
    scale: Scale = "linear"
    statistics: JointMoments | None = None
    prior: RegressionPrior | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", tuple(self.parents))
        if not isinstance(self.variable, NumericVariable):
            raise ParameterError(f"a linear Gaussian node is over a numeric variable, got {self.variable!r}")
        if self.name in {v.name for v in self.parents}:
            raise ParameterError(f"the node {self.name!r} names itself among its parents")
        validation.choice("scale", self.scale, ["linear", "log"])
        k = len(self.numeric_parents)
        shapes = {"intercept": self.rows, "coef": (*self.rows, k), "var": self.rows}
        for name, shape in shapes.items():
            given = () if name == "coef" and np.size(getattr(self, name)) == 0 else getattr(self, name)
            object.__setattr__(self, name, self._numbers(name, given, shape))
        if (self.var < 0).any():
            raise ParameterError(f"the variance of {self.name!r} must not be negative, got {self.var.min():g}")
        for name, value in (("statistics", self.statistics), ("prior", self.prior)):
            if value is not None and value.scatter.shape[-1] != k + 1:
                raise ShapeError(
                    f"the {name} of {self.name!r} must be of {k + 1} columns, got {value.scatter.shape[-1]}"
                )

    def _numbers(self, name: str, given: Any, shape: tuple[int, ...]) -> Floats:
        array = validation.float_array(f"{name} of {self.name}", given if np.size(given) else np.zeros(shape))
        bad = ~np.isfinite(array)
        if bad.any():
            raise ParameterError(
                f"the {name} of {self.name!r} must be finite numbers, got {array[bad].flat[0]}",
                hint="give every configuration of the discrete parents numbers",
            )
        try:
            if 0 in shape and array.size:
                raise ValueError(shape)  # noqa: TRY301 - it is reported as other shapes are
            array = np.broadcast_to(array, shape).astype(np.float64)
        except ValueError:
            parents = ", ".join(v.name for v in self.parents) or "no parents"
            raise ShapeError(
                f"the {name} of {self.name!r} must have shape {shape} for its parents ({parents}), got {array.shape}"
            ) from None
        array.flags.writeable = False
        return array

    def __repr__(self) -> str:
        given = f" | {', '.join(v.name for v in self.parents)}" if self.parents else ""
        return printable(f"LinearGaussianCPD({self.name}{given})")

    # -- what there is

    @property
    def name(self) -> str:
        """The name of the node."""
        return self.variable.name

    @cached_property
    def discrete_parents(self) -> tuple[DiscreteVariable, ...]:
        """The parents with states, in order."""
        return tuple(v for v in self.parents if isinstance(v, DiscreteVariable))

    @cached_property
    def numeric_parents(self) -> tuple[NumericVariable, ...]:
        """The parents with numbers, in order."""
        return tuple(v for v in self.parents if isinstance(v, NumericVariable))

    @property
    def rows(self) -> tuple[int, ...]:
        """The number of states of each discrete parent."""
        return tuple(v.n_states for v in self.discrete_parents)

    @cached_property
    def flat(self) -> tuple[Floats, Floats, Floats]:
        """Intercept (configurations), coefficients (configurations, numeric parents) and variance, in one row axis."""
        n = int(np.prod(self.rows, dtype=np.int64))
        return self.intercept.reshape(n), self.coef.reshape(n, len(self.numeric_parents)), self.var.reshape(n)

    @property
    def n_parameters(self) -> int:
        """An intercept, coefficients and a variance for each configuration."""
        return int(np.prod(self.rows, dtype=np.int64)) * (len(self.numeric_parents) + 2)

    @property
    def distribution(self) -> LinearGaussian:
        """The distribution of the node given its numeric parents."""
        return LinearGaussian(len(self.numeric_parents))

    @property
    def is_learned(self) -> bool:
        """Whether it is known what the node is based on."""
        return self.statistics is not None

    @property
    def observed_counts(self) -> Counts:
        """The rows of each configuration; none when it was given."""
        return Counts(np.zeros(self.rows) if self.statistics is None else self.statistics.n)

    def require_learned(self) -> None:
        """Raise an error for a node that was given and not learned."""
        if not self.is_learned:
            raise EvidenceError(
                f"the node {self.name!r} was given, not learned: the rows it is based on are not known",
                hint="learn it with fit_parameters",
                column=self.name,
            )

    def configurations(self) -> Iterator[dict[str, Any]]:
        """The states of the discrete parents in each row of parameters."""
        for index in np.ndindex(self.rows):
            yield {v.name: v.states[i] for v, i in zip(self.discrete_parents, index, strict=True)}

    # -- scales

    def scaled(self, values: ArrayLike) -> Floats:
        """Values of the column on the scale of the node; NaN stays NaN."""
        x = np.asarray(values, dtype=np.float64)
        if np.isinf(x).any():
            raise DataError(
                f"column {self.name!r} has an infinite value", hint="leave the cell empty", column=self.name
            )
        if self.scale == "linear":
            return x
        if (x <= 0).any():
            raise DataError(
                f"column {self.name!r} is log-normal and must be above 0, got {np.nanmin(x):g}",
                hint=f"fit it on its own scale: numeric={{{self.name!r}: 'gaussian'}}",
                column=self.name,
            )
        return np.log(x)

    def unscaled(self, y: Floats) -> Floats:
        """Numbers of the node as values of the column."""
        return np.exp(y) if self.scale == "log" else y

    # -- what it shows

    def report(self) -> Report:
        """Return the numbers of every configuration."""
        given = " | " + ", ".join(v.name for v in self.parents) if self.parents else ""
        what = f"ln {self.name}" if self.scale == "log" else self.name
        return Report(
            f"p({what}{given})", Grid(list(self._columns()), list(zip(*self._columns().values(), strict=True)))
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the parents and the numbers as plain values."""
        return {
            "variable": self.name,
            "scale": self.scale,
            "parents": {v.name: list(v.states) if isinstance(v, DiscreteVariable) else "numeric" for v in self.parents},
            "intercept": self.intercept.tolist(),
            "coef": self.coef.tolist(),
            "var": self.var.tolist(),
        }

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame: states of the discrete parents, intercept, coefficients, standard deviation, rows."""
        return frame_of(self._columns(), backend)

    def _columns(self) -> dict[str, list[Any]]:
        states = list(self.configurations())
        columns: dict[str, list[Any]] = {v.name: [str(row[v.name]) for row in states] for v in self.discrete_parents}
        columns["intercept"] = self.intercept.reshape(-1).tolist()
        coef = self.flat[1]
        columns |= {f"× {v.name}": coef[:, i].tolist() for i, v in enumerate(self.numeric_parents)}
        columns["sd"] = np.sqrt(self.var).reshape(-1).tolist()
        if self.statistics is not None:
            columns["n_rows"] = self.statistics.n.reshape(-1).tolist()
        return columns


def node_of(variable: NumericVariable, parents: tuple[Variable, ...], numbers: Linear) -> LinearGaussianCPD:
    """The node of some numbers."""
    if not isinstance(numbers, Linear):
        raise ParameterError(
            f"the numeric node {variable.name!r} needs Linear(intercept, coef, var), got {numbers!r:.80}",
            hint=f"tables={{{variable.name!r}: Linear(0.0, var=1.0)}}",
        )
    return LinearGaussianCPD(variable, parents, numbers.intercept, numbers.coef, numbers.var, numbers.scale)
