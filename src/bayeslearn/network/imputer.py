"""Imputation by a Bayesian network as a scikit-learn transformer.

A network is fitted to rows with missing values, by EM, and fills those of other rows: with the states that are most
probable together given what a row shows, or with a draw from their joint posterior. Observed values are unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bayeslearn import validation
from bayeslearn.errors import DataError, ParameterError
from bayeslearn.estimators import ReadsRows, has_named_columns, n_rows
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.estimators import discrete_table, given_or_searched, select
from bayeslearn.network.parameters.fit import fit_parameters, uniform
from bayeslearn.network.structure.fit import search
from bayeslearn.network.structure.scoring.criteria import StructureScore
from bayeslearn.network.structure.search_settings import SearchSettings
from bayeslearn.tables import Table, as_table
from bayeslearn.tables.conversion import columns_as_read
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.dag import DAG
    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.tables.markers import Markers


class NetworkImputer(ReadsRows, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Fill missing values (NaN, None, "?") by a Bayesian network of the columns.

    Frames of pandas, polars and pyarrow come back as such, with index, types and other columns as they were, arrays as
    arrays; ``set_output`` chooses another container.

    Parameters
    ----------
    structure
        The graph over the columns of X: a :class:`~bayeslearn.DAG`, a model string like ``"[sick][fever|sick]"``, or a
        network, whose states are kept. Columns that it does not name are not filled; a plain array has the columns x0,
        x1, and so on. Or the algorithm that finds it, as in :func:`~bayeslearn.fit_network`: ``"hill_climb"``,
        ``"ges"``, ``"exact"``, ``"chow_liu"``, …, or ``"auto"`` (the default), which chooses by the number of columns.
    method
        ``"most_probable"`` (the default) takes the states that are most probable together, and the median of an
        interval; ``"sample"`` draws from the joint posterior, and from the values of an interval.
    criterion
        The criterion of a learned structure: ``bic``, ``aic``, ``k2``, ``bdeu:N`` or ``bds:N``.
    prior
        The prior of the CPTs, as in :func:`~bayeslearn.fit_parameters`: one row in every state by default.
    n_bins
        The number of bins of numeric columns; whole numbers with few different values are states.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`.
    max_iter, tol
        The limits of EM.
    random_state
        Seed or generator of searches for a structure, of the start of EM for variables that X lacks, and of draws.

    Attributes
    ----------
    network_
        The fitted :class:`~bayeslearn.BayesianNetwork`.
    n_iter_
        The number of iterations of EM.

    See Also
    --------
    BayesianNetwork.impute : the same with a network at hand.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"sky": list("ssrrsr") * 5, "wet": list("nnyyny") * 5}).astype("category")
    >>> NetworkImputer().fit(X).transform(pd.DataFrame({"sky": ["s", "r", None], "wet": [None, None, "y"]}))
      sky wet
    0   s   n
    1   r   y
    2   r   y
    """

    network_: BayesianNetwork
    n_iter_: int

    def __init__(
        self,
        structure: BayesianNetwork | DAG | str = "auto",
        *,
        method: Literal["most_probable", "sample"] = "most_probable",
        criterion: str = "bic",
        prior: Prior = "laplace",
        n_bins: int = 5,
        na_values: Markers = (),
        keep_default_na: bool = True,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.structure = structure
        self.method = method
        self.criterion = criterion
        self.prior = prior
        self.n_bins = n_bins
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit a network to rows with missing values.

        Parameters
        ----------
        X
            Anything that :func:`~bayeslearn.as_table` reads into memory.
        y
            Not used.
        sample_weight
            The weight of each row; default: 1.
        """
        del y
        validation.choice("method", self.method, ["most_probable", "sample"])
        columns = self._columns(self._read_rows(X, reset=True))
        if sample_weight is not None:
            sample_weight = validation.weights(sample_weight, n_rows(columns), name="sample_weight")
            if not sample_weight.any():
                raise DataError("every sample_weight is zero", hint="give at least one row a positive weight")
        frame = self._frame(columns, sample_weight)
        absent = {name: len(frame.states(name)) for name in frame.schema.absent_from(columns)}
        table = as_table(
            select(columns, [name for name in columns if name not in absent]), schema=frame.schema,
            missing_columns="missing", handle_unknown="missing", sample_weight=sample_weight,
        )  # fmt: skip
        fitted = fit_parameters(
            frame, table, prior=self.prior, hidden=absent, tol=self.tol, max_iter=self.max_iter,
            random_state=validation.generator(self.random_state),
        )  # fmt: skip
        self.network_, self.n_iter_ = fitted, fitted.fit_info.n_iter
        return self

    def transform(self, X: Any) -> Any:
        """Return X with its missing values filled, in the kind that it has.

        Parameters
        ----------
        X
            Rows with the columns of training.
        """
        check_is_fitted(self)
        rows = self._read_rows(X, reset=False)
        if has_named_columns(X):
            require_known(
                [name for name in self.network_.variables if name in self._known()], list(self._columns(rows))
            )
            return self._filled(X)
        columns = self._columns(rows)
        return as_array(self._filled(columns), rows)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit a network to X and return X with its missing values filled."""
        return self.fit(X, y, sample_weight).transform(X)

    # -- data in

    def _known(self) -> set[str]:
        """The columns of training."""
        return set(getattr(self, "feature_names_in_", self._array_names(self.n_features_in_, reset=True)))

    def _columns(self, rows: Any) -> Any:
        """Columns by name: of a frame as they came, of an array as x0, x1, …."""
        if isinstance(rows, np.ndarray):
            return {name: rows[:, j] for j, name in enumerate(self._array_names(rows.shape[1], reset=False))}
        if isinstance(rows, Mapping):
            return rows
        if isinstance(rows, Table):
            return columns_as_read(rows)
        if not hasattr(rows, "columns"):
            raise ParameterError(
                f"NetworkImputer takes all rows in memory, got {type(rows).__name__}",
                hint="fit a network to the source and use its method: fit_network(source).impute(data)",
            )
        return {str(name): rows[name] for name in getattr(rows, "column_names", rows.columns)}

    # -- learning

    def _frame(self, columns: Any, weights: NDArray[np.float64] | None) -> BayesianNetwork:
        """A network with the states of the data and a graph that is given or learned, and nothing fitted yet."""
        graph, algorithm = given_or_searched(self.structure)
        if isinstance(graph, BayesianNetwork):
            return graph
        if graph is None and algorithm is None:
            raise ParameterError(
                f"the structure {self.structure!r} is built around a class, and there is none here",
                hint='take structure="auto", "chow_liu" or another algorithm, or give a graph',
            )
        used = columns if graph is None else select(columns, [name for name in graph if name in columns])
        table = discrete_table(used, weights, validation.integer("n_bins", self.n_bins, min_value=2))
        variables = {v.name: v for v in table.schema}
        if graph is not None:
            require_known(list(graph), variables)
            return uniform(graph, variables)
        seed = int(validation.generator(self.random_state).integers(1 << 62))
        criterion = StructureScore.parse(self.criterion)
        settings = SearchSettings(str(algorithm), criterion, prior=self.prior, seed=seed)
        return uniform(search(settings, table), variables)

    # -- filling

    def _filled(self, data: Any) -> Any:
        """Data of any kind, filled."""
        return self.network_.impute(
            data, method=self.method, random_state=self.random_state, na_values=self.na_values,
            keep_default_na=self.keep_default_na,
        )  # fmt: skip


def as_array(columns: Mapping[str, NDArray[Any]], rows: Any) -> NDArray[Any]:
    """Columns as one array, of the type that the rows have if they are an array."""
    if isinstance(rows, np.ndarray):
        return np.column_stack(list(columns.values())).astype(rows.dtype, copy=False)
    array = np.empty((n_rows(columns), len(columns)), dtype=object)
    for j, cells in enumerate(columns.values()):
        array[:, j] = cells
    return array
