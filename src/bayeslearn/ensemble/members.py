"""The members of ensembles: learners of this package by name, each with the form of the rows that it takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import codec
from bayeslearn.errors import ParameterError, listed
from bayeslearn.model_evaluation import probabilities, takes_target
from bayeslearn.tables import DiscreteVariable
from bayeslearn.tables.markers import class_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.ensemble.inputs import Cases, Form
    from bayeslearn.model_values import Reader
    from bayeslearn.tables import Table

    Floats = NDArray[np.float64]

#: The forms of rows, and the kinds of models that a file of an ensemble may have as members.
FORMS = ("states", "numbers")
MEMBER_KINDS = ("naive Bayes", "one-dependence", "classification", "neighbors", "network", "forest")
REGRESSION_KINDS = ("regression", "neighbors", "local regression", "forest")


@dataclass(frozen=True)
class Member:
    """A learner of an ensemble: what makes an estimator, and the form of the rows that the estimator takes."""

    name: str
    make: Callable[[], Any] = field(repr=False)
    form: Form = "numbers"
    #: Whether it is a member when none are named.
    default: bool = True


def ours(module: str, name: str, *arguments: Any, **options: Any) -> Callable[[], Any]:
    """A function that makes an estimator of this package, whose module is loaded then."""
    return lambda: getattr(import_module(f"bayeslearn.{module}"), name)(*arguments, **options)


#: The classifiers, the cheap ones first.
CLASSIFIERS = (
    Member("naive-bayes", ours("naive_bayes", "NaiveBayesClassifier"), "states"),
    Member("aode", ours("naive_bayes", "AODEClassifier"), "states"),
    Member("logistic", ours("regression", "LogisticClassifier")),
    Member("logistic-bins", ours("regression", "LogisticClassifier", features="columns_and_bins")),
    Member("k-nn", ours("neighbors", "NeighborsClassifier", "auto", weights="inverse_square")),
    Member("forest", ours("trees", "BayesianForestClassifier")),
    Member("tan", ours("network", "BayesianNetworkClassifier", "tan"), "states", default=False),
    Member("network", ours("network", "BayesianNetworkClassifier", "auto"), "states", default=False),
    Member("rbf", ours("regression", "RBFClassifier", max_units=32), default=False),
)


#: The regressors, the cheap ones first.
REGRESSORS = (
    Member("linear", ours("regression", "BayesianLinearRegressor")),
    Member("k-nn", ours("neighbors", "NeighborsRegressor", "auto", weights="inverse_square")),
    Member("rbf", ours("regression", "RBFRegressor", max_units=32)),
    Member("forest", ours("trees", "BayesianForestRegressor")),
    Member("local", ours("regression", "LocalRegressor"), default=False),
)


def chosen(members: Any, known: tuple[Member, ...]) -> list[Member]:
    """The members of an argument: names, estimators, or pairs of a name and an estimator; by default those of ours."""
    if members is None:
        return [member for member in known if member.default]
    by_name = {member.name: member for member in known}
    items = [members] if isinstance(members, str) else list(members)
    found = [as_member(item, by_name) for item in items]
    names = [member.name for member in found]
    if not names:
        raise ParameterError("there is no member", hint=f"there are {listed(by_name)}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ParameterError(f"members share a name: {listed(twice)}", hint='name them: [("one", estimator), …]')
    return found


def as_member(item: Any, known: dict[str, Member]) -> Member:
    """A member from its name, from an estimator, or from a name and one of both."""
    if isinstance(item, Member):
        return item
    if isinstance(item, str):
        if item not in known:
            raise ParameterError(f"there is no member {item!r}", hint=f"there are {listed(known)}")
        return known[item]
    name, estimator = item if isinstance(item, tuple) and len(item) == 2 else (type(item).__name__, item)
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise ParameterError(
            f"a member is a name or an estimator of bayeslearn, got {item!r:.80}", hint=f"there are {listed(known)}"
        )
    home = type(estimator).__module__.split(".")
    if home[0] != "bayeslearn":
        raise ParameterError(
            f"{type(estimator).__name__} is no estimator of bayeslearn",
            hint="HypothesisClassifier combines estimators of any package",
        )
    from sklearn.base import clone  # noqa: PLC0415 - loaded when an estimator is given

    return Member(str(name), lambda: clone(estimator), "states" if home[1] in {"naive_bayes", "network"} else "numbers")


### fitted members


@dataclass(frozen=True, eq=False)
class FittedMember:
    """The model of a member; `codes` are the codes of its classes among those of the ensemble."""

    name: str
    form: Form
    model: Any
    codes: NDArray[np.intp]

    def proba(self, tables: dict[Form, Table], target: DiscreteVariable) -> Floats:
        """P(class | row), a column for every class of the ensemble."""
        table = tables[self.form]
        found = np.zeros((len(table), target.n_states))
        label = target
        if takes_target(self.model):
            label = self.model[target.name].variable
        found[:, self.codes] = probabilities(self.model, table, label)
        return found

    def mean(self, tables: dict[Form, Table]) -> Floats:
        """The mean of a numeric target at each row."""
        return np.asarray(self.model.predict(tables[self.form]), dtype=np.float64).reshape(-1)

    def to_dict(self) -> dict[str, Any]:
        """The member as plain values."""
        return {"name": self.name, "form": self.form, "codes": self.codes.tolist(), "model": codec.nested(self.model)}

    @classmethod
    def checked(cls, reader: Reader, entry: Any, target: DiscreteVariable | None) -> FittedMember:
        """The member of an entry of a file; `target` is None if it predicts numbers."""
        keys: dict[str, Any] = {"name": str, "form": str, "codes": [int], "model": dict}
        name, form, codes, document = reader.entries(entry, keys, "a member")
        model = codec.nested_model(reader, document)
        if form not in FORMS or model.file_kind not in (REGRESSION_KINDS if target is None else MEMBER_KINDS):
            reader.wrong(f"a member takes {form!r:.20} and is a {model.file_kind!r}")
        predicts_classes = hasattr(model, "predict_proba") and getattr(model, "is_classifier", True)
        if predicts_classes is (target is None):
            reader.wrong(f"the member {name!r:.40} predicts something else than the model")
        classes = () if target is None else classes_of(model, target)
        if sorted(set(codes)) != sorted(codes) or codes != codes_of(target, classes):
            reader.wrong(f"the classes of the member {name!r:.40} are not those of the model")
        return cls(name, form, model, np.array(codes, dtype=np.intp))


def codes_of(target: DiscreteVariable | None, classes: tuple[Any, ...]) -> list[int]:
    """The codes of classes; none of a numeric target."""
    return [] if target is None else [target.code_of(label) for label in classes]


def classes_of(model: Any, target: DiscreteVariable) -> tuple[Any, ...]:
    """The classes that a model predicts, in the order of its columns."""
    if takes_target(model):
        return tuple(model[target.name].variable.states)
    return tuple(model.labels if hasattr(model, "labels") else model.classes)


def fit_member(member: Member, cases: Cases, seed: int) -> FittedMember:
    """The model of a member, fitted to training rows."""
    target = cases.target
    estimator = member.make()
    options = estimator.get_params(deep=False)
    if options.get("random_state", 0) is None:
        estimator.set_params(random_state=seed)
    if "target" in options and options["target"] is None:
        estimator.set_params(target=target.name)
    labels = class_array(target.states)[cases.y] if isinstance(target, DiscreteVariable) else cases.y
    weights = {"sample_weight": cases.sample_weight} if cases.weighted else {}
    estimator.fit(cases.tables[member.form], labels, **weights)
    model = estimator.network_ if hasattr(estimator, "network_") else estimator.model_
    codes = codes_of(target, classes_of(model, target)) if isinstance(target, DiscreteVariable) else []
    return FittedMember(member.name, member.form, model, np.array(codes, dtype=np.intp))
