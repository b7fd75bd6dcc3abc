"""The weights of a text model: one matrix, whatever its likelihood, weighting and calibration are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import MismatchError, ParameterError
from bayeslearn.naive_bayes.text.prior_selection import pick_prior
from bayeslearn.naive_bayes.text.word_weights import inverse_frequency, presence_logs, word_logs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.text.model import TextModel

    Floats = NDArray[np.float64]


def model_weights(model: TextModel) -> tuple[Floats, Floats]:
    """Σ_v β_v W_v (V, K), and what every document begins with: the offsets of the classes, (K,)."""
    if model.calibration is None:
        return member_weights(model, model.likelihood, model.prior_alphas)
    begin = model.calibration.offsets(model.classes)
    weights = np.zeros((len(model.vocabulary), len(model.classes)))
    for member in model.calibration.members:
        alpha = model.prior_alphas if member.prior is None else member.prior
        own, constant = member_weights(model, member.likelihood, alpha)
        weights += np.multiply(own, member.exponent, out=own)
        begin = begin + member.exponent * constant
    return weights, begin


def member_weights(model: TextModel, likelihood: str, alpha: Any) -> tuple[Floats, Floats]:
    """The weights of the words under a likelihood (V, K), and what every document begins with, (K,)."""
    known = model.statistics
    if likelihood == "bernoulli":
        assert known.present is not None
        return presence_logs(known.present.T, known.documents, alpha)
    table = known.words if model.weighting == "counts" else known.normalized
    assert table is not None
    words = table.T
    strength = alpha.sum() if np.ndim(alpha) else alpha * len(words)
    logs = word_logs(likelihood, words, words.sum(axis=0), alpha, strength)
    if model.weighting == "tf_idf":
        logs *= inverse_frequency(words)[:, None]
    if model.weight_norm:
        size = np.abs(logs).sum(axis=0)
        logs /= np.where(size > 0, size, 1.0)
    return logs, np.zeros(len(model.classes))


def generative(model: TextModel) -> TextModel:
    """The model whose classes generate documents word by word: of the same counts, without calibration."""
    if model.calibration is None and model.weighting == "counts" and not model.weight_norm:
        if model.likelihood == "complement":
            raise ParameterError("the complement likelihood is a score and has no probability of documents")
        return model
    alpha = pick_prior(model.statistics, "evidence", "multinomial")[0]
    plain: dict[str, Any] = {"weighting": "counts", "weight_norm": False, "calibration": None}
    return replace(model, likelihood="multinomial", prior=alpha, **plain)


### models that add


def require_same(one: TextModel, other: TextModel) -> None:
    """Raise an error unless both models read texts in the same way."""
    are_alike = one.likelihood == other.likelihood or (
        judged(one) + judged(other) > 0 and all(m.statistics.normalized is not None for m in (one, other))
    )
    if one.tokenizer != other.tokenizer or not are_alike:
        raise MismatchError(
            f"models differ in their tokens or likelihood: {one.tokenizer}, {one.likelihood} and {other.tokenizer}, "
            f"{other.likelihood}",
            differs="tokenizer",
        )


def with_more_evidence(one: TextModel, other: TextModel) -> TextModel:
    """The model whose calibration is based on more documents; the first of equal ones."""
    return other if judged(other) > judged(one) else one


def judged(model: TextModel) -> float:
    """The number of held-out documents that the calibration is based on."""
    return 0.0 if model.calibration is None else model.calibration.n_documents
