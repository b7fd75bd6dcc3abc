"""Experts: functions, fitted classifiers, rows of a table of labels, a stream of advice, or the columns of a table.

The experts of a table learn as rows come: each row is predicted first and counted then.

    majority       the most frequent label so far
    each column    the most frequent label so far for the state that the column has in this row

Where a column shows a missing or a new state, it predicts the majority, and before the first row the first label.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.distributions import FinitePrior
from bayeslearn.distributions.priors import uniform_prior
from bayeslearn.errors import CapacityError, MismatchError, ParameterError, ShapeError, UnknownColumnError, listed
from bayeslearn.tables import DiscreteVariable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables import Schema, Table

Names = tuple[Hashable, ...]

#: Hypotheses of a version space that vote at most.
MOST_MEMBERS = 1_000_000

#: Experts that are given by their number.
MOST_EXPERTS = 10_000_000


class Panel(Protocol):
    """Experts with names."""

    names: Names

    def say(self, xs: Any) -> NDArray[Any]:
        """The advice of each expert for each x: rounds × experts; None and NaN are no advice."""

    def teach(self, x: Any, y: Any, labels: list[Any]) -> None:
        """Teach a round to the experts that learn."""


def panel_of(experts: Any) -> Panel:
    """Experts in any of their forms.

    A number or names: the advice comes as x. A matrix (experts × points) or a class of concepts: x is a point. A
    version space or a finite space of hypotheses, a mapping or a list of functions and of classifiers: they are asked.
    """
    if isinstance(experts, int | np.integer) and not isinstance(experts, bool):
        return Stream(tuple(range(validation.integer("experts", int(experts), min_value=1, max_value=MOST_EXPERTS))))
    if isinstance(experts, np.ndarray) or (hasattr(experts, "points") and hasattr(experts, "labels")):
        return Lookup.of(experts)
    if isinstance(experts, str) or not (isinstance(experts, Iterable) or is_space(experts)):
        raise ParameterError(f"`experts` must be a number, names, functions or classifiers, got {experts!r:.80}")
    given = members_of(experts)
    if not given:
        raise ParameterError("expected at least one expert, got none")
    if not isinstance(given, Mapping) and all(isinstance(name, str) for name in given):
        return Stream(_different(given))
    return Predictors.of(given)


def is_space(experts: Any) -> bool:
    """Whether these are a version space, or hypotheses that have names."""
    return all(hasattr(experts, name) for name in ("members", "size")) or all(
        hasattr(experts, name) for name in ("names", "hypotheses")
    )


def members_of(experts: Any) -> Any:
    """The hypotheses of a space, by name where they have one; else what was given."""
    if not is_space(experts):
        return experts if isinstance(experts, Mapping) else list(experts)
    if hasattr(experts, "members"):
        if experts.size > MOST_MEMBERS:
            raise CapacityError(f"{experts.size:,} hypotheses are too many to vote one by one", size=experts.size)
        return list(experts.members())
    return dict(zip(_different(experts.names), experts.hypotheses, strict=True))


class Stream:
    """Experts whose advice comes from elsewhere: x is a row of it, in order or by name."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def say(self, xs: Any) -> NDArray[Any]:
        """The rows themselves, as a matrix."""
        if not isinstance(xs, np.ndarray):
            xs = self._matrix(list(xs))
        if xs.ndim != 2 or xs.shape[1] != len(self.names):
            raise ShapeError(f"expected advice of shape (rounds, {len(self.names)}), got {xs.shape}")
        return xs

    def teach(self, x: Any, y: Any, labels: list[Any]) -> None:
        """There is no expert that learns."""

    def _matrix(self, rows: list[Any]) -> NDArray[Any]:
        cells = np.empty((len(rows), len(self.names)), object)
        for t, row in enumerate(rows):
            cells[t] = objects(self.row(t, row))
        return cells

    def row(self, t: int, row: Any) -> list[Any]:
        """The advice of each expert in round t, None for a missing name."""
        if isinstance(row, Mapping):
            odd = [name for name in row if name not in self.names]
            if odd:
                raise UnknownColumnError(
                    f"round {t} has advice of {odd[0]!r}, who is no expert", hint=f"they are {listed(self.names)}"
                )
            return [row.get(name) for name in self.names]
        if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray) or len(row) != len(self.names):
            size = len(row) if isinstance(row, Sequence | np.ndarray) and not isinstance(row, str) else repr(row)[:40]
            raise ShapeError(f"expected advice of {len(self.names)} experts, got {size} in round {t}")
        return list(row)


