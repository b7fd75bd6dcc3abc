"""Online EM: tables that learn from batches of cases as they come.

    E   ŝ = expected counts of the batch under the tables so far / its cases
        s ← (1 − γ) s + γ ŝ                      γ_t = (t + delay)^−decay, or fixed; 1 for the first batch
    M   θ = (m·s + α) / Σ (m·s + α)              1/m ← (1 − γ)²/m + γ²/cases

t counts batches of the size of this one: all cases so far over those of the batch, so that sizes may differ. m is the
equivalent sample size of the running mean s, and of a learned table. With decay 1 and no delay every case counts
alike: m is all of them, and complete cases are counted exactly. A slower decay lets go of what was expected early,
under tables that knew little; with a fixed step old batches fade for good, and m settles at (2 − γ)/γ batches.

References: O. Cappé, E. Moulines, On-line expectation-maximization algorithm for latent data models, JRSS B 71, 2009.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from bayeslearn import validation
from bayeslearn.codec import Saved
from bayeslearn.distributions import Counts
from bayeslearn.errors import BayeslearnError, EmptyTableError, ParameterError, listed
from bayeslearn.model_values import ARRAY, MAYBE, NAME, NUMBER, is_of
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.dag import StructureLike, as_dag
from bayeslearn.network.inference.compiled_network import Compiled
from bayeslearn.network.parameters.em_steps import Tables, normalized_rows
from bayeslearn.network.parameters.fit import hidden_states, learned, require_hidden, uniform
from bayeslearn.network.parameters.incremental import coded
from bayeslearn.network.parameters.initialization import all_starts, fixed_cells
from bayeslearn.network.parameters.priors import AUTO, priors_of
from bayeslearn.network.parameters.training_cases import FoldedCases
from bayeslearn.progress import reports_progress, should_stop
from bayeslearn.sources import as_source, is_source, with_options
from bayeslearn.tables import DiscreteVariable, Schema, Table
from bayeslearn.tables.conversion import declared_states
from bayeslearn.tables.markers import Missing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.progress import ProgressCallback, Reporter
    from bayeslearn.tables.markers import Markers

#: What a cell without cases so far is taken for when the next batch is inferred.
UNSEEN = 1e-6


@dataclass(frozen=True)
class Batch:
    """A batch of the stream."""

    number: int
    #: The total weight of its rows.
    total_weight: float
    #: The log-likelihood of its rows before the update.
    log_likelihood: float
    #: γ, its share in the running mean.
    step: float

    @property
    def mean(self) -> float:
        """The mean log-likelihood of a row."""
        return self.log_likelihood / self.total_weight


@dataclass(frozen=True)
class Running:
    """What is known so far: the tables, the mean s of expected counts, and its equivalent number of rows."""

    model: Tables
    s: NDArray[np.float64]
    m: float = 0.0
    seen: float = 0.0


class OnlineEM(Saved, kind="online EM"):
    """A network whose CPTs are updated batch by batch.

    Parameters
    ----------
    structure
        A network, whose states are kept, or a graph (or a model string) together with `states`.
    states
        The states of each variable of a graph, or a schema: a stream does not show beforehand which will occur.
    na_values, keep_default_na
        Markers of missing values in batches, as in :func:`~bayeslearn.as_table`. A batch that is a table has none.
    prior, hidden, frozen, init, random_state
        As in :func:`~bayeslearn.network.fit_parameters`.
    decay, delay
        γ_t = (t + delay)^−decay; decay above 0.5, at most 1.
    step
        A fixed γ instead, above 0 and at most 1, for distributions that change over time.

    >>> learner = OnlineEM("[Rain][Wet|Rain]", states={"Rain": ["no", "yes"], "Wet": ["no", "yes"]}, decay=1)
    >>> learner.update({"Rain": ["no", "no"], "Wet": ["no", "yes"]})
    OnlineEM(2 variables, 2 rows in 1 batches)
    >>> learner.update({"Rain": ["yes", "no"], "Wet": ["yes", "no"]})
    OnlineEM(2 variables, 4 rows in 2 batches)
    >>> learner.network["Rain"].counts.n
    array([3., 1.])
    """

    def __init__(
        self,
        structure: StructureLike,
        *,
        states: Mapping[str, Iterable[Any]] | Schema | None = None,
        na_values: Markers = (),
        keep_default_na: bool = True,
        prior: Prior = AUTO,
        hidden: Mapping[str, int | Iterable[Any]] | None = None,
        frozen: Iterable[str] = (),
        init: Literal["prior", "random"] | BayesianNetwork = "prior",
        decay: float = 0.7,
        delay: float = 0.0,
        step: float | None = None,
        random_state: np.random.Generator | int | None = 0,
    ) -> None:
        self.decay = validation.number("decay", decay, above=0.5, max_value=1)
        self.delay = validation.number("delay", delay, min_value=0)
        self.step = None if step is None else validation.number("step", step, above=0, max_value=1)
        self.hidden = tuple(hidden or {})
        Missing.of(na_values, keep_default_na=keep_default_na)  # a mistake is an error here, and not in the first batch
        self._cells: dict[str, Any] = {"na_values": na_values, "keep_default_na": keep_default_na}
        self._history: list[Batch] = []
        self._frame = framed(structure, states, hidden or {})
        self._priors, self._fixed = priors_of(prior, self._frame), fixed_cells(self._frame, frozen, structure, init)
        self._alpha = np.concatenate([self._priors[cpt.name].alpha.reshape(-1) for cpt in self._frame])
        model = Tables(Compiled(self._frame), self._fixed if self._fixed.any() else None)
        unseen, random_state = set(self.hidden), validation.generator(random_state)
        [p] = all_starts(self._frame, model, self._alpha, init, unseen, 1, random_state)
        self._possible = (p > 0) & ~self._fixed
        self._now = Running(model.with_p(p), np.zeros(len(p)))

    def __repr__(self) -> str:
        return f"OnlineEM({len(self._frame)} variables, {self.total_weight:g} rows in {len(self._history)} batches)"

    # -- what is known

    @property
    def total_weight(self) -> float:
        """The total weight of all rows so far."""
        return self._now.seen

    @property
    def effective_sample_size(self) -> float:
        """The number of rows that the counts amount to: all with decay 1, fewer if early rows are discounted."""
        return self._now.m

    @property
    def last(self) -> Batch:
        """The last batch."""
        return self._history[-1]

    @property
    def history(self) -> tuple[Batch, ...]:
        """Every batch, with its log-likelihood before the update."""
        return tuple(self._history)

    @property
    def network(self) -> BayesianNetwork:
        """The network so far, a copy; its CPTs have the counts of the effective sample size."""
        now = self._now
        return learned(self._frame, now.model.p, now.m * now.s, self._priors, self._fixed)

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the learner as plain values and arrays; numbers of all tables stand one after the other.

        {"network": as files of networks have it, with the priors, "p", "s", "possible", "fixed", "worth", "cases",
         "hidden", "decay", "delay", "step", "na_values", "keep_default_na",
         "history": [{"number", "cases", "log_likelihood", "step"}, ...]}
        """
        now = self._now
        frozen = np.split(self._fixed, np.cumsum([cpt.probabilities.size for cpt in self._frame])[:-1])
        cpts = tuple(
            cpt if still.any() else replace(cpt, prior=self._priors[cpt.name])
            for cpt, still in zip(self._frame, frozen, strict=True)
        )
        return {
            "network": replace(self._frame, cpts=cpts, lineage=None).to_document(),
            "p": now.model.p,
            "s": now.s,
            "possible": self._possible.astype(np.int64),
            "fixed": self._fixed.astype(np.int64),
            "worth": now.m,
            "cases": now.seen,
            "hidden": list(self.hidden),
            "decay": self.decay,
            "delay": self.delay,
            "step": self.step,
            "na_values": plain_markers(self._cells["na_values"]),
            "keep_default_na": self._cells["keep_default_na"],
            "history": [batch_document(batch) for batch in self._history],
        }

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> Self:
        """Return the learner of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "network": dict, "p": ARRAY, "s": ARRAY, "possible": ARRAY, "fixed": ARRAY, "worth": NUMBER,
            "cases": NUMBER, "hidden": [str], "decay": NUMBER, "delay": NUMBER, "step": (*NUMBER, MAYBE),
            "na_values": (list, dict), "keep_default_na": bool, "history": [dict],
        }  # fmt: skip
        network, p, s, possible, fixed, worth, cases, hidden, decay, delay, step, markers, defaults, history = (
            reader.entries(document, keys, "a learner")
        )
        frame = BayesianNetwork.from_document(reader, network, ("network",))
        require_all(hidden, frame)
        if not all(is_of(own, [NAME]) for own in (markers.values() if isinstance(markers, dict) else [markers])):
            reader.wrong(f"its markers of missing values are {markers!r:.60}")
        learner = cls(frame, decay=decay, delay=delay, step=step, na_values=markers, keep_default_na=defaults)
        shape = (sum(cpt.probabilities.size for cpt in frame),)
        compiled = Compiled(frame)
        numbers = reader.amounts(p, "p", shape).astype(np.float64)
        rows = np.add.reduceat(numbers, compiled.row_start)
        if worth < 0 or cases < 0 or not np.allclose(rows, 1, rtol=0, atol=1e-6):
            reader.wrong("a row of its tables does not sum to one, or there are fewer cases than none")
        learner.hidden = tuple(hidden)
        learner._possible = reader.whole_numbers(possible, "possible", shape) > 0
        learner._fixed = reader.whole_numbers(fixed, "fixed", shape) > 0
        model = Tables(compiled, learner._fixed if learner._fixed.any() else None).with_p(numbers)
        seen = reader.amounts(s, "s", shape).astype(np.float64)
        learner._now = Running(model, seen, float(worth), float(cases))
        learner._history = [read_batch(reader, entry) for entry in history]
        return learner

    # -- learning

    def update(
        self,
        batch: Any,
        *,
        sample_weight: ArrayLike | str | None = None,
        virtual_evidence: Mapping[str, ArrayLike] | None = None,
    ) -> Self:
        """Update the network with a batch of rows; a batch that is refused leaves everything as it was.

        `sample_weight` and `virtual_evidence` are those of :func:`~bayeslearn.network.fit_parameters`.
        """
        now, table = self._now, self._coded(batch, sample_weight)
        size = table.total_weight
        if size == 0:
            raise EmptyTableError("the batch has no rows", hint="skip batches without rows")
        cases = FoldedCases.of(now.model.compiled, table, likelihoods=virtual_evidence)
        found, log_likelihood = self._open(now.model).expected_statistics(cases)
        step = self._step(now, size)
        s = (1 - step) * now.s + step * found.n / size
        m = 1 / (step**2 / size + ((1 - step) ** 2 / now.m if now.m else 0.0))
        model = now.model.estimate(self._alpha, Counts(m * s))
        self._now = Running(model, s, m, now.seen + size)
        self._history.append(Batch(len(self._history), size, log_likelihood, step))
        return self

    def _coded(self, batch: Any, sample_weight: ArrayLike | str | None) -> Table:
        rows = batch if isinstance(batch, Table) else with_options(batch, **self._cells)
        table = coded(self._frame, rows, sample_weight, self.hidden)
        if not isinstance(table, Table):
            raise ParameterError(
                "a source is many batches, not one", hint="fit to all of them: fit_parameters_online(structure, source)"
            )
        return table

    def _step(self, now: Running, size: float) -> float:
        """γ = (t + delay)^−decay."""
        if now.m == 0:
            return 1.0
        t = (now.seen + size) / size
        return (t + self.delay) ** -self.decay if self.step is None else self.step

    def _open(self, model: Tables) -> Tables:
        """The tables to infer by: what no case has shown yet is not ruled out, unless it was from the start."""
        p = np.where(self._possible, np.maximum(model.p, UNSEEN), model.p)
        return model.with_p(np.where(self._fixed, p, normalized_rows(model.compiled, p, otherwise=p)))


def plain_markers(markers: Markers) -> Any:
    """Markers of missing values as lists."""
    if isinstance(markers, Mapping):
        return {name: plain_markers(own) for name, own in markers.items()}
    return [markers] if isinstance(markers, str) or not hasattr(markers, "__iter__") else list(markers)


def batch_document(batch: Batch) -> dict[str, Any]:
    """A batch of the history as files have it."""
    found = asdict(batch)
    return {"number": found.pop("number"), "cases": found.pop("total_weight"), **found}


def read_batch(reader: Reader, entry: Any) -> Batch:
    """A batch of the history of a file."""
    keys: dict[str, Any] = {"number": int, "cases": NUMBER, "log_likelihood": NUMBER, "step": NUMBER}
    return Batch(*reader.entries(entry, keys, "a batch"))


def require_all(names: Iterable[str], network: BayesianNetwork) -> None:
    """Refuse names that a network does not have."""
    for name in names:
        network[name]


@reports_progress("Fitting parameters online")
def fit_parameters_online(
    structure: StructureLike,
    batches: Any,
    *,
    sample_weight: str | None = None,
    batch_size: int | None = None,
    progress: Reporter | ProgressCallback | bool | None = None,
    states: Mapping[str, Iterable[Any]] | Schema | None = None,
    prior: Prior = AUTO,
    hidden: Mapping[str, int | Iterable[Any]] | None = None,
    frozen: Iterable[str] = (),
    init: Literal["prior", "random"] | BayesianNetwork = "prior",
    decay: float = 0.7,
    delay: float = 0.0,
    step: float | None = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    random_state: np.random.Generator | int | None = 0,
) -> OnlineEM:
    """Fit the CPTs of a network to a stream of batches by online EM. An error names its batch.

    Parameters
    ----------
    structure
        A network, whose states are kept, or a graph (or a model string).
    batches
        Tables, frames or lists of rows, one after the other; or a source (:func:`~bayeslearn.scan`, or a pattern of
        paths), which is a stream of its batches.
    sample_weight
        The column that holds the weight of each row.
    batch_size
        The number of rows of a batch of a source; default: as it comes.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress` with the
        :class:`Batch` as `detail`; raising StopIteration ends the fit.
    states
        The states of each variable of a graph, or a schema; default: the schema of a source.
    prior, hidden, frozen, init, random_state
        As in :func:`~bayeslearn.network.fit_parameters`.
    decay, delay, step
        Weights of new batches, as in :class:`OnlineEM`.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`.
    """
    if is_source(batches):
        source = as_source(
            with_options(batches, na_values=na_values, keep_default_na=keep_default_na), sample_weight=sample_weight
        )
        na_values, keep_default_na = (), True  # the batches of a source are tables
        sample_weight, batches = None, source.batches(batch_size)
        if states is None and not isinstance(structure, BayesianNetwork):
            states = source.schema
    if isinstance(batches, Table | Mapping | str) or hasattr(batches, "columns"):
        raise ParameterError(
            f"expected batches of rows, got a single {type(batches).__name__}",
            hint="divide a table into batches with as_table(...).batches(n), or give a list of tables",
        )
    learner = OnlineEM(
        structure, states=states, prior=prior, hidden=hidden, frozen=frozen, init=init, decay=decay, delay=delay,
        step=step, na_values=na_values, keep_default_na=keep_default_na, random_state=random_state,
    )  # fmt: skip
    for number, batch in enumerate(batches):
        try:
            learner.update(batch, sample_weight=sample_weight)
        except BayeslearnError as error:
            error.add_note(f"in batch {number}, after {learner.total_weight:g} rows")
            raise
        words = f"batch {number + 1}, {learner.total_weight:,.10g} rows"
        if should_stop(progress, 1 - 0.95 ** (number + 1), words, learner.last):  # type: ignore[arg-type] # opened
            break
    return learner


def framed(
    structure: StructureLike,
    states: Mapping[str, Iterable[Any]] | Schema | None,
    hidden: Mapping[str, int | Iterable[Any]],
) -> BayesianNetwork:
    """A network with the right states: the one given, or a graph with uniform tables."""
    unseen = {name: hidden_states(name, given) for name, given in hidden.items()}
    if isinstance(structure, BayesianNetwork):
        if states is not None:
            raise ParameterError("a network has its states already", hint="leave `states` out, or give a graph")
        require_hidden(structure, hidden, unseen)
        return structure
    dag = as_dag(structure)
    known = {v.name: v for v in states.discrete} if isinstance(states, Schema) else declared_states(states or {})
    known |= {name: DiscreteVariable(name, states) for name, states in unseen.items()}
    left = [node for node in dag if node not in known]
    if left:
        raise ParameterError(
            f"no states given for {listed(left)}, and a stream does not show which will occur",
            hint=f"states={{{left[0]!r}: [...]}}, or a network or the schema of a table that has them",
        )
    frame = uniform(dag, known)
    require_hidden(frame, hidden, unseen)
    return frame
