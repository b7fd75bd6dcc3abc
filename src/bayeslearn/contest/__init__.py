"""Lazy against eager learners on one table: time to train, time to ask, memory and error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.contest.learners import Learner as Learner
    from bayeslearn.contest.learners import roster as roster
    from bayeslearn.contest.report import Contest as Contest
    from bayeslearn.contest.report import Failure as Failure
    from bayeslearn.contest.report import Line as Line
    from bayeslearn.contest.running import Step as Step
    from bayeslearn.contest.running import contest as contest
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
