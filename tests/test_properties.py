"""The profiles try the examples that they promise, with and without a number of their own."""

import pytest
from hypothesis import settings

from tests.properties import PROFILES, trials


@pytest.mark.parametrize(("profile", "examples"), [("quick", 5), ("fast", 25), ("deep", 250)])
def test_numbers_of_examples_follow_the_profile(profile, examples, monkeypatch):
    monkeypatch.setattr(type(settings), "default", settings.get_profile(profile))
    assert settings.default.max_examples == PROFILES[profile]
    assert trials(25).max_examples == examples


def test_there_are_always_some():
    assert trials(1).max_examples == 5
