"""Which variant of naive Bayes predicts held-out documents best: weightings, likelihoods and their pool.

    counts         multinomial (prior by marginal likelihood) · complement (α = 1)        counts
    normalized     multinomial (one α by marginal likelihood) · complement (α = 0.3)      documents of length 1
    tf_idf         the same, and the weights of words times their inverse frequency

Each row is calibrated on held-out documents; the one with the smallest log loss is the model. After EM the documents
without labels stay in the sums, though their shares have seen the held-out labels: the log loss is then optimistic.
The constants were chosen within the training articles of 20 Newsgroups, by date, and random parts of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError
from bayeslearn.naive_bayes.text.held_out import MIN_DOCUMENTS, held_out_folds
from bayeslearn.naive_bayes.text.model import LIKELIHOODS, TextModel
from bayeslearn.naive_bayes.text.model_weights import member_weights
from bayeslearn.naive_bayes.text.prior_selection import pick_prior, symmetric_prior
from bayeslearn.naive_bayes.text.probabilities import log_shares
from bayeslearn.naive_bayes.text.text_calibration import Pooled, PoolMember, TextCalibration, pool
from bayeslearn.naive_bayes.text.word_weights import WEIGHTINGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.naive_bayes.text.held_out import Sample
    from bayeslearn.naive_bayes.text.prior_selection import Chosen
    from bayeslearn.naive_bayes.text.sufficient_statistics import TextStatistics
    from bayeslearn.naive_bayes.text.tokenizer import Tokenizer

#: Words of a normalized document for the prior of the multinomial: times its x; α of the complement.
DOCUMENT_SCALE, COMPLEMENT_ALPHA, COUNTS_COMPLEMENT_ALPHA = 3.0, 0.3, 1.0


@dataclass(frozen=True)
class Variant:
    """A variant and how it predicts held-out documents, calibrated."""

    weighting: str
    likelihoods: tuple[str, ...]
    accuracy: float
    log_loss: float


@dataclass(frozen=True, eq=False)
class Selection:
    """The variants that were compared, and the calibration of the best one."""

    variants: tuple[Variant, ...]
    calibration: TextCalibration
    #: The number of documents that judged.
    n_held_out: int


@dataclass(frozen=True)
class TextSettings:
    """The settings of text models: one value for function, estimator and command line."""

    likelihood: str = "auto"
    weighting: str = "auto"
    weight_norm: bool = False
    calibrate: bool | str = "auto"
    prior: Any = "evidence"
    class_prior: Any = 0.0

    def __post_init__(self) -> None:
        for name, options in (("likelihood", ("auto", *LIKELIHOODS)), ("weighting", ("auto", *WEIGHTINGS))):
            object.__setattr__(self, name, validation.choice(name, getattr(self, name), options))
        if not isinstance(self.calibrate, bool):
            validation.choice("calibrate", self.calibrate, ["auto"])
        if self.likelihood == "bernoulli" and (self.calibrate is True or self.weighting not in {"auto", "counts"}):
            raise ParameterError(
                "the Bernoulli likelihood has no weighting and no calibration",
                hint="choose likelihood='multinomial' or 'complement'",
            )

    @property
    def selects(self) -> bool:
        """Whether held-out documents select the variant: nothing else is given that would make it a model."""
        return self.likelihood == "auto" and self.prior == "evidence" and self.calibrate is not False

    @property
    def judges(self) -> bool:
        """Whether held-out documents are needed."""
        return self.selects or self.calibrate is True

    @property
    def tables(self) -> dict[str, bool]:
        """The tables of counts that are collected on request."""
        weighting = self.weighting if self.weighting != "auto" or self.selects else "counts"
        return {"present": self.likelihood == "bernoulli", "normalized": weighting != "counts"}

    @property
    def is_generative(self) -> bool:
        """Whether the model without calibration is a likelihood of documents, which EM needs."""
        return self.weighting in {"auto", "counts"} and not self.weight_norm

    @property
    def generative(self) -> TextSettings:
        """The settings by which EM finds the classes of documents without a label."""
        return replace(self, weighting="counts", weight_norm=False)

    def model(self, statistics: TextStatistics, tokenizer: Tokenizer) -> tuple[TextModel, Chosen | None]:
        """The model without calibration, and how its prior was selected."""
        likelihood = "multinomial" if self.likelihood == "auto" else self.likelihood
        weighting = "counts" if self.weighting == "auto" else self.weighting
        if weighting == "counts":
            alpha, chosen = pick_prior(statistics, self.prior, likelihood)
        elif self.prior == "evidence":
            chosen = None
            alpha = COMPLEMENT_ALPHA if likelihood == "complement" else normalized_alpha(statistics)
        else:
            assert statistics.normalized is not None
            alpha, chosen = pick_prior(replace(statistics, words=statistics.normalized), self.prior, likelihood)
        model = TextModel(
            statistics, tokenizer, likelihood, alpha, self.class_prior,  # type: ignore[arg-type]
            weighting=weighting, weight_norm=self.weight_norm,  # type: ignore[arg-type]
        )  # fmt: skip
        return model, chosen

    def judged(self, model: TextModel, sample: Callable[[], Sample]) -> tuple[TextModel, Selection | None]:
        """The variant that predicts held-out documents best, calibrated; the model itself if there are few."""
        if not self.judges or len(model.classes) < 2 or np.count_nonzero(model.statistics.documents > 0) < 2:
            return model, None
        documents = sample()
        if documents.sample_weight.sum() < MIN_DOCUMENTS:
            return model, None
        return select(model, documents, self)


def normalized_alpha(statistics: TextStatistics) -> float:
    """α of the multinomial of normalized documents, by marginal likelihood."""
    return symmetric_prior(statistics.normalized, DOCUMENT_SCALE)  # type: ignore[arg-type]


def candidates(model: TextModel, settings: TextSettings) -> dict[str, list[tuple[str, Any]]]:
    """The likelihoods with their α, by weighting; None is the prior of the model."""
    if not settings.selects:
        return {model.weighting: [(model.likelihood, None)]}
    wanted = WEIGHTINGS if settings.weighting == "auto" else (settings.weighting,)
    alpha = normalized_alpha(model.statistics) if set(wanted) != {"counts"} else None
    of_counts = [("multinomial", None), ("complement", COUNTS_COMPLEMENT_ALPHA)]
    others = [("multinomial", alpha), ("complement", COMPLEMENT_ALPHA)]
    return {weighting: of_counts if weighting == "counts" else others for weighting in wanted}


def select(model: TextModel, sample: Sample, settings: TextSettings) -> tuple[TextModel, Selection | None]:
    """The best variant on held-out documents."""
    sample, tried = sample.ordered(), candidates(model, settings)
    own = model.prior_alphas
    scores: dict[str, list[list[Any]]] = {name: [[] for _ in members] for name, members in tried.items()}
    norms = weight_norms(model, tried) if model.weight_norm else {}
    rows, log_classes = [], []
    for fold in held_out_folds(model.statistics, sample):
        rows.append(fold.rows)
        log_p = log_shares(fold.documents, model.class_prior)
        log_classes.append(np.broadcast_to(np.maximum(log_p, LEAST), (len(fold.rows), len(log_p))))
        for name, members in tried.items():
            for found, (likelihood, alpha) in zip(scores[name], members, strict=True):
                norm = norms.get((name, likelihood), 1.0)
                found.append(fold.scores(likelihood, name, own if alpha is None else alpha) / norm)
    order = np.concatenate(rows)
    shares, weights, classes = sample.shares[order], sample.sample_weight[order], model.classes
    if weights.sum() < MIN_DOCUMENTS:
        return model, None
    pooled: dict[str, Pooled] = {
        name: pool([np.concatenate(part) for part in found], np.concatenate(log_classes), shares, weights, classes)
        for name, found in scores.items()
    }
    best = min(pooled, key=lambda name: pooled[name].metrics.log_loss)
    chosen = tuple(
        PoolMember(likelihood, float(exponent), alpha)
        for (likelihood, alpha), exponent in zip(tried[best], pooled[best].exponents, strict=True)
    )
    offsets = dict(zip(classes, pooled[best].offsets.tolist(), strict=True))
    calibration = TextCalibration(chosen, offsets, float(weights.sum()))
    variants = tuple(
        Variant(name, tuple(likelihood for likelihood, _ in tried[name]), p.metrics.accuracy, p.metrics.log_loss)
        for name, p in pooled.items()
    )
    kind: Any = chosen[0].likelihood if len(chosen) == 1 else "pooled"
    judged: TextModel = replace(model, likelihood=kind, weighting=best, calibration=calibration)  # type: ignore[arg-type]
    return judged, Selection(variants, calibration, len(order))


def weight_norms(model: TextModel, tried: dict[str, list[tuple[str, Any]]]) -> dict[tuple[str, str], Any]:
    """Σ_w |weight| of each class, by weighting and likelihood."""
    found: dict[tuple[str, str], Any] = {}
    for name, members in tried.items():
        plain = replace(model, weighting=name, weight_norm=False)  # type: ignore[arg-type]
        for likelihood, alpha in members:
            weights = member_weights(plain, likelihood, model.prior_alphas if alpha is None else alpha)[0]
            found[name, likelihood] = np.maximum(np.abs(weights).sum(axis=0), np.finfo(float).tiny)
    return found


#: ln P of a class that no other document has.
LEAST = -700.0
