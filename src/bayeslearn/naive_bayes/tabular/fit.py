"""Learning: one pass over the rows that have a label, and EM over those that have none.

labeled      n_c += w                       θ = estimate(prior + statistics)
soft label    n_c += w · share_c
no label      n_c += w · P(c | row, θ)        again and again, until ln P(D|θ) + ln P(θ) climbs no more
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.components.component import Component
from bayeslearn.components.product import Product
from bayeslearn.distributions import Counts, StatisticsBundle
from bayeslearn.distributions.distribution import by_name, column_names
from bayeslearn.distributions.lineage import after_update, started
from bayeslearn.distributions.priors import PooledPrior, dirichlet_prior, parse_prior
from bayeslearn.errors import MissingValuesError, ParameterError, ShapeError, UnknownColumnError, WeightError, listed
from bayeslearn.naive_bayes.tabular import row_blocks as blocks
from bayeslearn.naive_bayes.tabular.label_statistics import collected, labeled, with_shares
from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel
from bayeslearn.naive_bayes.tabular.row_blocks import Cases, SourceCases, all_cases
from bayeslearn.sources import as_source, with_options
from bayeslearn.tables import DiscreteVariable, Schema, Source, Table
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.progress import ProgressCallback
    from bayeslearn.tables.markers import Markers


def learn(
    data: Any,
    target: str | None = None,
    *,
    columns: Iterable[str] | None = None,
    families: Mapping[str, str] | None = None,
    prior: Any = "pooled:1",
    class_prior: Any = "laplace",
    estimate: Literal["mean", "integrated"] = "mean",
    sample_weight: Any = None,
    shares: Mapping[Any, Any] | None = None,
    unlabeled: Literal["em", "drop"] = "em",
    like: NaiveBayesModel | None = None,
    max_states: int = 255,
    left_out: dict[str, str] | None = None,
    tol: float = 1e-4,
    max_iter: int = 200,
    progress: ProgressCallback | None = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> NaiveBayesModel:
    """A naive Bayes model of the column `target`; the parameters are those of :meth:`.NaiveBayesModel.learn`."""
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    if like is not None:
        return update(empty(like), data, sample_weight=sample_weight)
    unlabeled = validation.choice("unlabeled", unlabeled, ["em", "drop"])
    if target is None:
        raise ParameterError("which column is the class?", hint="name it with `target`")
    source = _source(data, target if shares is None else None, columns, families, sample_weight, max_states, left_out)
    names = [name for name in source.schema.names if name != target]
    for what, given in (("families", families), ("prior", prior)):
        require_columns(what, given, names)
    kinds = told_families(families or {})
    parts = [column_of(source.schema[name], kinds.get(name), prior) for name in names]
    classes = source.schema[target] if shares is None else DiscreteVariable(target, tuple(shares))
    assert isinstance(classes, DiscreteVariable)
    frame = framed(classes, parts, class_prior, estimate)
    if shares is not None:
        return with_shares(frame, *_soft(shares, source, parts))
    cases = all_cases(source, parts, target)
    return labeled(frame, cases, unlabeled=unlabeled, tol=tol, max_iter=max_iter, progress=progress)


def update(model: NaiveBayesModel, data: Any, *, sample_weight: Any = None) -> NaiveBayesModel:
    """The model with more rows; one without a label adds what the model expects of it."""
    model = replace(model, lineage=started(model.lineage, model.statistics))  # named before it gains states
    grown, cases = more_cases(model, data, model.target.name, sample_weight)
    more = collected(grown, cases)
    lineage = after_update(grown.lineage, grown.statistics, more)
    return replace(grown, statistics=grown.statistics + more, lineage=lineage)


def more_cases(
    model: NaiveBayesModel, data: Any, target: str, sample_weight: Any
) -> tuple[NaiveBayesModel, Cases | SourceCases]:
    """The model with room for the states of more data, and their cases."""
    discrete = [c.name for c in model.columns if isinstance(c.variable, DiscreteVariable) and c.variable.cuts is None]
    found = as_source(
        data,
        columns=[target, *discrete],
        discrete=[target, *discrete],
        allow_constant=True,
        max_states=1 << 20,
        sample_weight=None if isinstance(sample_weight, str) else sample_weight,
    )
    known = {target: model.target, **{c.name: c.variable for c in model.columns}}
    fresh = {v.name: new_states(known[v.name], v.states) for v in found.schema.discrete}
    grown = model.grown({model.target.name if name == target else name: states for name, states in fresh.items()})
    schema = Schema([DiscreteVariable(target, grown.target.states), *(c.variable for c in grown.columns)])
    return grown, all_cases(as_source(data, schema=schema, sample_weight=sample_weight), grown.columns, target)


### parts that the estimator uses too


def column_of(variable: Any, family: str | None, prior: Any) -> Component:
    """A column with its family, as told or by its kind, and its prior."""
    kind = family or ("categorical" if isinstance(variable, DiscreteVariable) else "gaussian")
    kind = validation.choice(f"families[{variable.name!r}]", kind, column_names())
    distribution = by_name(kind).over([variable])
    return Component((variable,), distribution, prior_of(prior, variable.name, distribution))


def framed(
    target: DiscreteVariable, columns: list[Component], class_prior: Any, estimate: str = "mean"
) -> NaiveBayesModel:
    """A model that has seen nothing."""
    statistics = {target.name: Counts.zero((target.size,)), **Product(tuple(columns)).total([], target.size)}
    return NaiveBayesModel(target, tuple(columns), dirichlet_prior(class_prior), StatisticsBundle(statistics), estimate)


def empty(model: NaiveBayesModel) -> NaiveBayesModel:
    """The same model with none of its cases."""
    return replace(model, statistics=framed(model.target, list(model.columns), None).statistics, lineage=None)


### priors, and states that are new

#: The prior of columns for which nobody says otherwise.
DEFAULT = "pooled:1"


def prior_of(prior: Any, name: str, distribution: Any) -> Any:
    """The prior of one column: its own, or one for all that take it; the others have pooled:1."""
    if isinstance(prior, Mapping):
        return prior_of(prior.get(name, DEFAULT), name, distribution)
    if not (prior is None or isinstance(prior, str)) and not distribution.takes(prior) and is_prior(prior):
        return PooledPrior()  # one for columns of another distribution
    try:
        return parse_prior(prior, distribution)
    except ParameterError as error:
        raise ParameterError(f"column {name!r}: {error.message}", hint=error.hint, column=name) from None


def is_prior(prior: Any) -> bool:
    """Whether some distribution takes this."""
    kinds = (by_name(name) for name in column_names())
    return isinstance(prior, tuple(kind for cls in kinds for kind in (cls.prior_type, *cls.prior_rules)))


def require_columns(what: str, given: Any, names: list[str]) -> None:
    """A mapping speaks of columns that are there."""
    if isinstance(given, Mapping):
        try:
            require_known(list(given), names)
        except ParameterError as error:
            raise type(error)(f"`{what}`: {error.message}", hint=error.hint, columns=listed(given)) from None


def new_states(variable: Any, states: Iterable[Any]) -> tuple[Any, ...]:
    """The states that a variable does not know; 1 and '1' are the same where data came by different ways."""
    from bayeslearn.tables.state_encoding import UNKNOWN, StateLookup  # noqa: PLC0415 - Arrow loads when data come in

    look = StateLookup(variable)
    return tuple(state for state in states if look(state) == UNKNOWN)


### reading


def _source(
    data: Any, target: str | None, columns: Any, families: Mapping[str, str] | None, sample_weight: Any,
    max_states: int,
    left_out: dict[str, str] | None,
) -> Source:  # fmt: skip
    if columns is not None:
        columns = [columns] if isinstance(columns, str) else list(columns)
        columns = [*columns, *([target] if target and target not in columns else [])]
    from bayeslearn.sources.usability import dropping, warn_dropped  # noqa: PLC0415 - plain arrays drop no column

    gone = dropping(data, left_out, columns)
    source: Source = read_columns(
        data, families, also_discrete=[target] if target else [], columns=columns, sample_weight=sample_weight,
        max_states=max_states, left_out=gone,
    )  # fmt: skip
    if target is not None and target not in source.schema:
        why = (gone or {}).get(target)
        if why and left_out is None:
            raise MissingValuesError(why)
        raise UnknownColumnError(
            why or f"there is no column {target!r}", hint=f"the columns are {listed(source.schema.names)}"
        )
    warn_dropped(gone)
    return source


def read_columns(
    data: Any, families: Mapping[str, str] | None, *, also_discrete: Iterable[str] = (),
    also_numeric: Iterable[str] = (), **options: Any,
) -> Any:  # fmt: skip
    """A table or a source whose columns are of the kinds that their families need, cut into intervals where told."""
    from bayeslearn.sources.usability import named_columns, without_identifiers  # noqa: PLC0415 - as above

    kinds = told_families(families or {})
    told = {name: family for name, family in (families or {}).items() if kinds[name] == "categorical"}
    told = kinds | {name: family for name, family in told.items() if validation.as_word(family) != "categorical"}
    discrete = [name for name, family in told.items() if family == "categorical"] + list(also_discrete)
    numeric = [name for name, family in told.items() if family != "categorical"] + list(also_numeric)
    if isinstance(data, Source):  # what is so already needs no new codes
        discrete = [n for n in discrete if n not in data.schema or not isinstance(data.schema[n], DiscreteVariable)]
        numeric = [n for n in numeric if n not in data.schema or isinstance(data.schema[n], DiscreteVariable)]
    source = as_source(data, discrete=discrete, numeric=numeric, allow_constant=True, **options)
    keep = [*told, *also_discrete, *also_numeric, *named_columns(data)]
    source = without_identifiers(source, options.get("left_out"), keep=keep)
    cut = [name for name in told if kinds[name] == "categorical" != told[name]]
    for family, names in itertools.groupby(sorted(cut, key=told.__getitem__), told.__getitem__):
        from bayeslearn.sources import discretize  # noqa: PLC0415 - few ask for it

        bins = family.partition(":")[2]
        source = discretize(source, list(names), n_bins=int(bins) if bins else None)
    return source


def told_families(families: Mapping[str, str]) -> dict[str, str]:
    """The family of each column; intervals are states."""
    found = {}
    for name, family in families.items():
        cut = isinstance(family, str) and re.fullmatch(r"cut(:[1-9][0-9]{0,4})?", family)
        found[name] = (
            "categorical" if cut else validation.choice(f"families[{name!r}]", family, [*column_names(), "cut"])
        )
    return found


def _soft(shares: Mapping[Any, Any], source: Source, columns: list[Component]) -> tuple[Cases, NDArray[np.float64]]:
    if not isinstance(shares, Mapping) or not shares:
        raise ParameterError("`shares` must map classes to a number for each row", hint='shares={"yes": [0.8, 1.0]}')
    if not isinstance(source, Table):
        raise ParameterError(
            "soft labels of each row need the rows in memory", hint="use source.table(), or a column of labels"
        )
    found = [
        validation.not_negative("shares", validation.float_array("shares", s), error=WeightError)
        for s in shares.values()
    ]
    n = source.n_rows
    if any(s.shape != (n,) for s in found):
        raise ShapeError(f"expected {n} shares for each class, got shapes {[s.shape for s in found]}")
    w = None if source.sample_weight is None else np.asarray(source.sample_weight)
    return Cases(blocks.of_table(source, columns), np.zeros(n, np.int32), w), np.stack(found, axis=1)
