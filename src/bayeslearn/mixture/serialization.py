"""Mixtures as documents; see :mod:`bayeslearn.codec`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.components.product import plain_component, read_component
from bayeslearn.distributions import Counts, Dirichlet, StatisticsBundle
from bayeslearn.mixture.model import SHARES, MixtureModel, MixturePrior
from bayeslearn.model_values import ARRAY, plain, plain_lineage

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
