"""Results of hypotheses, concept learning, learning theory, online learning, cases and comparisons show themselves.

Every result is short as `repr`, has a summary, a dictionary that JSON knows, HTML with its numbers, and a frame where
it is a table; names that look like HTML are text in all of them.
"""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest

from bayeslearn import find_s, plots
from bayeslearn.case_based import Case, CaseBase, FunctionGraph, design, retrieve
from bayeslearn.hypotheses import (
    Examples,
    FiniteSpace,
    HypothesisClassifier,
    VersionSpace,
    VersionSpaceClassifier,
    description_lengths,
    optimal_lengths,
)
from bayeslearn.learning_theory import (
    KCNF,
    BooleanConcepts,
    ConceptClass,
    HypothesisCount,
    compare_bayes_gibbs,
    error_intervals,
    exact_mistake_bounds,
    find_s_worst_case,
    halving_mistake_bound,
    pac_bound,
    simulate_exhaustion,
    simulate_pac,
    standard_class,
    vc_bound,
    vc_lower_bound,
)
from bayeslearn.model_comparison import compare_models
from bayeslearn.online import BayesMixture, Halving, WeightedMajority, WeightedMajorityClassifier, run_online

SCRIPT = "<script>alert('x')</script>"


def hypotheses():
    space = FiniteSpace.from_table({
        SCRIPT: {"positive": 0.98, "negative": 0.02}, "no cancer": {"positive": 0.03, "negative": 0.97},
    })  # fmt: skip
    return space.posterior({SCRIPT: 0.008, "no cancer": 0.992}).update("positive")


def examples():
    rows = [{"sky": SCRIPT, "air": "warm"}, {"sky": SCRIPT, "air": "cold"}, {"sky": "rainy", "air": "cold"}]
    return Examples.from_rows(rows, [True, True, False])


def concepts():
    named = {SCRIPT: lambda x: x >= 1} | {f"x ≥ {a}": lambda x, a=a: x >= a for a in (2, 3)}
    return ConceptClass.from_functions(named, range(1, 5))


def bits():
    space = FiniteSpace.from_labelers({SCRIPT: lambda x: x > 3, "all": lambda x: True}, noise=0.1)
    return description_lengths(space, [(1, False), (5, True)], hypothesis_bits={SCRIPT: 5, "all": 1})


def learner():
    advice = np.array([[0, 1, 1], [0, 1, 0], [1, 1, 0]])
    return WeightedMajority([SCRIPT, "bob", "eve"], classes=[0, 1]).partial_fit(advice, np.array([0, 0, 1]))


def mixture():
    coins = {SCRIPT: lambda _: [0.5, 0.5], "loaded": lambda _: [0.1, 0.9]}
    return BayesMixture(coins, classes=["head", "tail"]).partial_fit([None] * 2, ["tail", "tail"])


def base():
    return CaseBase([Case(SCRIPT, "in ->+ out", "a tube"), Case("seesaw", "left ->- right", "a plank")])


@functools.cache
def comparison():
    rows = {"x": list(range(30)), SCRIPT: ["a", "b"] * 15}
    return compare_models(rows, SCRIPT, learners={SCRIPT: "naive-bayes"}, cv=2)


