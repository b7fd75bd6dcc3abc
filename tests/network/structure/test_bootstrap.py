"""Arc strengths by resampling, their threshold, and the network they average to."""

from __future__ import annotations

import itertools
import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import kernels
from bayeslearn.errors import CycleError, EmptyTableError, MissingValuesError, ParameterError, ShapeError
from bayeslearn.network import DAG
from bayeslearn.network.structure.score_based.ges import ges
from bayeslearn.network.structure.score_based.hill_climbing import Structure, class_of, climb
from bayeslearn.network.structure.scoring.criteria import ScoreCache, StructureScore
from bayeslearn.network.structure.search_settings import BackgroundKnowledge, Budget
from bayeslearn.network.structure.uncertainty.bootstrap import (
    ArcStrengths,
    Resampling,
    arc_strengths,
    averaged,
    resampled,
    votes,
)
from bayeslearn.tables import DiscreteVariable, Schema, Table, as_table
from tests.oracle import networks as slow


def sample(seed=1, n=4, rows=100):
    return slow.random_network(seed, n).sample(rows, random_state=seed)


def climbed(counts):
    cache = ScoreCache(counts, StructureScore("bic"))
    allowed = BackgroundKnowledge().of(counts.names)
    structure = Structure(cache, allowed, allowed.required)
    climb(structure)
    return structure.arcs


def greedy(counts):
    return ges(ScoreCache(counts, StructureScore("bic")), BackgroundKnowledge().of(counts.names))


def arcs_of(text, names="abcd"):
    arcs = np.zeros((len(names), len(names)), np.bool_)
    for arc in text.split():
        arcs[names.index(arc[0]), names.index(arc[1])] = True
    return arcs


def strengths_of(**arcs):
    """Strengths from arc=(strength, direction)."""
    names = tuple(sorted(set("".join(arcs))))
    strength, direction = np.zeros((2, len(names), len(names)))
    for arc, (strong, sure) in arcs.items():
        c, x = map(names.index, arc)
        strength[c, x] = strength[x, c] = strong
        direction[c, x], direction[x, c] = sure, 1 - sure
    return ArcStrengths(names, strength, direction, n_samples=100)


def named(strengths, arcs):
    return {strengths.names[c] + strengths.names[x] for c, x in np.argwhere(arcs)}


### resampling


def test_strengths_count_graphs():
    found = iter([arcs_of(text) for text in ("ab bc", "ab cb", "ba", "ab bc", "")])
    table = Table(
        Schema(DiscreteVariable(name, ["no", "yes"]) for name in "abcd"), np.zeros((4, 9), np.int8), np.empty((0, 9))
    )

    def one_after_the_other(counts):
        return next(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BAYESLEARN_THREADS", "1")
        strengths = arc_strengths(table, one_after_the_other, rounds=5, random_state=1)
    assert strengths.n_samples == 5
    table = {(s.parent, s.child): (s.strength, s.direction) for s in strengths.pairs()}
    # a — b four times, one of these as a → b ← c, the other edges are open
    assert table == {("a", "b"): (0.8, (3 * 0.5 + 1) / 4), ("c", "b"): (pytest.approx(0.6), pytest.approx(2 / 3))}


@given(seed=st.integers(0, 10_000), classes=st.booleans())
def test_votes_are_halved_where_the_class_is_open(seed, classes):
    rng = np.random.default_rng(seed)
    arcs = np.triu(rng.random((5, 5)) < 0.5, 1)
    vote = votes(arcs, 5, classes=classes)
    np.testing.assert_array_equal(vote + vote.T, arcs | arcs.T)
    marks = class_of(arcs)
    np.testing.assert_array_equal(vote, np.where(marks & marks.T, 0.5, marks) if classes else arcs)


@pytest.mark.parametrize("search", [climbed, greedy])
def test_the_seed_decides_and_not_the_number_of_threads(search, monkeypatch):
    table, found = sample(3, 6), []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("BAYESLEARN_THREADS", threads)
        found.append(arc_strengths(table, search, rounds=10, random_state=7))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].strength, other.strength)
        np.testing.assert_array_equal(found[0].direction, other.direction)
    assert (arc_strengths(table, search, rounds=10, random_state=8).strength != found[0].strength).any()


