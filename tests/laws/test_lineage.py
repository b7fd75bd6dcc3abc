"""Models that have evidence in common: their sum counts it once.

(base + x) + (base + y) = base + x + y        (a + b) - b = a        models with nothing in common add as ever
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayeslearn import fit_parameters, read_network
from bayeslearn.distributions import Counts, StatisticsBundle
from bayeslearn.distributions import lineage as lineages
from bayeslearn.distributions.lineage import after_update, merged, separated, started
from bayeslearn.errors import EvidenceError, FormatError
from bayeslearn.hmm import HiddenMarkovModel, fit_hmm
from bayeslearn.mixture import MixtureModel, fit_mixture
from bayeslearn.naive_bayes import NaiveBayesModel, fit_naive_bayes
from bayeslearn.regression import RegressionModel, fit_linear

if TYPE_CHECKING:
    from collections.abc import Callable


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
    if isinstance(statistics, StatisticsBundle):
        return [a for part in statistics.values() for a in numbers_of(part)]
    return statistics.arrays()


def normal_rows(rng, n):
    return np.where(rng.random(n) < 0.5, -4.0, 4.0)[:, None] + rng.normal(size=(n, 1))


def table_of(rng, n):
    x = rng.normal(size=n)
    return {"x": x.tolist(), "y": (2 * x + rng.normal(size=n)).tolist()}


KINDS = {
    "network": Kind(
        lambda rows: fit_parameters("[A][B|A]", rows, states=STATES),
        lambda model, rows: model.update(rows),
        columns,
        both,
        lambda model: [array for cpt in model for array in (cpt.counts.n, cpt.probabilities)],
        read_network,
    ),
    "naive": Kind(
        lambda rows: fit_naive_bayes(rows, "B"),
        lambda model, rows: model.update(rows),
        columns,
        both,
        lambda model: [model.add_states(STATES, order=True).statistics[name].n for name in ("A", "B")],
        NaiveBayesModel.load,
    ),
    "regression": Kind(
        lambda rows: fit_linear(rows, "y"),
        lambda model, rows: model.update(rows),
        table_of,
        both,
        lambda model: [*numbers_of(model.fit.statistics), model.predict({"x": [0.0, 1.0]})],
        RegressionModel.load,
    ),
    "mixture": Kind(
        lambda rows: fit_mixture(rows, 2, random_state=0),
        lambda model, rows: model.update(rows),
        normal_rows,
        lambda x, y: np.concatenate([x, y]),
        lambda model: [model.weights, *numbers_of(model.statistics), *model.parameters[0]],
        MixtureModel.load,
    ),
    "hmm": Kind(
        lambda rows: fit_hmm([rows[:, 0]], 2, emissions="gaussian"),
        lambda model, rows: model.update([rows[:, 0]]),
        normal_rows,
        lambda x, y: None,
        lambda model: [model.startprob, model.transmat, *numbers_of(model.statistics)],
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
    model.save(path)
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
    return [model.statistics["transmat" if kind is KINDS["hmm"] else "shares of the components"].n]


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
    for name in ("total_weight", "cases"):
        if hasattr(model, name):
            return float(getattr(model, name))
    if hasattr(model, "statistics"):
        return float(model.statistics["transmat"].n.sum() + model.statistics["startprob"].n.sum())
    return float(model["A"].counts.n.sum())


def test_the_mixture_of_fifty_five_rows():
    rng = np.random.default_rng(0)
    base = fit_mixture(normal_rows(rng, 50), 2, random_state=0)
    a, b = base.update(normal_rows(rng, 3)), base.update(normal_rows(rng, 2))
    assert (a + b).total_weight == pytest.approx(55, rel=1e-12)


### the mechanism


amounts = st.lists(st.integers(0, 9), min_size=3, max_size=3).map(lambda n: Counts(np.array(n, float)))


@given(amounts, amounts, amounts, st.sampled_from([1.0, 0.5, 0.25]), st.sampled_from([1.0, 0.5, 0.0]))
def test_shares_of_a_base(base, x, y, s, t):
    assume(t or not y.isclose(base))  # of two models with equal counts one is taken for the base of the other
    one, two = base * s + x, base * t + y
    a, b = after_update(None, base, x, s), after_update(None, base, y, t)
    total, left = merged(one, two, a, b)
    assert total.isclose(base * max(s, t) + x + y)
    if t and base.n.any():
        assert left.shares[base_name(base)] == max(s, t)
        assert separated(total, two, left, b)[0].isclose(base * s + x if s >= t else base * max(s, t) + x)


def base_name(base):
    return next(iter(started(None, base).shares))


### trees of updates and sums


class Grown:
    """A model of random statistics beside what it is made of: shares of rows that have a name each."""

    def __init__(self, statistics, lineage, rows):
        self.statistics, self.lineage, self.rows = statistics, lineage, rows

    @classmethod
    def learned(cls, new, name):
        return cls(new, None, {name: 1.0})

    def update(self, new, name, fade):
        lineage = after_update(self.lineage, self.statistics, new, fade)
        return Grown(self.statistics * fade + new, lineage, {n: s * fade for n, s in self.rows.items()} | {name: 1.0})

    def __add__(self, other):
        statistics, lineage = merged(self.statistics, other.statistics, self.lineage, other.lineage)
        shares = {name: max(m.rows.get(name, 0) for m in (self, other)) for name in self.rows | other.rows}
        return Grown(statistics, lineage, shares)

    def is_new_to(self, other):
        """Whether neither has what the other has and was not updated from: that counts in each."""
        mine, theirs = started(self.lineage, self.statistics), started(other.lineage, other.statistics)
        common = set(mine.shares) & set(theirs.shares)
        return common <= mine.bases | theirs.bases


steps = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 50), st.sampled_from([1.0, 1.0, 1.0, 0.5])), min_size=1, max_size=25
)


@settings(max_examples=300, deadline=None)
@given(steps, st.integers(0, 2**32 - 1), st.booleans())
def test_any_tree_of_updates_and_sums_is_learned_from_all_rows_together(plan, seed, fades):
    rng = np.random.default_rng(seed)
    rows = {}

    def new_rows():
        rows[len(rows)] = Counts(rng.random(3) + 0.1)
        return rows[len(rows) - 1], len(rows) - 1

    models = [Grown.learned(*new_rows()), Grown.learned(*new_rows()).update(*new_rows(), 1.0)]
    for i, j, fade in plan:
        one, two = models[i % len(models)], models[j % len(models)]
        if i % 2 and one.is_new_to(two):
            models.append(one + two)
        else:
            models.append(one.update(*new_rows(), fade if fades else 1.0))
        latest = models[-1]
        wanted = sum((rows[name] * share for name, share in latest.rows.items()), start=Counts(np.zeros(3)))
        assert latest.statistics.isclose(wanted, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::bayeslearn.errors.BayeslearnWarning")
@pytest.mark.parametrize("name", ["network", "naive", "regression"])
def test_sums_of_all_leaves_are_learned_from_all_rows(name, tmp_path):
    kind, rng = KINDS[name], np.random.default_rng(3)
    every = kind.rows(rng, 40)
    models, leaves = [kind.learn(every)], {0}
    for i in range(12):
        parent, rows = int(rng.integers(len(models))), kind.rows(rng, int(rng.integers(5, 12)))
        every = kind.together(every, rows)
        models.append(kind.update(models[parent], rows))
        leaves = leaves - {parent} | {i + 1}
    inner = next(i for i in range(3, 12) if i not in leaves)
    loaded = [kind.load(saved(models[i], tmp_path / f"{i}.json")) for i in sorted(leaves)]
    total = loaded[0]
    for model in loaded[1:]:
        total = kind.load(saved(total + model, tmp_path / "total.json"))
    same(kind, total, kind.learn(every))
    same(kind, total + models[inner], total)  # what a leaf was updated from is in it already


@pytest.mark.thorough
def test_a_common_base_is_known_after_a_thousand_updates(tmp_path):
    rng = np.random.default_rng(1)
    base = fit_parameters("[A][B|A]", columns(rng, 30), states=STATES, prior="laplace")
    for _ in range(5):
        base = base.update(columns(rng, 4))
    base.save(tmp_path / "base.json")
    a = b = read_network(tmp_path / "base.json")
    for _ in range(1000):
        a = a.update(columns(rng, 1))
    for _ in range(20):
        b = b.update(columns(rng, 50))
    a.save(tmp_path / "a.json")
    total = read_network(tmp_path / "a.json") + b
    assert total["A"].counts.n.sum() == 50 + 1000 + 1000
    for cpt in total:
        n = a[cpt.name].counts.n + b[cpt.name].counts.n - base[cpt.name].counts.n
        assert_allclose(cpt.counts.n, n, rtol=1e-12)


### bounds


@pytest.fixture
def few_parts(monkeypatch):
    monkeypatch.setattr(lineages, "MAX_PARTS", 8)
    monkeypatch.setattr(lineages, "MAX_NAMES", 4)


def chain(start, n, rng):
    """A model after n updates, and all models on the way to it."""
    models = [start]
    for i in range(n):
        models.append(models[-1].update(Counts(rng.random(2)), (id(start), i), 1.0))
    return models


@pytest.mark.usefixtures("few_parts")
def test_lineages_do_not_grow_without_end():
    rng = np.random.default_rng(0)
    models = chain(Grown.learned(Counts([1.0, 2.0]), "base"), 500, rng)
    latest = models[-1].lineage
    assert len(latest.parts) == 8
    assert len(latest.shares) <= 8 * 4
    assert sum(part.n_updates for part in latest.parts) == 501
    sizes = [part.n_updates for part in latest.parts[1:]]
    assert sizes[0] == max(sizes)
    assert sizes[-2:] == [1, 1]
    assert latest.parts[0].statistics.n.tolist() == [1, 2]


@pytest.mark.usefixtures("few_parts")
@pytest.mark.parametrize("names", [4, 100])
def test_a_base_counts_once_or_an_error_says_that_it_is_not_known(monkeypatch, names):
    monkeypatch.setattr(lineages, "MAX_NAMES", names)
    rng = np.random.default_rng(0)
    models = chain(Grown.learned(Counts([1.0, 2.0]), "base"), 60, rng)
    known = []
    for i in range(60):
        near, far, one, two = (chain(models[i], n, rng)[-1] for n in (1, 30, 20, 40))
        for a, b in ((near, far), (near, one), (one, two)):
            try:
                total = a + b
            except EvidenceError:
                known.append(False)
            else:
                known.append(True)
                assert total.statistics.isclose(a.statistics + b.statistics - models[i].statistics, rtol=1e-9)
    assert all(known[:3])  # what was learned is always known
    assert not all(known[2::3])
    if names == 100:
        assert all(known[0::3])
        assert all(known[1::3])


@pytest.mark.usefixtures("few_parts")
def test_what_cannot_be_known_is_said():
    rng = np.random.default_rng(0)
    base = chain(Grown.learned(Counts([1.0, 2.0]), "base"), 7, rng)[-1]
    one, two = (chain(base, 40, rng)[-1] for _ in range(2))
    with pytest.raises(EvidenceError, match="evidence in common that would count twice"):
        one + two
    with pytest.raises(EvidenceError, match="evidence in common that would count twice"):
        separated(one.statistics, two.statistics, one.lineage, two.lineage)


@pytest.mark.usefixtures("few_parts")
def test_large_statistics_are_kept_in_fewer_parts(monkeypatch):
    monkeypatch.setattr(lineages, "MAX_NUMBERS", 10)
    assert len(chain(Grown.learned(Counts([1.0, 2.0]), "base"), 40, np.random.default_rng(0))[-1].lineage.parts) == 5


### what is in common


def test_a_model_less_its_base_has_no_base():
    base = fit_parameters("[A]", {"A": ["x", "y"]})
    alone = base.update({"A": ["x", "x", "x"]}) - base
    assert alone["A"].counts.n.tolist() == [3, 0]
    assert not alone.lineage.bases
    assert (base.update({"A": ["y"]}) + alone)["A"].counts.n.tolist() == [4, 2]


def test_equal_rows_of_many_sites_all_count():
    base = fit_parameters("[A]", {"A": ["x", "y"]})
    sites = [base.update({"A": ["x"]}) for _ in range(10)]
    total = sites[0]
    for site in sites[1:]:
        total = total + site
    assert total["A"].counts.n.tolist() == [11, 1]
    fits = [fit_parameters(base, {"A": ["x"]}) for _ in range(3)]
    assert (fits[0] + fits[1] + fits[2])["A"].counts.n.tolist() == [3, 0]


def test_parts_of_equal_updates_have_names_of_their_own(tmp_path):
    base = fit_parameters("[A]", {"A": ["x", "y"]})
    site = base.update({"A": ["x"]})
    twice = site + site
    thrice = read_network(saved(twice, tmp_path / "twice.json")) + site
    assert thrice["A"].counts.n.tolist() == [4, 1]
    for model in (twice, thrice, thrice.update({"A": ["y"]}), thrice + twice):
        names = [name for part in model.lineage.parts for name in part.names]
        assert len(set(names)) == len(names)
        assert set(names) <= set(model.lineage.shares)
        assert read_network(saved(model, tmp_path / "model.json")) == model


def test_what_a_model_was_merged_with_counts_once():
    base = fit_parameters("[A]", {"A": ["x", "y"]})
    a, b = base.update({"A": ["x"]}), base.update({"A": ["y"]})
    later = a.update({"A": ["x", "x"]})
    assert (a + b + later)["A"].counts.n.tolist() == [4, 2]
    assert (base + later)["A"].counts.n.tolist() == [4, 1]


def test_a_base_that_is_taken_back_is_no_base():
    monday, tuesday = {"A": ["x", "y"]}, {"A": ["x", "x", "y", "y"]}
    base = fit_parameters("[A]", monday)
    both = base.update(tuesday)
    assert (both.remove(monday) + base)["A"].counts.n.tolist() == [3, 3]
    assert (both.remove(tuesday) + base.update(tuesday))["A"].counts.n.tolist() == [3, 3]
    most = base.update({"A": ["x"]}).remove({"A": ["y", "x"]})
    assert (most + base)["A"].counts.n.tolist() == [2, 1]
    none = base.remove(monday)
    assert (none + base)["A"].counts.n.tolist() == [1, 1]


def test_after_rows_are_taken_back_a_base_still_counts_once():
    base = fit_parameters("[A]", {"A": ["x", "y"]})
    a, b = base.update({"A": ["x", "x"]}).remove({"A": ["x"]}), base.update({"A": ["y"]})
    assert (a + b)["A"].counts.n.tolist() == [2, 2]
    assert (a.update({"A": ["y"]}) + b)["A"].counts.n.tolist() == [2, 3]


@pytest.mark.filterwarnings("ignore:.*added to them")
def test_bases_gain_states_and_turn_with_their_network():
    base = fit_parameters("[A][B|A]", {"A": ["x", "y", "y"], "B": ["u", "v", "v"]})
    a, b = (base.update(rows) for rows in ({"A": ["z"], "B": ["u"]}, {"A": ["y", "w"], "B": ["t", "v"]}))
    total = a + b
    assert total.states("A") == ("x", "y", "z", "w")
    assert total["A"].counts.n.tolist() == [1, 3, 1, 1]
    assert (total - b)["A"].counts.n.tolist() == [1, 2, 1, 0]


### files


DAMAGE = [
    ('"share": 1.0', '"share": 0'),
    ('"share": 1.0', '"part": 1.0'),
    ('"n_updates": 1', '"n_updates": 0'),
    ('"parts": [', '"parts": [1, '),
    ('"names": [', '"names": ["other", '),
    ('"shares": {', '"shares": {"one": -1, '),
    ('"bases": [', '"bases": ["other", '),
    ('"bases": [', '"bases": [[], '),
    ('"lineage": {', '"lineage": {"more": 1, '),
]


@pytest.mark.parametrize(("old", "new"), DAMAGE)
def test_lineages_in_files_are_checked(tmp_path, old, new):
    net = fit_parameters("[A]", {"A": ["x", "y"]}).update({"A": ["x"]})
    mixed = fit_mixture(normal_rows(np.random.default_rng(0), 30), 2, random_state=0)
    mixed = mixed.update(normal_rows(np.random.default_rng(1), 5))
    for model, load in ((net, read_network), (mixed, MixtureModel.load)):
        path = tmp_path / "model.json"
        model.save(path)
        head, lineage = path.read_text().split('"lineage"')
        text = f'"lineage"{lineage}'
        assert old in text
        path.write_text(head + text.replace(old, new))
        with pytest.raises(FormatError, match=r"lineage cannot be read"):
            load(path)


OLD_FILES = Path(__file__).parent / "files"


def test_files_written_before_lineages_are_read():
    """Both were updated from one network of three rows, the second one twice, and faded once."""
    one, two = (read_network(OLD_FILES / f"bases-{i}.json") for i in (1, 2))
    assert (one + two)["A"].counts.n.tolist() == [2.5, 5]
    base = fit_parameters("[A]", {"A": ["x", "y", "y"]}, prior="laplace")
    assert (one + base.update({"A": ["x"]}))["A"].counts.n.tolist() == [3, 3]
    mixed = [MixtureModel.load(OLD_FILES / f"mixture-bases-{i}.json") for i in (1, 2)]
    assert (mixed[0] + mixed[1]).total_weight == pytest.approx(25, rel=1e-12)


@pytest.mark.parametrize(("old", "new"), [('"share": 1.0', '"share": 0'), ('"bases": [', '"bases": [1, ')])
def test_old_bases_in_files_are_checked(tmp_path, old, new):
    for name, load in (("bases-1.json", read_network), ("mixture-bases-1.json", MixtureModel.load)):
        text = (OLD_FILES / name).read_text()
        assert old in text
        (tmp_path / name).write_text(text.replace(old, new))
        with pytest.raises(FormatError, match=r"base|share"):
            load(tmp_path / name)
