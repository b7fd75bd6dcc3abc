"""Cross-validation of the learner of a fitted model: the same settings, fitted to the rows of the other folds.

metrics = Σ over the folds of the metrics of  fit(rows of the other folds)  on the rows of the fold
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import MissingValuesError, ParameterError
from bayeslearn.evaluation import Metrics, each_fold, folds
from bayeslearn.hmm import HiddenMarkovModel, fit_hmm
from bayeslearn.mixture import MixtureModel, fit_mixture
from bayeslearn.model_evaluation import Evaluation, metrics_of_rows, targets_of
from bayeslearn.naive_bayes import NaiveBayesModel
from bayeslearn.naive_bayes.tabular import out_of_fold
from bayeslearn.naive_bayes.tabular.aode import AODEModel
from bayeslearn.naive_bayes.text.corpus import Corpus
from bayeslearn.naive_bayes.text.model import TextModel
from bayeslearn.neighbors import NeighborsModel, fit_neighbors
from bayeslearn.network import BayesianNetwork
from bayeslearn.network import evaluation as network_evaluation
from bayeslearn.progress import reports_progress, should_stop
from bayeslearn.regression import ClassificationModel, LocalRegressionModel, RegressionModel
from bayeslearn.regression.logistic import LogisticFit
from bayeslearn.reports import Pairs, Report, Reported
from bayeslearn.tables import Schema, Table, as_table
from bayeslearn.tables.frames import frame_of
from bayeslearn.trees import fit as forest_fit
from bayeslearn.trees.model import BayesianForestModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bayeslearn.tables.frames import Backend

__all__ = ["HeldOutLikelihood", "cross_validate"]


def __dir__() -> list[str]:
    return __all__


@dataclass(frozen=True, eq=False, repr=False)
class HeldOutLikelihood(Reported):
    """The log-likelihood of rows, each under a model that was fitted without it; those of parts add."""

    log_likelihood: float
    total_weight: float

    def __add__(self, other: HeldOutLikelihood) -> HeldOutLikelihood:
        return HeldOutLikelihood(self.log_likelihood + other.log_likelihood, self.total_weight + other.total_weight)

    @property
    def mean_log_likelihood(self) -> float:
        """The log-likelihood per row."""
        return self.log_likelihood / self.total_weight

    def report(self) -> Report:
        """Return the log-likelihood in total and per row."""
        pairs = {"Rows": self.total_weight, "Log-likelihood": self.log_likelihood, "Per row": self.mean_log_likelihood}
        return Report("Held-out log-likelihood", Pairs(pairs))

    def to_dict(self) -> dict[str, Any]:
        """Return the log-likelihood in total and per row as plain values."""
        return {
            "log_likelihood": self.log_likelihood, "total_weight": self.total_weight,
            "mean_log_likelihood": self.mean_log_likelihood,
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with one row."""
        return frame_of({name: [value] for name, value in self.to_dict().items()}, backend)


@reports_progress("Cross-validating")
def cross_validate(
    model: Any,
    data: Any,
    *,
    target: str | None = None,
    cv: int = 10,
    sample_weight: Any = None,
    level: float = 0.95,
    id: str | None = None,  # noqa: A002 - the name of the column
    true_states: str | None = None,
    random_state: np.random.Generator | int | None = 0,
    progress: Any = None,
) -> Any:
    """Return how well the learner of a model predicts rows that it is not fitted to.

    Parameters
    ----------
    model
        A fitted model. Its settings are those of the learner: prior, distributions, number of neighbors, encoding of
        the columns, radial units. EM starts from the model.
    data
        Rows with the columns of the model and its target; of a text model a corpus, or (texts, classes).
    target
        The variable to predict, for networks.
    cv
        The number of folds, at least 2; of classes they are stratified, of a hidden Markov model they are sequences.
    sample_weight
        The weight of each row, or its column.
    level
        The level of the intervals of numbers.
    id, true_states
        Columns of a hidden Markov model: the sequence of each row, and the true states, which are predicted then.
    random_state
        The seed of the folds.
    progress
        True for a bar, or a function that is called with :class:`~bayeslearn.Progress` after each fold.

    Returns
    -------
    Any
        The metrics as of :func:`~bayeslearn.evaluate`; of naive Bayes also those of the class probabilities alone; of a
        model that predicts no column :class:`HeldOutLikelihood`.

    Examples
    --------
    >>> from bayeslearn import datasets, fit_naive_bayes
    >>> days = datasets.load_table("enjoy-sport")
    >>> cross_validate(fit_naive_bayes(days, "enjoy_sport"), days, cv=2).cv
    2
    """
    validation.integer("cv", cv, min_value=2)
    if isinstance(model, NaiveBayesModel):
        return out_of_fold.cross_validate(
            model, data, cv=cv, sample_weight=sample_weight, random_state=random_state, progress=progress
        )
    if isinstance(model, BayesianNetwork):
        (variable,) = targets_of(model, target)
        return network_evaluation.cross_validate(
            model, data, target=variable.name, cv=cv, sample_weight=sample_weight, random_state=random_state
        ).metrics
    parts: Iterator[Any]
    if isinstance(model, TextModel):
        parts = of_texts(model, data, cv, random_state)
    elif isinstance(model, MixtureModel):
        parts = of_mixture(model, data, cv, sample_weight, random_state)
    elif isinstance(model, HiddenMarkovModel):
        parts = of_sequences(model, data, cv, id, true_states, random_state)
    else:
        parts = of_rows(model, data, targets_of(model, target), cv, sample_weight, level, random_state)
    total: Any = None
    for i, part in enumerate(parts):
        total = part if total is None else total + part
        if should_stop(progress, (i + 1) / cv, f"fold {i + 1} of {cv}"):
            break
    return total.alone() if isinstance(total, Evaluation) else total