class Lookup:
    """Hypotheses written down: a row for each, a column for each point; x is the name of a point."""

    @classmethod
    def of(cls, table: Any) -> Lookup:
        """From a matrix, whose columns are then the points, or from a class of concepts."""
        if not isinstance(table, np.ndarray):
            return cls(tuple(table.hypotheses), np.asarray(table.labels), tuple(table.points))
        if table.ndim != 2 or not table.size:
            raise ShapeError(f"expected a matrix of experts by points, got shape {table.shape}")
        return cls(tuple(range(len(table))), table, tuple(range(table.shape[1])))

    def __init__(self, names: Names, table: NDArray[Any], points: Names) -> None:
        self.names, self.points = names, points
        self.columns = np.ascontiguousarray(table.T)
        self.place = {x: j for j, x in enumerate(points)}

    def say(self, xs: Any) -> NDArray[Any]:
        """The columns of these points."""
        try:
            return self.columns[[self.place[x] for x in xs]]
        except (KeyError, TypeError):
            odd = next(x for x in xs if not isinstance(x, Hashable) or x not in self.place)
            raise ParameterError(f"no point is called {odd!r:.40}", hint=f"they are {listed(self.points)}") from None

    def teach(self, x: Any, y: Any, labels: list[Any]) -> None:
        """What is written down stays."""


class Predictors:
    """Functions of x, objects that `predict_one`, and classifiers that `predict` rows."""

    #: Whether they are told the rounds: then one that is not fitted yet says nothing.
    learn = False

    def __init__(self, names: Names, members: tuple[Any, ...]) -> None:
        self.names, self.members = names, members
        odd = [m for m in members if not (callable(m) or hasattr(m, "predict") or hasattr(m, "predict_one"))]
        if odd:
            raise ParameterError(f"an expert is a function or has `predict`, got {odd[0]!r:.60}")

    @classmethod
    def of(cls, experts: Any) -> Predictors:
        """From a mapping, pairs of names and experts, or experts, which are then called by their own names."""
        if isinstance(experts, Mapping):
            return cls(tuple(experts), tuple(experts.values()))
        pairs = [e if isinstance(e, tuple) and len(e) == 2 else (None, e) for e in experts]
        names = [own_name(e) if name is None else name for name, e in pairs]
        if len(set(names)) < len(names):
            names = [f"{i}: {name}" for i, name in enumerate(names)]
        return cls(tuple(names), tuple(e for _, e in pairs))

    def say(self, xs: Any) -> NDArray[Any]:
        """Each is asked about each x."""
        said = [self._said(member, xs) for member in self.members]
        for name, column in zip(self.names, said, strict=True):
            if column.shape != (len(xs),):
                raise ShapeError(f"expert {name!r} has advice of shape {column.shape}, not ({len(xs)},)")
        kinds = {column.dtype.kind for column in said}
        if len(kinds) > 1:
            said = [column.astype(object) for column in said]
        return np.column_stack(said)

    def teach(self, x: Any, y: Any, labels: list[Any]) -> None:
        """Teach a round to the experts that learn; classifiers that learn batches get a batch of one."""
        for member in self.members:
            if hasattr(member, "learn_one"):
                member.learn_one(x, y)
            elif hasattr(member, "partial_fit"):
                member.partial_fit([x], [y], labels)

    def _said(self, member: Any, xs: Any) -> NDArray[Any]:
        if hasattr(member, "predict_one"):
            return objects([member.predict_one(x) for x in xs])
        if not hasattr(member, "predict"):
            return objects([member(x) for x in xs])
        try:
            return np.asarray(member.predict(xs))
        except Exception as error:
            if self.learn and type(error).__name__ == "NotFittedError":
                return objects([None] * len(xs))
            raise


