"""PAC in practice: a learner on random concepts, and how often it fails, beside what the theorem allows.

fails       true error of what it learned from m examples > ε
bound       P(it fails) ≤ |H| e^(−εm), whatever the concept and the distribution, if it agrees with the examples
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError
from bayeslearn.hypotheses import Attributes, Examples
from bayeslearn.theory.bound import probability
from bayeslearn.theory.k_cnf import KCNF
from bayeslearn.theory.sizes import Size, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.theory.concepts import BooleanConcepts, Rows

#: Examples that one run may have.
MOST_EXAMPLES = 1_000_000

#: A learner: rows and labels in, a function from rows to labels out.
Learner = Callable[["Rows", "Rows"], Callable[["Rows"], "Rows"]]


@dataclass(frozen=True, eq=False)
class Simulation:
    """For each number of examples: the share of runs that failed, the mean error, and the bound."""

    learner: str
    epsilon: float
    runs: int
    m: NDArray[np.int64]
    failures: NDArray[np.float64]
    errors: NDArray[np.float64]
    #: |H| e^(−εm), at most one; NaN where the size of the class is not known.
    bounds: NDArray[np.float64]

    def __str__(self) -> str:
        head = f"{self.learner}: error above {self.epsilon:g} in {self.runs} runs"
        told = ["" if math.isnan(bound) else f"{bound:6.3f}" for bound in self.bounds.tolist()]
        rows = zip(self.m.tolist(), self.errors.tolist(), self.failures.tolist(), told, strict=True)
        lines = [f"{m:>8}  {error:10.4f}  {failed:6.3f}  {bound}".rstrip() for m, error, failed, bound in rows]
        return "\n".join([head, "examples  mean error  failed   bound", *lines])


def simulate(
    learner: Any,
    concepts: BooleanConcepts,
    *,
    m: Sequence[int] = (10, 20, 50, 100, 200),
    epsilon: float = 0.1,
    runs: int = 200,
    size: Any = None,
    rng: np.random.Generator | int | None = None,
) -> Simulation:
    """Let a learner learn random concepts from m random examples, many times.

    Parameters
    ----------
    learner
        "find-s", "k-cnf:2" (or another k), a scikit-learn classifier, or a function of rows and labels that returns a
        function of rows. Where a sample shows one label only, a classifier is taken to predict that.
    concepts
        Where the concepts and their rows come from.
    m, epsilon, runs
        Numbers of examples, the error that counts as failing, and how often to try.
    size
        How many hypotheses the learner has, for the bound; known for the first two.

    Examples
    --------
    >>> from bayeslearn.theory import BooleanConcepts
    >>> found = simulate("find-s", BooleanConcepts(6), m=[5, 20, 100], runs=100, rng=0)
    >>> bool((found.failures <= found.bounds).all())
    True
    """
    epsilon, runs = probability("epsilon", epsilon), whole("runs", runs, least=1)
    sizes = np.array([validation.integer("m", count, least=1, most=MOST_EXAMPLES) for count in m], dtype=np.int64)
    if not len(sizes):
        raise ParameterError("no number of examples was given in `m`")
    name, learn, space = _learner(learner, concepts)
    space = space if size is None else Size.of(size)
    rng = validation.generator(rng)
    everything = concepts.every_row()
    errors = np.empty((runs, len(sizes)))
    for run in range(runs):
        target = concepts.draw(rng)
        truth, rows = target.covers(everything), concepts.rows(int(sizes.max()), rng)
        labels = target.covers(rows)
        for i, count in enumerate(sizes.tolist()):
            errors[run, i] = (learn(rows[:count], labels[:count])(everything) != truth).mean()
    bounds = np.full(len(sizes), math.nan) if space is None else _bounds(space, epsilon, sizes)
    return Simulation(name, epsilon, runs, sizes, (errors > epsilon).mean(axis=0), errors.mean(axis=0), bounds)


def find_s_learner(rows: Rows, labels: Rows) -> Callable[[Rows], Rows]:
    """The most specific conjunction of literals that covers the positive rows, all of them at once."""
    positive = rows[labels]
    yes, no = positive.all(axis=0), ~positive.any(axis=0)
    if not len(positive):
        return lambda new: np.zeros(len(new), dtype=bool)
    return lambda new: np.asarray(new[:, yes].all(axis=1) & ~new[:, no].any(axis=1))


### inside


def _bounds(space: Size, epsilon: float, m: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.exp(np.minimum(space.log - epsilon * m, 0))


def _learner(learner: Any, concepts: BooleanConcepts) -> tuple[str, Learner, Size | None]:
    if isinstance(learner, str):
        kind, _, k = learner.partition(":")
        validation.choice("learner", kind, ["find-s", "k-cnf"])
        if kind == "find-s":
            return "Find-S", find_s_learner, Size.conjunctions(concepts.n)
        if not k.isdigit():
            raise ParameterError(f"k-CNF needs its k, as in k-cnf:2, got {learner!r}")
        return f"{k}-CNF", _k_cnf(concepts.n, int(k)), Size.k_cnf(concepts.n, int(k))
    if hasattr(learner, "fit") and hasattr(learner, "predict"):
        return type(learner).__name__, _classifier(learner), None
    if callable(learner):
        return getattr(learner, "__name__", type(learner).__name__), learner, None
    raise ParameterError(f"a learner is find-s, k-cnf:2, a classifier or a function, got {learner!r:.80}")


def _k_cnf(n: int, k: int) -> Learner:
    start = KCNF.start(Attributes.literals(f"x{i}" for i in range(n)), k)

    def learn(rows: Rows, labels: Rows) -> Callable[[Rows], Rows]:
        h = start.update(Examples(start.attributes, rows.astype(np.intp), labels))
        return lambda new: h.covers_codes(new.astype(np.intp))

    return learn


def _classifier(classifier: Any) -> Learner:
    from sklearn.base import clone  # noqa: PLC0415 - loaded when a classifier is given

    def learn(rows: Rows, labels: Rows) -> Callable[[Rows], Rows]:
        if labels.all() or not labels.any():
            return lambda new: np.full(len(new), labels[0])
        fitted = clone(classifier).fit(rows, labels)
        return lambda new: np.asarray(fitted.predict(new), dtype=bool)

    return learn
