"""A Bayesian network as a scikit-learn classifier.

P(class | what a row shows) from the tables of a network whose graph is given or learned: the class may stand anywhere
in it, and what a row does not show is summed over, in fitting (by EM) as in predicting.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from bayeslearn import validation
from bayeslearn.errors import MissingValuesError, ParameterError, listed
from bayeslearn.estimators import AnswersInBatches, ReadsLabels, n_rows
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.dag import DAG, as_dag
from bayeslearn.network.inference.results import predictions, state_names
from bayeslearn.network.parameters.fit import fit_parameters, uniform
from bayeslearn.network.structure.algorithms import ALGORITHMS
from bayeslearn.network.structure.fit import search
from bayeslearn.network.structure.scoring.criteria import StructureScore
from bayeslearn.network.structure.search_settings import SearchSettings
from bayeslearn.sources.discretization import discretize
from bayeslearn.sources.scanning import as_source, is_source
from bayeslearn.sources.usability import dropping, warn_dropped
from bayeslearn.tables import DiscreteVariable, Schema, Table, as_table
from bayeslearn.tables.conversion import RawTable, collected, columns_as_read
from bayeslearn.tables.discretization import quantile_cuts
from bayeslearn.tables.intervals import weighted_values
from bayeslearn.tables.markers import class_array, distinct_labels
from bayeslearn.tables.markers import label_codes as positions
from bayeslearn.tables.schema import require_known
from bayeslearn.tables.type_inference import FEW

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.tables import Source
    from bayeslearn.tables.markers import Markers

    Columns = Mapping[str, Any]


### names


def given_or_searched(structure: BayesianNetwork | DAG | str | None) -> tuple[BayesianNetwork | DAG | None, str | None]:
    """A graph, or the algorithm that finds it; neither for naive Bayes."""
    if structure is None or isinstance(structure, BayesianNetwork):
        return structure, None
    if not isinstance(structure, str):
        return as_dag(structure), None
    if any(sign in structure for sign in ("[", "->", "<-", "{")):
        return DAG.parse(structure), None
    names = [name for name, entry in ALGORITHMS.items() if entry.needs != "order"]
    algorithm = validation.choice("structure", structure, names)
    return None, None if algorithm == "naive_bayes" else algorithm


def target_name(structure: BayesianNetwork | DAG | None, target: str | None, label: Any, columns: Iterable[str]) -> str:
    """The name of the class: as given, as the structure leaves open, or as the labels are called."""
    columns = list(columns)
    if target is None and structure is None:
        name = label if isinstance(label, str) else "class"
        return name if name not in columns else f"{name}_label"
    names = structure.variables if isinstance(structure, BayesianNetwork) else tuple(structure or ())
    if target is None:
        left = [label] if label in names else [name for name in names if name not in columns]
        if len(left) != 1:
            raise ParameterError(
                f"cannot tell which node is the class: {listed(left) or 'none'} could be", hint="name it with `target`"
            )
        return str(left[0])
    if structure is not None and target not in names:
        raise ParameterError(f"the target {target!r} is not in the structure", hint=f"its nodes are {listed(names)}")
    if target in columns and structure is None:
        raise ParameterError(f"the target {target!r} is a column of X too", hint="give it another name")
    return target


### codes


def select(columns: Columns, names: Iterable[str]) -> Columns:
    """Some of the columns, with the options of reading them."""
    return columns.select(names) if isinstance(columns, RawTable) else {name: columns[name] for name in names}


def discrete_table(columns: Columns, sample_weight: NDArray[np.float64] | None, n_bins: int) -> Table:
    """Columns as states: whole numbers that repeat themselves unchanged, other numbers by intervals."""
    gone = dropping(columns, None)
    table = as_table(columns, sample_weight=sample_weight, allow_constant=True, dropped_columns=gone)
    warn_dropped(gone, named=True)
    found = {v.name: weighted_values(table.values_of(v.name), sample_weight) for v in table.schema.numeric}
    states = [name for name, (values, weight) in found.items() if repeat(values, weight)]
    if states:
        table = as_table(
            columns, sample_weight=sample_weight, discrete=states, allow_constant=True, dropped_columns=gone
        )
    return table.apply_cuts({v.name: quantile_cuts(*found[v.name], n_bins) for v in table.schema.numeric})


def repeat(values: NDArray[np.float64], weight: NDArray[np.float64]) -> bool:
    """Few whole numbers, each seen twice on average: tables count rows here, and this their weight."""
    return len(values) <= FEW and 2 * len(values) <= weight.sum() and bool((values == np.floor(values)).all())


def label_codes(variable: DiscreteVariable, y: NDArray[Any]) -> NDArray[np.intp]:
    """The states that labels stand for, −1 where one is missing."""
    labels = distinct_labels(y)
    codes = np.array([*(variable.code_of(label) for label in labels.tolist()), -1], dtype=np.intp)
    return codes[positions(y, labels, check=False)]


def coded(
    network: BayesianNetwork,
    target: str,
    columns: Columns,
    labels: NDArray[np.intp],
    sample_weight: Any = None,
    *,
    handle_unknown: Literal["error", "missing"] = "error",
) -> Table:
    """Rows in the codes of a network, the class by its labels; what is neither is missing."""
    absent = network.schema.absent_from(columns)
    used = [name for name in network.variables if name not in absent and name != target]
    codes = np.full((len(network), len(labels)), -1, dtype=np.int64)
    codes[network.variables.index(target)] = labels
    if used:
        shown = as_table(columns, schema=network.schema.select(used), handle_unknown=handle_unknown)
        codes[[network.variables.index(name) for name in used]] = shown.codes
    return Table(network.schema, codes, np.empty((0, len(labels))), sample_weight)


### sources


def names_data(X: Any) -> bool:
    """Whether X is data with names of columns, of which `y` may be one: a source, a path or a table."""
    return isinstance(X, Table | str | os.PathLike) or is_source(X)


def framed_source(
    structure: BayesianNetwork | DAG | None, X: Any, y: Any, sample_weight: Any, n_bins: int
) -> tuple[BayesianNetwork, Source]:
    """A network with the states of a source, and nothing learned yet; and the source. `y` names the class."""
    if not isinstance(y, str) or not isinstance(sample_weight, str | None):
        raise ParameterError(
            f"the class of a source, a path or a table is a column of it, and so are weights, got {type(y).__name__}",
            hint='name the columns: fit(source, "class", sample_weight="n")',
        )
    if isinstance(structure, BayesianNetwork):
        structure[y]
        return structure, as_source(X, schema=structure.schema, missing_columns="missing", sample_weight=sample_weight)
    columns = None if structure is None else list(structure)
    source = as_source(X, columns=columns, discrete=[y], sample_weight=sample_weight, allow_constant=True)
    dag = structure or DAG({y: (), **{name: (y,) for name in source.schema.names if name != y}})
    if y not in dag:
        raise ParameterError(f"the class {y!r} is not in the structure", hint=f"its nodes are {listed(dag)}")
    source = discretize(source, n_bins=validation.integer("n_bins", n_bins, min_value=2))
    return uniform(dag, {v.name: v for v in source.schema}), source


def _states_are_known(estimator: Any) -> bool:
    return isinstance(estimator.structure, BayesianNetwork)


class BayesianNetworkClassifier(AnswersInBatches, ReadsLabels, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """P(class | x) by a Bayesian network; cells may be missing (NaN, None, "?") in fitting and in predicting.

    Parameters
    ----------
    structure
        The graph over the class and the columns of X: a :class:`~bayeslearn.DAG`, a model string like
        ``"[sick][fever|sick]"``, or a network, whose states are kept. Columns that it does not name are not used; a
        plain array has the columns x0, x1, and so on. Or the algorithm that finds it, as in
        :func:`~bayeslearn.fit_network`: ``"tan"``, ``"hill_climb"``, ``"ges"``, ``"exact"``, ``"chow_liu"``, …, or
        ``"auto"``, which chooses by the number of columns. None is naive Bayes: the class is the only parent of every
        column.
    target
        The name of the class; when not given, the one node of `structure` that is no column of X, else the name of
        `y`, else ``"class"``.
    root
        The column at which the tree of ``"tan"`` starts; the first by name when not given.
    criterion
        The criterion of a learned structure: ``bic``, ``aic``, ``k2``, ``bdeu:N`` or ``bds:N``.
    prior
        The prior of the CPTs, as in :func:`~bayeslearn.fit_parameters`; default: one row in every state.
    n_bins
        The number of bins of numeric columns; whole numbers with few different values are states.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.
    unlabeled
        What to do with rows without a label (None, NaN): learn from them by ``"em"``, ``"drop"`` them, or raise an
        ``"error"``.
    max_iter, tol
        Of EM, where cells or labels are missing.
    random_state
        Of searches for a structure, and of the start of EM where the structure has variables that X lacks.

    Attributes
    ----------
    network_
        The :class:`~bayeslearn.BayesianNetwork` learned, to be asked, explained, updated and saved like any other.
    target_
        The name of the class in it.
    n_iter_, log_likelihood_
        Iterations of EM, one for complete cases; and ln P of what the rows show, labels included.

    Examples
    --------
    >>> X = [["sunny", "hot"], ["rain", None], ["sunny", "mild"], ["rain", "mild"]]
    >>> model = BayesianNetworkClassifier().fit(X, ["no", "yes", "no", "yes"])
    >>> model.predict([["rain", "hot"], [None, "hot"]])
    array(['yes', 'no'], dtype='<U3')

    A learned structure, here with an arc between two equivalent columns:

    >>> BayesianNetworkClassifier("tan").fit([["a", "x"], ["b", "y"]] * 20, list("ppqq") * 10).network_.dag
    [class][x0|class][x1|class:x0]
    """

    network_: BayesianNetwork
    target_: str
    n_iter_: int
    log_likelihood_: float

    _unlabeled_choices: ClassVar[tuple[str, ...]] = ("em", "drop", "error")

    def __init__(
        self,
        structure: BayesianNetwork | DAG | str | None = None,
        *,
        target: str | None = None,
        root: str | None = None,
        criterion: str = "bic",
        prior: Prior = "laplace",
        n_bins: int = 5,
        na_values: Markers = (),
        keep_default_na: bool = True,
        unlabeled: Literal["em", "drop", "error"] = "em",
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.structure = structure
        self.target = target
        self.root = root
        self.criterion = criterion
        self.prior = prior
        self.n_bins = n_bins
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.unlabeled = unlabeled
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    # -- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the network to rows with labels; where X has named columns, `y` and `sample_weight` may be names.

        Of a source (:func:`~bayeslearn.scan`), or paths of several files, they are names of columns.
        """
        if names_data(X) and (isinstance(y, str) or is_source(X)):
            return self._fit_source(self._marked(X, reset=True), y, sample_weight)
        name = y if isinstance(y, str) else getattr(y, "name", None)
        columns, y, w = self._cases(X, y, sample_weight, reset=True)
        graph, method = given_or_searched(self.structure)
        self.target_ = target_name(graph, self.target, name, columns)
        frame = graph if isinstance(graph, BayesianNetwork) else self._framed(graph, columns, y, w)
        label = frame[self.target_].variable
        self.classes_ = distinct_labels(class_array(state_names(label)) if frame is graph else y)
        unknown = [name for name in frame.schema.absent_from(columns) if name != label.name]
        absent = {name: len(frame.states(name)) for name in unknown}
        table = coded(frame, self.target_, columns, label_codes(label, y), w)
        return self._learn(self._searched(method, table) if method else frame, table, absent)

    def _fit_source(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Learn from data that are folded."""
        graph, method = given_or_searched(self.structure)
        if method:
            raise ParameterError(
                f"the structure of a source is fitted beforehand, not by {method!r} in a classifier",
                hint="BayesianNetworkClassifier(fit_network(source)).fit(source, target)",
            )
        frame, source = framed_source(graph, X, y, sample_weight, self.n_bins)
        source = self._with_labels(source, y)
        self.target_, self.classes_ = y, distinct_labels(class_array(state_names(frame[y].variable)))
        missing = source.missing() if frame is graph else {}  # a network may have variables that no column shows
        unshown = [name for name, cells in missing.items() if cells == source.n_rows and name != y]
        self._note_columns(frame.variables, [y, *unshown])
        return self._learn(frame, source, {name: len(frame.states(name)) for name in unshown})

    def _with_labels(self, source: Any, y: str) -> Any:
        """A source or a table of which every row has a label, unless EM learns from the others too."""
        unlabeled = validation.choice("unlabeled", self.unlabeled, self._unlabeled_choices)
        if unlabeled == "em" or not source.missing()[y]:
            return source
        if unlabeled == "drop" and isinstance(source, Table):
            return source.take(np.flatnonzero(source.codes_of(y) >= 0))
        raise MissingValuesError(
            f"some rows have no {y!r}", hint='learn from them too: unlabeled="em"; or leave them out of the data'
        )

    def _learn(self, frame: BayesianNetwork, cases: Source, hidden: dict[str, int]) -> Self:
        self.network_ = fit_parameters(
            frame, cases, prior=self.prior, hidden=hidden, tol=self.tol, max_iter=self.max_iter,
            random_state=validation.generator(self.random_state),
        )  # fmt: skip
        info = self.network_.fit_info
        self.n_iter_, self.log_likelihood_ = info.n_iter, info.log_likelihood
        return self

    @available_if(_states_are_known)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add more rows; only where `structure` is a network, which states what the states and the `classes` are.

        Complete rows add exactly; one with missing values adds what the CPTs expect of it by then.
        """
        if not hasattr(self, "network_"):
            return self.fit(X, y, sample_weight)
        columns, y, w = self._cases(X, y, sample_weight, reset=False)
        label = self.network_[self.target_].variable
        label_codes(label, y if classes is None else np.asarray(classes))
        self.network_ = self.network_.update(coded(self.network_, self.target_, columns, label_codes(label, y), w))
        return self

    def _framed(self, graph: DAG | None, columns: Columns, y: NDArray[Any], w: Any) -> BayesianNetwork:
        """A network with the states of the data, and nothing learned yet."""
        used = list(columns) if graph is None else [name for name in graph if name != self.target_]
        require_known(used, columns)
        variables: dict[str, Any] = {}
        if used:
            bins = validation.integer("n_bins", self.n_bins, min_value=2)
            variables = {v.name: v for v in discrete_table(select(columns, used), w, bins).schema}
        if graph is None:
            graph = DAG({self.target_: (), **dict.fromkeys(variables, (self.target_,))})
        return uniform(
            graph, {self.target_: DiscreteVariable(self.target_, tuple(distinct_labels(y).tolist()))} | variables
        )

    def _searched(self, method: str, table: Table) -> BayesianNetwork:
        """A network with the graph that the rows suggest, and nothing learned yet."""
        seed = int(validation.generator(self.random_state).integers(1 << 62))
        settings = SearchSettings(
            method,
            StructureScore.parse(self.criterion),
            prior=self.prior,
            target=self.target_,
            root=self.root,
            seed=seed,
        )
        return uniform(search(settings, table), {v.name: v for v in table.schema})

    # -- predicting

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each row, the first in sorted order when tied."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(label | what the row shows), a column for each of `classes_`; a state not seen in training is missing."""
        return self._answer(X, "predict_proba")

    def _ask(self, question: str, rows: Any, *arguments: Any) -> Any:  # noqa: ARG002 - probabilities are all it answers
        label = self.network_[self.target_].variable
        order = [label.code_of(state) for state in self.classes_.tolist()]
        with collected():
            table = self._coded_rows(rows)
        found = [p[self.target_][:, order] for _, p in predictions(self.network_, table, [label.name])]
        return np.concatenate([np.empty((0, len(order))), *found])

    def _coded_rows(self, rows: Any) -> Table:
        """Rows in the codes of the network; columns of training that are not there are an error."""
        columns = self._columns(rows)
        require_known([name for name in self._columns_in().names if name != self.target_], columns)
        if isinstance(rows, Table):
            return as_table(rows, schema=self.network_.schema, missing_columns="missing", handle_unknown="missing")
        return coded(self.network_, self.target_, columns, np.full(n_rows(columns), -1), handle_unknown="missing")

    def _source_of(self, rows: Any, target: str | None = None, sample_weight: Any = None) -> Any:
        if target is not None:
            return super()._source_of(rows, target, sample_weight)
        with collected():
            return as_source(rows, schema=self.network_.schema, missing_columns="missing", handle_unknown="missing")

    def _columns_in(self) -> Schema:
        known = getattr(self, "feature_names_in_", self._array_names(self.n_features_in_, reset=True))
        return Schema(v for v in self.network_.schema if v.name in known)

    # -- data in

    def _cases(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Columns, NDArray[Any], Any]:
        """Checked columns, labels and weights; rows of weight zero are as good as absent."""
        rows, y, w = self._read_cases(X, y, sample_weight, reset=reset)
        return self._columns(rows), y, w

    def _columns(self, rows: Any) -> Columns:
        """Columns by name: of a frame as they came, of an array as x0, x1, …."""
        if isinstance(rows, np.ndarray):
            names = self._array_names(rows.shape[1], reset=False)
            return {name: rows[:, j] for j, name in enumerate(names)}
        if isinstance(rows, Table):
            return columns_as_read(rows)
        if isinstance(rows, Mapping):
            return rows
        return {str(name): rows[name] for name in getattr(rows, "column_names", rows.columns)}
