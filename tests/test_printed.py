"""The comparison of printed text can fail: for another number, another word, another count of numbers."""

from __future__ import annotations

import pytest

from tests.printed import as_expected, long_numbers

EXPECTED = "rent,low\n808.014884,776.079283\nat most 3 rows of x1.5"


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        (EXPECTED, EXPECTED),
        ("667.114986767824 m", "667.114986767823 m"),  # the last of fifteen digits
        ("667.114986 m", "667.114987 m"),  # one in the ninth digit
        ("0.100000000", "0.1000000001"),
        ("-1.5e-07 and 2.", "-1.50e-07 and 2.0"),
        ("0.25", ".25"),
    ],
)
def test_equal_numbers_and_words_agree(expected, printed):
    assert as_expected(expected, printed) == expected


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        ("667.114986 m", "667.114988 m"),  # two in the ninth digit
        ("667.114986767824 m", "667.114987767824 m"),  # 1.5e-9 of its size
        ("0.1234", "0.1235"),  # few digits are compared exactly
        ("1.5e-07", "1.5e-08"),
        ("2.5", "-2.5"),
        ("0.0", "1.0e-12"),
        ("3 rows", "4 rows"),  # whole numbers are words
        ("0.5 rows", "0.5 row"),
        ("x1.5", "x1.6"),
        ("0.5 0.5", "0.5"),
        ("0.5", "0.5 0.5"),
        ("0.5", "nan"),
        ("1,2.5", "1;2.5"),
        ("0.5  1.5", "0.5 1.5"),  # the layout counts
    ],
)
def test_other_numbers_words_and_counts_do_not(expected, printed):
    assert as_expected(expected, printed) != expected


def test_long_numbers_are_found():
    text = "0.123456789 1234567890 0.1234567891 -12345678.01 0.0000123456789 1.234567891e-5 9_ab1.2345678901"
    assert long_numbers(text) == ["0.1234567891", "-12345678.01", "1.234567891e-5"]
