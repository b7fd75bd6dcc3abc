"""Mixtures as documents; see :mod:`bayeslearn.codec`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.components.component import Component
from bayeslearn.distributions import Counts, Dirichlet, StatisticsBundle
from bayeslearn.distributions.distribution import by_name
from bayeslearn.mixture.model import SHARES, MixtureModel, MixturePrior
from bayeslearn.model_values import ARRAY, NUMBER, field_names, plain, plain_lineage

if TYPE_CHECKING:
    from bayeslearn.model_values import Reader


def document_of(model: MixtureModel) -> dict[str, Any]:
    """The model as plain values."""
    known = model.statistics
    shares = {"prior": plain(model.prior.shares), "statistics": None if known is None else plain(known[SHARES])}
    parts = zip(model.parts, model.prior.parts, model.parameters, strict=True)
    entries = [plain_component(c, p, θ, None if known is None else known[c.name]) for c, p, θ in parts]
    lineage = plain_lineage(model.lineage)
    return {"equal": model.equal_weights, "weights": model.weights, "shares": shares, "parts": entries, **lineage}


def model_of(reader: Reader, document: dict[str, Any]) -> MixtureModel:
    """The model of a document, all of which is checked."""
    keys: dict[str, Any] = {"equal": bool, "weights": ARRAY, "shares": dict, "parts": [dict]}
    equal, weights, shares, entries = reader.model(document, keys)
    w = reader.numbers(weights, "weights")
    if w.ndim != 1 or not w.size or (w < 0).any() or abs(w.sum() - 1) > 1e-6:
        reader.wrong("the weights do not sum to 1")
    if not entries:
        reader.wrong("it has no parts")
    prior, statistics = reader.entries(shares, {"prior": dict, "statistics": (dict, type(None))}, "the shares")
    whole = statistics is not None
    read = [read_component(reader, entry, len(w), whole=whole) for entry in entries]
    known = {SHARES: reader.statistics(statistics, Counts.zero(w.shape))} if whole else {}
    known |= {part.name: found for part, _, _, found in read}
    if whole and len(known) != len(read) + 1:
        reader.wrong("two parts have the same columns")
    before = reader.statistics(prior, Dirichlet(np.zeros(w.shape)))
    bundle = StatisticsBundle(known) if whole else None
    priors = MixturePrior(before, tuple(p for _, p, _, _ in read))
    return MixtureModel(
        tuple(part for part, _, _, _ in read), w, tuple(θ for _, _, θ, _ in read), priors, bundle, equal,
        reader.lineage(document, bundle),
    )  # fmt: skip


### components, with their priors, parameters and statistics


def plain_component(component: Component, prior: Any, parameters: Any, statistics: Any) -> dict[str, Any]:
    """A component as plain values; statistics may be None."""
    distribution = component.distribution
    return {
        "columns": [column.to_dict() for column in component.columns],
        "family": distribution.name,
        "covariance": getattr(distribution, "covariance", None),
        "variance": getattr(distribution, "variance", None),
        "prior": plain(prior),
        "parameters": [np.asarray(p) for p in (parameters if isinstance(parameters, tuple) else (parameters,))],
        "statistics": None if statistics is None else plain(statistics),
    }


def read_component(reader: Reader, entry: Any, k: int, *, whole: bool) -> tuple[Component, Any, Any, Any]:
    """A component of a document, its prior, its parameters and its statistics; of any registered distribution."""
    keys: dict[str, Any] = {
        "columns": [dict], "family": str, "covariance": (str, type(None)), "variance": (*NUMBER, type(None)),
        "prior": dict, "parameters": list, "statistics": (dict, type(None)),
    }  # fmt: skip
    columns, family, covariance, variance, prior, parameters, statistics = reader.entries(entry, keys, "a part")
    variables: Any = tuple(reader.variable(column) for column in columns)
    covariance = "diag" if covariance == "diagonal" else covariance  # as files of earlier versions have it
    options = {name: v for name, v in (("covariance", covariance), ("variance", variance)) if v is not None}
    kind = by_name(family)
    if (statistics is None) is whole or not set(options) <= set(field_names(kind)):
        reader.wrong(f"{entry!r:.80} is no part")
    if not kind.accepts(variables):
        reader.wrong(f"the columns of a {family} part are {columns!r:.80}")
    part = Component(variables, replace(kind.over(variables), **options))
    prior_type = type(part.distribution.none())
    names = field_names(prior_type)
    values = reader.entries(prior, dict.fromkeys(names, ARRAY), "a prior")
    read = prior_type(*(reader.numbers(v, name) for v, name in zip(values, names, strict=True)))
    part.distribution.shaped(read, k)  # the prior fits
    found = reader.statistics(statistics, part.distribution.zero((k,))) if whole else None
    return part, read, reader.parameters(parameters, part.distribution, part.columns, k), found
