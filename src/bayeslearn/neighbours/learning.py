"""From a table with a target to a model: examples are kept, and k and weights of attributes chosen if asked for."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import BayeslearnWarning, DataError, EmptyTableError, MissingValuesError
from bayeslearn.neighbours.attributes import REMOVAL, WEIGHTS, Attributes, choose_attributes
from bayeslearn.neighbours.distances import Distance, as_weights
from bayeslearn.neighbours.leaving_out import LeaveOneOut, with_best_k
from bayeslearn.neighbours.model import Neighbours
from bayeslearn.sources import with_options
from bayeslearn.sources.usability import dropping, named_columns, warn_dropped, without_identifiers
from bayeslearn.tables import Discrete, Table, as_table
from bayeslearn.tables.numbers import all_numbers, with_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from bayeslearn.tables.markers import Markers

#: What may be asked of attributes, besides weights that are told.
ATTRIBUTES = ("loo", "remove")


@dataclass(frozen=True, eq=False)
class Learned:
    """A model, and how it was chosen: errors by k, and the search for weights, where they were asked for."""

    model: Neighbours
    left_out: LeaveOneOut | None = None
    attributes: Attributes | None = None


def learn_neighbours(
    data: Any,
    target: str,
    *,
    k: int | Literal["loo", "all"] = "loo",
    weighting: Any = "uniform",
    metric: str = "scaled",
    attributes: Any = None,
    kind: Literal["auto", "classes", "numbers"] = "auto",
    prior: Any = 1.0,
    weights: Any = None,
    columns: Iterable[str] | None = None,
    unlabelled: Literal["warn", "error", "drop"] = "warn",
    index: str = "auto",
    max_k: int = 50,
    max_states: int = 255,
    left_out: dict[str, str] | None = None,
    progress: Callable[[int, str, float], object] | None = None,
    missing: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> Learned:
    """Keep the rows of a table as examples of one of its columns.

    Parameters
    ----------
    data, target
        Anything that :func:`~bayeslearn.as_table` takes, and the column to predict.
    k
        How many neighbours are heard: a number, ``"loo"`` for the one with the least leave-one-out error up to `max_k`,
        or ``"all"`` (Shepard's method, with a weighting).
    weighting
        ``"uniform"``, ``"inverse-square"``, or a function of an array of distances.
    metric
        What numbers are divided by: ``"scaled"`` (standard deviation), ``"range"``, ``"euclidean"`` (nothing).
    attributes
        Weights by column, ``"loo"`` to find them, or ``"remove"`` to find attributes that can go.
    kind
        Whether the target is a class or a number; whole numbers that repeat themselves are classes if nothing is said.
    prior
        Cases that the prior is worth, or a prior of the family.
    unlabelled
        What to do with rows without a target: ``"warn"`` drops them with a warning, ``"drop"`` silently.
    left_out
        A dict that gets the columns that are dropped, and why: identifiers, free text and columns that cannot be used.
        Without it a warning names them. Columns that are named in `columns` are never dropped.
    missing, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Examples
    --------
    >>> rows = {"hours": [1.0, 1.5, 2.0, 6.0, 7.0, 7.5], "wind": ["weak", None, "weak", "gale", "gale", "weak"],
    ...         "sail": ["no", "no", "no", "yes", "yes", "yes"]}
    >>> found = learn_neighbours(rows, "sail", k=3)
    >>> found.model.predict({"hours": [1.2, 6.6], "wind": ["weak", "storm"]}).tolist()
    ['no', 'yes']
    """
    data = with_options(data, missing=missing, keep_default_na=keep_default_na, drop_columns=drop_columns)
    validation.choice("kind", kind, ["auto", "classes", "numbers"])
    validation.choice("unlabelled", unlabelled, ["warn", "error", "drop"])
    left_out = dropping(data, left_out, columns)
    wanted = None if columns is None else [*columns, target]
    table = as_table(
        data, columns=wanted, discrete=[target] if kind == "classes" else (), weights=weights, max_states=max_states,
        numeric=[target] if kind == "numbers" else (), allow_constant=True, left_out=left_out,
    )  # fmt: skip
    if target in (left_out or ()):
        raise DataError(f"the target cannot be used: {left_out[target]}")  # type: ignore[index]
    table = without_identifiers(table, left_out, keep=[target, *named_columns(data)])
    warn_dropped(left_out)
    variable = table.schema[target]
    gone = table.code(target) < 0 if isinstance(variable, Discrete) else np.isnan(table.value(target))
    if gone.any():
        if unlabelled == "error":
            raise MissingValuesError(
                f"{gone.sum()} rows have no {target!r}, row {validation.first_position(gone)} is the first",
                hint='leave them out: unlabelled="drop"',
            )
        if unlabelled == "warn":
            warnings.warn(f"{gone.sum()} rows without a {target!r} are dropped", BayeslearnWarning, stacklevel=2)
        table = table.take(np.flatnonzero(~gone))
    rows = table.drop([target])
    if not isinstance(data, Table):
        rows = with_numbers(rows, [v for v in rows.schema.discrete if all_numbers(v)])
    if not len(rows.schema):
        raise EmptyTableError(f"there is no column beside {target!r} to find neighbours by")
    said = table.code(target).astype(np.int64) if isinstance(variable, Discrete) else np.array(table.value(target))
    return learned(
        rows, variable, said, k=k, metric=metric, attributes=attributes, max_k=max_k, progress=progress,
        weighting=weighting, prior=prior, index=index,
    )  # fmt: skip


def learned(
    rows: Table, target: Any, said: NDArray[Any], *, k: Any, metric: str, attributes: Any = None, max_k: int = 50,
    progress: Any = None, **how: Any,
) -> Learned:  # fmt: skip
    """The model of checked examples."""
    if rows.weights is not None and not rows.weights.all():  # rows that count for nothing are as good as absent
        seen = np.flatnonzero(rows.weights)
        rows, said = rows.take(seen), said[seen]
    search = isinstance(attributes, str)
    if search:
        validation.choice("attributes", attributes, ATTRIBUTES)
    told = None if attributes is None or search else as_weights(attributes, rows.schema)
    number = None if isinstance(k, str) else k
    if number is None:
        validation.choice("k", k, ["loo", "all"])
    model = Neighbours(rows, target, said, Distance.learn(rows, metric, told), number, **how)
    by_loo = isinstance(k, str) and k == "loo"
    if search:
        among = WEIGHTS if attributes == "loo" else REMOVAL
        found = choose_attributes(model, among=among, choose_k=by_loo, most=max_k, progress=progress)
        return Learned(found.model, found.after, found)
    return Learned(*with_best_k(model, most=max_k)) if by_loo else Learned(model)
