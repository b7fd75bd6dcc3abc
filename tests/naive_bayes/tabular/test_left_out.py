"""Columns that a model left out are not read as its own when numbers come."""

from __future__ import annotations

import numpy as np

from bayeslearn import NaiveBayesClassifier
from bayeslearn.naive_bayes.tabular.inputs import Input
from tests.subprocesses import run_python


def test_an_array_is_read_as_it_is_only_where_it_has_the_columns_of_the_model():
    model = NaiveBayesClassifier().fit(np.arange(40.0).reshape(20, 2), np.arange(20) % 2)
    given = Input(("x0", "x1"), {"x0": np.zeros(3), "x1": np.zeros(3)}, np.zeros((3, 2)))
    assert given.rows(model.model_.columns).width == 2
    assert given.rows(model.model_.columns[1:]).width == 1


def test_more_columns_than_a_model_has_do_not_reach_its_kernels():
    code = """
import numpy as np
from bayeslearn import NaiveBayesClassifier
from bayeslearn.errors import ShapeError
model = NaiveBayesClassifier().fit(np.arange(40.0).reshape(20, 2), np.arange(20) % 2).model_
try:
    model.joint_of_block(np.zeros((10_000, 3)), 3)
except ShapeError as error:
    print(error.message)
"""
    assert run_python(code) == "expected 2 columns, got 10000"
