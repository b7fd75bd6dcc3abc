"""What every test shares: the depth of the properties, and data that a plain clone does without."""

import os
from functools import cache
from pathlib import Path

import pytest
import typer
import typer.testing
from hypothesis import settings

from tests.properties import PROFILES

EVERYWHERE = settings(deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True)
for profile, examples in PROFILES.items():
    settings.register_profile(profile, EVERYWHERE, max_examples=examples)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "fast")


@pytest.fixture(scope="session", autouse=True)
def commands_are_built_once():
    """Keep the tree of commands: typer builds it for each call, which takes longer than most verbs take to run."""
    build = cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", build)
        patch.setattr(typer.testing, "_get_command", build)
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of reference data beside the repository; tests that need it are skipped where it is not."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the reference data (../shared/data) are not here")
    return folder
