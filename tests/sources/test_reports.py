"""What sources, their profiles and contingency tables show: text, HTML, plain values and frames."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bayeslearn import as_table, contingency_tables, scan

BATCHES = [{"a<b>": ["x", "y", None], "n": [1.5, 2.5, None]}, {"a<b>": ["x", "x", "y"], "n": [0.5, 9.5, 3.25]}]


def test_a_source_shows_its_columns():
    source = scan(BATCHES)
    assert repr(source) == "BatchSource(2 columns)"
    assert "a<b>" in source.summary()
    assert "a&lt;b&gt;" in source._repr_html_()
    assert "a<b>" not in source._repr_html_()
    assert source.summary() == str(source)
    plain = json.loads(json.dumps(source.to_dict()))
    assert "a<b>" in json.dumps(plain["schema"])


def test_profiles_show_what_a_pass_has_found():
    profiles = scan(BATCHES).digest
    assert repr(profiles) == "ColumnProfiles(6 rows, 2 columns)"
    words, numbers = profiles.to_dict()["columns"]
    assert words == {"name": "a<b>", "type": "text", "n_missing": 1, "n_distinct": 2, "min": None, "max": None}
    assert (numbers["min"], numbers["max"], numbers["n_missing"]) == (0.5, 9.5, 1)
    assert profiles.to_frame()["n_missing"].tolist() == [1, 1]
    assert "9.5" in profiles._repr_html_()


def test_a_source_that_was_not_read_shows_its_schema():
    source = scan(lambda: iter(BATCHES), schema=as_table(BATCHES[1]).schema)
    assert source.to_dict()["profiles"] is None
    assert "numeric" in source.summary()


@pytest.mark.parametrize("missing", ["drop", "state"])
def test_contingency_tables_show_their_cells(missing):
    table = as_table({"wind": ["weak", "strong", "weak", None], "play": ["yes", "no", "yes", "no"]})
    [pair], [one] = (contingency_tables(table, [group], missing=missing) for group in (("wind", "play"), ("wind",)))
    assert "wind" in pair.summary()
    assert repr(one).startswith("ContingencyTable(Counts of wind: ")
    frame = pair.to_frame()
    assert list(frame.columns) == ["wind", "play", "count"]
    assert frame["count"].sum() == pair.counts.sum()
    assert len(frame) == pair.counts.size
    assert np.array(pair.to_dict()["counts"]).shape == pair.counts.shape
    assert ("missing  " in one.summary()) == (missing == "state")
    assert "<table>" in pair._repr_html_()
