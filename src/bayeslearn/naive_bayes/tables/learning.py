"""Learning: one pass over the rows that have a label, and EM over those that have none.

labelled      n_c += w                       θ = estimate(prior + statistics)
soft label    n_c += w · share_c
no label      n_c += w · P(c | row, θ)        again and again, until ln P(D|θ) + ln P(θ) climbs no more
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import em, validation
from bayeslearn.errors import DataError, ParameterError, ShapeError, UnknownColumnError, WeightError, listed
from bayeslearn.families import Bundle, Counts
from bayeslearn.naive_bayes.tables import rows as blocks
from bayeslearn.naive_bayes.tables.collecting import collect, count_labels, zero
from bayeslearn.naive_bayes.tables.columns import FAMILIES, Column, new_states
from bayeslearn.naive_bayes.tables.hidden_labels import at, climbed, with_shares
from bayeslearn.naive_bayes.tables.model import NaiveBayes
from bayeslearn.naive_bayes.tables.priors import class_prior_of, prior_of, require_columns
from bayeslearn.tables import Discrete, Schema, Table, as_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.tables.rows import Rows


def learn(
    data: Any,
    target: str | None = None,
    *,
    columns: Iterable[str] | None = None,
    families: Mapping[str, str] | None = None,
    prior: Any = None,
    class_prior: Any = None,
    estimate: Literal["mean", "integrated"] = "mean",
    weights: Any = None,
    shares: Mapping[Any, Any] | None = None,
    unlabelled: Literal["em", "drop"] = "em",
    like: NaiveBayes | None = None,
    max_states: int = 255,
    left_out: dict[str, str] | None = None,
    tol: float = 1e-4,
    max_iter: int = 200,
    progress: Callable[[em.Step], object] | None = None,
) -> NaiveBayes:
    """A naive Bayes model of the column `target`.

    Parameters
    ----------
    data
        Anything that :func:`~bayeslearn.as_table` takes; cells and labels may be missing.
    target
        The column of the classes, or with `shares` the name that they get.
    columns
        The columns to learn from; all others when not given.
    families
        Of columns, by name: ``"categorical"``, ``"normal"``, ``"poisson"``, or ``"cut"`` and ``"cut:8"`` for numbers to
        be cut into so many intervals at their quantiles. States are categorical and numbers normal if nothing is said.
    prior
        Of the columns: an object for all columns of its family, a name (``"evidence"``, ``"pooled:1"``, ``"laplace"``,
        ``"jeffreys"``, ``"m:2"``, ``"mle"``), or a dict of these by column; one :class:`Pooled` case when not given.
    class_prior
        A Dirichlet, a rule or a name for the class shares; one case of each class when not given.
    estimate
        ``"mean"`` plugs in the posterior means; ``"integrated"`` integrates parameters out, so that a number is
        Student's t and a count negative binomial: wider where few rows were seen.
    weights
        How often each row counts, or the column that says so.
    shares
        Soft labels: for every class how much of each row belongs to it, in place of a column of labels.
    unlabelled
        What rows without a label do: add by EM what is expected of them, or nothing.
    like
        A model whose columns, families and priors are taken, with none of its cases; it needs no more than `data`.
    max_states, left_out
        As in :func:`~bayeslearn.as_table`.
    tol, max_iter, progress
        Of :func:`bayeslearn.em.fit`.
    """
    if like is not None:
        return update(empty(like), data, weights=weights)
    validation.choice("unlabelled", unlabelled, ["em", "drop"])
    if target is None:
        raise ParameterError("which column is the class?", hint="name it with `target`")
    table = _table(data, target if shares is None else None, columns, families, weights, max_states, left_out)
    names = [name for name in table.schema.names if name != target]
    for what, given in (("families", families), ("prior", prior)):
        require_columns(what, given, names)
    kinds = told_families(families or {})
    parts = [column_of(table.schema[name], kinds.get(name), prior) for name in names]
    rows = blocks.of_table(table, parts)
    classes = table.schema[target] if shares is None else Discrete(target, tuple(shares))
    assert isinstance(classes, Discrete)
    frame = framed(classes, parts, class_prior, estimate)
    w = None if table.weights is None else np.asarray(table.weights)
    if shares is not None:
        return with_shares(frame, rows, _soft(shares, rows.n), w)
    labels = table.code(target).astype(np.int32)
    return labelled(frame, rows, labels, w, unlabelled=unlabelled, tol=tol, max_iter=max_iter, progress=progress)


def update(model: NaiveBayes, data: Any, *, weights: Any = None) -> NaiveBayes:
    """The model with more rows; one without a label adds what the model expects of it."""
    discrete = [c.name for c in model.columns if c.family == "categorical" and c.variable.cuts is None]  # type: ignore[union-attr]
    found = as_table(
        data,
        columns=[model.target.name, *discrete],
        discrete=[model.target.name, *discrete],
        allow_constant=True,
        max_states=1 << 20,
        weights=None if isinstance(weights, str) else weights,
    )
    known = {v.name: v for v in (model.target, *(c.variable for c in model.columns))}
    grown = model.grown({v.name: new_states(known[v.name], v.states) for v in found.schema.discrete})
    schema = Schema([grown.target, *(c.variable for c in grown.columns)])
    table = as_table(data, schema=schema, weights=weights)
    w = None if table.weights is None else np.asarray(table.weights)
    rows = blocks.of_table(table, grown.columns)
    return added(grown, rows, table.code(model.target.name).astype(np.int32), w)


### parts that the estimator uses too


def column_of(variable: Any, family: str | None, prior: Any) -> Column:
    """A column with its family, as told or by its kind, and its prior."""
    kind = family or ("categorical" if isinstance(variable, Discrete) else "normal")
    validation.choice(f"families[{variable.name!r}]", kind, FAMILIES)
    return Column(variable, kind, prior_of(prior, variable.name, kind))


def framed(target: Discrete, columns: list[Column], class_prior: Any, estimate: str = "mean") -> NaiveBayes:
    """A model that has seen nothing."""
    statistics = {target.name: Counts.zero((target.size,)), **zero(columns, target.size)}
    return NaiveBayes(target, tuple(columns), class_prior_of(class_prior), Bundle(statistics), estimate)


def empty(model: NaiveBayes) -> NaiveBayes:
    """The same model with none of its cases."""
    return replace(model, statistics=framed(model.target, list(model.columns), None).statistics)


def labelled(
    frame: NaiveBayes, rows: Rows, labels: NDArray[np.int32], weights: NDArray[np.float64] | None, *,
    unlabelled: str = "em", **climb: Any,
) -> NaiveBayes:  # fmt: skip
    """A model of rows of which some, or all, have a label; the frame has seen nothing yet."""
    hidden = np.flatnonzero(labels < 0)
    if len(hidden) == len(labels):
        raise DataError(
            f"no row has a label: every cell of {frame.target.name!r} is missing", hint="label at least some rows"
        )
    model = replace(frame, statistics=hard(frame, rows, labels, weights))
    if unlabelled == "drop" or not len(hidden):
        return model
    return climbed(model, rows, labels, weights, rows.take(hidden), at(weights, hidden), **climb)


def added(model: NaiveBayes, rows: Rows, labels: NDArray[np.int32], weights: NDArray[np.float64] | None) -> NaiveBayes:
    """A model with more rows; those without a label count as the model with the others expects."""
    more = replace(model, statistics=model.statistics + hard(model, rows, labels, weights))
    hidden = np.flatnonzero(labels < 0)
    if not len(hidden):
        return more
    if not more.cases:
        raise DataError("no row has a label, and the model has seen none before", hint="label at least some rows")
    asked = rows.take(hidden)
    return with_shares(more, asked, more.predict_proba(asked), at(weights, hidden))


def hard(model: NaiveBayes, rows: Rows, labels: NDArray[np.int32], weights: NDArray[np.float64] | None) -> Bundle:
    """The statistics of rows that have a label."""
    counts = Counts(count_labels(labels, model.target.size, weights))
    return Bundle({model.target.name: counts, **collect(model.columns, rows, labels, model.target.size, weights)})


### reading


def _table(
    data: Any, target: str | None, columns: Any, families: Mapping[str, str] | None, weights: Any, max_states: int,
    left_out: dict[str, str] | None,
) -> Table:  # fmt: skip
    if columns is not None:
        columns = [columns] if isinstance(columns, str) else list(columns)
        columns = [*columns, *([target] if target and target not in columns else [])]
    table = read_columns(
        data, families, also_discrete=[target] if target else [], columns=columns, weights=weights,
        max_states=max_states, left_out=left_out,
    )  # fmt: skip
    if target is not None and target not in table.schema:
        why = (left_out or {}).get(target)
        raise UnknownColumnError(
            why or f"there is no column {target!r}", hint=f"the columns are {listed(table.schema.names)}"
        )
    return table


def read_columns(
    data: Any, families: Mapping[str, str] | None, *, also_discrete: Iterable[str] = (),
    also_numeric: Iterable[str] = (), **options: Any,
) -> Table:  # fmt: skip
    """A table whose columns are of the kinds that their families need, cut into intervals where that is said."""
    told = dict(families or {})
    kinds = told_families(told)
    discrete = [name for name, family in told.items() if family == "categorical"] + list(also_discrete)
    numeric = [name for name, family in told.items() if family != "categorical"] + list(also_numeric)
    if isinstance(data, Table):  # what is so already needs no new codes
        discrete = [n for n in discrete if n not in data.schema or not isinstance(data.schema[n], Discrete)]
        numeric = [n for n in numeric if n not in data.schema or isinstance(data.schema[n], Discrete)]
    table = as_table(data, discrete=discrete, numeric=numeric, allow_constant=True, **options)
    cut = [name for name in told if kinds[name] == "categorical" != told[name]]
    for name in cut:
        bins = told[name].partition(":")[2]
        table = table.discretise([name], bins=int(bins) if bins else None)
    return table


def told_families(families: Mapping[str, str]) -> dict[str, str]:
    """The family of each column; intervals are states."""
    found = {}
    for name, family in families.items():
        cut = isinstance(family, str) and re.fullmatch(r"cut(:[1-9][0-9]{0,4})?", family)
        found[name] = "categorical" if cut else validation.choice(f"families[{name!r}]", family, [*FAMILIES, "cut"])
    return found


def _soft(shares: Mapping[Any, Any], n: int) -> NDArray[np.float64]:
    if not isinstance(shares, Mapping) or not shares:
        raise ParameterError("`shares` must map classes to a number for each row", hint='shares={"yes": [0.8, 1.0]}')
    found = [
        validation.not_negative("shares", validation.float_array("shares", s), error=WeightError)
        for s in shares.values()
    ]
    if any(s.shape != (n,) for s in found):
        raise ShapeError(f"expected {n} shares for each class, got shapes {[s.shape for s in found]}")
    return np.stack(found, axis=1)
