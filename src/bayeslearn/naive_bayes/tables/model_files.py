"""Models as files; see :mod:`bayeslearn.model_files`.

    {"estimate": ..., "sharpness": ...,
     "target": {"variable", "prior", "statistics"},
     "columns": [{"variable", "family", "prior", "statistics"}, ...]}

Statistics have a row for each class.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from bayeslearn import model_files
from bayeslearn.families import Bundle, Counts, Moments, Totals
from bayeslearn.naive_bayes.tables.columns import FAMILIES, Column
from bayeslearn.naive_bayes.tables.model import NaiveBayes
from bayeslearn.naive_bayes.tables.priors import KINDS, Evidenced, Pooled
from bayeslearn.tables import Discrete
from bayeslearn.tables.variables import variable_from_dict

if TYPE_CHECKING:
    import os

    from bayeslearn.model_files import Reader

LABEL = "bayeslearn naive Bayes"

PRIORS: dict[str, type] = {**model_files.PRIORS, "pooled": Pooled, "evidence": Evidenced}
STATISTICS: dict[str, type] = {"categorical": Counts, "normal": Moments, "poisson": Totals}


### writing


def write(model: NaiveBayes, path: str | os.PathLike[str]) -> None:
    """Write a model to a .json or .json.gz file, all or nothing."""
    model_files.write(path, LABEL, parts_of(model))


def parts_of(model: NaiveBayes) -> dict[str, Any]:
    """The model as plain values."""
    target = {"variable": model.target.to_dict(), "prior": model_files.plain_prior(model.prior, PRIORS)}
    return {
        "estimate": model.estimate,
        "sharpness": list(model.sharpness),  # type: ignore[arg-type]
        "target": target | {"statistics": model_files.plain(model.statistics[model.target.name])},
        "columns": [
            {
                "variable": c.variable.to_dict(),
                "family": c.family,
                "prior": model_files.plain_prior(c.prior, PRIORS),
                "statistics": model_files.plain(model.statistics[c.name]),
            }
            for c in model.columns
        ],
        **model_files.plain_lineage(model.lineage),
    }


### reading


def read(path: str | os.PathLike[str]) -> NaiveBayes:
    """The model of a file, checked in full."""
    return model_files.read(path, LABEL, model_of)


def model_of(reader: Reader, document: dict[str, Any]) -> NaiveBayes:
    """The whole document."""
    keys: dict[str, Any] = {"estimate": str, "sharpness": list, "target": dict, "columns": list}
    own = {key: value for key, value in document.items() if key not in {"lineage", "bases"}}
    estimate, sharpness, top, columns = reader.entries(own, keys, "a model")
    variable, prior, counts = reader.entries(
        top, dict.fromkeys(("variable", "prior", "statistics"), dict), "the target"
    )
    target = variable_of(reader, variable)
    if not isinstance(target, Discrete):
        reader.wrong("the target is not discrete")
    statistics: dict[str, Any] = {target.name: reader.statistics(counts, Counts, [(target.size,)])}
    found = []
    for entry in columns:
        column, part = column_of(reader, entry, target.size)
        found.append(column)
        statistics[column.name] = part
    shares = prior_of(reader, prior, "categorical")
    return NaiveBayes(
        target, tuple(found), shares, Bundle(statistics), estimate, tuple(reader.numbers(sharpness, "sharpness")),
        reader.lineage(document, Bundle(statistics)),
    )  # fmt: skip


def column_of(reader: Reader, entry: Any, n_classes: int) -> tuple[Column, Any]:
    """One column and its statistics."""
    keys = {"variable": dict, "family": str, "prior": dict, "statistics": dict}
    variable, family, prior, statistics = reader.entries(entry, keys, "a column")
    if family not in FAMILIES:
        reader.wrong(f"there is no family {family!r:.40}")
    column = Column(variable_of(reader, variable), family, prior_of(reader, prior, family))
    size = (column.variable.size,) if isinstance(column.variable, Discrete) else ()
    kind = STATISTICS[family]
    part = reader.statistics(statistics, kind, [(n_classes, *size)] * len(fields(kind)))
    column.prior_given(part)  # the prior fits
    return column, part


def variable_of(reader: Reader, entry: Any) -> Any:
    """A variable of finite states."""
    if any(isinstance(s, float) and not math.isfinite(s) for s in entry.get("states") or []):
        reader.wrong("a state that is a number must be finite")
    return variable_from_dict(entry)


def prior_of(reader: Reader, entry: Any, family: str) -> Any:
    """A prior that its family takes."""
    takes = {name: kind for name, kind in PRIORS.items() if kind in KINDS[family]}
    return reader.prior(entry, takes, of=f"a {family} column")
