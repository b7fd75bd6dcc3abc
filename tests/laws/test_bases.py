"""Models that were updated from one base: their sum counts it once.

(base + x) + (base + y) = base + x + y        (a + b) - b = a        a model without a base adds as ever
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayeslearn import fit_tables, read_network, write_network
from bayeslearn.errors import FormatError
from bayeslearn.families import Bundle, Counts
from bayeslearn.families.bases import KEPT, after_update, merged, separated
from bayeslearn.functions import fit_linear
from bayeslearn.functions.model_files import read_regression
from bayeslearn.mixture import Mixture, fit_mixture
from bayeslearn.naive_bayes import NaiveBayes
from bayeslearn.sequence import HiddenMarkovModel
from tests.properties import trials

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class Kind:
    """A model that adds: how it is learned, updated and kept, and the numbers that it holds."""

    learn: Callable[[Any], Any]
    update: Callable[[Any, Any], Any]
    rows: Callable[[np.random.Generator, int], Any]
    together: Callable[[Any, Any], Any]
    numbers: Callable[[Any], list[Any]]
    load: Callable[[Path], Any]


def columns(rng, n):
    a = rng.integers(0, 3, n)
    return {"A": [f"a{v}" for v in a], "B": [f"b{v}" for v in (a + (rng.random(n) < 0.4)) % 2]}


def both(x, y):
    return {name: [*x[name], *y[name]] for name in x}


STATES = {"A": ["a0", "a1", "a2"], "B": ["b0", "b1"]}


def numbers_of(statistics):
    if isinstance(statistics, Bundle):
        return [a for part in statistics.values() for a in numbers_of(part)]
    return statistics.arrays()


def normal_rows(rng, n):
    return np.where(rng.random(n) < 0.5, -4.0, 4.0)[:, None] + rng.normal(size=(n, 1))


def table_of(rng, n):
    x = rng.normal(size=n)
    return {"x": x.tolist(), "y": (2 * x + rng.normal(size=n)).tolist()}


@dataclass(frozen=True)
class Saved:
    """Networks are written by a function."""

    net: Any

    def save(self, path):
        write_network(self.net, path)


KINDS = {
    "network": Kind(
        lambda rows: fit_tables("[A][B|A]", rows, states=STATES).network,
        lambda model, rows: model.update(rows),
        columns,
        both,
        lambda model: [array for cpt in model for array in (cpt.counts.n, cpt.p)],
        read_network,
    ),
    "naive": Kind(
        lambda rows: NaiveBayes.learn(rows, "B"),
        lambda model, rows: model.update(rows),
        columns,
        both,
        lambda model: [model.grown(STATES, order=True).statistics[name].n for name in ("A", "B")],
        NaiveBayes.load,
    ),
    "regression": Kind(
        lambda rows: fit_linear(rows, "y"),
        lambda model, rows: model.updated(rows),
        table_of,
        both,
        lambda model: [*numbers_of(model.fit.statistics), model.predict({"x": [0.0, 1.0]})],
        read_regression,
    ),
    "mixture": Kind(
        lambda rows: fit_mixture(rows, 2, rng=0).model,
        lambda model, rows: model.updated(rows),
        normal_rows,
        lambda x, y: np.concatenate([x, y]),
        lambda model: [model.weights, *numbers_of(model.statistics), *model.parameters[0]],
        Mixture.load,
    ),
    "hmm": Kind(
        lambda rows: HiddenMarkovModel.learn([rows[:, 0]], 2, rng=0, emissions="gaussian"),
        lambda model, rows: model.update([rows[:, 0]]),
        normal_rows,
        lambda x, y: None,
        lambda model: [model.start, model.transitions, *numbers_of(model.statistics)],
        HiddenMarkovModel.load,
    ),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def same(kind, one, two, rtol=1e-9):
    for a, b in zip(kind.numbers(one), kind.numbers(two), strict=True):
        assert_allclose(a, b, rtol=rtol, atol=1e-9)


def parts(kind, sizes=(40, 25, 30)):
    rng = np.random.default_rng(5)
    return [kind.rows(rng, n) for n in sizes]


def saved(model, path):
    (model if hasattr(model, "save") else Saved(model)).save(path)
    return path


@pytest.mark.filterwarnings("ignore::bayeslearn.errors.BayeslearnWarning")
def test_a_common_base_counts_once(kind, tmp_path):
    rows, x, y = parts(kind)
    base = kind.learn(rows)
    a, b = kind.update(base, x), kind.update(base, y)
    total = a + b
    if kind in (KINDS["mixture"], KINDS["hmm"]):  # expected under the base, so not the same as one after the other
        more = [a - m for m, a in zip(kind_counts(kind, base), kind_counts(kind, b), strict=True)]
        expected = [n + d for n, d in zip(kind_counts(kind, a), more, strict=True)]
        for found, wanted in zip(kind_counts(kind, total), expected, strict=True):
            assert_allclose(found, wanted, rtol=1e-9)
        same(kind, total, total.estimate(total.prior, total.statistics), rtol=1e-12)
    else:
        same(kind, total, kind.update(kind.update(base, x), y))
        same(kind, total - b, a)
        same(kind, (a + b) - a, b)
    loaded = [kind.load(saved(model, tmp_path / f"{i}.json")) for i, model in enumerate((a, b))]
    same(kind, loaded[0] + loaded[1], total, rtol=1e-12)
    far = kind.load(saved(total, tmp_path / "total.json"))
    same(kind, kind.update(far, x) + a, kind.update(total, x) + a, rtol=1e-12)


def kind_counts(kind, model):
    return [model.statistics["transitions" if kind is KINDS["hmm"] else "shares of the components"].n]


@pytest.mark.filterwarnings("ignore::bayeslearn.errors.BayeslearnWarning")
def test_the_latest_common_base_counts_once(kind):
    rows, x, y, z, w = parts(kind, (40, 25, 30, 20, 10))
    base = kind.learn(rows)
    later = kind.update(base, x)
    a, b = kind.update(kind.update(later, y), w), kind.update(later, z)
    assert cases(a + b) == pytest.approx(cases(a) + cases(b) - cases(later), rel=1e-12)
    assert cases(base + base) == pytest.approx(2 * cases(base), rel=1e-12)
    assert cases(a + kind.learn(z)) == pytest.approx(cases(a) + cases(kind.learn(z)), rel=1e-12)


def cases(model):
    if hasattr(model, "cases"):
        return float(model.cases)
    if hasattr(model, "statistics"):
        return float(model.statistics["transitions"].n.sum() + model.statistics["start"].n.sum())
    return float(model["A"].counts.n.sum())


def test_the_mixture_of_fifty_five_rows():
    rng = np.random.default_rng(0)
    base = fit_mixture(normal_rows(rng, 50), 2, rng=0).model
    a, b = base.updated(normal_rows(rng, 3)), base.updated(normal_rows(rng, 2))
    assert (a + b).cases == pytest.approx(55, rel=1e-12)


### the mechanism


amounts = st.lists(st.integers(0, 9), min_size=3, max_size=3).map(lambda n: Counts(np.array(n, float)))


@given(amounts, amounts, amounts, st.sampled_from([1.0, 0.5, 0.25]), st.sampled_from([1.0, 0.5, 0.0]))
def test_shares_of_a_base(base, x, y, s, t):
    one, two = base * s + x, base * t + y
    bases, others = after_update((), base, s), after_update((), base, t)
    total, left = merged(one, two, bases, others)
    assert total.isclose(base * max(s, t) + x + y)
    if t:
        assert left[0].share == max(s, t)
        assert separated(total, two, left, others)[0].isclose(base * s + x if s >= t else base * max(s, t) + x)


@trials(20)
@given(st.integers(1, 20))
def test_bases_do_not_grow_without_end(n):
    bases = ()
    for i in range(n):
        bases = after_update(bases, Counts([float(i)]))
    assert [b.statistics.n[0] for b in bases] == ([*range(n)] if n <= KEPT else [0, *range(n - KEPT + 1, n)])


def test_a_model_less_its_base_has_no_base():
    base = fit_tables("[A]", {"A": ["x", "y"]}).network
    alone = base.update({"A": ["x", "x", "x"]}) - base
    assert alone["A"].counts.n.tolist() == [3, 0]
    assert alone.bases == ()
    assert (base.update({"A": ["y"]}) + alone)["A"].counts.n.tolist() == [4, 2]


@pytest.mark.filterwarnings("ignore:.*added to them")
def test_bases_gain_states_and_turn_with_their_network():
    base = fit_tables("[A][B|A]", {"A": ["x", "y", "y"], "B": ["u", "v", "v"]}).network
    a, b = (base.update(rows) for rows in ({"A": ["z"], "B": ["u"]}, {"A": ["y", "w"], "B": ["t", "v"]}))
    total = a + b
    assert total.states("A") == ("x", "y", "z", "w")
    assert total["A"].counts.n.tolist() == [1, 3, 1, 1]
    assert (total - b)["A"].counts.n.tolist() == [1, 2, 1, 0]


@pytest.mark.parametrize(
    ("old", "new"),
    [('"share": 1.0', '"share": 0'), ('"share": 1.0', '"part": 1.0'), ('"bases": [', '"bases": [1, ')],
)
def test_bases_in_files_are_checked(tmp_path, old, new):
    net = fit_tables("[A]", {"A": ["x", "y"]}).network.update({"A": ["x"]})
    mixed = fit_mixture(normal_rows(np.random.default_rng(0), 30), 2, rng=0).model
    mixed = mixed.updated(normal_rows(np.random.default_rng(1), 5))
    for model, load in ((Saved(net), read_network), (mixed, Mixture.load)):
        path = tmp_path / "model.json"
        model.save(path)
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        with pytest.raises(FormatError, match=r"base|share"):
            load(path)
