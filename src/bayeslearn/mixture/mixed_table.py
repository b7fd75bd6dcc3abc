"""Tables with named columns: what is read of them, and the parts of a component over their columns.

    p(row) = Σ_j w_j Π_columns p(cell | j)      categorical: θ_j     gaussian: μ_j, σ²_j     poisson: λ_j

Values may be missing everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.components import Component
from bayeslearn.distributions import Normal
from bayeslearn.distributions.distribution import by_name, column_names
from bayeslearn.distributions.moments import MEAN_ROUNDING
from bayeslearn.errors import EmptyTableError, ParameterError
from bayeslearn.mixture.inputs import gaussian
from bayeslearn.sources.scanning import as_source, is_source
from bayeslearn.sources.usability import dropping, named_columns, warn_dropped, without_identifiers
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.tables import Source


def has_columns(data: Any) -> bool:
    """Whether data have named columns: tables, frames, dicts, files and sources."""
    return isinstance(data, Table | Mapping | str | os.PathLike) or is_source(data) or hasattr(data, "columns")


def with_names(data: Any, distributions: Any, columns: Iterable[str] | None) -> tuple[Any, Any]:
    """Data whose columns have names where they need them, and the distributions by these names, where there are any.

    The columns of a matrix with text, or with a dict of distributions, are x0, x1, and so on. One distribution by name,
    or a list of such names, becomes a dict.
    """
    by_column = isinstance(distributions, Mapping) or columns is not None
    if isinstance(data, np.ndarray) and data.ndim == 2 and (by_column or data.dtype.kind in "OUS"):
        data = {f"x{j}": data[:, j] for j in range(data.shape[1])}
    listed = isinstance(distributions, list | tuple) and all(isinstance(name, str) for name in distributions)
    if distributions == "gaussian" or not (isinstance(distributions, str) or (listed and distributions)):
        return data, None if isinstance(distributions, str) else distributions
    if not isinstance(data, Mapping) and not hasattr(data, "columns"):
        return data, distributions
    names = [str(name) for name in (data if isinstance(data, Mapping) else data.columns)]
    names = names if columns is None else list(columns)
    each = [distributions] * len(names) if isinstance(distributions, str) else distributions
    if len(each) != len(names):
        raise ParameterError(f"{len(each)} distributions for {len(names)} columns: {', '.join(names)}")
    return data, dict(zip(names, each, strict=True))


def read_table(
    data: Any,
    distributions: Mapping[str, Any],
    columns: Any,
    sample_weight: Any,
    max_states: int,
    dropped: dict[str, str] | None = None,
) -> tuple[Any, dict[str, str]]:
    """The table or source with its columns as the distributions need them, and the columns that are dropped.

    These are constant columns and identifiers, each with the reason. A caller that reports them gives `dropped`, to
    which they are added; else there is a warning.
    """
    kinds = {name: of_option(f"distributions[{name!r}]", kind) for name, kind in distributions.items()}
    identifiers = dropping(data, dropped, columns)
    gone = {} if identifiers is None else identifiers
    table = as_source(
        data, columns=columns, discrete=[n for n, kind in kinds.items() if not of_numbers(kind)],
        numeric=[n for n, kind in kinds.items() if of_numbers(kind)], sample_weight=sample_weight,
        max_states=max_states, dropped_columns=gone,
    )  # fmt: skip
    require_known([n for n in kinds if n not in gone], table.schema.names)
    table = without_identifiers(table, identifiers, keep=[*kinds, *named_columns(data)])
    gone |= dict.fromkeys(constant(table), "all its values are the same")
    names = [n for n in table.schema.names if n not in gone]
    if not names or not table.n_rows:
        raise EmptyTableError(
            f"no column is left to fit a mixture to, of {table.n_rows} sample{'s' * (table.n_rows != 1)}",
            hint="; ".join(f"{name}: {why}" for name, why in gone.items()) or None,
        )
    warn_dropped(gone)
    return (table.select(names) if isinstance(table, Table) else table.declared(columns=names)), gone


@dataclass(frozen=True)
class Ranges:
    """The least and the largest of the numbers of each column; none where all are missing."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def __add__(self, other: Ranges) -> Ranges:
        return Ranges(np.fmin(self.low, other.low), np.fmax(self.high, other.high))

    @classmethod
    def of(cls, table: Table) -> Ranges:
        """Those of a batch."""
        return cls(np.fmin.reduce(table.values, axis=1), np.fmax.reduce(table.values, axis=1))


def constant(source: Source) -> list[str]:
    """The columns whose values are all alike, up to rounding for numbers, or all missing."""
    found = [] if isinstance(source, Table) else [v.name for v in source.schema.discrete if v.n_states == 1]
    if not source.schema.numeric or not source.n_rows:
        return found
    seen = source.fold(Ranges.of)
    with np.errstate(over="ignore"):  # the widest columns vary, whatever their range is
        varies = seen.high - seen.low > MEAN_ROUNDING * np.fmax(np.abs(seen.low), np.abs(seen.high))
    return found + [v.name for v, moves in zip(source.schema.numeric, varies, strict=True) if not moves]


def parts_of_schema(
    schema: Schema, distributions: Mapping[str, Any], covariance_type: str | None, variance: float | None = None
) -> list[Component]:
    """A part for each column, and one for all Gaussian columns that vary together or have one variance.

    Without a covariance type, columns vary together if all of them are Gaussian and no distribution is given.
    """
    if covariance_type is not None:
        covariance_type = validation.choice("covariance_type", covariance_type, ["full", "tied", "diag", "spherical"])
    numeric = not schema.discrete and not distributions
    kind = covariance_type or ("full" if numeric else "diag")
    together = numeric or kind != "diag" or variance is not None
    joint: list[Any] = []
    parts = []
    for variable in schema:
        usual = "categorical" if isinstance(variable, DiscreteVariable) else "gaussian"
        chosen: Any = of_option(variable.name, distributions.get(variable.name, usual))
        if together and chosen is Normal:
            joint.append(variable)
        else:
            given: Any = chosen.over([variable]) if isinstance(chosen, type) else chosen  # type: ignore[attr-defined]
            parts.append(Component((variable,), given))  # type: ignore[arg-type]
    if joint:
        parts.append(gaussian(joint, kind, variance))
    return parts


def of_option(option: str, kind: Any) -> Any:
    """A distribution of one column by the name of the option, or the given one."""
    return by_name(validation.choice(option, kind, column_names())) if isinstance(kind, str) else kind


def of_numbers(distribution: Any) -> bool:
    """Whether a distribution is of a column of numbers."""
    return bool(distribution.accepts([NumericVariable("x")]))
