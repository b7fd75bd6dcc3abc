"""The messy tables that ship are those that the generator writes."""

from __future__ import annotations

import pytest

from bayeslearn import datasets
from tests.messy.generate import TABLES, text


@pytest.mark.parametrize("name", TABLES)
def test_the_shipped_file_is_what_the_generator_writes(name):
    assert datasets.table_path(name).read_text(encoding="utf-8") == text(TABLES[name]())
