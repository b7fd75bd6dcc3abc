"""Naive Bayes: a class, and columns that know nothing of each other once it is known.

    P(c | x) ∝ P(c) Π_j p(x_j | c)^τ_j        a missing cell is integrated out: its factor is 1

The model is a frozen value that keeps its priors and the statistics of the rows, from which every probability is read
off. So models add, and rows can be added, taken back and faded. Every τ_j is 1 unless they were learned
(:mod:`bayeslearn.naive_bayes.tabular.calibration_curve`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.codec import Saved, rename_distributions
from bayeslearn.components.product import Product, normalized
from bayeslearn.distributions import Categorical, Counts, Dirichlet, StatisticsBundle
from bayeslearn.distributions.lineage import mapped, merged, scaled, separated, started
from bayeslearn.errors import DataError, MismatchError, ParameterError, listed
from bayeslearn.naive_bayes.tabular import row_blocks as blocks
from bayeslearn.naive_bayes.tabular.class_posteriors import best, moved, require_possible
from bayeslearn.tables import DiscreteVariable, Schema
from bayeslearn.tables.labels import class_array
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.components.component import Component
    from bayeslearn.components.product import ProductDensity
    from bayeslearn.distributions.categorical import DirichletRule
    from bayeslearn.distributions.lineage import Lineage
    from bayeslearn.model_values import Reader
    from bayeslearn.naive_bayes.tabular.explanation import CellContributions
    from bayeslearn.naive_bayes.tabular.row_blocks import Cells, Rows
    from bayeslearn.progress import ProgressCallback
    from bayeslearn.tables.markers import Markers

    Absent = Literal["error", "missing"]
    Answer = Callable[[NDArray[np.float64]], NDArray[Any]]

#: How parameters are read off posteriors.
ESTIMATES = ("mean", "integrated")


@dataclass(frozen=True, eq=False, repr=False)
class NaiveBayesModel(Saved, kind="naive Bayes", version=2):
    """P(class | cells) for words, numbers and counts together; :meth:`learn` makes one.

    >>> days = {"sky": ["sun", "sun", "rain", "rain", None], "wind": [1.0, 2.5, 6.0, 7.5, 2.0], "play": list("yynny")}
    >>> model = NaiveBayesModel.learn(days, target="play")
    >>> model
    NaiveBayesModel('play' from 2 columns, 5 cases)
    >>> model.predict({"sky": ["rain", "sun"], "wind": [7.0, None]}).tolist()
    ['n', 'y']

    What was learned of some rows can be taken back:

    >>> later = model.update({"sky": ["snow"], "wind": [9.0], "play": ["n"]})
    >>> first = later - NaiveBayesModel.learn({"sky": ["snow"], "wind": [9.0], "play": ["n"]}, like=later)
    >>> first.isclose(model)
    True
    """

    target: DiscreteVariable
    columns: tuple[Component, ...]
    prior: Dirichlet | DirichletRule
    statistics: StatisticsBundle
    estimate: str = "mean"
    #: τ of every column; one number stands for all.
    sharpness: float | tuple[float, ...] = 1.0
    #: What the statistics are made of, where the model was updated; see :mod:`bayeslearn.distributions.lineage`.
    lineage: Lineage | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "estimate", validation.choice("estimate", self.estimate, ESTIMATES))
        object.__setattr__(self, "sharpness", self._sharpness())
        Schema([self.target, *(c.variable for c in self.columns)])
        if set(self.statistics) != {self.target.name, *(c.name for c in self.columns)}:
            raise ParameterError(f"the statistics are those of {listed(self.statistics)}, not of the columns")

    def _sharpness(self) -> tuple[float, ...]:
        given, n = np.asarray(self.sharpness, dtype=float), len(self.columns)
        if given.shape not in {(), (n,)}:
            raise ParameterError(f"`sharpness` must be one number or {n}, one for each column, got {self.sharpness!r}")
        return tuple(validation.number("sharpness", float(τ), above=0) for τ in np.broadcast_to(given, n))

    # -- learning

    @classmethod
    def learn(
        cls,
        data: Any,
        target: str | None = None,
        *,
        columns: Iterable[str] | None = None,
        families: Mapping[str, str] | None = None,
        prior: Any = "pooled:1",
        class_prior: Any = "laplace",
        estimate: Literal["mean", "integrated"] = "mean",
        sample_weight: Any = None,
        shares: Mapping[Any, Any] | None = None,
        unlabeled: Literal["em", "drop"] = "em",
        like: NaiveBayesModel | None = None,
        max_states: int = 255,
        left_out: dict[str, str] | None = None,
        tol: float = 1e-4,
        max_iter: int = 200,
        progress: ProgressCallback | None = None,
        na_values: Markers = (),
        keep_default_na: bool = True,
        drop_columns: Iterable[str] = (),
    ) -> NaiveBayesModel:
        """Learn from rows with labels.

        Parameters
        ----------
        data
            Anything that :func:`~bayeslearn.as_table` takes, or a source (:func:`~bayeslearn.scan`), patterns and
            directories of files, which are learned from batch by batch; cells and labels may be missing.
        target
            The column of the classes, or with `shares` the name that they get.
        columns
            The columns to learn from; default: all except the target.
        families
            Distributions by column: ``"categorical"``, ``"gaussian"``, ``"poisson"``, or ``"cut"`` and ``"cut:8"`` for
            numbers discretized into bins at their quantiles. By default states are categorical and numbers Gaussian.
        prior
            Prior of the columns: an object for all columns of its family, a name (``"evidence"``, ``"pooled:1"``,
            ``"laplace"``, ``"jeffreys"``, ``"m:2"``, ``"none"``), or a dict of these by column; default: one
            :class:`PooledPrior` case.
        class_prior
            Prior of the class probabilities: a Dirichlet, a rule or a name; default: one case of each class.
        estimate
            ``"mean"`` plugs in the posterior means; ``"integrated"`` integrates parameters out, so that a number is
            Student's t and a count negative binomial: wider where few rows were seen.
        na_values, keep_default_na, drop_columns
            As in :func:`~bayeslearn.as_table`.
        sample_weight
            The weight of each row, or the column that holds it; default: 1.
        shares
            Soft labels instead of a column of labels: the share of each row that belongs to a class, by class.
        unlabeled
            Rows without a label: ``"em"`` adds their expected statistics, ``"drop"`` adds nothing.
        like
            A model whose columns, families and priors are used, without its statistics; then only `data` is needed.
        max_states, left_out
            As in :func:`~bayeslearn.as_table`.
        tol, max_iter, progress
            As in :func:`bayeslearn.em.run`.
        """
        from bayeslearn.naive_bayes.tabular.fit import learn  # noqa: PLC0415 - it makes models

        return learn(
            data, target, columns=columns, families=families, prior=prior, class_prior=class_prior, estimate=estimate,
            sample_weight=sample_weight, shares=shares, unlabeled=unlabeled, like=like, max_states=max_states,
            left_out=left_out,
            tol=tol, max_iter=max_iter, progress=progress, na_values=na_values, keep_default_na=keep_default_na,
            drop_columns=drop_columns,
        )  # fmt: skip

    def update(self, data: Any, *, sample_weight: Any = None) -> NaiveBayesModel:
        """Add rows; states that are new to a column are taken in, and a row without a label adds what is expected."""
        from bayeslearn.naive_bayes.tabular.fit import update  # noqa: PLC0415 - it makes models

        return update(self, data, sample_weight=sample_weight)

    # -- what it rests on

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, as the user wrote them."""
        return self.target.states

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(c.name for c in self.columns)

    @property
    def class_counts(self) -> NDArray[np.float64]:
        """The cases seen of each class."""
        return self.statistics[self.target.name].n

    @property
    def cases(self) -> float:
        """The cases seen."""
        return float(self.class_counts.sum())

    def __getitem__(self, name: str) -> Component:
        require_known([name], self.names)
        return self.columns[self.names.index(name)]

    def posterior(self, name: str) -> Any:
        """What is believed of the parameters of a column, a row for each class; of the target, of the class shares.

        None for a column of numbers that are all alike.
        """
        if name == self.target.name:
            return Categorical(self.target.size).update(self.prior, self.statistics[name])
        return self[name].posterior(self.statistics[name])

    @cached_property
    def log_shares(self) -> NDArray[np.float64]:
        """ln P(class)."""
        with np.errstate(divide="ignore"):
            return np.log(self.posterior(self.target.name).mean())

    @cached_property
    def product(self) -> Product:
        """The product of the columns."""
        return Product(self.columns)

    @cached_property
    def density(self) -> ProductDensity:
        """What each column adds to ln P(class, row)."""
        return self.product.posterior_density(self.statistics, self.estimate, self.sharpness)  # type: ignore[arg-type]

    # -- evidence adds

    def __add__(self, other: NaiveBayesModel) -> NaiveBayesModel:
        one, two = self._alike(other)
        statistics, lineage = merged(one.statistics, two.statistics, one.lineage, two.lineage)
        return replace(one, statistics=statistics, lineage=lineage)

    def __sub__(self, other: NaiveBayesModel) -> NaiveBayesModel:
        one, two = self._alike(other)
        statistics, lineage = separated(one.statistics, two.statistics, one.lineage, two.lineage)
        return replace(one, statistics=statistics, lineage=lineage)

    def __mul__(self, factor: float) -> NaiveBayesModel:
        """The same model with every case counted `factor` times: below 1 it fades."""
        return replace(self, statistics=self.statistics * factor, lineage=scaled(self.lineage, factor))

    __rmul__ = __mul__
    __array_ufunc__ = None

    def isclose(self, other: NaiveBayesModel, *, rtol: float = 1e-9, atol: float = 1e-9) -> bool:
        """Whether both rest on the same cases, up to rounding."""
        one, two = self._alike(other)
        return one.statistics.isclose(two.statistics, rtol=rtol, atol=atol)

    def _alike(self, other: NaiveBayesModel) -> tuple[NaiveBayesModel, NaiveBayesModel]:
        """Both with the states of both, if they are models of the same columns with the same priors."""
        if not isinstance(other, NaiveBayesModel):
            raise ParameterError(f"cannot add {type(other).__name__} to NaiveBayesModel")
        if self.target.name != other.target.name or self.names != other.names:
            raise MismatchError("the models have different targets or columns", differs="columns")
        one, two = (replace(model, lineage=started(model.lineage, model.statistics)) for model in (self, other))
        one, two = one.grown(other.states()), two.grown(self.states())
        two = two.grown(one.states(), order=True)
        odd = [a.name for a, b in zip(one.columns, two.columns, strict=True) if a != b]
        if odd or repr(self.prior) != repr(other.prior):
            what = f"the columns {listed(odd)}" if odd else "the classes"
            raise MismatchError(f"the models differ in family or prior of {what}", differs="prior")
        return one, two

    def states(self) -> dict[str, tuple[Any, ...]]:
        """The states of the target and of every column that has some, but for intervals."""
        discrete = [self.target, *(c.variable for c in self.columns)]
        return {v.name: v.states for v in discrete if isinstance(v, DiscreteVariable) and v.cuts is None}

    def grown(self, states: Mapping[str, Iterable[Any]], *, order: bool = False) -> NaiveBayesModel:
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
            raise MismatchError("there is a new class, and the prior is told for the classes known before")
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
        told = {"statistics": wider(self.statistics), "lineage": mapped(self.lineage, wider)}
        return replace(self, target=target, columns=columns, **told)  # type: ignore[arg-type]

    # -- predicting

    def log_joint(self, data: Any, *, missing_columns: Absent = "error") -> NDArray[np.float64]:
        """ln P(class, what the row shows), shape (rows, classes)."""
        return self.asked(data, lambda joint: joint.T, missing_columns)

    def predict_proba(self, data: Any, *, missing_columns: Absent = "error") -> NDArray[np.float64]:
        """P(class | what the row shows), shape (rows, classes)."""
        return self.asked(data, lambda joint: normalized(joint)[0].T, missing_columns)

    def predict_codes(self, data: Any, *, missing_columns: Absent = "error") -> NDArray[np.intp]:
        """The position of the most probable class of each row, the first when tied."""
        return self.asked(data, best, missing_columns)

    def predict(self, data: Any, *, missing_columns: Absent = "error") -> NDArray[Any]:
        """The most probable class of each row."""
        return class_array(self.classes)[self.predict_codes(data, missing_columns=missing_columns)]

    def log_evidence(self, data: Any, *, missing_columns: Absent = "error") -> NDArray[np.float64]:
        """ln P(what the row shows)."""
        return self.asked(data, lambda joint: normalized(joint)[1], missing_columns)

    def asked(self, data: Any, answer: Answer, missing_columns: Absent = "error") -> NDArray[Any]:
        """What a function makes of ln P(class, row) of new data, read by the columns of this model."""
        found: list[NDArray[Any]] = []
        for rows in blocks.each(data, self.columns, missing_columns=missing_columns):
            found.append(self.answers(rows, answer, first=sum(map(len, found))))
        return found[0] if len(found) == 1 else np.concatenate(found)

    def joint_of(self, cells: Cells, n: int) -> NDArray[np.float64]:
        """ln P(class, row) of one block, shape (classes, n)."""
        joint = np.zeros((self.target.size, n))
        self.density.add(cells, joint)
        joint += self.log_shares[:, None]
        return joint

    def answers(self, rows: Rows, answer: Answer, *, possible: bool = True, first: int = 0) -> NDArray[Any]:
        """What a function makes of ln P(class, row), (classes, rows), of every block; some class must be `possible`."""

        def block(part: slice, cells: Cells) -> NDArray[Any]:
            joint = self.joint_of(cells, part.stop - part.start)
            if possible:
                require_possible(joint, first + part.start)
            return answer(joint)

        found = rows.blocks(block)
        return np.concatenate(found) if found else answer(np.zeros((self.target.size, 0)))

    # -- more

    def explain(
        self, data: Any, *, of: Any = None, against: Any = None, missing_columns: Absent = "error"
    ) -> CellContributions:
        """How much each cell of the rows speaks for a class; see :mod:`bayeslearn.naive_bayes.tabular.explanation`."""
        from bayeslearn.naive_bayes.tabular.explanation import contributions  # noqa: PLC0415 - it reads models

        return contributions(self, data, of=of, against=against, missing_columns=missing_columns)

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values; statistics have a row for each class.

        {"estimate", "sharpness", "target": {"variable", "prior", "statistics"},
         "columns": [{"variable", "family", "prior", "statistics"}, ...], "lineage": {"shares", "bases", "parts"}}
        """
        from bayeslearn.naive_bayes.tabular.serialization import document_of  # noqa: PLC0415 - it makes models

        return document_of(self)

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> NaiveBayesModel:
        """Return the model of a document, all of which is checked."""
        from bayeslearn.naive_bayes.tabular.serialization import model_of  # noqa: PLC0415 - it makes models

        return model_of(reader, document)

    def __repr__(self) -> str:
        return f"NaiveBayesModel({self.target.name!r} from {len(self.columns)} columns, {self.cases:g} cases)"


### states


def with_states(column: Component, states: tuple[Any, ...]) -> Component:
    """The same column with more states, for which the prior must be a rule."""
    known = column.variable.states
    if isinstance(column.prior, Dirichlet) and states != known:
        raise DataError(
            f"column {column.name!r} shows the new state {states[len(known)]!r}, "
            "and its prior is told for the states known before",
            hint="declare all states in the schema, or give a prior for any number of them, such as m_estimate(2)",
        )
    return replace(column, columns=(DiscreteVariable(column.name, states),), distribution=Categorical(len(states)))


def padded(counts: Counts, size: int) -> Counts:
    """Counts with room for more states."""
    return Counts(np.pad(counts.n, ((0, 0), (0, size - counts.n.shape[1]))))


rename_distributions("naive Bayes", 1)
