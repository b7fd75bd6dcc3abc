"""Learners as files; see :mod:`bayeslearn.model_files`. Experts are kept by name, and are given again when asked.

{"kind": ..., "experts": [...], "labels": [...], "open": ..., "beta": ..., "randomised": ..., "prior": [...],
 "statistics": {"wrong", "spoke", "rounds"}, "record": {...}}
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayeslearn import model_files
from bayeslearn.errors import MismatchError, ParameterError, listed
from bayeslearn.online.labels import Labels
from bayeslearn.online.panels import Stream, panel_of
from bayeslearn.online.statistics import Mistakes, Record

if TYPE_CHECKING:
    import os

    from bayeslearn.model_files import Reader
    from bayeslearn.online.learners import _Learner

L = TypeVar("L", bound="_Learner")

LABEL = "bayeslearn online learner"


def write(learner: _Learner, path: str | os.PathLike[str]) -> None:
    """Write a learner to a .json or .json.gz file, all or nothing."""
    odd = [name for name in (*learner.experts, *learner.labels) if not isinstance(name, str | int | float | bool)]
    if odd:
        raise ParameterError(f"names in a file are words and numbers, not {odd[0]!r:.60}")
    model_files.write(path, LABEL, {
        "kind": type(learner).__name__,
        "experts": list(learner.experts),
        "labels": list(learner.labels),
        "open": learner.open,
        "beta": learner.beta,
        "randomised": bool(getattr(learner, "randomised", False)),
        "prior": learner.prior.mean().tolist(),
        "statistics": model_files.plain(learner.statistics),
        "record": asdict(learner.record),
    })  # fmt: skip


def read(path: str | os.PathLike[str], kind: type[L], experts: Any = None) -> L:
    """The learner of a file, checked in full."""
    learner = model_files.read(path, LABEL, lambda reader, document: learner_of(reader, document, kind))
    if experts is None:
        return learner
    panel = panel_of(experts)
    if panel.names != learner.experts:
        raise MismatchError(f"the file has the experts {listed(learner.experts)}, given are {listed(panel.names)}")
    learner.panel = panel
    return learner


def learner_of(reader: Reader, document: dict[str, Any], kind: type[L]) -> L:
    """The whole document."""
    number = (int, float)
    keys: dict[str, Any] = {
        "kind": str, "experts": list, "labels": list, "open": bool, "beta": number, "randomised": bool, "prior": list,
        "statistics": dict, "record": dict,
    }  # fmt: skip
    told, names, labels, is_open, beta, draws, prior, counts, record = reader.entries(document, keys, "a learner")
    if told != kind.__name__:
        reader.wrong(f"it is a {told!r:.40}, not a {kind.__name__}")
    for name in (*names, *labels):
        if not isinstance(name, str | int | float):
            reader.wrong(f"a name is {name!r:.40}")
    if not names or len(set(names)) < len(names):
        reader.wrong("its experts have no names, or the same")
    options = {"beta": beta, "randomised": draws} if hasattr(kind, "randomised") else {}
    learner = kind(len(names), labels=labels or None, prior=reader.numbers(prior, "prior"), **options)
    learner.panel = Stream(tuple(names))
    learner._labels = opened(labels) if is_open else learner._labels  # noqa: SLF001 - its own file
    learner.statistics = statistics_of(reader, counts, len(names))
    learner.record = record_of(reader, record, learner.rounds)
    return learner


def opened(names: list[Any]) -> Labels:
    """Labels to which others may come."""
    labels = Labels(names) if names else Labels()
    labels.open = True
    return labels


def statistics_of(reader: Reader, counts: Any, n: int) -> Mistakes:
    """Whole numbers of rounds, none more than there were."""
    values = reader.entries(counts, {"wrong": list, "spoke": list, "rounds": (int, float)}, "statistics")
    arrays = [reader.numbers(v, name) for v, name in zip(values, ("wrong", "spoke", "rounds"), strict=True)]
    wrong, spoke, rounds = arrays
    if wrong.shape != (n,) or spoke.shape != (n,) or any((a != np.floor(a)).any() for a in arrays):
        reader.wrong(f"expected whole numbers of mistakes for {n} experts")
    if (wrong < 0).any() or (wrong > spoke).any() or (spoke > rounds).any() or rounds > 2**53:
        reader.wrong("an expert was wrong more often than it spoke, or spoke more often than there were rounds")
    return Mistakes(wrong, spoke, rounds)


def record_of(reader: Reader, entry: Any, rounds: int) -> Record:
    """What the learner did itself."""
    number = (int, float)
    keys: dict[str, Any] = {
        "mistakes": int, "expected": number, "starts": int, "spoken_if_wrong": number, "spoken": number
    }  # fmt: skip
    mistakes, expected, starts, if_wrong, spoken = values = reader.entries(entry, keys, "a record")
    shares = all(0 <= share <= 1 for share in (if_wrong, spoken))
    if not (all(map(math.isfinite, values)) and 0 <= mistakes <= rounds and expected >= 0 and starts >= 1 and shares):
        reader.wrong(f"{entry!r:.80} is no record of {rounds} rounds")
    return Record(mistakes, float(expected), starts, float(if_wrong), float(spoken))