@given(seed=st.integers(0, 10_000))
def test_strengths_are_shares(seed):
    strengths = arc_strengths(sample(seed), climbed, rounds=3, random_state=seed)
    np.testing.assert_array_equal(strengths.strength, strengths.strength.T)
    both = strengths.direction + strengths.direction.T
    np.testing.assert_allclose(both, strengths.strength > 0, atol=1e-12)
    assert 0 <= strengths.strength.min() <= strengths.strength.max() <= 1
    ordered = [(-arc.strength, -arc.direction) for arc in strengths.pairs()]
    assert ordered == sorted(ordered)
    assert all(arc.direction >= 0.5 for arc in strengths.pairs())


@given(seed=st.integers(0, 10_000))
def test_a_resample_has_as_many_cases(seed):
    table, rng = sample(seed, rows=30), np.random.default_rng(seed)
    plain = resampled(table, rng)
    assert plain.sample_weight is None
    assert plain.n_rows == 30
    weighted = resampled(table.with_weights(rng.uniform(0, 3, 30)), rng)
    assert weighted.sample_weight.min() > 0
    rows = {tuple(column) for column in table.codes.T.tolist()}
    for some in (plain, weighted):
        assert {tuple(column) for column in some.codes.T.tolist()} <= rows


def test_weights_are_drawn_by():
    table = sample(rows=4).with_weights([0, 10, 30, 60])
    drawn = [resampled(table, np.random.default_rng(seed)) for seed in range(300)]
    assert all(some.total_weight == pytest.approx(100) for some in drawn)
    assert all(some.n_rows <= 3 for some in drawn)
    last = np.mean([some.sample_weight[-1] for some in drawn])
    assert last == pytest.approx(60, abs=1.5)


def test_folded_rows_are_as_strong_as_the_rows_they_stand_for():
    table = sample(3, 4, 500)
    one, other = (arc_strengths(some, climbed, rounds=60, random_state=1) for some in (table, table.distinct()))
    np.testing.assert_allclose(one.strength, other.strength, atol=0.3)  # 4 σ of a share of 60 rounds, twice


def test_rounds_end_early():
    def at_three(step):
        assert step.rounds == 50
        if step.done == 3:
            raise StopIteration

    assert (
        arc_strengths(sample(), climbed, rounds=50, random_state=1, budget=Budget(progress=at_three)).n_samples
        <= 4 * kernels.thread_count()
    )
    told = []
    arc_strengths(sample(), climbed, rounds=4, random_state=1, budget=Budget(progress=told.append))
    assert told == [Resampling(done, 4) for done in (1, 2, 3, 4)]
    late = arc_strengths(sample(), climbed, rounds=50, random_state=1, budget=Budget(time.monotonic() - 1))
    assert late.n_samples == 0
    assert not late.strength.any()
    assert late.pairs() == []


def test_a_round_that_was_cut_off_does_not_count():
    found = iter([arcs_of("ab"), None, arcs_of("ab"), None])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BAYESLEARN_THREADS", "1")
        strengths = arc_strengths(sample(), lambda counts: next(found), rounds=4, random_state=1)
    assert strengths.n_samples == 2
    assert strengths.strength.max() == 1.0


def test_what_was_done_before_a_deadline_counts(monkeypatch):
    monkeypatch.setenv("BAYESLEARN_THREADS", "1")
    clock = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    early = arc_strengths(sample(), climbed, rounds=50, random_state=1, budget=Budget(4.5))
    monkeypatch.undo()
    assert early.n_samples == 4
    assert kernels.thread_count() >= 1


