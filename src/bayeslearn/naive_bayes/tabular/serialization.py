"""Naive Bayes models as documents; see :mod:`bayeslearn.codec`."""

from __future__ import annotations

from collections import ChainMap
from typing import TYPE_CHECKING, Any

from bayeslearn import codec
from bayeslearn.components.component import Component
from bayeslearn.distributions import Counts, StatisticsBundle
from bayeslearn.distributions.distribution import by_name, column_names
from bayeslearn.distributions.priors import EmpiricalBayesPrior, PooledPrior
from bayeslearn.model_values import NUMBER, PRIORS, plain, plain_lineage, plain_prior
from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.model_values import Reader

#: Priors by the names they have in files.
PRIORS_IN_FILES: Mapping[str, type] = ChainMap(PRIORS, {"pooled": PooledPrior, "evidence": EmpiricalBayesPrior})  # type: ignore[arg-type]


def document_of(model: NaiveBayesModel) -> dict[str, Any]:
    """The model as plain values."""
    target = {"variable": model.target.to_dict(), "prior": plain_prior(model.prior, PRIORS_IN_FILES)}
    columns = [
        {
            "variable": c.variable.to_dict(),
            "distribution": c.distribution.name,
            "prior": plain_prior(c.prior, PRIORS_IN_FILES),
            "statistics": plain(model.statistics[c.name]),
        }
        for c in model.columns
    ]
    return {
        "estimate": model.estimate,
        "column_exponents": list(model.column_exponents),  # type: ignore[arg-type]
        "target": target | {"statistics": plain(model.statistics[model.target.name])},
        "columns": columns,
        **plain_lineage(model.lineage),
    }


def model_of(reader: Reader, document: dict[str, Any]) -> NaiveBayesModel:
    """The model of a document, all of which is checked."""
    keys: dict[str, Any] = {"estimate": str, "column_exponents": [NUMBER], "target": dict, "columns": [dict]}
    estimate, exponents, top, entries = reader.model(document, keys)
    three = dict.fromkeys(("variable", "prior", "statistics"), dict)
    variable, prior, counts = reader.entries(top, three, "the target")
    target = reader.discrete(variable, "the target")
    statistics: dict[str, Any] = {target.name: reader.statistics(counts, Counts.zero((target.n_states,)))}
    columns = []
    for entry in entries:
        column, part = read_column(reader, entry, target.n_states)
        statistics[column.name] = part
        columns.append(column)
    found = StatisticsBundle(statistics)
    return NaiveBayesModel(
        target, tuple(columns), read_prior(reader, prior, "categorical"), found, estimate,
        tuple(reader.numbers(exponents, "column_exponents")), reader.lineage(document, found),
    )  # fmt: skip


def read_column(reader: Reader, entry: Any, n_classes: int) -> tuple[Component, Any]:
    """One column of a document and its statistics."""
    keys = {"variable": dict, "distribution": str, "prior": dict, "statistics": dict}
    variable, name, prior, statistics = reader.entries(entry, keys, "a column")
    if name not in column_names():
        reader.wrong(f"there is no distribution {name!r:.40}")
    found = reader.variable(variable)
    column = Component((found,), by_name(name).over([found]), read_prior(reader, prior, name))
    part = reader.statistics(statistics, column.distribution.zero((n_classes,)))
    column.prior_given(part)  # the prior fits
    return column, part


def read_prior(reader: Reader, entry: Any, name: str) -> Any:
    """A prior that a distribution takes."""
    kinds = (by_name(name).prior_type, *by_name(name).prior_rules, PooledPrior, EmpiricalBayesPrior)
    takes = {name: kind for name, kind in PRIORS_IN_FILES.items() if kind in kinds}
    return reader.prior(entry, takes, of=f"a {name} column")


def with_new_names(_reader: Reader, document: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had other names for exponents, distributions and the strength of pooled priors."""
    codec.rename_values(document, "family", codec.RENAMED_DISTRIBUTIONS)
    columns = document.get("columns")
    for column in columns if isinstance(columns, list) else []:
        prior = column.get("prior") if isinstance(column, dict) else None
        for entry, old, new in (
            (column, "family", "distribution"),
            (prior, "cases", "equivalent_sample_size"),
        ):
            if isinstance(entry, dict) and old in entry and (old == "family" or entry.get("kind") == "pooled"):
                entry[new] = entry.pop(old)
    if "sharpness" in document:
        document["column_exponents"] = document.pop("sharpness")
    return document
