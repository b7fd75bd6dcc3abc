"""Components as entries of model files, with their priors, parameters and statistics; and back.

{"columns", "family", "covariance", "variance", "prior", "parameters", "statistics"}
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.components.component import Component
from bayeslearn.distributions.distribution import by_name
from bayeslearn.model_values import ARRAY, NUMBER, field_names, plain

if TYPE_CHECKING:
    from bayeslearn.model_values import Reader


def plain_component(component: Component, prior: Any, parameters: Any, statistics: Any) -> dict[str, Any]:
    """A component as plain values; statistics may be None."""
    distribution = component.distribution
    return {
        "columns": [column.to_dict() for column in component.columns],
        "family": distribution.name,
        "covariance": getattr(distribution, "covariance", None),
        "variance": getattr(distribution, "variance", None),
        "prior": plain(prior),
        "parameters": [np.asarray(p) for p in (parameters if isinstance(parameters, tuple) else (parameters,))],
        "statistics": None if statistics is None else plain(statistics),
    }


def read_component(reader: Reader, entry: Any, k: int, *, whole: bool) -> tuple[Component, Any, Any, Any]:
    """A component of a document, its prior, its parameters and its statistics; of any registered distribution."""
    keys: dict[str, Any] = {
        "columns": [dict], "family": str, "covariance": (str, type(None)), "variance": (*NUMBER, type(None)),
        "prior": dict, "parameters": list, "statistics": (dict, type(None)),
    }  # fmt: skip
    columns, family, covariance, variance, prior, parameters, statistics = reader.entries(entry, keys, "a part")
    variables: Any = tuple(reader.variable(column) for column in columns)
    covariance = "diag" if covariance == "diagonal" else covariance  # as files of earlier versions have it
    options = {name: v for name, v in (("covariance", covariance), ("variance", variance)) if v is not None}
    kind = by_name(family)
    if (statistics is None) is whole or not set(options) <= set(field_names(kind)):
        reader.wrong(f"{entry!r:.80} is no part")
    if not kind.accepts(variables):
        reader.wrong(f"the columns of a {family} part are {columns!r:.80}")
    part = Component(variables, replace(kind.over(variables), **options))
    prior_type = type(part.distribution.none())
    names = field_names(prior_type)
    values = reader.entries(prior, dict.fromkeys(names, ARRAY), "a prior")
    read = prior_type(*(reader.numbers(v, name) for v, name in zip(values, names, strict=True)))
    part.distribution.shaped(read, k)  # the prior fits
    found = reader.statistics(statistics, part.distribution.zero((k,))) if whole else None
    return part, read, reader.parameters(parameters, part.distribution, part.columns, k), found
