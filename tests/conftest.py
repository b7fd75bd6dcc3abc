"""What every test shares: the depth of the properties, and data that a plain clone does without."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("deep", deadline=None, max_examples=1500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of reference data beside the repository; tests that need it are skipped where it is not."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the reference data (../shared/data) are not here")
    return folder
