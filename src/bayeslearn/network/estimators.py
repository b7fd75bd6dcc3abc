"""A Bayesian network as a scikit-learn classifier.

P(class | what a row shows) from the tables of a network whose graph is given or learned: the class may stand anywhere
in it, and what a row does not show is summed over, in fitting (by EM) as in predicting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bayeslearn import validation
from bayeslearn.errors import DataError, ParameterError
from bayeslearn.network.classifying import (
    coded,
    discrete_table,
    framed_source,
    given_or_searched,
    label_codes,
    names_data,
    select,
    target_name,
)
from bayeslearn.network.graph import Dag
from bayeslearn.network.learning.fit import fit_tables, uniform
from bayeslearn.network.network import BayesianNetwork
from bayeslearn.network.prediction import predictions, state_names
from bayeslearn.network.structure.counting.scores import Score
from bayeslearn.network.structure.knowledge import Knowledge
from bayeslearn.network.structure.limits import Limits
from bayeslearn.network.structure.recipe import Recipe
from bayeslearn.sources import as_source
from bayeslearn.sources.mixins import TakesCells
from bayeslearn.tables import Discrete
from bayeslearn.tables.notes import collected
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bayeslearn.network.classifying import Columns
    from bayeslearn.network.learning.priors import Prior
    from bayeslearn.tables import Source, Table
    from bayeslearn.tables.markers import Markers


def _states_are_known(estimator: Any) -> bool:
    return isinstance(estimator.structure, BayesianNetwork)


class BayesianNetworkClassifier(TakesCells, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """P(class | x) by a Bayesian network; cells may be missing (NaN, None, "?") in fitting and in predicting.

    Parameters
    ----------
    structure
        The graph over the class and the columns of X: a :class:`~bayeslearn.Dag`, a model string like
        ``"[sick][fever|sick]"``, or a network, whose states are kept. Columns that it does not name are not used; a
        plain array has the columns x0, x1, and so on. Or how to learn it, as in :func:`~bayeslearn.learn`: ``"tan"``,
        the class above every column and a tree among these, ``"hill-climb"``, ``"ges"``, ``"exact"``, ``"tree"``, …, or
        ``"learn"``, which chooses by the number of columns. None is the naive structure, the class above every column.
    target
        The name of the class; when not given, the one node of `structure` that is no column of X, else the name of
        `y`, else ``"class"``.
    criterion
        What a learned structure is judged by: ``bic``, ``aic``, ``k2``, ``bdeu:CASES`` or ``bds:CASES``.
    prior
        Cases that count as seen before, as in :func:`~bayeslearn.fit_tables`: one in every state when not given.
    bins
        Intervals that a numeric column is cut into at its quantiles; whole numbers that repeat themselves are states.
    missing, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.
    max_iter, tol
        Of EM, where cells are missing.
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

    A structure that is learned, here with an arc from one column to the other, which always says the same:

    >>> BayesianNetworkClassifier("tan").fit([["a", "x"], ["b", "y"]] * 20, list("ppqq") * 10).network_.dag
    [class][x0|class][x1|class:x0]
    """

    network_: BayesianNetwork
    target_: str
    classes_: NDArray[Any]
    n_iter_: int
    log_likelihood_: float

    def __init__(
        self,
        structure: BayesianNetwork | Dag | str | None = None,
        *,
        target: str | None = None,
        criterion: str = "bic",
        prior: Prior = "laplace",
        bins: int = 5,
        missing: Markers = (),
        keep_default_na: bool = True,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.structure = structure
        self.target = target
        self.criterion = criterion
        self.prior = prior
        self.bins = bins
        self.missing = missing
        self.keep_default_na = keep_default_na
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    # -- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the tables from rows with labels.

        X may also be a source (:func:`~bayeslearn.scan`), paths or a table: `y` then names the column of the class, and
        `sample_weight` that of the weights; rows without a label teach what they show.
        """
        if names_data(X):
            return self._fit_source(self._marked(X, reset=True), y, sample_weight)
        name = getattr(y, "name", None)
        columns, y, w = self._cases(X, y, sample_weight, reset=True)
        graph, method = given_or_searched(self.structure)
        self.target_ = target_name(graph, self.target, name, columns)
        frame = graph if isinstance(graph, BayesianNetwork) else self._framed(graph, columns, y, w)
        label = frame[self.target_].variable
        self.classes_ = np.unique(state_names(label) if frame is graph else y)
        unknown = [name for name in frame.schema.absent_from(columns) if name != label.name]
        absent = {name: len(frame.states(name)) for name in unknown}
        table = coded(frame, self.target_, columns, label_codes(label, y), w)
        return self._learn(self._searched(method, table) if method else frame, table, absent)

    def _fit_source(self, X: Any, y: Any, weights: Any) -> Self:
        """Learn from data that are folded."""
        graph, method = given_or_searched(self.structure)
        if method:
            raise ParameterError(
                f"the structure of a source is learned beforehand, not by {method!r} in a classifier",
                hint="BayesianNetworkClassifier(learn(source).network).fit(source, target)",
            )
        frame, source = framed_source(graph, X, y, weights, self.bins)
        self.target_, self.classes_ = y, np.unique(state_names(frame[y].variable))
        self.feature_names_in_ = np.array([n for n in frame.names if n != y], dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        missing = source.missing() if frame is graph else {}  # a network may have variables that no column shows
        unshown = [name for name, cells in missing.items() if cells == source.n_rows and name != y]
        return self._learn(frame, source, {name: len(frame.states(name)) for name in unshown})

    def _learn(self, frame: BayesianNetwork, cases: Source, hidden: dict[str, int]) -> Self:
        learned = fit_tables(
            frame, cases, prior=self.prior, hidden=hidden, tol=self.tol, max_iter=self.max_iter,
            rng=validation.generator(self.random_state),
        )  # fmt: skip
        self.network_, self.n_iter_ = learned.network, learned.iterations
        self.log_likelihood_ = learned.log_likelihood
        return self

    @available_if(_states_are_known)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add more rows; only where `structure` is a network, which says what the states and the `classes` are.

        Complete rows add exactly; one with holes adds what the tables expect of it by then.
        """
        if not hasattr(self, "network_"):
            return self.fit(X, y, sample_weight)
        columns, y, w = self._cases(X, y, sample_weight, reset=False)
        label = self.network_[self.target_].variable
        label_codes(label, y if classes is None else np.asarray(classes))
        self.network_ = self.network_.update(coded(self.network_, self.target_, columns, label_codes(label, y), w))
        return self

    def _framed(self, graph: Dag | None, columns: Columns, y: NDArray[Any], w: Any) -> BayesianNetwork:
        """A network with the states of the data, and nothing learned yet."""
        used = list(columns) if graph is None else [name for name in graph if name != self.target_]
        require_known(used, columns)
        variables: dict[str, Any] = {}
        if used:
            bins = validation.integer("bins", self.bins, least=2)
            variables = {v.name: v for v in discrete_table(select(columns, used), w, bins).schema}
        if graph is None:
            graph = Dag({self.target_: (), **dict.fromkeys(variables, (self.target_,))})
        return uniform(graph, {self.target_: Discrete(self.target_, tuple(np.unique(y).tolist()))} | variables)

    def _searched(self, method: str, table: Table) -> BayesianNetwork:
        """A network with the graph that the rows suggest, and nothing learned yet."""
        seed = int(validation.generator(self.random_state).integers(1 << 62))
        recipe = Recipe(
            method, Score.of(self.criterion), Knowledge(), self.prior, Limits(), target=self.target_, seed=seed
        )
        return uniform(recipe.dag(table), {v.name: v for v in table.schema})

    # -- predicting

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each row, the first in sorted order when tied."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(label | what the row shows), a column for each of `classes_`; a state not seen in training is missing."""
        check_is_fitted(self)
        label = self.network_[self.target_].variable
        order = [label.code_of(state) for state in self.classes_.tolist()]
        found = [
            p[self.target_][:, order] for t in self._tables(X) for _, p in predictions(self.network_, t, [label.name])
        ]
        return np.concatenate([np.empty((0, len(order))), *found])

    def _tables(self, X: Any) -> Iterator[Table]:
        """Rows in the codes of the network."""
        if names_data(X):
            with collected():
                rows = self._marked(X, reset=False)
                source = as_source(rows, schema=self.network_.schema, absent="missing", unseen="missing")
            yield from source.batches()
            return
        columns, n = self._columns(validate_data(self, X, **CELLS_AS_THEY_ARE, reset=False), X, reset=False)
        with collected():
            table = coded(self.network_, self.target_, columns, np.full(n, -1), unseen="missing")
        yield table

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    # -- data in

    def _cases(self, X: Any, y: Any, weights: Any, *, reset: bool) -> tuple[Columns, NDArray[Any], Any]:
        """Checked columns, labels and weights; rows of weight zero are as good as absent."""
        checked, y = validate_data(self, X, y, **CELLS_AS_THEY_ARE, reset=reset)
        check_classification_targets(y)
        if weights is None:
            return self._columns(checked, X, reset=reset)[0], y, None
        w = validation.weights(weights, len(y), name="sample_weight")
        if not w.any():
            raise DataError(
                "every sample_weight is zero: no class is left to learn", hint="give at least one row a positive weight"
            )
        seen = np.flatnonzero(w > 0)
        rows = X if hasattr(X, "columns") else checked
        return self._columns(checked[seen], _safe_indexing(rows, seen), reset=reset)[0], y[seen], w[seen]

    def _columns(self, checked: NDArray[Any], X: Any, *, reset: bool) -> tuple[Columns, int]:
        """Columns by name: of a frame as they came, of an array as x0, x1, …; and how many rows there are."""
        if hasattr(X, "columns"):
            names = getattr(X, "column_names", X.columns)  # Arrow calls them so
            columns = {str(name): X[name] for name in names}
        else:
            columns = {f"x{j}": checked[:, j] for j in range(checked.shape[1])}
        return self._marked(columns, reset=reset), len(checked)


#: Shapes and names are checked by scikit-learn, cells by our tables.
CELLS_AS_THEY_ARE = {"dtype": None, "ensure_all_finite": False}