### classes and numbers of rows


def of_rows(
    model: Any, data: Any, targets: tuple[Any, ...], cv: int, sample_weight: Any, level: float, random_state: Any
) -> Iterator[Evaluation]:
    """The metrics of each fold of rows with known targets."""
    inputs = (model.examples if hasattr(model, "examples") else getattr(model, "features", model)).schema
    refit = learner_of(model, targets)
    rows = as_table(
        data, schema=Schema([*inputs, *targets]), sample_weight=sample_weight, handle_unknown="missing",
        missing_columns="missing",
    )  # fmt: skip
    rows = rows.take(np.flatnonzero(known_rows(rows, targets)))
    codes = rows.codes_of(targets[0].name) if rows.schema[targets[0].name] in rows.schema.discrete else rows.n_rows
    names = [v.name for v in targets]
    for train, test in each_fold(folds(codes, cv, random_state=random_state)):
        held = rows.take(test)
        yield Evaluation(metrics_of_rows(refit(rows.take(train)), held.drop(names), held, targets, level))


def known_rows(rows: Table, targets: tuple[Any, ...]) -> Any:
    """Which rows have all targets."""
    discrete = {v.name for v in rows.schema.discrete}
    known = [rows.codes_of(v.name) >= 0 if v.name in discrete else ~np.isnan(rows.values_of(v.name)) for v in targets]
    if not (found := np.logical_and.reduce(known)).any():
        raise MissingValuesError("the target is missing in every row", hint="give rows whose target is known")
    return found


def learner_of(model: Any, targets: tuple[Any, ...]) -> Callable[[Table], Any]:
    """The function that fits a model with the settings of this one to rows."""
    if isinstance(model, NeighborsModel):
        n_neighbors: Any = "all" if model.n_neighbors is None else model.n_neighbors
        return lambda rows: fit_neighbors(
            rows, targets[0].name, n_neighbors=n_neighbors, weights=model.weights, metric=model.distance.metric,
            feature_weights=model.distance.feature_weights, prior=model.prior, algorithm=model.algorithm,
            columns=model.examples.schema.names,
        )  # fmt: skip
    if isinstance(model, RegressionModel):
        return (model * 0.0).update
    if isinstance(model, ClassificationModel):
        return lambda rows: refitted_units(model, rows)
    if isinstance(model, LocalRegressionModel):
        return lambda rows: refitted_local(model, rows)
    if isinstance(model, BayesianForestModel):
        return lambda rows: refitted_forest(model, rows, targets[0])
    if isinstance(model, AODEModel):
        return lambda rows: refitted_pairs(model, rows, targets[0].name)
    raise ParameterError(
        f"a model of the kind {model.file_kind!r} cannot be cross-validated",
        hint="evaluate(model, data) evaluates it on other rows",
    )


def refitted_units(model: ClassificationModel, rows: Table) -> ClassificationModel:
    """Logistic units of the rows, with the prior, the encoding and the radial units of a model."""
    if model.fit.prior_weight:
        raise ParameterError(
            "the prior of this model has the rows from before its last update", hint="fit the model to all rows at once"
        )
    codes = rows.codes_of(model.target)
    d = np.eye(len(model.classes))[codes]
    fit = LogisticFit.fit(
        model.design(rows.drop([model.target])), d, prior=model.fit.prior, sample_weight=rows.sample_weight
    )
    return replace(model, fit=fit)


