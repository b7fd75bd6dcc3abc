"""Experiments beside the bounds: PAC learners on random concepts, version spaces, Bayes optimal against Gibbs.

    fails              true error of what was learned from m examples > ε
    not exhausted      some h of true error ≥ ε agrees with all m examples
    bound              P(either) ≤ |H| e^(−εm), for any concept and distribution, of a learner that is consistent

With q the posterior probability that x is positive, the probability of a mistake on x, given the data, is

    Bayes optimal    min(q, 1 − q)
    Gibbs            2 q (1 − q)  ≤  2 min(q, 1 − q)
    MAP              1 − q or q, as the most probable hypothesis predicts
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import CapacityError, ParameterError, ShapeError
from bayeslearn.hypotheses import AttributeSpace, Examples, FiniteSpace
from bayeslearn.learning_theory.hypothesis_counts import HypothesisCount, whole
from bayeslearn.learning_theory.k_cnf import KCNF
from bayeslearn.learning_theory.pac_bounds import probability
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.bool_]
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.hypotheses.priors import PriorLike
    from bayeslearn.learning_theory.concept_class import ConceptClass

### random concepts


#: Variables whose 2^n rows are all looked at.
MOST_VARIABLES = 16


@dataclass(frozen=True)
class Disjunction:
    """A k-term DNF: each term asks for True (1), for False (0), or does not ask (−1), of each variable."""

    terms: tuple[tuple[int, ...], ...]

    def covers(self, rows: Rows) -> Rows:
        """Which rows satisfy a term."""
        asked = np.array(self.terms, dtype=np.int8)
        return ((asked[:, None] < 0) | (asked[:, None] == rows[None])).all(axis=2).any(axis=0)

    def __str__(self) -> str:
        terms = [
            " ∧ ".join(f"x{i}" if sign else f"¬x{i}" for i, sign in enumerate(term) if sign >= 0) or "⊤"
            for term in self.terms
        ]
        return " ∨ ".join(f"({t})" for t in terms) if len(terms) > 1 else terms[0]


@dataclass(frozen=True)
class BooleanConcepts:
    """Disjunctions of some terms of some literals each over n variables, drawn at random; rows are uniform.

    With one term they are conjunctions. Without `n_literals` each variable is asked for, asked not to be, or not asked
    for, with equal probability.

    >>> print(BooleanConcepts(6, n_terms=2, n_literals=2).sample(0))
    (x1 ∧ ¬x3) ∨ (x2 ∧ x3)
    """

    n_variables: int
    n_terms: int = 1
    n_literals: int | None = 2

    def __post_init__(self) -> None:
        whole("n_terms", self.n_terms, least=1)
        if whole("n_variables", self.n_variables, least=1) > MOST_VARIABLES:
            raise CapacityError(
                f"the error over all rows of {self.n_variables} variables is too long to work out",
                hint=f"up to {MOST_VARIABLES}",
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
        """All 2^n of them, on which a true error is measured."""
        return np.array(list(itertools.product((False, True), repeat=self.n_variables)))

    def _term(self, random_state: np.random.Generator) -> tuple[int, ...]:
        signs = random_state.integers(0, 2, self.n_variables)
        asked = (
            random_state.random(self.n_variables) < 2 / 3
            if self.n_literals is None
            else random_state.permutation(self.n_variables) < self.n_literals
        )
        return tuple(np.where(asked, signs, -1).tolist())


### a learner on random concepts


#: Examples that one run may have.
MOST_EXAMPLES = 1_000_000

#: A learner: rows and labels in, a function from rows to labels out.
Learner = Callable[["Rows", "Rows"], Callable[["Rows"], "Rows"]]


@dataclass(frozen=True, eq=False)
class Simulation:
    """For each number of examples: the share of runs that failed, the mean error, and the bound."""

    learner: str
    epsilon: float
    n_runs: int
    n_examples: NDArray[np.int64]
    failures: NDArray[np.float64]
    errors: NDArray[np.float64]
    #: |H| e^(−εm), at most one; NaN where the size of the class is not known.
    bounds: NDArray[np.float64]

    def __str__(self) -> str:
        head = f"{self.learner}: error above {self.epsilon:g} in {self.n_runs} runs"
        told = ["" if math.isnan(bound) else f"{bound:6.3f}" for bound in self.bounds.tolist()]
        rows = zip(self.n_examples.tolist(), self.errors.tolist(), self.failures.tolist(), told, strict=True)
        lines = [f"{m:>8}  {error:10.4f}  {failed:6.3f}  {bound}".rstrip() for m, error, failed, bound in rows]
        return printable("\n".join([head, "examples  mean error  failed   bound", *lines]))


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
    """Let a learner learn random concepts from m random examples, many times.

    Parameters
    ----------
    learner
        "find-s", "k-cnf:2" (or another k), a scikit-learn classifier, or a function of rows and labels that returns a
        function of rows. Where a sample shows one label only, a classifier is taken to predict that.
    concepts
        Where the concepts and their rows come from.
    n_examples, epsilon, n_runs
        Numbers of examples, the error that counts as failing, and how often to try.
    n_hypotheses
        How many hypotheses the learner has, for the bound; known for the first two.

    Examples
    --------
    >>> from bayeslearn.learning_theory import BooleanConcepts
    >>> found = simulate_pac("find-s", BooleanConcepts(6), n_examples=[5, 20, 100], n_runs=100, random_state=0)
    >>> bool((found.failures <= found.bounds).all())
    True
    """
    epsilon, runs = probability("epsilon", epsilon), whole("n_runs", n_runs, least=1)
    sizes = np.array(
        [validation.integer("n_examples", count, min_value=1, max_value=MOST_EXAMPLES) for count in n_examples],
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


@dataclass(frozen=True, eq=False)
class EpsilonExhaustion:
    """For each number of examples: the share of runs whose version space was not ε-exhausted, and the bound."""

    epsilon: float
    n_runs: int
    #: Hypotheses of true error ε or more.
    bad: int
    n_examples: NDArray[np.int64]
    measured: NDArray[np.float64]
    bounds: NDArray[np.float64]

    def __str__(self) -> str:
        rows = zip(self.n_examples.tolist(), self.measured.tolist(), self.bounds.tolist(), strict=True)
        lines = [f"{m:>8}  {share:8.4f}  {bound:6.4f}" for m, share, bound in rows]
        head = f"version space not {self.epsilon:g}-exhausted, {self.n_runs} runs"
        return "\n".join([head, "examples  measured   bound", *lines])


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
    """Draw m examples of a target many times, and see whether a bad hypothesis agrees with all of them.

    `distribution` holds the probability of each point; all are alike when not given.
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
    """The share of runs in which no example shows up one of the bad hypotheses."""
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


