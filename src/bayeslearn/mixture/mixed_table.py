"""Classes of the rows of a table (after AutoClass): each class a product of families over the columns.

    p(row) = Σ_c w_c Π_columns p(cell | c)      categorical: θ_c     gaussian: μ_c, σ²_c     poisson: λ_c

Cells may be missing everywhere. How many classes there are is found by evidence (:mod:`.scoring`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.components import Component
from bayeslearn.distributions import MultivariateNormal
from bayeslearn.distributions.distribution import by_name, column_names
from bayeslearn.distributions.moments import MEAN_ROUNDING
from bayeslearn.errors import EmptyTableError, ParameterError
from bayeslearn.mixture.fit import fit_mixture
from bayeslearn.mixture.inputs import schema_of
from bayeslearn.mixture.model_selection import ComponentSelection, Score, choose_mixture, score
from bayeslearn.sources.scanning import as_source, with_options
from bayeslearn.sources.usability import dropping, named_columns, warn_dropped, without_identifiers
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table, as_table
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from bayeslearn.mixture.model import MixtureModel
    from bayeslearn.tables import Source
    from bayeslearn.tables.markers import Markers


def find_classes(
    data: Any,
    k: int | Literal["auto"] = "auto",
    *,
    columns: Iterable[str] | None = None,
    families: Mapping[str, str] | None = None,
    covariance: str | None = None,
    sample_weight: Any = None,
    most: int = 20,
    tol: float = 1e-3,
    max_states: int = 255,
    left_out: dict[str, str] | None = None,
    progress: Callable[[int, Any], object] | None = None,
    by: Score = "evidence",
    least: int = 1,
    patience: int = 3,
    equal: bool = False,
    prior: Any = "weak",
    start: Literal["k-means++", "random"] | MixtureModel = "k-means++",
    restarts: int = 3,
    max_iter: int = 1000,
    random_state: np.random.Generator | int | None = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    every: int = 5,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> ComponentSelection:
    """Find the classes that the rows of a table fall into.

    Parameters
    ----------
    data
        Anything that :func:`~bayeslearn.as_table` takes, a source (:func:`~bayeslearn.scan`) or the pattern of files.
    k
        How many classes, or ``"auto"``: as many as have the highest evidence, `most` at most.
    columns
        The columns to look at; all when not given.
    families
        Of columns, by name: ``"categorical"``, ``"gaussian"`` or ``"poisson"``. States are categorical and numbers
        Gaussian by default.
    covariance
        Let the Gaussian columns vary together within a class: ``"full"`` or ``"tied"``. They are independent there when
        not given.
    left_out
        A dict that is told of columns that cannot be used, and why.
    sample_weight
        The weight of each row, or the column that holds it.
    most, by, least, patience
        With ``"auto"``, as in :func:`choose_mixture`.
    max_states, na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.
    progress
        Called with the number of classes and the :class:`~bayeslearn.em.EMStep` of every iteration.
    equal, prior, start, restarts, tol, max_iter, random_state, checkpoint, every
        As in :func:`fit_mixture`.

    Examples
    --------
    >>> rows = {"hue": ["red", "blue"] * 20, "size": [1.0, 9.0, 1.2, 9.1, 0.8, 8.8, 1.1, 9.4] * 5}
    >>> find_classes(rows).model
    MixtureModel(2 components of hue, size; 40 cases)
    """
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    table = read_table(data, families or {}, columns, sample_weight, max_states, left_out)
    how: dict[str, Any] = {
        "family": parts_of(table.schema, families or {}, covariance), "equal": equal, "prior": prior, "start": start,
        "restarts": restarts, "tol": tol, "max_iter": max_iter, "random_state": random_state,
        "checkpoint": checkpoint, "every": every,
    }  # fmt: skip
    if k == "auto":
        return choose_mixture(table, by=by, least=least, most=most, patience=patience, progress=progress, **how)
    number = validation.integer("k", k, min_value=1)
    tell = None if progress is None else (lambda step: progress(number, step))
    found = fit_mixture(table, number, progress=tell, **how)
    criterion = "bic" if prior is None else "evidence"
    return ComponentSelection(found, {number: score(found, criterion)}, criterion)


def read_table(
    data: Any,
    families: Mapping[str, str],
    columns: Any,
    sample_weight: Any,
    max_states: int,
    left_out: dict[str, str] | None,
) -> Any:
    """The table or source with its columns as the families want them; those that show one value only are left out."""
    for name, kind in families.items():
        validation.choice(f"families[{name!r}]", kind, column_names())
    identifiers = dropping(data, left_out, columns)
    gone = {} if identifiers is None else identifiers
    table = as_source(
        data, columns=columns, discrete=[n for n, kind in families.items() if not of_numbers(kind)],
        numeric=[n for n, kind in families.items() if of_numbers(kind)], sample_weight=sample_weight,
        max_states=max_states,
        left_out=gone,
    )  # fmt: skip
    require_known([n for n in families if n not in gone], table.schema.names)
    table = without_identifiers(table, identifiers, keep=[*families, *named_columns(data)])
    gone |= dict.fromkeys(constant(table), "all its values are the same")
    names = [n for n in table.schema.names if n not in gone]
    if not names or not table.n_rows:
        raise EmptyTableError(
            f"no column is left to find classes by, of {table.n_rows} sample{'s' * (table.n_rows != 1)}",
            hint="; ".join(f"{name}: {why}" for name, why in gone.items()) or None,
        )
    warn_dropped(gone)
    return table.select(names) if isinstance(table, Table) else table.declared(columns=names)


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
    found = [] if isinstance(source, Table) else [v.name for v in source.schema.discrete if v.size == 1]
    if not source.schema.numeric or not source.n_rows:
        return found
    seen = source.fold(Ranges.of)
    with np.errstate(over="ignore"):  # the widest columns vary, whatever their range is
        varies = seen.high - seen.low > MEAN_ROUNDING * np.fmax(np.abs(seen.low), np.abs(seen.high))
    return found + [v.name for v, moves in zip(source.schema.numeric, varies, strict=True) if not moves]


def parts_of(schema: Schema, families: Mapping[str, str], covariance: str | None = None) -> list[Component]:
    """A part for each column, and one for all Gaussian columns that vary together."""
    parts, together = [], []
    for variable in schema:
        kind = families.get(variable.name, "categorical" if isinstance(variable, DiscreteVariable) else "gaussian")
        if covariance is not None and validation.as_word(kind) == "gaussian":
            together.append(variable)
        else:
            parts.append(Component((variable,), by_name(kind).over([variable])))  # type: ignore[arg-type]
    if together:
        parts.append(Component(tuple(together), MultivariateNormal(len(together), covariance)))  # type: ignore[arg-type]
    return parts


def of_numbers(kind: str) -> bool:
    """Whether a distribution is of a column of numbers."""
    return by_name(kind).accepts([NumericVariable("x")])


### new rows


def new_rows(
    model: MixtureModel, data: Any, *, missing_columns: Literal["error", "missing"] = "error", sample_weight: Any = None
) -> Table:
    """Data by the columns of a mixture; a state that was never seen is taken for missing."""
    if isinstance(data, Mapping) and not data:
        raise ParameterError("there are no columns")
    return as_table(
        data,
        schema=schema_of(model),
        handle_unknown="missing",
        missing_columns=missing_columns,
        sample_weight=sample_weight,
    )


def by_size(choice: ComponentSelection) -> ComponentSelection:
    """The same with the largest class first."""
    model = choice.model.reordered(np.argsort(-choice.model.sizes, kind="stable"))
    result = replace(choice.result, model=model, statistics=model.statistics)
    return replace(choice, result=result)