@pytest.mark.parametrize(
    ("table", "options", "error", "match"),
    [
        (sample().take([]), {}, EmptyTableError, "no rows to resample"),
        (sample().with_weights(np.zeros(100)), {}, EmptyTableError, "no rows to resample"),
        (sample().mask(["v0"]), {}, MissingValuesError, "'v0' has missing cells"),
        (sample(), {"rounds": 0}, ParameterError, "`rounds` must be at least 1, got 0"),
        (sample(), {"random_state": "seven"}, ParameterError, "`random_state` must be a seed"),
        (sample(), {"search": lambda counts: np.zeros((2, 2))}, ShapeError, r"arcs of shape \(4, 4\), got \(2, 2\)"),
        (sample(), {"search": lambda counts: arcs_of("ab bc ca")}, CycleError, "without cycles"),
    ],
)
def test_bad_input(table, options, error, match):
    with pytest.raises(error, match=match):
        arc_strengths(table, **{"search": climbed, "rounds": 2, "random_state": 1} | options)


### the threshold


def test_the_threshold_of_six_strengths():
    ways = dict(
        zip(["ab", "ac", "ad", "bc", "bd", "cd"], [0.2242, 0.0460, 0.8935, 0.3921, 0.7689, 0.9439], strict=True)
    )
    strengths = strengths_of(**{way: (strength, 0.8) for way, strength in ways.items()})
    assert strengths.threshold() == 0.3921
    assert named(strengths, averaged(strengths).arcs) == {"ad", "bd", "cd"}


@given(shares=st.lists(st.integers(0, 20), min_size=6, max_size=6))
def test_the_threshold_is_at_the_least_distance(shares):
    ways = ["ab", "ac", "ad", "bc", "bd", "cd"]
    strengths = strengths_of(**{way: (share / 20, 0.5) for way, share in zip(ways, shares, strict=True)})
    p = np.sort(np.array(shares) / 20)
    x = (np.arange(2000) + 0.5) / 2000
    f = np.searchsorted(p, x, side="right") / 6
    distance = {t: np.abs(f - t).sum() for t in np.arange(7) / 6}
    best = [t for t, d in distance.items() if d == pytest.approx(min(distance.values()), abs=1e-6)]
    inverse = [0.0 if t == 0 else p[round(t * 6) - 1] for t in best]
    assert strengths.threshold() == max(inverse)


### averaging


def test_the_weakest_arc_of_a_cycle_is_dropped():
    strengths = strengths_of(ab=(0.9, 0.8), bc=(0.8, 0.7), ca=(0.7, 0.9), ad=(0.6, 0.6), bd=(0.4, 1.0))
    found = averaged(strengths)
    assert named(strengths, found.arcs) == {"ab", "bc", "ad"}
    assert [(arc.parent, arc.child, arc.strength) for arc in found.dropped] == [("c", "a", 0.7)]
    assert named(strengths, averaged(strengths, 0.75).arcs) == {"ab", "bc"}
    assert averaged(strengths, 1.0).arcs.sum() == 0


def test_open_directions_add_no_v_structure():
    strengths = strengths_of(ac=(1.0, 0.5), bc=(1.0, 0.5), cd=(1.0, 0.5))
    arcs = averaged(strengths).arcs
    assert class_of(arcs).sum() == 6
    noisy = strengths_of(ac=(1.0, 0.51), bc=(1.0, 0.52), cd=(1.0, 0.53))
    assert named(noisy, averaged(noisy).arcs) == {"ac", "bc", "cd"}
    assert class_of(averaged(noisy, sure=0.6).arcs).sum() == 6


def test_open_directions_that_cannot_help_it_close_no_cycle():
    square = strengths_of(ab=(1.0, 0.5), bc=(1.0, 0.5), cd=(1.0, 0.5), ad=(1.0, 0.5))
    arcs = averaged(square).arcs
    assert arcs.sum() == 4
    assert not np.linalg.matrix_power(arcs.astype(int), 4).any()