def refitted_local(model: LocalRegressionModel, rows: Table) -> LocalRegressionModel:
    """Local regression on the rows; settings that were selected by leave-one-out are selected again."""
    outputs = np.column_stack([rows.values_of(name) for name in model.targets])
    w = np.ones(rows.n_rows) if rows.sample_weight is None else rows.sample_weight
    points = model.features.encode(rows.drop(list(model.targets))).matrix
    return replace(
        model, rows=points, outputs=outputs[:, 0] if model.outputs.ndim == 1 else outputs, sample_weight=w, lineage=None
    )


def refitted_forest(model: BayesianForestModel, rows: Table, target: Any) -> BayesianForestModel:
    """A forest of the rows: as many trees, with the prior of a model, grown by the default settings."""
    y = rows.codes_of(target.name) if model.is_classifier else rows.values_of(target.name)
    return forest_fit.fitted(
        rows.drop([target.name]), target, y.astype(np.int64) if model.is_classifier else y,
        n_estimators=model.n_trees, split_probability=model.prior.split_probability,
        equivalent_sample_size=model.prior.equivalent_sample_size, calibrate=model.temperature != 1, random_state=0,
    )  # fmt: skip


def refitted_pairs(model: AODEModel, rows: Table, target: str) -> AODEModel:
    """The counts of pairs of the rows, with the prior of a model."""
    none = AODEModel.empty(
        model.schema, len(model.labels), model.equivalent_sample_size, model.min_count, tuple(model.labels)
    )
    w = np.ones(rows.n_rows) if rows.sample_weight is None else rows.sample_weight
    return none.plus(rows.drop([target]).codes, rows.codes_of(target), w)


### texts


def of_texts(model: TextModel, data: Any, cv: int, random_state: Any) -> Iterator[Metrics]:
    """The metrics of each fold of documents with a class, by models with the prior and the tokenizer of this one."""
    corpus = data if isinstance(data, Corpus) else Corpus(*data)
    labeled = [i for i, label in enumerate(corpus.labels) if label is not None]
    place = {label: k for k, label in enumerate(model.classes)}
    codes = np.array([place.get(corpus.labels[i], -1) for i in labeled])
    for train, test in each_fold(folds(codes, cv, random_state=random_state)):
        ours, held = corpus.take([labeled[i] for i in train]), corpus.take([labeled[i] for i in test])
        fitted = model.discount(0.0).update(ours.texts, ours.labels)
        yield Metrics.of(fitted.predict_proba(held.texts), codes[test], classes=model.classes)


### mixtures and sequences


def of_mixture(
    model: MixtureModel, data: Any, cv: int, sample_weight: Any, random_state: Any
) -> Iterator[HeldOutLikelihood]:
    """The log-likelihood of each fold of rows."""
    rows = as_table(data, schema=model.schema, sample_weight=sample_weight, handle_unknown="missing")
    for train, test in each_fold(folds(rows.n_rows, cv, random_state=random_state)):
        fitted = fit_mixture(
            rows.take(train), model.n_components, init=model, prior=model.prior, equal_weights=model.equal_weights
        )
        held = rows.take(test)
        w = np.ones(len(test)) if held.sample_weight is None else held.sample_weight
        yield HeldOutLikelihood(float(w @ fitted.log_likelihood(held)), float(w.sum()))


def of_sequences(
    model: HiddenMarkovModel, data: Any, cv: int, id_column: str | None, true_states: str | None, random_state: Any
) -> Iterator[Any]:
    """The metrics of the true states of each fold of sequences, or their log-likelihood."""
    if id_column is None:
        raise ParameterError("the folds are sequences, and no `id` is given", hint="name the column of the sequences")
    names = [id_column, *([true_states] if true_states else [])]
    rows = as_table(data, discrete=names, allow_constant=True)
    sequence = rows.codes_of(id_column)
    for train, test in each_fold(folds(int(sequence.max()) + 1, cv, random_state=random_state)):
        ours, held = (rows.take(np.flatnonzero(np.isin(sequence, chosen))) for chosen in (train, test))
        unlabeled = ours.drop([true_states]) if true_states else ours
        fitted = fit_hmm(unlabeled, init=model, id=id_column)
        if true_states:
            yield fitted.evaluate(held, true_states=true_states, id=id_column)
        else:
            yield HeldOutLikelihood(float(np.sum(fitted.log_likelihood(held, id=id_column))), float(held.n_rows))
