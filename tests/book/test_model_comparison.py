"""SPEC I7: lazy learners keep every example and work when they are asked; eager ones keep a summary."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn import NaiveBayesClassifier, plots
from bayeslearn.model_comparison import compare_models


@pytest.fixture(autouse=True)
def few_queries(monkeypatch):
    monkeypatch.setattr("bayeslearn.model_comparison.compare.MIN_QUERIES", 1)  # enough where nothing is timed


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    x, hue = rng.normal(size=(2, n)), rng.choice(["red", "blue"], n)
    y = x[0] + 0.5 * x[1] + (hue == "red") + 0.2 * rng.normal(size=n)
    return {"a": x[0], "b": x[1], "hue": hue, "y": y, "kind": np.where(y > 0.5, "high", "low")}


#: The learners of the book by name; by default the summary of naive Bayes has as many bins as the rows speak for.
BOOK = {"naive-bayes": NaiveBayesClassifier(distributions="gaussian", calibrate=False)}


@pytest.mark.parametrize(
    ("target", "other", "lazy", "eager"),
    [
        ("kind", "y", ["k-nn"], ["naive-bayes", "logistic", "network"]),
        pytest.param("y", "kind", ["k-nn", "local"], ["least-squares"]),
    ],
)
def test_lazy_against_eager(target, other, lazy, eager):
    small, large = (
        compare_models(
            rows(n), target, learners={name: BOOK.get(name, name) for name in [*lazy, *eager]}, cv=2,
            drop_columns=[other],
        )
        for n in (100, 400)
    )  # fmt: skip
    for found in (small, large):
        assert found.failures == ()
        assert {line.name: line.is_lazy for line in found.results} == {
            **dict.fromkeys(lazy, True), **dict.fromkeys([*eager, "baseline"], False)
        }  # fmt: skip
        for line in found.results:
            assert line.train_seconds > 0
            assert line.query_seconds > 0
            assert np.isfinite([line.error, line.standard_error]).all()
            assert line.name == "baseline" or line.error < found["baseline"].error
    for name in lazy:  # each of 150 more examples is kept: two numbers, a state, and what it says
        assert large[name].kept_bytes - small[name].kept_bytes > 150 * (2 * 8 + 1 + 8)
    for name in eager:  # a few more digits at most
        assert abs(large[name].kept_bytes - small[name].kept_bytes) < 150


def test_the_picture_has_both_times_and_every_name():
    found = compare_models(rows(60), "kind", learners=["k-nn", "naive-bayes"], cv=2, drop_columns=["y"])
    figure = plots.plot_model_comparison(found)
    train, ask = figure.axes
    for axes, clock in ((train, "train_seconds"), (ask, "query_seconds")):
        assert axes.get_xscale() == "log"
        points = {text.get_text(): text.xy for text in axes.texts}
        assert points == {name: (getattr(found[name], clock), found[name].error) for name in ("k-nn", "naive-bayes")}
