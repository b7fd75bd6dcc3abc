"""Models that no verb writes: a file of every other kind, and what it answers, from the day on which it was stored.

    python -m tests.golden.stored NAME ...      store models, or those of these names, and their answers

A stored file is never written anew: what was saved once opens for ever. A new layout is a new file beside the old one.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import numpy as np

from bayeslearn import AODEClassifier, containers, load, scan
from bayeslearn.case_based import CaseBase, retrieve
from bayeslearn.hmm import fit_hmm
from bayeslearn.hypotheses import FiniteSpace, VersionSpace
from bayeslearn.learning_theory.k_cnf import KCNF
from bayeslearn.mixture import fit_mixture
from bayeslearn.naive_bayes import fit_naive_bayes
from bayeslearn.neighbors import NeighborsModel
from bayeslearn.network import AveragedNetworks, fit_parameters, fit_parameters_online, sample_structure_posterior
from bayeslearn.online import BayesMixture, Halving, WeightedMajority
from bayeslearn.regression import fit_rbf_classifier
from bayeslearn.sources import encode_to_disk
from tests.fuzz.models import COIN, COLORED, COLORED_STATES, EXAMPLES, GRAPHS, INPUTS, LABELS, ODDS, STATES, X
from tests.golden.jobs import MODELS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STORED = MODELS.parent / "stored"

#: Numbers above 0 with the classes of their rows.
AMOUNTS = {
    "amount": [0.1, 0.4, 0.2, 7.5, 9.0, 6.5, 0.3, 8.0, 0.2, 7.0],
    "count": [3.0, 0.0, 1.0, 14.0, 30.0, 9.0, 2.0, 22.0, 1.0, 17.0],
    "who": ["a", "a", "a", "b", "b", "b", "a", "b", "a", "b"],
}
FAMILIES = {"amount": "gamma", "count": "negative_binomial"}
VOTES = [["yes", "no", "yes"], ["no", "no", "yes"], ["yes", "yes", "no"]]
ROW = ["sunny", "warm"]


class Kind(NamedTuple):
    """How a model is made, and what is asked of the one that was stored."""

    make: Callable[[], Any]
    ask: Callable[[Any], Any]


def columns(*names: str) -> dict[str, list[Any]]:
    """Some columns of the amounts."""
    return {name: AMOUNTS[name] for name in names}


def classified(model: Any) -> list[Any]:
    """What a classifier answers about points with a color."""
    return [model.predict_proba(INPUTS), model.predict(INPUTS)]


def voted(learner: Any) -> list[Any]:
    """What an online learner answers, and again after one more round."""
    found = [learner.predict(VOTES), learner.weights]
    return [*found, learner.partial_fit(VOTES[:1], ["yes"]).weights]


def chained(x: Any) -> Callable[[Any], list[Any]]:
    """What a hidden Markov model answers about observations."""
    return lambda model: [model.log_likelihood(x), model.posterior(x).probabilities, model.decode(x).states]


class Rows(NamedTuple):
    """Rows that are saved as an encoded folder."""

    columns: dict[str, list[Any]]

    def save(self, folder: Path) -> None:
        """Encode them."""
        encode_to_disk(scan([self.columns], sample_weight="weight"), folder)


STORED_KINDS = {
    "one-dependence.json": Kind(  # of version 1, without an exponent
        lambda: AODEClassifier(calibrate=False).fit(STATES, LABELS).model_, lambda model: model.predict_proba(STATES)
    ),
    "one-dependence-calibrated.json": Kind(
        lambda: AODEClassifier().fit(STATES, LABELS).model_, lambda model: model.predict_proba(STATES)
    ),
    "halving.json": Kind(lambda: Halving(3, classes=["yes", "no"]).partial_fit(VOTES, ["yes", "yes", "no"]), voted),
    "weighted-majority.json": Kind(
        lambda: WeightedMajority(3, classes=["yes", "no"]).partial_fit(VOTES, ["yes", "no", "no"]), voted
    ),
    "cases.json": Kind(
        lambda: CaseBase.load("plumbing"),
        lambda base: [found.case.name for found in retrieve(base, "Q1 ->+ Q3", time_limit=60).matches],
    ),
    "hypotheses.json": Kind(
        lambda: COIN.posterior([0.3, 0.7, 0.0]).update_many(["head", "tail", "head"]),
        lambda found: [found.probabilities, found.update("head").probabilities, found.log_marginal_likelihood],
    ),
    "hypotheses-named.json": Kind(
        lambda: FiniteSpace.from_functions({"a": lambda x: x, "b": lambda x: 1 - x}).posterior().update(0.25),
        lambda found: found.probabilities,
    ),
    "version-space.json": Kind(
        lambda: VersionSpace.fit(EXAMPLES),
        lambda space: [space.size, space.vote(ROW).yes, space.update(["rainy", "warm"], False).size],
    ),
    "k-cnf.json": Kind(lambda: KCNF.fit(EXAMPLES, 2), lambda h: h.covers([ROW, ["rainy", "cold"]])),
    "radial-classes.json": Kind(lambda: fit_rbf_classifier(INPUTS, LABELS, 3, random_state=0), classified),
    "naive-gamma.json": Kind(
        lambda: fit_naive_bayes(AMOUNTS, "who", distributions=FAMILIES, estimate="integrated", calibrate=False),
        lambda model: [model.predict_proba(AMOUNTS), model.update(AMOUNTS).predict_proba(AMOUNTS)],
    ),
    "mixture-gamma.json": Kind(
        lambda: fit_mixture(columns("amount", "count"), 2, distributions=FAMILIES, random_state=0),
        lambda model: [model.predict_proba(AMOUNTS), model.weights],
    ),
    "expert-mixture.json": Kind(
        lambda: BayesMixture(["a", "b"], classes=["yes", "no"], prior=[1, 3]).partial_fit(ODDS, ["yes", "no"]),
        lambda mixture: [mixture.weights, mixture.log_loss, mixture.predict_proba(ODDS)],
    ),
    "network-average.json": Kind(
        lambda: AveragedNetworks([fit_parameters(dag, COLORED) for dag in GRAPHS], [0.75, 0.25]),
        lambda average: [average.query({"c": "red"}).beliefs, average.log_likelihood(COLORED)],
    ),
    "structure-posterior.json": Kind(
        lambda: replace(sample_structure_posterior(COLORED, n_samples=20), seconds=0.0),
        lambda found: [found.ranked_arcs(), found.r_hat, found.model_average(COLORED).log_likelihood(COLORED)],
    ),
    "online-em.json": Kind(
        lambda: fit_parameters_online("[h][c|h][y|c]", [COLORED, COLORED], states=COLORED_STATES, hidden={"h": 2}),
        lambda learner: [
            learner.network.log_likelihood(COLORED), learner.update(COLORED).network.log_likelihood(COLORED)
        ],
    ),
    "network.model": Kind(
        lambda: fit_parameters("[c][y|c]", COLORED).update(COLORED),
        lambda net: [net.query({"c": "red"}).beliefs, net.update(COLORED).log_likelihood(COLORED)],
    ),
    **{
        f"hmm-{name.replace('_', '-')}.json": Kind(
            lambda x=x, name=name: fit_hmm(x, 2, emissions=name, n_init=1).update(x), chained(x)
        )
        for name, x in {
            "gamma": AMOUNTS["amount"],
            "exponential": AMOUNTS["amount"],
            "negative_binomial": AMOUNTS["count"],
            "student_t": [*X[:, 0].tolist(), 50.0],
            "von_mises": [0.1, 0.2, 3.0, 3.1, -3.1, 0.0, 0.3, 2.9],
        }.items()
    },
    "neighbors.model": Kind(lambda: NeighborsModel.from_arrays(INPUTS, LABELS), classified),
    "hmm-full.model": Kind(lambda: fit_hmm(X, 2, emissions="gaussian", covariance_type="full", n_init=1), chained(X)),
    "mixture-table.model": Kind(
        lambda: fit_mixture(INPUTS, 2, random_state=0), lambda model: model.predict_proba(INPUTS)
    ),
    "naive.model": Kind(
        lambda: fit_naive_bayes({**INPUTS, "y": LABELS}, "y", distributions="gaussian", calibrate=False), classified
    ),
    "encoded": Kind(
        lambda: Rows({**INPUTS, "w": [None, "p", "q"] * 8, "weight": [1.0, 2.0] * 12}),
        lambda source: [
            source.schema.names, source.totals.rows, source.totals.weight,
            fit_naive_bayes(source, "c", distributions="gaussian", calibrate=False).predict_proba(
                {**INPUTS, "w": ["p", "q", None] * 8}
            ),
        ],
    ),
}  # fmt: skip


def answers(name: str) -> Any:
    """What a stored model answers, as JSON has it."""
    return plain(STORED_KINDS[name].ask(opened(STORED / name)))


def opened(path: Path) -> Any:
    """A stored model; a folder holds rows."""
    return scan(path) if path.is_dir() else load(path)


def plain(value: Any) -> Any:
    """Arrays and tuples as lists."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return [plain(entry) for entry in value] if isinstance(value, list | tuple) else value


def store(name: str) -> None:
    """Save a model under its name, and what it answers beside it; arrays of packed files stand behind the document."""
    made = STORED_KINDS[name].make()
    with patch.object(containers, "MAX_INLINE", 2):
        made.save(STORED / name)
    text = json.dumps(answers(name), indent=1, ensure_ascii=False)
    (STORED / f"{name}.answers").write_text(text + "\n", encoding="utf-8")


def main(names: list[str]) -> None:
    """Store what is not there yet."""
    STORED.mkdir(exist_ok=True)
    for name in names or STORED_KINDS:
        if (STORED / name).exists():
            sys.exit(f"{name} is stored, and stays as it is")
        store(name)


if __name__ == "__main__":
    main(sys.argv[1:])