def objects(values: list[Any]) -> NDArray[Any]:
    """A list of labels as an array, tuples too."""
    array = np.empty(len(values), object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def own_name(expert: Any) -> str:
    """What a function or a classifier is called."""
    name = getattr(expert, "__name__", None)
    return name if isinstance(name, str) else str(expert) if not hasattr(expert, "predict") else type(expert).__name__


def _different(names: Iterable[Hashable]) -> Names:
    found = tuple(names)
    if len(set(found)) < len(found):
        raise ParameterError(f"experts must have different names, got {listed(found)}")
    return found


def prior_of(prior: Any, names: tuple[Any, ...]) -> FinitePrior:
    """Weights before the first round, in order or by name; they need not sum to one."""
    if prior is None or isinstance(prior, str):
        return uniform_prior(prior, len(names))
    if isinstance(prior, FinitePrior):
        log_p = prior.log_p
    else:
        if isinstance(prior, Mapping):
            if set(prior) != set(names):
                raise ParameterError(f"the prior is one of {listed(prior)}, but the experts are {listed(names)}")
            prior = [prior[name] for name in names]
        w = validation.not_negative("prior", validation.float_array("prior", prior))
        if not w.any():
            raise ParameterError("`prior` must give weight to an expert, got zeros only")
        with np.errstate(divide="ignore"):
            log_p = np.log(w)
    if log_p.shape != (len(names),):
        raise ShapeError(f"expected a prior of {len(names)} weights, got shape {log_p.shape}")
    return FinitePrior(log_p)


### experts of a table


#: The name of the expert that ignores all columns.
MAJORITY = "majority"


class TableExperts:
    """The experts of a table of discrete columns; :meth:`advise` rows in order, batch by batch.

    The majority is an expert, and each column is one, which predicts the most frequent label so far given its state.
    Columns in `expert_columns` are experts that hold predictions.

    >>> from bayeslearn.tables import as_table
    >>> table = as_table({"sky": list("ssrsr"), "play": list("yynyn")}, discrete=["sky", "play"])
    >>> experts = TableExperts(table.schema, "play")
    >>> experts.names
    ('majority', 'sky')
    >>> experts.advise(table).T
    array([[0, 1, 1, 1, 1],
           [0, 1, 1, 1, 0]], dtype=int32)
    """

    def __init__(self, schema: Schema, target: str, *, expert_columns: Sequence[str] = ()) -> None:
        variable = schema[target]
        if not isinstance(variable, DiscreteVariable):
            raise UnknownColumnError(f"the target {target!r} is a numeric column", hint="declare it discrete")
        columns = [v for v in schema.discrete if v.name not in {target, *expert_columns}]
        if MAJORITY in (v.name for v in columns):
            raise ParameterError(f"no column can have the name {MAJORITY!r}, which is an expert")
        self.schema = schema
        self.target = variable
        self.columns = tuple(v.name for v in columns)
        self.expert_columns = tuple(expert_columns)
        self.names = (MAJORITY, *self.columns, *self.expert_columns)
        others = [state for name in expert_columns for state in states_of(schema, name)]
        #: The labels: those of the target, then those that only the expert columns have.
        self.classes = tuple(dict.fromkeys([*variable.states, *others]))
        most = max((v.n_states for v in columns), default=1)
        self._counts = np.zeros((1 + len(self.columns), most, variable.n_states), np.int64)

    def advise(self, table: Table) -> NDArray[np.int32]:
        """Codes of labels, rows × experts; each row is counted after its answer."""
        codes = np.zeros((1 + len(self.columns), table.n_rows), np.int32)
        for name in (*self.columns, *self.expert_columns, self.target.name):
            if table.schema[name] != self.schema[name]:
                raise MismatchError(
                    f"column {name!r} has other states than those that the experts were made for",
                    hint="read the table by their schema: as_table(..., schema=experts.schema)",
                    differs="states",
                )
        for j, name in enumerate(self.columns, start=1):
            codes[j] = table.codes_of(name)
        advice = np.empty((table.n_rows, len(codes)), np.int32)
        truth = table.codes_of(self.target.name).astype(np.int64)
        kernels.follow_counts(codes, truth, self._counts, advice)
        return np.hstack([advice, *(self._predictions(table, name)[:, None] for name in self.expert_columns)])

    def _predictions(self, table: Table, name: str) -> NDArray[np.int32]:
        """The labels in an expert column, −1 where it is missing."""
        places = [self.classes.index(state) for state in states_of(self.schema, name)]
        return np.array([*places, -1], np.int32)[table.codes_of(name)]


def states_of(schema: Schema, name: str) -> tuple[Any, ...]:
    """The states of an expert column."""
    variable = schema[name]
    if not isinstance(variable, DiscreteVariable):
        raise UnknownColumnError(f"the expert column {name!r} is a numeric column", hint="declare it discrete")
    return variable.states
