"""The learners of a comparison: those of this package by name, and any estimator with fit and predict.

A lazy learner stores its training rows and computes at prediction; an eager learner computes at training.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn.errors import ParameterError, listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.regression import Features
    from bayeslearn.tables import Table

#: The name of the learner that ignores all columns.
BASELINE = "baseline"

#: The kind of the target.
Task = Literal["classification", "regression"]

#: The form in which a learner takes rows, a table with inferred kinds of columns, one whose numeric states are numbers,
#: an array of cells as they are in the data, or points for estimators that do not read tables.
Form = Literal["states", "numbers", "cells", "points"]


@dataclass(frozen=True)
class Learner:
    """An estimator with a name, whether it is lazy, and the form of its rows."""

    name: str
    estimator: Any = field(repr=False)
    is_lazy: bool
    form: Form = "numbers"

    def fresh(self, random_state: int) -> Any:
        """Return an unfitted copy of the estimator, seeded if it has a `random_state` that is None."""
        from sklearn.base import clone  # noqa: PLC0415 - loaded when a comparison begins

        known = hasattr(self.estimator, "get_params")
        made = clone(self.estimator) if known else copy.deepcopy(self.estimator)
        if known and made.get_params(deep=False).get("random_state", 0) is None:
            made.set_params(random_state=random_state % 2**32)
        return OnPoints(made) if self.form == "points" else made


class Baseline:
    """The most frequent class, or the mean, whatever the row."""

    def __init__(self, n_classes: int = 0) -> None:
        self.n_classes = n_classes

    def fit(self, _: Table, y: NDArray[Any], sample_weight: Any = None) -> Baseline:
        """Count the classes, or average the targets."""
        if self.n_classes:
            counts = np.bincount(y, sample_weight, minlength=self.n_classes) + 1.0  # a pseudo-count per class
            self.classes_, self.shares_ = np.arange(self.n_classes), counts / counts.sum()
        else:
            self.mean_ = float(np.average(y, weights=sample_weight))
        return self

    def predict(self, rows: Table) -> NDArray[Any]:
        """The same prediction for all rows."""
        return np.full(len(rows), self.shares_.argmax() if self.n_classes else self.mean_)

    def predict_proba(self, rows: Table) -> NDArray[np.float64]:
        """The shares of the classes."""
        return np.tile(self.shares_, (len(rows), 1))


class OnPoints:
    """An estimator of arrays: categorical columns become indicators, missing values the mean of their column."""

    features_: Features

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, rows: Table, y: NDArray[Any], **how: Any) -> OnPoints:
        """Fit the encoding of rows as points, then the estimator."""
        from bayeslearn.regression import Features  # noqa: PLC0415 - loaded when an estimator needs it

        self.features_ = Features.fit(rows)
        self.estimator.fit(self.features_.encode(rows).matrix, y, **how)
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "classes_":
            return self.estimator.classes_
        if name not in {"predict", "predict_proba"}:
            raise AttributeError(name)
        asked = getattr(self.estimator, name)
        return lambda rows: asked(self.features_.encode(rows).matrix)


### learners of this package


def default_learners(task: Task) -> dict[str, Learner]:
    """Return the learners that are compared by default, by name."""
    functions = import_module("bayeslearn.regression")
    neighbors = import_module("bayeslearn.neighbors")
    if task == "regression":
        found = [
            Learner("k-nn", neighbors.NeighborsRegressor(), is_lazy=True),
            Learner("k-nn-loo", neighbors.NeighborsRegressor("auto"), is_lazy=True),
            Learner("local", functions.LocalRegressor(), is_lazy=True),
            Learner("rbf", functions.RBFRegressor(), is_lazy=False),
            Learner("least-squares", functions.BayesianLinearRegressor(), is_lazy=False),
        ]
    else:
        naive, network = import_module("bayeslearn.naive_bayes"), import_module("bayeslearn.network")
        found = [
            Learner("k-nn", neighbors.NeighborsClassifier(5, weights="uniform"), is_lazy=True),
            Learner("k-nn-loo", neighbors.NeighborsClassifier("auto", weights="uniform"), is_lazy=True),
            Learner("rbf", functions.RBFClassifier(max_units=32), is_lazy=False),
            Learner("logistic", functions.LogisticClassifier(), is_lazy=False),
            Learner("naive-bayes", naive.NaiveBayesClassifier(), is_lazy=False, form="states"),
            Learner("network", network.BayesianNetworkClassifier("tan"), is_lazy=False, form="cells"),
        ]
    return {learner.name: learner for learner in found}


def slow_learners(task: Task) -> dict[str, Learner]:
    """Return the learners that are compared when they are named: those that consist of many models."""
    trees, ensemble = import_module("bayeslearn.trees"), import_module("bayeslearn.ensemble")
    if task == "regression":
        found = [
            Learner("forest", trees.BayesianForestRegressor(), is_lazy=False),
            Learner("bayes-optimal", ensemble.BayesOptimalRegressor(), is_lazy=False, form="states"),
        ]
    else:
        found = [
            Learner("aode", import_module("bayeslearn.naive_bayes").AODEClassifier(), is_lazy=False, form="states"),
            Learner("forest", trees.BayesianForestClassifier(), is_lazy=False),
            Learner("bayes-optimal", ensemble.BayesOptimalClassifier(), is_lazy=False, form="states"),
        ]
    return {learner.name: learner for learner in found}


### other learners


def chosen(learners: Any, task: Task) -> list[Learner]:
    """The learners of an argument: names, estimators, or estimators by name; all of this package by default."""
    if learners is None:
        return list(default_learners(task).values())
    known = default_learners(task) | slow_learners(task)
    if isinstance(learners, Mapping):
        found = [as_learner(item, known, task, str(name)) for name, item in learners.items()]
    elif isinstance(learners, str) or not isinstance(learners, Iterable):
        found = [as_learner(learners, known, task)]
    else:
        found = [as_learner(item, known, task) for item in learners]
    names = [learner.name for learner in found]
    if not names:
        raise ParameterError("there is no learner to compare", hint=f"there are {listed(known)}")
    twice = sorted({name for name in names if [BASELINE, *names].count(name) > 1})
    if twice:
        raise ParameterError(f"learners share a name: {listed(twice)}", hint="name them: learners={'one': …, 'two': …}")
    return found


def as_learner(item: Any, known: Mapping[str, Learner], task: Task, name: str | None = None) -> Learner:
    """A learner from its name, the name of a class, or an estimator."""
    if isinstance(item, Learner):
        return item
    if isinstance(item, str):
        if item in known:
            ours = known[item]
            return Learner(name or item, ours.estimator, ours.is_lazy, ours.form)
        name, item = name or item.rpartition(".")[2], by_name(item, known, task)
    if isinstance(item, type) or not (hasattr(item, "fit") and hasattr(item, "predict")):
        raise ParameterError(
            f"a learner is a name or an estimator with fit and predict, got {item!r:.80}",
            hint=f"learners of bayeslearn: {listed(known)}",
        )
    home = type(item).__module__.split(".")
    is_lazy = hasattr(item, "kneighbors") or hasattr(item, "radius_neighbors") or "local" in home
    form = FORMS.get(home[1], "cells") if home[0] == "bayeslearn" else "points"
    return Learner(name or type(item).__name__, item, is_lazy, form)


#: The form of rows for the estimators of each package.
FORMS: dict[str, Form] = {"regression": "numbers", "naive_bayes": "states", "neighbors": "numbers"}


def by_name(name: str, known: Mapping[str, Learner], task: Task) -> Any:
    """An estimator of scikit-learn by the name of its class, or of any module by the dots before it."""
    module, _, last = name.rpartition(".")
    if module:
        try:
            found = getattr(import_module(module), last)
        except (ImportError, AttributeError) as error:
            raise ParameterError(
                f"there is no learner {name!r}: {error}", hint=f"learners of bayeslearn: {listed(known)}"
            ) from None
    else:
        from sklearn.utils.discovery import all_estimators  # noqa: PLC0415 - it loads all of scikit-learn

        theirs = dict(all_estimators("classifier" if task == "classification" else "regressor"))
        if last not in theirs:
            raise ParameterError(
                f"there is no learner {name!r} for {task}",
                hint=f"choose one of {listed(known)}, or a class of scikit-learn like 'DummyClassifier'",
            )
        found = theirs[last]
    try:
        return found()
    except TypeError as error:
        raise ParameterError(f"{name} has required parameters: {error}") from None
