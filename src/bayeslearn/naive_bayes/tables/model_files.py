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
from bayeslearn.naive_bayes.tables.priors import KINDS, Pooled
from bayeslearn.tables import Discrete
from bayeslearn.tables.variables import variable_from_dict

if TYPE_CHECKING:
    import os

LABEL = "bayeslearn naive Bayes"

PRIORS: dict[str, type] = {**model_files.PRIORS, "pooled": Pooled}
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
        "sharpness": model.sharpness,
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
    }


### reading


def read(path: str | os.PathLike[str]) -> NaiveBayes:
    """The model of a file, checked in full."""
    return model_files.read(path, LABEL, Reader)


class Reader(model_files.Reader):
    """The parts of a naive Bayes model."""

    def model(self, document: dict[str, Any]) -> NaiveBayes:
        """The whole document."""
        keys: dict[str, Any] = {"estimate": str, "sharpness": (int, float), "target": dict, "columns": list}
        estimate, sharpness, top, columns = self.entries(document, keys, "a model")
        variable, prior, counts = self.entries(
            top, dict.fromkeys(("variable", "prior", "statistics"), dict), "the target"
        )
        target = self.variable(variable)
        if not isinstance(target, Discrete):
            self.wrong("the target is not discrete")
        statistics: dict[str, Any] = {target.name: self.statistics(counts, Counts, [(target.size,)])}
        found = []
        for entry in columns:
            column, part = self.column(entry, target.size)
            found.append(column)
            statistics[column.name] = part
        shares = self.prior_of(prior, "categorical")
        return NaiveBayes(target, tuple(found), shares, Bundle(statistics), estimate, float(sharpness))

    def column(self, entry: Any, n_classes: int) -> tuple[Column, Any]:
        """One column and its statistics."""
        keys = {"variable": dict, "family": str, "prior": dict, "statistics": dict}
        variable, family, prior, statistics = self.entries(entry, keys, "a column")
        if family not in FAMILIES:
            self.wrong(f"there is no family {family!r:.40}")
        column = Column(self.variable(variable), family, self.prior_of(prior, family))
        size = (column.variable.size,) if isinstance(column.variable, Discrete) else ()
        kind = STATISTICS[family]
        part = self.statistics(statistics, kind, [(n_classes, *size)] * len(fields(kind)))
        column.prior_given(part)  # the prior fits
        return column, part

    def variable(self, entry: Any) -> Any:
        """A variable of finite states."""
        if any(isinstance(s, float) and not math.isfinite(s) for s in entry.get("states") or []):
            self.wrong("a state that is a number must be finite")
        return variable_from_dict(entry)

    def prior_of(self, entry: Any, family: str) -> Any:
        """A prior that its family takes."""
        takes = {name: kind for name, kind in PRIORS.items() if kind in KINDS[family]}
        return self.prior(entry, takes, of=f"a {family} column")
