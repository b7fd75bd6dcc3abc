"""Simulations of the bounds: PAC learners on random concepts, and ε-exhausted version spaces.

fails              true error of the hypothesis learned from m examples > ε
not exhausted      some h of true error ≥ ε is consistent with all m examples
bound              P(either) ≤ |H| e^(−εm), for any concept and distribution, of a consistent learner
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.errors import CapacityError, ParameterError, ShapeError
from bayeslearn.hypotheses import AttributeSpace, Examples
from bayeslearn.learning_theory.hypothesis_counts import HypothesisCount, whole
from bayeslearn.learning_theory.k_cnf import KCNF
from bayeslearn.learning_theory.pac_bounds import probability
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.bool_]
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.learning_theory.concept_class import ConceptClass
    from bayeslearn.tables.frames import Backend

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

### random concepts


#: The most variables whose 2^n rows are enumerated.
MAX_VARIABLES = 16


@dataclass(frozen=True)
class Disjunction:
    """A k-term DNF: each term requires True (1), False (0) or nothing (−1) of each variable."""

    terms: tuple[tuple[int, ...], ...]

    def covers(self, rows: Rows) -> Rows:
        """Which rows satisfy a term."""
        required = np.array(self.terms, dtype=np.int8)
        return ((required[:, None] < 0) | (required[:, None] == rows[None])).all(axis=2).any(axis=0)

    def __str__(self) -> str:
        terms = [
            " ∧ ".join(f"x{i}" if sign else f"¬x{i}" for i, sign in enumerate(term) if sign >= 0) or "⊤"
            for term in self.terms
        ]
        return " ∨ ".join(f"({t})" for t in terms) if len(terms) > 1 else terms[0]


@dataclass(frozen=True)
class BooleanConcepts:
    """Disjunctions of some terms of some literals each over n variables, drawn at random; rows are uniform.

    With one term they are conjunctions. Without `n_literals` each variable is positive, negated or absent, with equal
    probability.

    >>> print(BooleanConcepts(6, n_terms=2, n_literals=2).sample(0))
    (x1 ∧ ¬x3) ∨ (x2 ∧ x3)
    """

    n_variables: int
    n_terms: int = 1
    n_literals: int | None = 2

    def __post_init__(self) -> None:
        whole("n_terms", self.n_terms, least=1)
        if whole("n_variables", self.n_variables, least=1) > MAX_VARIABLES:
            raise CapacityError(
                f"the error over all rows of {self.n_variables} variables takes too long to compute",
                hint=f"up to {MAX_VARIABLES}",
            )
        if self.n_literals is not None and whole("n_literals", self.n_literals) > self.n_variables:
            raise ParameterError(
                f"a term of {self.n_variables} variables has at most {self.n_variables} literals, got {self.n_literals}"
            )

    def sample(self, random_state: np.random.Generator | int | None = None) -> Disjunction:
        """A random concept."""
        rng = validation.generator(random_state)
        return Disjunction(tuple(self._term(rng) for _ in range(self.n_terms)))

    def sample_rows(self, n_rows: int, random_state: np.random.Generator) -> Rows:
        """Random rows."""
        return random_state.random((n_rows, self.n_variables)) < 0.5

    def every_row(self) -> Rows:
        """All 2^n rows, on which the true error is computed."""
        return np.array(list(itertools.product((False, True), repeat=self.n_variables)))

    def _term(self, random_state: np.random.Generator) -> tuple[int, ...]:
        signs = random_state.integers(0, 2, self.n_variables)
        used = (
            random_state.random(self.n_variables) < 2 / 3
            if self.n_literals is None
            else random_state.permutation(self.n_variables) < self.n_literals
        )
        return tuple(np.where(used, signs, -1).tolist())


### a learner on random concepts


#: The most examples of one run.
MAX_EXAMPLES = 1_000_000

#: A learner: rows and labels in, a function from rows to labels out.
Learner = Callable[["Rows", "Rows"], Callable[["Rows"], "Rows"]]


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Reported):
    """Simulated PAC learning: the share of runs that failed, the mean error, and the bound by number of examples."""

    learner: str
    epsilon: float
    n_runs: int
    n_examples: NDArray[np.int64]
    failures: NDArray[np.float64]
    errors: NDArray[np.float64]
    #: |H| e^(−εm), at most one; NaN if the size of the class is unknown.
    bounds: NDArray[np.float64]

    def report(self) -> Report:
        """Return error, failures and bound by the number of examples."""
        title = f"{self.learner}: error above {self.epsilon:g} in {self.n_runs:,} runs"
        return Report(title, Grid(["Examples", "Mean error", "Failed", "Bound"], self._rows()))

    def to_dict(self) -> dict[str, Any]:
        """Return error, failures and bound by the number of examples as plain values."""
        about = {"learner": self.learner, "epsilon": self.epsilon, "n_runs": self.n_runs}
        return about | dict(zip(self.COLUMNS, map(list, zip(*self._rows(), strict=True)), strict=True))

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each number of examples."""
        return frame_of_rows(self.COLUMNS, self._rows(), backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw failures and bound (:func:`bayeslearn.plots.plot_pac_simulation`)."""
        return plots.plot_pac_simulation(self, ax=ax)

    COLUMNS: ClassVar = ("n_examples", "errors", "failures", "bounds")

    def _rows(self) -> list[tuple[Any, ...]]:
        bounds = [None if math.isnan(bound) else bound for bound in self.bounds.tolist()]
        columns = (self.n_examples.tolist(), self.errors.tolist(), self.failures.tolist(), bounds)
        return list(zip(*columns, strict=True))


def simulate_pac(
    learner: Any,
    concepts: BooleanConcepts,
    *,
    n_examples: Sequence[int] = (10, 20, 50, 100, 200),
    epsilon: float = 0.1,
    n_runs: int = 200,
    n_hypotheses: Any = None,
    random_state: np.random.Generator | int | None = None,
) -> Simulation:
    """Fit a learner to m random examples of random concepts, many times.

    Parameters
    ----------
    learner
        "find-s", "k-cnf:2" (or another k), a scikit-learn classifier, or a function of rows and labels that returns a
        function of rows. A classifier whose sample has one label only predicts that label.
    concepts
        The distribution of concepts and rows.
    n_examples, epsilon, n_runs
        Numbers of examples, the error above which a run fails, and the number of runs.
    n_hypotheses
        The number of hypotheses of the learner, for the bound; known for the first two.

    Examples
    --------
    >>> from bayeslearn.learning_theory import BooleanConcepts
    >>> found = simulate_pac("find-s", BooleanConcepts(6), n_examples=[5, 20, 100], n_runs=100, random_state=0)
    >>> bool((found.failures <= found.bounds).all())
    True
    """
    epsilon, runs = probability("epsilon", epsilon), whole("n_runs", n_runs, least=1)
    sizes = np.array(
        [validation.integer("n_examples", count, min_value=1, max_value=MAX_EXAMPLES) for count in n_examples],
        dtype=np.int64,
    )
    if not len(sizes):
        raise ParameterError("no number of examples was given in `n_examples`")
    name, learn, space = _learner(learner, concepts)
    space = space if n_hypotheses is None else HypothesisCount.from_number(n_hypotheses)
    rng = validation.generator(random_state)
    everything = concepts.every_row()
    errors = np.empty((runs, len(sizes)))
    for run in range(runs):
        target = concepts.sample(rng)
        truth, rows = target.covers(everything), concepts.sample_rows(int(sizes.max()), rng)
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


def _bounds(space: HypothesisCount, epsilon: float, m: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.exp(np.minimum(space.log - epsilon * m, 0))


def _learner(learner: Any, concepts: BooleanConcepts) -> tuple[str, Learner, HypothesisCount | None]:
    if isinstance(learner, str):
        kind, _, k = learner.partition(":")
        kind = validation.choice("learner", kind, ["find-s", "k-cnf"])
        if kind == "find-s":
            return "Find-S", find_s_learner, HypothesisCount.conjunctions(concepts.n_variables)
        number = validation.whole_number(k)
        if number is None:
            raise ParameterError(f"k-CNF needs its k, as in k-cnf:2, got {learner!r:.80}")
        return (
            f"{number}-CNF",
            _k_cnf(concepts.n_variables, number),
            HypothesisCount.k_cnf(concepts.n_variables, number),
        )
    if hasattr(learner, "fit") and hasattr(learner, "predict"):
        return type(learner).__name__, _classifier(learner), None
    if callable(learner):
        return getattr(learner, "__name__", type(learner).__name__), learner, None
    raise ParameterError(f"a learner is find-s, k-cnf:2, a classifier or a function, got {learner!r:.80}")


def _k_cnf(n: int, k: int) -> Learner:
    start = KCNF.from_attributes(AttributeSpace.from_literals(f"x{i}" for i in range(n)), k)

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


### exhausted version spaces


@dataclass(frozen=True, eq=False, repr=False)
class EpsilonExhaustion(Reported):
    """The share of runs whose version space was not ε-exhausted, and the bound, by number of examples."""

    epsilon: float
    n_runs: int
    #: Hypotheses of true error ε or more.
    bad: int
    n_examples: NDArray[np.int64]
    measured: NDArray[np.float64]
    bounds: NDArray[np.float64]

    def report(self) -> Report:
        """Return measured share and bound by the number of examples."""
        title = f"Version space not {self.epsilon:g}-exhausted, {self.n_runs:,} runs"
        return Report(title, Grid(["Examples", "Measured", "Bound"], self._rows()))

    def to_dict(self) -> dict[str, Any]:
        """Return measured share and bound by the number of examples as plain values."""
        about = {"epsilon": self.epsilon, "n_runs": self.n_runs, "bad": self.bad}
        return about | dict(zip(self.COLUMNS, map(list, zip(*self._rows(), strict=True)), strict=True))

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each number of examples."""
        return frame_of_rows(self.COLUMNS, self._rows(), backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw measured share and bound (:func:`bayeslearn.plots.plot_pac_simulation`)."""
        return plots.plot_pac_simulation(self, ax=ax)

    COLUMNS: ClassVar = ("n_examples", "measured", "bounds")

    def _rows(self) -> list[tuple[Any, ...]]:
        return list(zip(self.n_examples.tolist(), self.measured.tolist(), self.bounds.tolist(), strict=True))


def simulate_exhaustion(
    concepts: ConceptClass,
    target: Hashable,
    *,
    epsilon: float = 0.1,
    n_examples: Sequence[int] = (10, 20, 50, 100),
    n_runs: int = 1000,
    distribution: ArrayLike | None = None,
    random_state: np.random.Generator | int | None = None,
) -> EpsilonExhaustion:
    """Draw m examples of a target many times; count the runs in which a hypothesis of error ε or more is consistent.

    `distribution` holds the probability of each point; uniform by default.
    """
    epsilon, runs = probability("epsilon", epsilon), whole("n_runs", n_runs, least=1)
    p = _distribution(distribution, len(concepts.points))
    wrong = concepts.labels != concepts.labels[_place(concepts, target)]
    bad = wrong[wrong @ p >= epsilon]
    rng = validation.generator(random_state)
    sizes = np.array(
        sorted({validation.integer("n_examples", count, min_value=1, max_value=10**15) for count in n_examples}),
        dtype=np.int64,
    )
    if not len(sizes):
        raise ParameterError("no number of examples was given in `n_examples`")
    measured = np.array([_share(bad, p, count, runs, rng) for count in sizes.tolist()])
    bounds = np.exp(np.minimum(concepts.size.log - epsilon * sizes, 0))
    return EpsilonExhaustion(epsilon, runs, len(bad), sizes, measured, bounds)


def _share(bad: NDArray[Any], p: NDArray[np.float64], m: int, runs: int, random_state: np.random.Generator) -> float:
    """The share of runs in which a bad hypothesis is consistent with all examples."""
    seen = random_state.multinomial(m, p, size=runs) > 0
    agrees = ~(seen.astype(np.float32) @ bad.T.astype(np.float32) > 0)
    return float(agrees.any(axis=1).mean())


def _place(concepts: ConceptClass, target: Hashable) -> int:
    if target not in concepts.hypotheses:
        raise ParameterError(f"no hypothesis is called {target!r}")
    return concepts.hypotheses.index(target)


def _distribution(given: ArrayLike | None, n: int) -> NDArray[np.float64]:
    if given is None:
        return np.full(n, 1 / n)
    p = validation.probabilities(given, name="distribution")
    if p.shape != (n,):
        raise ShapeError(f"expected the probabilities of {n} points, got shape {p.shape}")
    return p