#: Every result, a text that stands in its HTML, and whether it has a frame.
RESULTS = {
    "posterior": (hypotheses, "0.208511", True),
    "description lengths": (bits, "5.304", True),
    "optimal lengths": (lambda: optimal_lengths(hypotheses()), "6.966", True),
    "examples": (examples, "rainy", True),
    "conjunction": (lambda: find_s(examples()), "?", False),
    "version space": (lambda: VersionSpace.fit(examples()), "Consistent", True),
    "vote": (lambda: VersionSpace.fit(examples()).vote({"sky": SCRIPT, "air": "warm"}), "yes, unanimously", False),
    "bound": (lambda: pac_bound("3^10", epsilon=0.1, delta=0.05), "139.8", False),
    "vc bound": (lambda: vc_bound(3, epsilon=0.1, delta=0.05), "1,899", False),
    "lower bound": (lambda: vc_lower_bound(100, epsilon=0.01, delta=0.005), "530", False),
    "halving": (lambda: halving_mistake_bound(973), "9.926", False),
    "count": (lambda: HypothesisCount.conjunctions(10), "59,049", False),
    "intervals": (lambda: error_intervals(12, 40), "0.180849", True),
    "class": (concepts, "VC dimension 1", True),
    "shattered": (lambda: concepts().shattered, "is shattered", True),
    "standard class": (lambda: standard_class("half-spaces", 2), "VC dimension 3", False),
    "mistake bounds": (lambda: exact_mistake_bounds(concepts()), "Opt", False),
    "trial": (lambda: find_s_worst_case({"a": [SCRIPT, "y"]}), "2 mistakes in 2 rounds", True),
    "simulation": (lambda: simulate_pac("find-s", BooleanConcepts(4), n_examples=[5], n_runs=5), "Failed", True),
    "exhaustion": (lambda: simulate_exhaustion(concepts(), SCRIPT, n_examples=[3], n_runs=5), "Measured", True),
    "bayes and gibbs": (lambda: compare_bayes_gibbs(concepts(), n_examples=3, n_runs=5), "Gibbs", True),
    "k-CNF": (lambda: KCNF.fit(examples(), 1), "1-CNF with 1 clauses", True),
    "weighted majority": (learner, "0.666667", True),
    "halving learner": (lambda: Halving([lambda x: x > 1, lambda x: x > 2]).partial_fit([3], [True]), "Rounds", True),
    "bayes mixture": (mixture, "0.235849", True),
    "curve": (lambda: run_online(WeightedMajority(2), np.eye(2, dtype=int), np.array([0, 1])), "Regret", True),
    "function graph": (lambda: FunctionGraph([(SCRIPT.replace(",", ""), "b", 1)]), "1 arc", True),
    "case": (lambda: base()[SCRIPT], "a tube", False),
    "case base": (base, "2 cases", True),
    "retrieval": (lambda: retrieve(base(), "a ->+ b"), "exact", True),
    "match": (lambda: retrieve(base(), "a ->+ b").best, "exact", False),
    "designs": (lambda: design(base(), "a ->+ b; c ->- d"), "2 of 2 influences", True),
    "design": (lambda: design(base(), "a ->+ b; c ->- d").best, "2 of 2 influences", True),
    "comparison": (comparison, "Train time", True),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_shows_itself(name):
    make, number, tabular = RESULTS[name]
    found = make()
    assert "\n" not in repr(found)
    assert len(repr(found)) < 400
    assert number in found.report().text()
    html = found._repr_html_()
    assert number.replace("'", "&#x27;") in html
    assert "<script" not in html
    json.dumps(found.to_dict(), allow_nan=False, default=as_number)
    assert hasattr(found, "to_frame") == tabular
    if tabular:
        assert len(found.to_frame("pandas")) == len(found.to_frame("pyarrow"))


def as_number(value):
    """NumPy scalars as plain numbers; anything else is no JSON."""
    assert isinstance(value, np.generic), value
    return value.item()


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_with_a_picture_draws_it(name):
    found = RESULTS[name][0]()
    if not hasattr(found, "plot") or found.plot.__func__.__doc__ is None:
        pytest.skip("a result without a picture")
    if name == "halving":
        with pytest.raises(ValueError, match="no curve to draw"):
            found.plot()
        return
    figure = found.plot()
    assert any(axes.has_data() or axes.patches or axes.texts for axes in figure.axes)


def test_numbers_of_a_frame_are_those_of_the_result():
    posterior = hypotheses()
    frame = posterior.to_frame()
    assert dict(zip(frame["hypothesis"], frame["posterior"], strict=True)) == posterior.probabilities
    curve = run_online(WeightedMajority(2), np.eye(2, dtype=int), np.array([0, 1]))
    assert curve.to_frame()["mistakes"].tolist() == curve.mistakes.tolist()
    assert comparison().to_frame()["error"].tolist() == [line.error for line in comparison().results]


def test_many_hypotheses_are_counted_and_not_all_shown():
    space = FiniteSpace.from_labelers({f"h{i}": lambda x, i=i: x > i for i in range(50)}, noise=0.1)
    text = space.fit([(30, True)]).summary()
    assert text.count("… 30 more rows") == 2


def test_a_version_space_that_takes_too_long_to_count_is_still_shown():
    rows = [
        {f"a{i}": "x" for i in range(24)},
        *({f"a{i}": "y" if (i + j) % 3 else "x" for i in range(24)} for j in range(3)),
    ]
    space = VersionSpace.fit(Examples.from_rows(rows, [True, False, False, False]))
    assert "Boundary" in space.summary()
    assert space.to_dict()["n_positive"] == 1
    assert space.plot().axes[0].texts


def test_plots_take_estimators():
    vote = VersionSpaceClassifier().fit([["sunny", "warm"], ["rainy", "cold"]], ["yes", "no"])
    assert len(plots.plot_version_space(vote).axes[0].texts) == vote.version_space_.size
    best = HypothesisClassifier([lambda x: x[0] > 0, lambda x: True], classes=[False, True], noise=0.1)
    best.fit([[1], [-1]], [True, False])
    assert plots.plot_posterior(best).axes[0].containers
    from sklearn.naive_bayes import GaussianNB

    weighted = WeightedMajorityClassifier([GaussianNB()], cv=2).fit([[0.0], [1.0], [0.1], [1.1]], [0, 1, 0, 1])
    assert plots.plot_expert_weights(weighted).axes[0].patches


def test_the_members_of_a_version_space_are_drawn_with_its_boundaries():
    weather = {"sky": ["sunny", "rainy"], "air": ["warm", "cold"]}
    space = VersionSpace.from_attributes(weather).update(["sunny", "warm"], True).update(["rainy", "cold"], False)
    texts = [text.get_text() for text in space.plot().axes[0].texts]
    assert sorted(texts) == ["G: ⟨?, warm⟩", "G: ⟨sunny, ?⟩", "S: ⟨sunny, warm⟩"]
