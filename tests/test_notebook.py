"""A notebook over the results of the whole library: each cell shows HTML that holds the numbers of its result.

The cells run twice: here, where the HTML of each result is compared with its numbers, and by nbconvert in a kernel of
its own, as in a notebook of a user.
"""

from __future__ import annotations

import ast
import functools
import json
import subprocess
import sys

import pytest

from bayeslearn.reports import cell_text
from bayeslearn.tables import Table
from tests import vocabulary

SETUP = """
import pathlib, tempfile
import numpy as np
import pandas as pd
import bayeslearn as bl
from bayeslearn import case_based, hypotheses, learning_theory, model_comparison, neighbors, online

rng = np.random.default_rng(0)
n = 200
smoke = rng.random(n) < 0.5
lung = rng.random(n) < np.where(smoke, 0.6, 0.1)
x = rng.normal(size=n) + 3 * lung
frame = pd.DataFrame({
    "smoke": np.where(smoke, "yes", "no"), "lung": np.where(lung, "ill", "well"), "x": x, "z": x + rng.normal(size=n),
})
words = frame[["smoke", "lung"]]
path = pathlib.Path(tempfile.mkdtemp()) / "words.csv"
words.to_csv(path, index=False)
steps = np.concatenate([rng.normal(0, 1, 30), rng.normal(5, 1, 30)])
asia = bl.read_network("asia")
mixture = bl.fit_mixture(frame[["x", "z"]], 2, random_state=0)
naive = bl.fit_naive_bayes(frame, "lung")
lines = bl.fit_linear(frame[["x", "z"]], "z")
logistic = bl.fit_logistic(frame[["x", "z", "lung"]], "lung")
local = bl.fit_local(frame[["x", "z"]], "z")
near = bl.fit_neighbors(frame[["x", "z", "lung"]], "lung")
hmm = bl.fit_hmm(steps, n_states=2, random_state=0)
test = hypotheses.FiniteSpace.from_table({
    "cancer": {"positive": 0.98, "negative": 0.02}, "healthy": {"positive": 0.03, "negative": 0.97},
})
posterior = test.posterior({"cancer": 0.008, "healthy": 0.992}).update("positive")
days = hypotheses.Examples.from_rows(
    [["sunny", "warm"], ["sunny", "cold"], ["rainy", "cold"]], [True, True, False]
)
thresholds = learning_theory.ConceptClass.from_functions(
    {f"x >= {a}": lambda x, a=a: x >= a for a in range(1, 5)}, range(1, 5)
)
documents = ["ball goal", "goal team ball", "soup salt", "salt pan soup"]
texts = bl.fit_text(documents, ["sport", "sport", "food", "food"])
boolean = learning_theory.BooleanConcepts(4)
pipes = case_based.CaseBase([
    case_based.Case("pipe", "in ->+ out", "tube"), case_based.Case("seesaw", "a ->- b", "plank"),
])
vote = online.WeightedMajority(["ann", "bob"], classes=[0, 1]).partial_fit(np.eye(2, dtype=int), np.array([0, 0]))
"""

