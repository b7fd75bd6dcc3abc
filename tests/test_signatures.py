"""Public signatures name every parameter, so that Tab and help() show them."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import pydoc
import re

import pytest

import bayeslearn

#: Callables that take any number of arguments, and why.
EXCEPTIONS = {
    "set_params": "scikit-learn's own: the names of the parameters of its constructor",
    "EvidenceSession.observe": "the names are those of the variables of the network",
    "EvidenceSession.retract": "names of variables, one or several",
    "merge": "models, one or several",
    "Component.of": "names of columns, one or several",
    "StatisticsBundle": "the names are those that the caller gives to its parts",
    **dict.fromkeys(
        (name for name in bayeslearn.errors.__all__ if not name.endswith("Warning")),
        "values that a program may read from `error.details`",
    ),
}

OPEN = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def public_modules():
    packages = pkgutil.walk_packages(bayeslearn.__path__, "bayeslearn.")
    names = ["bayeslearn", *(found.name for found in packages if found.ispkg)]
    names += [f"bayeslearn.{name}" for name in ("em", "errors", "plots", "validation")]
    return [importlib.import_module(name) for name in names if name != "bayeslearn.kernels"]  # kernels are compiled


@functools.cache
def public_callables():
    """Functions, constructors and methods that were written here or inherited, by name."""
    found = {}
    for module in public_modules():
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value):
                if not getattr(value, "_is_protocol", False):  # nobody calls the constructor of a protocol
                    found[name] = value
                methods = [m for m in dir(value) if not m.startswith("_") or m == "__call__"]
                found |= {f"{name}.{m}": getattr(value, m) for m in methods}
            else:
                found[name] = value
    return {name: value for name, value in found.items() if callable(value)}


def is_exception(name):
    return name in EXCEPTIONS or name.rpartition(".")[2] in EXCEPTIONS


def signature_of(value):
    try:
        return inspect.signature(value)
    except ValueError:  # Exception.add_note and its like, which are written in C
        return None


def test_there_are_many():
    assert len(public_callables()) > 1000


def test_every_parameter_has_a_name():
    hidden = {
        name: str(signature)
        for name, value in public_callables().items()
        if (signature := signature_of(value)) and {p.kind for p in signature.parameters.values()} & OPEN
    }
    assert {name: shown for name, shown in hidden.items() if not is_exception(name)} == {}


def test_no_exception_is_left_over():
    names = {name for name in public_callables() if is_exception(name)}
    assert {e for e in EXCEPTIONS if not any(name == e or name.endswith(f".{e}") for name in names)} == set()


def test_decorators_keep_the_signature():
    """What a decorator returns shows the parameters of the function it wraps, not its own."""
    for name, value in public_callables().items():
        inner = getattr(value, "__wrapped__", None)
        if inner is not None and inspect.isfunction(inner):
            own = [p for p in inspect.signature(inner).parameters if p != "self"]
            assert [p for p in signature_of(value).parameters if p != "self"] == own, name
            assert value.__doc__, name


#: Callables that hand parameters on, with what they hand them to; and parameters of the latter that they fill in.
FORWARDED = [
    ("network.BayesianNetwork.query", "network.ExactInference.query", set()),
    ("network.DAG.to_svg", "network.BayesianNetwork.to_svg", {"evidence", "bars", "rows"}),
    ("network.fit_parameters_online", "network.OnlineEM", set()),
    (
        "neighbors.NeighborsModel.from_arrays",
        "neighbors.NeighborsModel",
        {"examples", "targets", "distance", "target", "lineage"},
    ),
    ("sources.as_source", "tables.as_table", set()),
    ("sources.FileSource.declared", "tables.as_table", {"data"}),
    ("hmm.HiddenMarkovModel.update", "hmm.HiddenMarkovModel.sequences", set()),
    ("hmm.HiddenMarkovModel.log_likelihood", "hmm.HiddenMarkovModel.sequences", {"sample_weight"}),
    ("hmm.HiddenMarkovModel.posterior", "hmm.HiddenMarkovModel.sequences", {"sample_weight"}),
    ("hmm.HiddenMarkovModel.decode", "hmm.HiddenMarkovModel.sequences", {"sample_weight"}),
]


@pytest.mark.parametrize(("outer", "inner", "filled_in"), FORWARDED)
def test_what_is_handed_on_has_the_same_defaults(outer, inner, filled_in):
    mine, theirs = (inspect.signature(pydoc.locate(f"bayeslearn.{name}")).parameters for name in (outer, inner))
    wanted = {name: p.default for name, p in theirs.items() if name not in {"self", "network", *filled_in}}
    assert {name: mine[name].default for name in wanted if name in mine} == wanted


@pytest.mark.parametrize(
    "name", ["fit_network", "fit_naive_bayes", "network.fit_parameters_online", "fit_mixture", "fit_hmm", "fit_text"]
)
def test_help_explains_every_parameter(name):
    value = pydoc.locate(f"bayeslearn.{name}")
    shown = pydoc.render_doc(value, renderer=pydoc.plaintext)
    for parameter in inspect.signature(value).parameters.values():
        assert str(parameter.name) in shown
        assert re.search(rf"^ *(\w+, )*{parameter.name}\b", inspect.getdoc(value), re.MULTILINE), parameter.name
