"""What a hypothesis says of a case, in three forms: each turns cases into ln P(case|h), one column per hypothesis.

    OutcomeTable    a case is one of a few named outcomes, and P(outcome|h) is a table
    Labeling       a case is (x, label); h(x) is a label, probabilities of labels, or a fitted classifier
    CaseFunctions   a case is anything; h(case) is its likelihood

Labels may be wrong at a rate η: the label written down is the true one with 1 − η, and any other alike,

    P(label|h, x) = (1 − η) P(label|h(x)) + η/(k − 1) (1 − P(label|h(x))),      η = 0: no noise

"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, ProbabilityError, ShapeError, UnknownStateError, listed

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Likelihood(Protocol):
    """The part of a space that knows what a case is."""

    def logs(self, cases: Sequence[Any]) -> NDArray[np.float64]:
        """ln P(case|h), shape (n, size)."""

    def outcomes_at(self, x: Any, *, noisy: bool) -> tuple[Sequence[Any], NDArray[np.float64]]:
        """What may be seen next (at `x`), and ln P(outcome|h) of shape (size, k)."""


### outcomes


@dataclass(frozen=True, eq=False)
class OutcomeTable:
    """Named outcomes with a row of probabilities for each hypothesis."""

    outcomes: tuple[Hashable, ...]
    p: NDArray[np.float64]

    def logs(self, cases: Sequence[Any]) -> NDArray[np.float64]:
        """The columns of the outcomes seen."""
        return _log(self.p.T[codes_of(cases, self.outcomes, what="outcome")])

    def outcomes_at(self, x: Any, *, noisy: bool) -> tuple[Sequence[Any], NDArray[np.float64]]:  # noqa: ARG002 - a table has no noise
        """Every outcome; there is no `x`."""
        if x is not None:
            raise ParameterError(f"outcomes of a table do not depend on anything, got x = {x!r:.60}")
        return self.outcomes, _log(self.p)


### labeled cases


@dataclass(frozen=True, eq=False)
class Labeling:
    """Hypotheses that label `x`: functions, or classifiers with `predict_proba` or `predict`."""

    hypotheses: tuple[Any, ...]
    labels: tuple[Hashable, ...]
    noise: float = 0.0

    def __post_init__(self) -> None:
        if not self.labels or len(set(self.labels)) < len(self.labels):
            raise ParameterError(f"`labels` must be different and at least one, got {listed(self.labels)}")
        noise_rate(self.noise, len(self.labels))

    def log_probabilities(self, X: Any, *, noisy: bool) -> NDArray[np.float64]:
        """ln P(label|h, x), shape (n, size, k)."""
        logs = np.stack([label_logs(h, X, self.labels) for h in self.hypotheses], axis=1)
        return with_noise(logs, self.noise) if noisy else logs

    def logs_of(self, X: Any, y: Sequence[Any]) -> NDArray[np.float64]:
        """ln P(label|h, x) of the labels given, shape (n, size)."""
        codes = codes_of(y, self.labels, what="label")
        return np.take_along_axis(self.log_probabilities(X, noisy=True), codes[:, None, None], axis=2)[..., 0]

    def logs(self, cases: Sequence[Any]) -> NDArray[np.float64]:
        """The same for a list of (x, label) pairs."""
        for i, case in enumerate(cases):
            if not (isinstance(case, tuple | list) and len(case) == 2):
                raise ParameterError(f"a case must be a pair (x, label), got {case!r:.80} at position {i}")
        return self.logs_of([x for x, _ in cases], [label for _, label in cases])

    def outcomes_at(self, x: Any, *, noisy: bool) -> tuple[Sequence[Any], NDArray[np.float64]]:
        """Every label, as it would be written down (`noisy`) or as it truly is."""
        if x is None:
            raise ParameterError("the label depends on x, and none was given", hint="pass the instance to label")
        return self.labels, self.log_probabilities([x], noisy=noisy)[0]


def label_logs(hypothesis: Any, X: Any, labels: tuple[Hashable, ...]) -> NDArray[np.float64]:
    """ln P(label|h, x) as one hypothesis says it, shape (n, k)."""
    if hasattr(hypothesis, "predict_proba"):
        return _classifier_logs(hypothesis, X, labels)
    if hasattr(hypothesis, "predict"):
        return _one_hot(hypothesis.predict(X), labels)
    if not callable(hypothesis):
        raise ParameterError(
            f"a hypothesis must be a function or a classifier, got {hypothesis!r:.80}",
            hint="functions take x and return a label, or a probability for each label",
        )
    with np.errstate(divide="ignore"):
        return np.log(np.array([_said(hypothesis(x), labels) for x in rows_of(X)]).reshape(-1, len(labels)))


def rows_of(X: Any) -> Sequence[Any]:
    """The instances that a function sees: rows of an array, dictionaries by column name for a frame."""
    if hasattr(X, "to_pylist"):
        return X.to_pylist()  # an Arrow table
    if hasattr(X, "columns"):
        columns = {name: list(X[name]) for name in X.columns}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return X.toarray() if hasattr(X, "toarray") else X


def with_noise(logs: NDArray[np.float64], noise: float) -> NDArray[np.float64]:
    """ln[(1 − η) p + η/(k − 1) (1 − p)] from ln p; the last axis holds the k labels."""
    k = logs.shape[-1]
    if noise == 0 or k == 1:
        return logs
    p = np.exp(logs)
    return _log((1 - noise) * p + noise / (k - 1) * (1 - p))


def noise_rate(noise: float, k: int) -> float:
    """A noise rate for k labels: at (k − 1)/k a label says nothing, above that it misleads."""
    most = (k - 1) / k if k > 1 else 0.5
    try:
        return validation.number("noise", noise, min_value=0, max_value=most)
    except ParameterError as error:
        raise ParameterError(
            error.message, hint=f"a label of {k} says nothing at {most:g}: rates lie between 0 and that", noise=noise
        ) from None


def codes_of(values: Sequence[Any], known: tuple[Hashable, ...], *, what: str) -> NDArray[np.intp]:
    """The position of each value among the known ones."""
    positions = {value: i for i, value in enumerate(known)}
    codes = np.empty(len(values), dtype=np.intp)
    for i, value in enumerate(values):
        code = positions.get(value) if isinstance(value, Hashable) else None
        if code is None:
            raise UnknownStateError(
                f"unknown {what} {value!r:.60} in case {i}", hint=f"the {what}s are {listed(known)}", value=value
            )
        codes[i] = code
    return codes


### any likelihood


@dataclass(frozen=True, eq=False)
class CaseFunctions:
    """Hypotheses that give the likelihood (or density) of a case themselves."""

    hypotheses: tuple[Any, ...]

    def logs(self, cases: Sequence[Any]) -> NDArray[np.float64]:
        """ln h(case)."""
        p = np.array([[h(case) for h in self.hypotheses] for case in cases], dtype=float)
        p = p.reshape(len(cases), len(self.hypotheses))
        bad = ~(np.isfinite(p) & (p >= 0))
        if bad.any():
            case, h = validation.first_position(bad)
            raise ProbabilityError(
                f"a likelihood must be finite and not negative, got {p[case, h]} for case {case} from hypothesis {h}"
            )
        return _log(p)

    def outcomes_at(self, x: Any, *, noisy: bool) -> tuple[Sequence[Any], NDArray[np.float64]]:  # noqa: ARG002 - same signature
        """Unknown: a likelihood does not list the cases it is ready for."""
        raise ParameterError(
            "these hypotheses give likelihoods of cases, so the possible outcomes are not known",
            hint="ask `log_predictive(case)` for one case",
        )


### a likelihood that a file does not hold


@dataclass(frozen=True, eq=False)
class UnknownLikelihood:
    """That of a posterior from a file, whose hypotheses are functions: the space is needed to ask about cases."""

    def logs(self, cases: Sequence[Any]) -> NDArray[np.float64]:  # noqa: ARG002 - same signature
        """Refuse: the functions are not in the file."""
        raise ParameterError(
            "this posterior was read from a file, which holds the names of its hypotheses and not what they are",
            hint="give the space as well: HypothesisPosterior.load(path, space)",
        )

    def outcomes_at(self, x: Any, *, noisy: bool) -> tuple[Sequence[Any], NDArray[np.float64]]:  # noqa: ARG002 - as above
        """Refuse: the functions are not in the file."""
        return (), self.logs([x])


### inside


def _log(p: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.log(p)


def _said(answer: Any, labels: tuple[Hashable, ...]) -> NDArray[np.float64]:
    """The probabilities that an answer stands for: a label, a mapping, or one number per label."""
    if isinstance(answer, Mapping):
        p = np.zeros(len(labels))
        p[codes_of(list(answer), labels, what="label")] = list(answer.values())
        return validation.probabilities(p, name="label probabilities")
    if isinstance(answer, Hashable):
        return np.exp(_one_hot([answer], labels)[0])
    p = validation.float_array("label probabilities", answer)
    if p.shape != (len(labels),):
        raise ShapeError(f"expected {len(labels)} label probabilities from a hypothesis, got shape {p.shape}")
    return validation.probabilities(p, name="label probabilities")


def _one_hot(answers: Sequence[Any], labels: tuple[Hashable, ...]) -> NDArray[np.float64]:
    logs = np.full((len(answers), len(labels)), -np.inf)
    logs[np.arange(len(answers)), codes_of(answers, labels, what="label")] = 0.0
    return logs


def _classifier_logs(classifier: Any, X: Any, labels: tuple[Hashable, ...]) -> NDArray[np.float64]:
    """Columns of a classifier put in the order of `labels`; a class it never saw has probability zero."""
    with np.errstate(divide="ignore"):
        if hasattr(classifier, "predict_log_proba"):
            said = np.asarray(classifier.predict_log_proba(X), dtype=float)
        else:
            said = np.log(np.asarray(classifier.predict_proba(X), dtype=float))
    logs = np.full((len(said), len(labels)), -np.inf)
    logs[:, codes_of(list(classifier.classes_), labels, what="class")] = said
    return logs