#: The result of each cell, and expressions of numbers that stand in its HTML.
CELLS = {
    # data
    "bl.as_table(frame)": ["n"],
    "bl.contingency_tables(bl.as_table(words), [('smoke', 'lung')])[0]": ["int(it.counts.max())"],
    "bl.scan(path)": ["n"],
    # networks
    "asia": ["len(it.dag)"],
    "asia.dag": ["'lung'"],
    "asia['lung']": ["it.probabilities[0][0]"],
    "asia.dag.cpdag()": ["'dysp'"],
    "asia.query({'smoke': 'yes'}, variables='lung')": ["it['lung']['yes']"],
    "asia.query({'smoke': 'yes'}, variables=['lung', 'bronc'])": ["it['bronc']['yes']"],
    "asia.explain({'dysp': 'yes', 'xray': 'yes'}, 'lung')": ["'xray'"],
    "asia.sensitivity({'dysp': 'yes'}, 'lung', 'yes')": ["'lung'"],
    "asia.most_probable({'dysp': 'yes'})": ["'bronc'"],
    "asia.predict_proba(pd.DataFrame({'smoke': ['yes', 'no']}), variables='lung')": ["'lung'"],
    "bl.compare_networks(asia, asia)": ["len(asia.dag.arcs)"],
    "bl.fit_network(words)": ["n"],
    "bl.fit_network(words).fit_info": ["n"],
    "bl.fit_parameters('[smoke][lung|smoke]', words).fit_info": ["n"],
    # texts
    "texts": ["'sport'"],
    "texts.fit_info": ["len(documents)"],
    # naive Bayes
    "naive": ["n"],
    "naive.fit_info": ["n"],
    "naive.explain(frame.head(1))": ["'smoke'"],
    # mixtures
    "mixture": ["len(it.weights)"],
    "mixture.fit_info": ["n"],
    "bl.cross_validate(mixture, frame[['x', 'z']], cv=2)": ["it.mean_log_likelihood"],
    "vote.explain([0, 1])": ["it.votes[0][2]"],
    "mixture.fit_info.selection": ["it.n_components"],
    "mixture.explain({'x': 0.0, 'z': 0.0})": ["it.log_odds"],
    # hidden Markov models
    "hmm": ["it.expected_durations()[0]"],
    "hmm.fit_info": ["it.n_iter"],
    "hmm.decode(steps)": ["len(steps)"],
    # regression and neighbors
    "lines": ["'x'"],
    "lines.fit_info": ["n"],
    "logistic": ["'x'"],
    "logistic.fit_info": ["n"],
    "local": ["n"],
    "near": ["n"],
    "near.fit_info": ["n"],
    "near.explain(frame[['x', 'z']].head(1))[0]": ["it.contributions[0].distance"],
    "neighbors.leave_one_out(near)": ["float(it.errors[0])", "it.error"],
    # hypotheses and concepts
    "posterior": ["it['cancer']", "it.log_marginal_likelihood"],
    "hypotheses.optimal_lengths(posterior)": ["round(float(it.total[0]), 3)"],
    "days": ["len(it)"],
    "bl.find_s(days)": ["'sunny'"],
    "bl.VersionSpace.fit(days)": ["it.size", "it.attributes.n_conjunctions"],
    "bl.VersionSpace.fit(days).vote(['rainy', 'warm'])": ["it.total"],
    "bl.VersionSpace.fit(days).explain(['rainy', 'warm'])": ["it.vote.total"],
    # learning theory
    "learning_theory.pac_bound('3^10', epsilon=0.1, delta=0.05)": ["int(it)"],
    "learning_theory.HypothesisCount.conjunctions(10)": ["it.log2"],
    "learning_theory.error_intervals(12, 40)": ["it.exact[0]", "it.bayes[1]", "it.hoeffding[0]"],
    "thresholds": ["it.size.log2"],
    "thresholds.shattered": ["'x >= 1'"],
    "learning_theory.standard_class('half-spaces', 2)": ["int(it.dimension)"],
    "learning_theory.exact_mistake_bounds(thresholds)": ["it.optimal"],
    "learning_theory.MistakeGame(thresholds).worst_case()": ["it.mistakes"],
    "learning_theory.simulate_pac('find-s', boolean, n_examples=[9], n_runs=9, random_state=0)": [
        "float(it.errors[0])"
    ],
    "learning_theory.simulate_exhaustion(thresholds, 'x >= 1', n_examples=[3], n_runs=9, random_state=0)": [
        "float(it.measured[0])"
    ],
    "learning_theory.compare_bayes_gibbs(thresholds, n_examples=3, n_runs=9, random_state=0)": ["it.expected['Gibbs']"],
    "learning_theory.KCNF.fit(days, 1)": ["it.n_positive"],
    # online learning
    "vote": ["it.weights['bob']", "it.mistakes"],
    "online.Halving([lambda x: x > 1, lambda x: x > 2]).partial_fit([3], [True])": ["it.bound"],
    "online.BayesMixture({'fair': lambda _: [0.5, 0.5], 'loaded': lambda _: [0.1, 0.9]}, classes='ht')"
    ".partial_fit([None], ['t'])": ["it.weights['loaded']"],
    "online.run_online(online.WeightedMajority(2), np.eye(2, dtype=int), np.array([0, 1]))": ["it.bounds[-1]"],
    # cases
    "pipes": ["len(it)"],
    "pipes['pipe']": ["'tube'"],
    "pipes['pipe'].function": ["'out'"],
    "case_based.retrieve(pipes, 'a ->+ b')": ["it.best.similarity"],
    "case_based.retrieve(pipes, 'a ->+ b').best": ["it.score"],
    "case_based.design(pipes, 'a ->+ b; c ->- d')": ["len(it.best.uses)"],
    "case_based.design(pipes, 'a ->+ b; c ->- d').best": ["'2 of 2 influences'"],
    # comparisons and evaluations
    "model_comparison.compare_models(frame, 'lung', learners=['naive-bayes'], cv=2)": ["float(f'{it.best.error:.4g}')"],
}

PACKAGES = ("hypotheses", "online", "learning_theory", "case_based", "model_comparison")


@functools.cache
def results():
    """The result of each cell with its numbers, as they stand in HTML."""
    names = {}
    exec(SETUP, names)
    found = {}
    for code, numbers in CELLS.items():
        names["it"] = eval(code, names)
        found[code] = names["it"], [cell_text(eval(number, names)) for number in numbers]
    return found


@pytest.mark.parametrize("code", CELLS)
def test_every_result_has_html_with_its_numbers(code):
    result, numbers = results()[code]
    assert "\n" not in repr(result) or isinstance(result, Table), "a repr is one line"
    html = result._repr_html_()
    for number in numbers:
        assert escaped(number) in html


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def test_cells_are_expressions():
    assert all(isinstance(ast.parse(code).body[0], ast.Expr) for code in CELLS)


def test_every_result_of_the_textbook_topics_is_shown():
    shown = {type(result) for result, _ in results().values()}
    classes = {value for values in vocabulary.public_objects().values() for value in values if isinstance(value, type)}
    own = {c for c in classes if hasattr(c, "report") and c.__module__.split(".")[1] in PACKAGES}
    assert sorted(c.__name__ for c in own - shown if not any(issubclass(s, c) for s in shown)) == []


NBCONVERT = """
import json, sys
import nbformat
from nbconvert.preprocessors import ExecutePreprocessor
cells = [nbformat.v4.new_code_cell(code) for code in json.load(sys.stdin)]
notebook = nbformat.v4.new_notebook(cells=cells)
ExecutePreprocessor(timeout=300, kernel_name="python3").preprocess(notebook, {"metadata": {"path": "."}})
print(json.dumps([[o["data"].get("text/html", "") for o in c["outputs"] if "data" in o] for c in notebook["cells"]]))
"""


@pytest.mark.thorough
def test_a_kernel_of_notebooks_shows_the_same(tmp_path):
    for name in ("nbformat", "nbclient", "nbconvert", "ipykernel"):
        pytest.importorskip(name)
    given = json.dumps([SETUP, *CELLS])
    command = [sys.executable, "-c", NBCONVERT]
    done = subprocess.run(command, input=given, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    outputs = json.loads(done.stdout)[1:]
    for (code, (_, numbers)), shown in zip(results().items(), outputs, strict=True):
        assert len(shown) == 1, code
        assert all(escaped(number) in shown[0] for number in numbers), code