@given(seed=st.integers(0, 10_000))
def test_averages_have_no_cycles_and_the_order_of_names_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    shares = rng.integers(0, 5, (2, 5, 5)) / 4
    strength = np.triu(shares[0], 1)
    direction = np.where(strength > 0, np.triu(shares[1], 1), 0)
    whole = direction + np.where((strength > 0).T, 1 - direction.T, 0)
    names = np.array(["e", "b", "a", "d", "c"])
    found = []
    for order in (np.arange(5), rng.permutation(5)):
        some = np.ix_(order, order)
        strengths = ArcStrengths(tuple(names[order]), (strength + strength.T)[some], whole[some], n_samples=4)
        result = averaged(strengths, 0.2)
        assert not np.linalg.matrix_power(result.arcs.astype(int), 5).any()
        assert result.arcs.sum() + len(result.dropped) == (strength > 0.2).sum()
        found.append((named(strengths, result.arcs), result.dropped))
    assert found[0] == found[1]


def test_averages_keep_to_what_is_known():
    strengths = strengths_of(ab=(1.0, 0.5), bc=(0.9, 0.9), cd=(0.9, 0.8), ad=(0.8, 0.7), bd=(0.7, 0.9))
    names = strengths.names
    turned = averaged(strengths, 0.5, allowed=BackgroundKnowledge(forbidden=[("a", "b")]).of(names))
    assert named(strengths, turned.arcs) == {"ba", "bc", "cd", "ad", "bd"}
    refused = averaged(
        strengths, 0.5, allowed=BackgroundKnowledge(forbidden=[("b", "c")], required=[("d", "a")]).of(names)
    )
    assert named(strengths, refused.arcs) == {"da", "ba", "bd", "cd"}
    [(arc, why)] = refused.dropped.items()
    assert (arc.parent + arc.child, why) == ("bc", "goes against what is known")
    few = averaged(strengths, 0.5, allowed=BackgroundKnowledge(max_parents=1).of(names))
    assert named(strengths, few.arcs) == {"ab", "bc", "cd"}
    assert {arc.parent + arc.child: why for arc, why in few.dropped.items()} == dict.fromkeys(
        ["ad", "bd"], "would have been one parent too many"
    )


@given(seed=st.integers(0, 10_000))
def test_averages_keep_to_any_knowledge(seed):
    rng = np.random.default_rng(seed)
    ways = {a + b: tuple(rng.integers(1, 5, 2) / 4) for a, b in itertools.combinations("abcde", 2)}
    strengths = strengths_of(**ways)
    arcs = [(c, x) for c in "abcd" for x in "abcd" if c < x and rng.random() < 0.3]
    ends = {"roots": ["e"]} if rng.random() < 0.5 else {"leaves": ["e"]}
    most = int(rng.integers(2, 5))
    allowed = BackgroundKnowledge(arcs[:2], arcs[2:], **ends, max_parents=most).of(strengths.names)
    found = averaged(strengths, 0.3, allowed=allowed)
    assert not (found.arcs & ~allowed.arcs).any()
    assert not (allowed.required & ~found.arcs).any()
    assert found.arcs.sum(axis=0).max() <= most
    assert not np.linalg.matrix_power(found.arcs.astype(int), 5).any()
    strong = np.triu((strengths.strength > 0.3) | allowed.required | allowed.required.T, 1)
    assert found.arcs.sum() + len(found.dropped) == strong.sum()


@pytest.mark.parametrize(
    ("options", "match"), [({"threshold": 1.5}, "`threshold` must"), ({"sure": 0.4}, "`sure` must")]
)
def test_bad_thresholds(options, match):
    with pytest.raises(ParameterError, match=match):
        averaged(strengths_of(ab=(1.0, 0.5)), **options)


@pytest.mark.slow
@pytest.mark.parametrize("search", [climbed, greedy])
def test_learning_test_averages_to_the_true_class(shared_data, search):
    samples = shared_data / "samples"
    strengths = arc_strengths(as_table(samples / "bnlearn-learning.test.csv"), search, rounds=200, random_state=1)
    found = averaged(strengths)
    dag = DAG.from_arcs(map(tuple, named(strengths, found.arcs)), strengths.names)
    truth = json.loads((samples / "bnlearn-structures.json").read_text())["learning.test"]["modelstring"]
    assert dag.equivalent(DAG.parse(truth))
    assert not found.dropped
