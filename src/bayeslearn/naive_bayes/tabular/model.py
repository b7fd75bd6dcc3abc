"""The naive Bayes model: columns are independent given the class.

    P(c | x) ∝ P(c) Π_j p(x_j | c)^τ_j        a missing value is integrated out: its factor is 1

The model is a frozen value that keeps its priors and the statistics of the rows, from which every probability is
computed. Models merge, and rows are added, removed and discounted. Every τ_j is 1 unless the model is calibrated
(:mod:`bayeslearn.naive_bayes.tabular.out_of_fold`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import codec, validation
from bayeslearn.components.product import Product
from bayeslearn.distributions import Categorical, Counts, Dirichlet, StatisticsBundle
from bayeslearn.errors import DataError, MismatchError, ParameterError, listed
from bayeslearn.fit_info import Fitted
from bayeslearn.naive_bayes.tabular.prediction import ClassPredictions, marked, moved
from bayeslearn.tables import DiscreteVariable, Schema
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.components.component import Component
    from bayeslearn.components.product import ProductDensity
    from bayeslearn.distributions.categorical import DirichletRule
    from bayeslearn.distributions.lineage import Lineage
    from bayeslearn.model_values import Reader
    from bayeslearn.tables.markers import Markers


#: How parameters are read off posteriors.
ESTIMATES = ("mean", "integrated")


@dataclass(frozen=True, eq=False, repr=False)
class NaiveBayesModel(ClassPredictions, Fitted, codec.Saved, kind="naive Bayes", version=2):
    """A naive Bayes classifier: P(class | row) from categorical, numeric and count columns.

    :func:`fit_naive_bayes` returns one. It keeps priors and statistics: models merge, and rows are added and removed.

    Examples
    --------
    >>> from bayeslearn import fit_naive_bayes
    >>> days = {"sky": ["sun", "sun", "rain", "rain", None], "wind": [1.0, 2.5, 6.0, 7.5, 2.0], "play": list("yynny")}
    >>> model = fit_naive_bayes(days, "play")
    >>> model
    NaiveBayesModel('play' from 2 columns, 5 rows)
    >>> model.predict({"sky": ["rain", "sun"], "wind": [7.0, None]}).tolist()
    ['n', 'y']

    Rows that were added can be removed:

    >>> more = {"sky": ["snow"], "wind": [9.0], "play": ["n"]}
    >>> model.update(more).remove(more).isclose(model)
    True
    """

    target: DiscreteVariable
    columns: tuple[Component, ...]
    prior: Dirichlet | DirichletRule
    statistics: StatisticsBundle
    estimate: str = "mean"
    #: The exponent τ of every column; one number for all of them.
    column_exponents: float | tuple[float, ...] = 1.0
    #: The updates that the statistics consist of; see :mod:`bayeslearn.distributions.lineage`.
    lineage: Lineage | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "estimate", validation.choice("estimate", self.estimate, ESTIMATES))
        object.__setattr__(self, "column_exponents", self._exponents())
        Schema([self.target, *(c.variable for c in self.columns)])
        if set(self.statistics) != {self.target.name, *(c.name for c in self.columns)}:
            raise ParameterError(f"the statistics are those of {listed(self.statistics)}, not of the columns")

    def _exponents(self) -> tuple[float, ...]:
        given, n = np.asarray(self.column_exponents, dtype=float), len(self.columns)
        if given.shape not in {(), (n,)}:
            raise ParameterError(
                f"`column_exponents` must be one number or {n}, one for each column, got {self.column_exponents!r}"
            )
        return tuple(validation.number("column_exponents", float(τ), above=0) for τ in np.broadcast_to(given, n))

    # -- rows in and out

    def update(
        self, data: Any, *, sample_weight: Any = None, na_values: Markers = (), keep_default_na: bool = True
    ) -> NaiveBayesModel:
        """Return the model with more rows.

        New states of a column are added, and rows without a label add their expected statistics.

        Parameters
        ----------
        data
            Rows with the columns of the model and the target, as :func:`fit_naive_bayes` takes them.
        sample_weight
            The weight of each row, or the column that holds it; 1 by default.
        na_values, keep_default_na
            Markers of missing values, as in :func:`~bayeslearn.as_table`.
        """
        from bayeslearn.naive_bayes.tabular.fit import update  # noqa: PLC0415 - it makes models

        return update(self, marked(data, na_values, keep_default_na=keep_default_na), sample_weight=sample_weight)

    def remove(
        self, data: Any, *, sample_weight: Any = None, na_values: Markers = (), keep_default_na: bool = True
    ) -> NaiveBayesModel:
        """Return the model without rows that were added before; each must have a label.

        Parameters
        ----------
        data, sample_weight, na_values, keep_default_na
            As in :meth:`update`.

        Raises
        ------
        EvidenceError
            The model does not have these rows.
        MissingValuesError
            A row has no label: its expected statistics depend on the model at the time it was added.
        """
        from bayeslearn.naive_bayes.tabular.fit import remove  # noqa: PLC0415 - it makes models

        return remove(self, marked(data, na_values, keep_default_na=keep_default_na), sample_weight=sample_weight)

    def merge(self, *others: NaiveBayesModel) -> NaiveBayesModel:
        """Return the model with the rows of all, as ``+``; rows that models were updated from in common count once."""
        return sum(others, self)

    def discount(self, forgetting_factor: float) -> NaiveBayesModel:
        """Return the model with the weight of every row multiplied by a factor from 0 to 1."""
        return self * validation.number("forgetting_factor", forgetting_factor, min_value=0, max_value=1)

    # -- what it is made of

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, as the user wrote them."""
        return self.target.states

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(c.name for c in self.columns)

    @property
    def class_counts(self) -> NDArray[np.float64]:
        """The number of rows of each class, weighted."""
        return self.statistics[self.target.name].n

    @property
    def total_weight(self) -> float:
        """The number of rows with a class, weighted."""
        return float(self.class_counts.sum())

    def __getitem__(self, name: str) -> Component:
        require_known([name], self.feature_names)
        return self.columns[self.feature_names.index(name)]

    def posterior(self, name: str) -> Any:
        """Return the posterior of the parameters of a column, a row for each class; or of the class probabilities.

        None for a numeric column whose values are all equal.
        """
        if name == self.target.name:
            return Categorical(self.target.n_states).update(self.prior, self.statistics[name])
        return self[name].posterior(self.statistics[name])

    @cached_property
    def class_log_prior(self) -> NDArray[np.float64]:
        """ln P(class)."""
        with np.errstate(divide="ignore"):
            return np.log(self.posterior(self.target.name).mean())

    @cached_property
    def product(self) -> Product:
        """The product of the columns."""
        return Product(self.columns)

    @cached_property
    def density(self) -> ProductDensity:
        """The log densities of the columns."""
        return self.product.posterior_density(self.statistics, self.estimate, self.column_exponents)  # type: ignore[arg-type]

    # -- evidence adds

    def __add__(self, other: NaiveBayesModel) -> NaiveBayesModel:
        from bayeslearn.distributions.lineage import merged  # noqa: PLC0415 - of models that are updated

        one, two = self._alike(other)
        statistics, lineage = merged(one.statistics, two.statistics, one.lineage, two.lineage)
        exponents = one._mean_exponents(two)
        return replace(one, statistics=statistics, lineage=lineage, column_exponents=exponents)

    def _mean_exponents(self, other: NaiveBayesModel) -> tuple[float, ...]:
        """The exponents of both, averaged by the rows behind them."""
        a, b = self.total_weight, other.total_weight
        pairs = zip(self.column_exponents, other.column_exponents, strict=True)  # type: ignore[arg-type]
        return tuple(x if x == y or a + b <= 0 else (a * x + b * y) / (a + b) for x, y in pairs)

    def __sub__(self, other: NaiveBayesModel) -> NaiveBayesModel:
        from bayeslearn.distributions.lineage import separated  # noqa: PLC0415 - of models that are updated

        one, two = self._alike(other)
        statistics, lineage = separated(one.statistics, two.statistics, one.lineage, two.lineage)
        return replace(one, statistics=statistics, lineage=lineage)

    def __mul__(self, factor: float) -> NaiveBayesModel:
        """Return the model with the weight of every row multiplied by `factor`."""
        from bayeslearn.distributions.lineage import scaled  # noqa: PLC0415 - of models that are updated

        return replace(self, statistics=self.statistics * factor, lineage=scaled(self.lineage, factor))

    __rmul__ = __mul__
    __array_ufunc__ = None

    def isclose(self, other: NaiveBayesModel, *, rtol: float = 1e-9, atol: float = 1e-9) -> bool:
        """Return whether both have the same statistics, up to rounding."""
        one, two = self._alike(other)
        return one.statistics.isclose(two.statistics, rtol=rtol, atol=atol)

    def _alike(self, other: NaiveBayesModel) -> tuple[NaiveBayesModel, NaiveBayesModel]:
        """Both with the states of both, if they are models of the same columns with the same priors."""
        if not isinstance(other, NaiveBayesModel):
            raise ParameterError(f"cannot add {type(other).__name__} to NaiveBayesModel")
        if self.target.name != other.target.name or self.feature_names != other.feature_names:
            raise MismatchError("the models have different targets or columns", differs="columns")
        from bayeslearn.distributions.lineage import started  # noqa: PLC0415 - of models that are updated

        one, two = (replace(model, lineage=started(model.lineage, model.statistics)) for model in (self, other))
        one, two = one.add_states(other.states()), two.add_states(self.states())
        two = two.add_states(one.states(), order=True)
        odd = [a.name for a, b in zip(one.columns, two.columns, strict=True) if a != b]
        if odd or repr(self.prior) != repr(other.prior):
            what = f"the columns {listed(odd)}" if odd else "the classes"
            raise MismatchError(
                f"the models differ in the distribution or the prior of {what}",
                hint="fit the second with like=first, which takes its columns, or both with the same `distributions`",
                differs="prior",
            )
        return one, two

    def states(self) -> dict[str, tuple[Any, ...]]:
        """The states of the target and of every column that has some, but for intervals."""
        discrete = [self.target, *(c.variable for c in self.columns)]
        return {v.name: v.states for v in discrete if isinstance(v, DiscreteVariable) and v.cuts is None}

    def add_states(self, states: Mapping[str, Iterable[Any]], *, order: bool = False) -> NaiveBayesModel:
        """The same model with room for more states; with `order`, in the order of `states`, which hold them all."""
        known = self.states()
        wanted = {
            name: tuple(states.get(name, own)) if order else tuple(dict.fromkeys((*own, *states.get(name, ()))))
            for name, own in known.items()
        }
        if wanted == known:
            return self
        classes = wanted[self.target.name]
        if isinstance(self.prior, Dirichlet) and set(classes) != set(self.classes):
            raise MismatchError("the prior of the classes has no entry for a new class")
        columns = tuple(with_states(c, wanted[c.name]) if c.name in wanted else c for c in self.columns)
        place = [classes.index(c) for c in self.classes]

        def wider(parts: StatisticsBundle) -> StatisticsBundle:
            statistics = {}
            for name, part in parts.items():
                arrays = part.arrays()
                if name in wanted and name != self.target.name:
                    wide = padded(part, len(wanted[name]))
                    arrays = [moved(wide.n, [wanted[name].index(s) for s in known[name]], axis=1)]
                statistics[name] = type(part)(*(moved(a, place, axis=0, size=len(classes)) for a in arrays))
            return StatisticsBundle(statistics)

        target = self.target if classes == self.classes else DiscreteVariable(self.target.name, classes)
        from bayeslearn.distributions.lineage import mapped  # noqa: PLC0415 - of models that are updated

        changed = {"statistics": wider(self.statistics), "lineage": mapped(self.lineage, wider)}
        return replace(self, target=target, columns=columns, **changed)  # type: ignore[arg-type]

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values; statistics have a row for each class.

        {"estimate", "column_exponents", "target": {"variable", "prior", "statistics"},
         "columns": [{"variable", "distribution", "prior", "statistics"}, ...], "lineage": {"shares", "bases", "parts"}}
        """
        from bayeslearn.naive_bayes.tabular.serialization import document_of  # noqa: PLC0415 - it makes models

        return document_of(self)

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> NaiveBayesModel:
        """Return the model of a document, all of which is checked."""
        from bayeslearn.naive_bayes.tabular.serialization import model_of  # noqa: PLC0415 - it makes models

        return model_of(reader, document)

    def __repr__(self) -> str:
        return f"NaiveBayesModel({self.target.name!r} from {len(self.columns)} columns, {self.total_weight:,.10g} rows)"


### states


def with_states(column: Component, states: tuple[Any, ...]) -> Component:
    """The same column with more states, for which the prior must be a rule."""
    known = column.variable.states
    if isinstance(column.prior, Dirichlet) and states != known:
        raise DataError(
            f"column {column.name!r} shows the new state {states[len(known)]!r}, and its prior has no entry for it",
            hint='declare all states in the schema, or use a prior for any number of states, such as "m:2"',
        )
    return replace(column, columns=(DiscreteVariable(column.name, states),), distribution=Categorical(len(states)))


def padded(counts: Counts, size: int) -> Counts:
    """Counts with room for more states."""
    return Counts(np.pad(counts.n, ((0, 0), (0, size - counts.n.shape[1]))))


### files of earlier versions


@codec.upgrade("naive Bayes", 1)
def with_new_names(reader: Reader, document: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had other names for some entries."""
    from bayeslearn.naive_bayes.tabular import serialization  # noqa: PLC0415 - it makes models

    return serialization.with_new_names(reader, document)
