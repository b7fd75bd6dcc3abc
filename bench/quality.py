"""Accuracy and log loss of classifiers that nobody tuned, on the same folds of many tables.

    accuracy    the share of held-out rows whose most probable class is right
    log loss    the mean of −ln P(class of a held-out row), P at least 1e-15
    seconds     CPU time to fit and to predict, all folds

Five stratified folds. A learner that raises in a fold predicts the class shares of the training rows there, and the
line has its error. `--tables DIR` takes the CSV files of a folder instead, whose column `target` is predicted;
`--learners` takes names, and the words ours, peers, all (both) and slow (ours that take minutes on wide tables).
"""

from __future__ import annotations

import json
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.quality_data import problems
from bench.quality_learners import ours, peers, slow

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from bench.quality_data import Problem

N_FOLDS = 5
FLOOR = 1e-15
ROW = "{work:32} {learner:>22} {accuracy:>9.4f} {log_loss:>9.4f} {seconds:>8.1f} s {error}"
#: Means are compared with this learner, if it takes part.
RIVAL = "HistGradientBoosting"


def add_options(parser: argparse.ArgumentParser) -> None:
    from pathlib import Path

    parser.add_argument("--tables", type=Path, metavar="DIR", help="quality: CSV files with a column target")
    parser.add_argument("--learners", default="all", metavar="A,B", help="quality: names, ours, peers, all")
    parser.add_argument("--max-rows", type=int, metavar="N", help="quality: a sample of larger tables")


def run(asked: argparse.Namespace) -> int:
    learners = chosen(asked.learners)
    lines: list[dict[str, Any]] = []
    for problem in problems(quick=asked.quick, only=asked.only, folder=asked.tables, max_rows=asked.max_rows):
        for line in judged(problem, learners):
            lines.append(line)
            print(json.dumps(line) if asked.json else ROW.format(**line), flush=True)
    for line in means(lines):
        print(json.dumps(line) if asked.json else mean_row(line), flush=True)
    return 0 if lines and not any(line["error"] for line in lines) else 1


def chosen(names: str) -> dict[str, Callable[[], Any]]:
    groups = {"all": {**ours(), **peers()}, "ours": ours(), "peers": peers(), "slow": slow()}
    known = {**groups["all"], **groups["slow"]}
    found: dict[str, Callable[[], Any]] = {}
    for name in names.split(","):
        if name not in groups and name not in known:
            raise SystemExit(f"no learner {name!r}; there are {', '.join([*groups, *known])}")
        found |= groups.get(name) or {name: known[name]}
    return found


### one table


def judged(problem: Problem, learners: dict[str, Callable[[], Any]]) -> Iterator[dict[str, Any]]:
    """A line for each learner."""
    from sklearn.model_selection import StratifiedKFold

    classes, codes = np.unique(problem.y, return_inverse=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes of fewer rows than folds
        splits = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(problem.X, codes))
    for name, make in learners.items():
        proba, error, start = np.empty((len(codes), len(classes))), "", time.process_time()
        for seen, new in splits:
            proba[new], wrong = answers(make, problem, seen, new, classes)
            error = error or wrong
        right = proba.argmax(axis=1) == codes
        loss = -np.log(np.maximum(proba[np.arange(len(codes)), codes], FLOOR))
        yield {
            "work": problem.name,
            "rows": len(codes),
            "columns": problem.X.shape[1],
            "classes": len(classes),
            "learner": name,
            "accuracy": round(float(right.mean()), 5),
            "log_loss": round(float(loss.mean()), 5),
            "seconds": round(time.process_time() - start, 2),
            "error": error,
        }


def answers(make: Callable[[], Any], problem: Problem, seen: Any, new: Any, classes: Any) -> tuple[Any, str]:
    """P(class) of the held-out rows, a column for every class of the table; and what went wrong."""
    train, test = problem.taken(seen), problem.taken(new)
    proba = np.zeros((len(new), len(classes)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make().fit(train.X, train.y)
            proba[:, np.searchsorted(classes, np.asarray(model.classes_, dtype=str))] = model.predict_proba(test.X)
        wrong = "" if np.isfinite(proba).all() else "probabilities that are not finite"
    except Exception as error:  # noqa: BLE001 - a learner may raise anything, and the others go on
        wrong = f"{type(error).__name__}: {error}".partition("\n")[0][:160]
    shares = (train.y[:, None] == classes).mean(axis=0)
    return (np.tile(shares, (len(new), 1)) if wrong else proba), wrong


### all tables


def means(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The mean of each learner over the tables, and on how many it is better than the rival."""
    by = {(line["work"], line["learner"]): line for line in lines}
    tables, names = (list(dict.fromkeys(line[key] for line in lines)) for key in ("work", "learner"))
    found = []
    for name in names:
        own = [by[table, name] for table in tables]
        line = {
            "mean_of": len(tables),
            "learner": name,
            **{key: round(float(np.mean([line[key] for line in own])), 4) for key in ("accuracy", "log_loss")},
            "median_log_loss": round(float(np.median([line["log_loss"] for line in own])), 4),
            "seconds": round(sum(line["seconds"] for line in own), 1),
            "failed": sum(bool(line["error"]) for line in own),
        }
        if RIVAL in names and name != RIVAL:
            theirs = [by[table, RIVAL] for table in tables]
            pairs = list(zip(own, theirs, strict=True))
            line["accuracy_won"] = sum(a["accuracy"] > b["accuracy"] for a, b in pairs)
            line["accuracy_lost"] = sum(a["accuracy"] < b["accuracy"] for a, b in pairs)
            line["log_loss_won"] = sum(a["log_loss"] < b["log_loss"] for a, b in pairs)
        found.append(line)
    return sorted(found, key=lambda line: -line["accuracy"])


def mean_row(line: dict[str, Any]) -> str:
    work = f"mean of {line['mean_of']} tables"
    text = ROW.format(work=work, error="", **{key: line[key] for key in ("learner", "accuracy", "log_loss", "seconds")})
    if "accuracy_won" not in line:
        return text
    won, lost, better = (line[key] for key in ("accuracy_won", "accuracy_lost", "log_loss_won"))
    return f"{text} against {RIVAL}: accuracy {won} won, {lost} lost; log loss {better} won"
