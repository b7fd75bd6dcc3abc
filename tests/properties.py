"""How many examples the properties try.

``fast`` is the profile of ``make test``, ``deep`` that of ``make test-all``: each property tries ten times as many.
"""

from hypothesis import settings

FAST, DEEP = 50, 500


def trials(n: int) -> settings:
    """Try n examples in the profile ``fast``, and ten times as many in the profile ``deep``."""
    return settings(max_examples=n * settings.default.max_examples // FAST)
