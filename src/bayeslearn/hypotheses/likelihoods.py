"""Three forms of the likelihood of hypotheses: each maps rows of data to ln P(row|h), one column per hypothesis.

    OutcomeTable          a row is one of a few named outcomes, and P(outcome|h) is a table
    Labeling              a row is (x, label); h(x) is a label, probabilities of labels, or a fitted classifier
    LikelihoodFunctions   a row is any value; h(row) is its likelihood

Labels are wrong at a rate η: the observed label is the true one with 1 − η, and each other one with η/(k − 1),

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
    """The part of a space that reads rows of data."""

    def logs(self, data: Sequence[Any]) -> NDArray[np.float64]:
        """ln P(row|h), shape (n, size)."""

    def outcomes_at(self, x: Any, *, noisy: bool) -> tuple[Sequence[Any], NDArray[np.float64]]:
        """The possible outcomes (at `x`), and ln P(outcome|h) of shape (size, k)."""


### outcomes


@dataclass(frozen=True, eq=False)
class OutcomeTable:
    """Named outcomes with a row of probabilities for each hypothesis."""

    outcomes: tuple[Hashable, ...]
    p: NDArray[np.float64]

    def logs(self, data: Sequence[Any]) -> NDArray[np.float64]:
        """The columns of the outcomes."""
        return _log(self.p.T[codes_of(data, self.outcomes, what="outcome")])

    def outcomes_at(self, x: Any, *, noisy: bool) -> tuple[Sequence[Any], NDArray[np.float64]]:  # noqa: ARG002 - a table has no noise
        """Every outcome; there is no `x`."""
        if x is not None:
            raise ParameterError(f"outcomes of a table do not depend on anything, got x = {x!r:.60}")
        return self.outcomes, _log(self.p)


### labeled rows


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

    def logs(self, data: Sequence[Any]) -> NDArray[np.float64]:
        """The same for a list of (x, label) pairs."""
        for i, row in enumerate(data):
            if not (isinstance(row, tuple | list) and len(row) == 2):
                raise ParameterError(f"a row must be a pair (x, label), got {row!r:.80} at position {i}")
        return self.logs_of([x for x, _ in data], [label for _, label in data])

    def outcomes_at(self, x: Any, *, noisy: bool) -> tuple[Sequence[Any], NDArray[np.float64]]:
        """Every label, as observed (`noisy`) or true."""
        if x is None:
            raise ParameterError("the label depends on x, and none was given", hint="pass the instance to label")
        return self.labels, self.log_probabilities([x], noisy=noisy)[0]


def label_logs(hypothesis: Any, X: Any, labels: tuple[Hashable, ...]) -> NDArray[np.float64]:
    """ln P(label|h, x) of one hypothesis, shape (n, k)."""
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
        return np.log(np.array([_probabilities(hypothesis(x), labels) for x in rows_of(X)]).reshape(-1, len(labels)))


def rows_of(X: Any) -> Sequence[Any]:
    """The instances that a function gets: rows of an array, dictionaries by column name for a frame."""
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
    """A noise rate for k labels: at (k − 1)/k labels carry no information."""
    most = (k - 1) / k if k > 1 else 0.5
    try:
        return validation.number("noise", noise, min_value=0, max_value=most)
    except ParameterError as error:
        raise ParameterError(
            error.message, hint=f"with {k} labels, a noise rate is between 0 and {most:g}", noise=noise
        ) from None


def codes_of(values: Sequence[Any], known: tuple[Hashable, ...], *, what: str) -> NDArray[np.intp]:
    """The position of each value among the known ones."""
    positions = {value: i for i, value in enumerate(known)}
    codes = np.empty(len(values), dtype=np.intp)
    for i, value in enumerate(values):
        code = positions.get(value) if isinstance(value, Hashable) else None
        if code is None:
            raise UnknownStateError(
                f"unknown {what} {value!r:.60} in row {i}", hint=f"the {what}s are {listed(known)}", value=value
            )
        codes[i] = code
    return codes


### any likelihood


@dataclass(frozen=True, eq=False)
class LikelihoodFunctions:
    """Hypotheses that return the likelihood (or density) of a row."""

    hypotheses: tuple[Any, ...]

    def logs(self, data: Sequence[Any]) -> NDArray[np.float64]:
        """ln h(row)."""
        p = np.array([[h(row) for h in self.hypotheses] for row in data], dtype=float)
        p = p.reshape(len(data), len(self.hypotheses))
        bad = ~(np.isfinite(p) & (p >= 0))
        if bad.any():
            row, h = validation.first_position(bad)
            raise ProbabilityError(
                f"a likelihood must be finite and not negative, got {p[row, h]} for row {row} from hypothesis {h}"
            )
        return _log(p)

    def outcomes_at(self, x: Any, *, noisy: bool) -> tuple[Sequence[Any], NDArray[np.float64]]:  # noqa: ARG002 - same signature
        """Unknown: a likelihood function does not list the possible rows."""
        raise ParameterError(
            "these hypotheses are likelihood functions, so the possible outcomes are unknown",
            hint="call `log_predictive(row)` for one row",
        )


### a likelihood that a file does not hold


@dataclass(frozen=True, eq=False)
class UnknownLikelihood:
    """The likelihood of a posterior from a file, whose hypotheses are functions: new rows need the space."""

    def logs(self, data: Sequence[Any]) -> NDArray[np.float64]:  # noqa: ARG002 - same signature
        """Refuse: the functions are not in the file."""
        raise ParameterError(
            "this posterior was read from a file, which holds the names of its hypotheses, but not the functions",
            hint="pass the space as well: HypothesisPosterior.load(path, space)",
        )

    def outcomes_at(self, x: Any, *, noisy: bool) -> tuple[Sequence[Any], NDArray[np.float64]]:  # noqa: ARG002 - as above
        """Refuse: the functions are not in the file."""
        return (), self.logs([x])


### inside


def _log(p: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.log(p)


def _probabilities(answer: Any, labels: tuple[Hashable, ...]) -> NDArray[np.float64]:
    """The probabilities of an answer: a label, a mapping, or one number per label."""
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
    """Columns of a classifier put in the order of `labels`; a class unknown to it has probability zero."""
    with np.errstate(divide="ignore"):
        if hasattr(classifier, "predict_log_proba"):
            found = np.asarray(classifier.predict_log_proba(X), dtype=float)
        else:
            found = np.log(np.asarray(classifier.predict_proba(X), dtype=float))
    logs = np.full((len(found), len(labels)), -np.inf)
    logs[:, codes_of(list(classifier.classes_), labels, what="class")] = found
    return logs
