"""Measure ours and the peer's in one run, alternating, best of several; a fast wrong answer fails."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True)
class Work:
    """One line of the report: the same job done twice, and how to tell that the answers agree."""

    name: str
    peer: str
    peer_version: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    agree: Callable[[Any, Any], bool]
    #: The ratio peer time / our time that we want to reach.
    goal: float
    #: How much more work ours did than the peer, which then counts so many times its time.
    scale: float = 1.0
    #: How many times in a row each does its job, where one time is too short for a clock.
    calls: int = 1
    #: The most times to repeat it, where the peer takes half a minute.
    most: int | None = None


def measure(work: Work, repeats: int) -> dict[str, Any]:
    """The best time of each over `repeats` alternating runs, after one to warm up, whose answers are compared."""
    repeats = min(repeats, work.most or repeats)
    same = bool(work.agree(work.ours(), work.theirs()))
    pairs = [(_seconds(work.theirs, work.calls), _seconds(work.ours, work.calls)) for _ in range(repeats)]
    peer_seconds, seconds = (min(column) for column in zip(*pairs, strict=True))
    peer_seconds *= work.scale
    return {
        "work": work.name,
        "peer": work.peer,
        "peer_version": work.peer_version,
        "peer_seconds": round(peer_seconds, 6),
        "seconds": round(seconds, 6),
        "ratio": round(peer_seconds / seconds, 2),
        "goal": work.goal,
        "agree": same,
    }


def measure_ours(work: Work, repeats: int) -> dict[str, Any]:
    """The best time of ours alone, after one run to warm up."""
    work.ours()
    seconds = min(_seconds(work.ours, work.calls) for _ in range(repeats))
    return {"work": work.name, "seconds": round(seconds, 7)}


#: Seconds of rest before each: idle threads of the one before may spin for a while, and would take a core from this.
REST = 0.05


def _seconds(job: Callable[[], Any], calls: int) -> float:
    time.sleep(REST)
    start = time.perf_counter()
    for _ in range(calls):
        job()
    return (time.perf_counter() - start) / calls


def report(works: Iterator[Work], repeats: int, show: Callable[[dict[str, Any]], None]) -> bool:
    """Measure every work, show each line as it comes; whether all answers agreed."""
    agreed = True
    for work in works:
        line = measure(work, repeats)
        show(line)
        agreed &= line["agree"]
    return agreed