### Bayes optimal and Gibbs


@dataclass(frozen=True)
class BayesGibbsComparison:
    """The mean error of each learner: as measured, and as expected of the same data."""

    m: int
    n_runs: int
    measured: Mapping[str, float]
    expected: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """The expected error of Gibbs by that of Bayes optimal; at most two, one when neither errs."""
        bayes = self.expected["Bayes optimal"]
        return self.expected["Gibbs"] / bayes if bayes else 1.0

    def __str__(self) -> str:
        head = f"{self.m} examples, {self.n_runs} runs: Gibbs errs {self.ratio:.3f} times as often as Bayes optimal"
        lines = [f"{name:<13}  {self.measured[name]:8.4f}  {self.expected[name]:8.4f}" for name in self.measured]
        return "\n".join([head, "learner        measured  expected", *lines])


def compare_bayes_gibbs(
    concepts: ConceptClass,
    *,
    n_examples: int,
    n_runs: int = 200,
    noise: float = 0.0,
    prior: PriorLike = "uniform",
    random_state: np.random.Generator | int | None = None,
) -> BayesGibbsComparison:
    """Draw a target from the prior and m labeled points, learn in three ways, and measure on all points; many times.

    >>> from bayeslearn.learning_theory import standard_class
    >>> cube = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    >>> concepts = standard_class("conjunctions", 3).labelings(cube)
    >>> found = compare_bayes_gibbs(concepts, n_examples=4, n_runs=50, random_state=0)
    >>> found.expected["Bayes optimal"] <= found.expected["MAP"], found.ratio <= 2
    (True, True)
    """
    m = validation.integer("n_examples", n_examples, min_value=1, max_value=10_000_000)
    runs = whole("n_runs", n_runs, least=1)
    noise = validation.number("noise", noise, min_value=0, below=0.5)
    labels, rng = concepts.labels, validation.generator(random_state)
    names = {name: labels[i].__getitem__ for i, name in enumerate(concepts.hypotheses)}
    start = FiniteSpace.from_labelers(names, noise=noise).posterior(prior)
    measured, expected = np.zeros((runs, 3)), np.zeros((runs, 3))
    for run in range(runs):
        target = labels[int(start.distribution.draw(rng))]
        seen = rng.integers(0, len(concepts.points), m)
        told = target[seen] ^ (rng.random(m) < noise)
        posterior = start.update_likelihoods(_logs(labels[:, seen].T == told[:, None], noise))
        p = posterior.distribution.mean()
        q = (p @ labels).clip(0, 1)
        answers = np.array([q > 0.5, labels[int(posterior.distribution.draw(rng))], labels[int(p.argmax())]])
        measured[run] = (answers != target).mean(axis=1)
        expected[run] = [np.minimum(q, 1 - q).mean(), (2 * q * (1 - q)).mean(), _missed(q, answers[2]).mean()]
    learners = ("Bayes optimal", "Gibbs", "MAP")
    means = [dict(zip(learners, table.mean(axis=0).tolist(), strict=True)) for table in (measured, expected)]
    return BayesGibbsComparison(m, runs, *means)


def _logs(agrees: NDArray[np.bool_], noise: float) -> NDArray[np.float64]:
    """ln P(label|h): 1 − η where the hypothesis agrees, η where it does not."""
    return np.where(agrees, math.log(1 - noise), math.log(noise) if noise else -math.inf)


def _missed(q: NDArray[np.float64], said: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.where(said, 1 - q, q)


def paint_failures(axes: Any, found: Simulation | EpsilonExhaustion) -> None:
    """The share of runs that failed, by the number of examples, and the bound where there is one."""
    simulated = isinstance(found, Simulation)
    measured = found.failures if isinstance(found, Simulation) else found.measured
    axes.plot(found.n_examples, measured, marker="o", label="measured")
    if np.isfinite(found.bounds).any():
        axes.plot(found.n_examples, found.bounds, marker=".", color="gray", linestyle="--", label="|H| e^(−εm)")
    what = f"{found.learner}: error above" if isinstance(found, Simulation) else "version space not exhausted at"
    axes.set(
        xlabel="examples, m", ylabel="share of runs" if simulated else "share of version spaces", ylim=(-0.03, 1.03)
    )
    axes.set_title(f"{what} {found.epsilon:g}, {found.n_runs:,} runs")
    axes.legend(frameon=False)
