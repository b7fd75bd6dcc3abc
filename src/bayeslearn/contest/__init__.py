"""Lazy against eager learners on one table: time to train, time to ask, memory and error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.contest.learners import Learner, roster
    from bayeslearn.contest.report import Contest, Failure, Line
    from bayeslearn.contest.running import Step, contest

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "Contest": "report",
    "Failure": "report",
    "Learner": "learners",
    "Line": "report",
    "Step": "running",
    "contest": "running",
    "roster": "learners",
}

__all__ = ["Contest", "Failure", "Learner", "Line", "Step", "contest", "roster"]

__getattr__ = lazy.names_of(__name__, _HOMES)
