"""Arguments that index memory are checked without overflow, and what is kept of a caller's arrays is one's own."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn import validation
from bayeslearn.errors import ParameterError, ShapeError

### whole numbers


def test_a_whole_number_fits_64_bits_and_keeps_every_digit():
    assert validation.integer("k", 2**63 - 1) == 2**63 - 1
    assert validation.integer("k", np.int64(2**53 + 1)) == 2**53 + 1
    for value, match in (
        (10**20, "`k` must be at most 9223372036854775807, got 100000000000000000000"),
        (-(10**20), "`k` must be at least"),
        (10**5_000, "got a number of 5001 digits"),
        (True, "whole number"),
        (1.0, "whole number"),
    ):
        with pytest.raises(ParameterError, match=match):
            validation.integer("k", value)


def test_a_number_that_no_float_holds():
    with pytest.raises(ParameterError, match="`h` must be at most"):
        validation.number("h", 10**400)


@pytest.mark.parametrize("text", ["²", "٣", "", " ", "-1", "1.0", "1_000", "9" * 19, "1" * 9_999, "½", "1e3", "0x1"])
def test_what_is_no_whole_number(text):
    assert validation.whole_number(text) is None


def test_a_whole_number_in_ascii_digits():
    assert [validation.whole_number(text) for text in ("0", "007", " 12 ", str(2**63 - 1))] == [0, 7, 12, 2**63 - 1]


### lengths, offsets, indices


def test_lengths_that_wrap_do_not_add_up():
    assert validation.lengths("lengths", np.array([2, 0, 3], np.uint8), 5).tolist() == [2, 0, 3]
    for value in (
        [2**62] * 4 + [5],
        [2**63 - 1, 2**63 - 1, 7],
        np.array([2**64 - 1, 6], np.uint64),
        np.array([2**32 + 5], np.uint64),
        [-(2**62), 2**62, 5],
        [4],
        [],
        [5.0],
        [[5]],
        ["5"],
        [10**30],
    ):
        with pytest.raises(ParameterError, match="`lengths`"):
            validation.lengths("lengths", value, 5)
    assert validation.lengths("lengths", [], 0).tolist() == []


def test_offsets_rise_from_nothing_to_the_end():
    assert validation.offsets("indptr", [0, 2, 2, 5], 5).tolist() == [0, 2, 2, 5]
    for value in ([], [0, 3], [1, 5], [0, 6, 5], [0, -1, 5], [0, 2**63 - 1, -(2**63), 5], [0.0, 5.0]):
        with pytest.raises(ParameterError, match="`indptr`"):
            validation.offsets("indptr", value, 5)


def test_indices_lie_within():
    assert validation.indices("codes", [-1, 0, 4], 5, min_value=-1).tolist() == [-1, 0, 4]
    for value in ([5], [-2], [2**40], np.array([2**64 - 1], np.uint64), [0.0], [None]):
        with pytest.raises(ParameterError, match="`codes`"):
            validation.indices("codes", value, 5, min_value=-1)


### arrays that are kept


def test_what_somebody_can_write_to_is_copied():
    mine = np.arange(6)
    view = mine[::2]
    view.flags.writeable = False  # its base is not
    for given in (mine, mine[1:], view, np.frombuffer(bytearray(8)), mine.reshape(2, 3).T):
        kept = validation.owned(given)
        assert not np.shares_memory(kept, given)
        assert not kept.flags.writeable
        assert kept.flags.c_contiguous
        assert validation.owned(kept) is kept


def test_what_nobody_can_write_to_is_kept():
    bytes_of = np.frombuffer(bytes(8))
    made = validation.lock(np.arange(6))
    assert validation.owned(bytes_of) is bytes_of
    assert validation.owned(made) is made
    assert validation.owned(made[2:]).base is made
    assert validation.owned(made, np.int8).dtype == np.int8


def test_a_transposed_table_keeps_its_layout_where_that_is_asked_for():
    table = np.zeros((3, 4)).T
    assert validation.owned(table, order="K").flags.f_contiguous
    assert validation.owned(table).flags.c_contiguous


def test_errors_are_those_of_shapes():
    with pytest.raises(ShapeError, match=r"add up to 1\.84467e"):
        validation.lengths("lengths", [2**62] * 4, 5)


@pytest.mark.parametrize("value", ["von_mises", "von-mises", "Von-Mises"])
def test_options_match_in_any_case_and_with_hyphens(value):
    assert validation.choice("name", value, ["gamma", "von_mises"]) == "von_mises"


def test_an_option_is_returned_as_it_is_listed():
    assert validation.choice("learner", "find_s", ["find-s", "k-cnf"]) == "find-s"
    assert validation.choice("compact", None, (None, True)) is None
    with pytest.raises(ParameterError, match="unexpected value for `name`: 'von'"):
        validation.choice("name", "von", ["gamma", "von_mises"])
