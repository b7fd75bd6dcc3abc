"""Codes of labels, whatever whole numbers they are."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn.tables.markers import distinct_labels, label_codes

TYPES = [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("end", ["min", "max"])
def test_labels_at_the_ends_of_their_type(kind, end):
    edge = getattr(np.iinfo(kind), end)
    inward = 1 if end == "min" else -1
    y = np.array([edge, edge + 2 * inward, edge + 90 * inward, edge], kind)
    classes = distinct_labels(y)
    assert classes.dtype == kind
    assert classes.tolist() == sorted(set(y.tolist()))
    assert classes[label_codes(y, classes)].tolist() == y.tolist()
