"""How many examples the properties try.

``quick`` is the profile of ``make test-fast``, ``fast`` that of ``make test``, ``deep`` that of ``make test-all``.
"""

from hypothesis import settings

PROFILES = {"quick": 10, "fast": 50, "deep": 500}


def trials(n: int) -> settings:
    """Try n examples in the profile ``fast``, a fifth of them in ``quick``, ten times as many in ``deep``."""
    return settings(max_examples=max(5, n * settings.default.max_examples // PROFILES["fast"]))
