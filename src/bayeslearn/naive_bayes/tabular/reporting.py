"""What naive Bayes models show: reports, plain values and frames."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.naive_bayes.tabular.indicators import class_indicators
from bayeslearn.reports import Grid, Pairs, Report
from bayeslearn.tables import DiscreteVariable
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel
    from bayeslearn.tables.frames import Backend

#: Indicators of a class that a report names.
MAX_INDICATORS = 3


def distributions_of(model: NaiveBayesModel) -> dict[str, str]:
    """The distribution of each column as options name it."""
    return {c.name: c.distribution.name for c in model.columns}


def in_numbers(distributions: Mapping[str, str]) -> str:
    """How many columns have each distribution: "2 categorical, 1 gaussian"."""
    return ", ".join(f"{n} {name}" for name, n in Counter(distributions.values()).items()) or "none"


def exponents_of(model: NaiveBayesModel) -> dict[str, float]:
    """The exponent of each column."""
    return dict(zip(model.feature_names, model.column_exponents, strict=True))  # type: ignore[arg-type]


def shown_exponents(exponents: Mapping[str, float]) -> str | None:
    """Exponents, the largest first; None where all are 1."""
    if all(τ == 1 for τ in exponents.values()):
        return None
    return ", ".join(f"{name} {τ:.2g}" for name, τ in sorted(exponents.items(), key=lambda entry: -entry[1]))


def classes_grid(model: NaiveBayesModel) -> Grid:
    """The classes: rows, probability, and the values that indicate them most."""
    found, p = class_indicators(model, max_results=MAX_INDICATORS), np.exp(model.class_log_prior)
    rows = [
        [name, round(float(n), 6), q, "; ".join(map(str, found[name]))]
        for name, n, q in zip(model.classes, model.class_counts, p, strict=True)
    ]
    return Grid([model.target.name, "rows", "probability", "indicators"], rows, "Classes", max_rows=100)


def model_report(model: NaiveBayesModel) -> Report:
    """The columns with their distributions, and the classes."""
    pairs = {"Columns": in_numbers(distributions_of(model)), "Exponents": shown_exponents(exponents_of(model))}
    return Report(
        f"Naive Bayes: {model.target.name!r} from {len(model.columns)} columns, {model.total_weight:,.10g} rows",
        Pairs({name: value for name, value in pairs.items() if value is not None}),
        classes_grid(model),
    )


def model_dict(model: NaiveBayesModel) -> dict[str, Any]:
    """Classes, and the parameters of each column."""
    return {
        "target": model.target.name,
        "classes": list(model.classes),
        "class_counts": model.class_counts.tolist(),
        "class_probabilities": np.exp(model.class_log_prior).tolist(),
        "estimate": model.estimate,
        "columns": [
            {
                "name": c.name,
                "distribution": c.distribution.name,
                "exponent": exponents_of(model)[c.name],
                "states": list(c.variable.states) if isinstance(c.variable, DiscreteVariable) else None,
                "parameters": plain_parameters(model, c),
            }
            for c in model.columns
        ],
    }


def plain_parameters(model: NaiveBayesModel, column: Any) -> Any:
    """Parameters of a column, a row for each class; None where all values were equal."""
    posterior = model.posterior(column.name)
    if posterior is None:
        return None
    found = column.distribution.estimate(posterior)
    if hasattr(found, "_fields"):
        return {name: np.asarray(part).tolist() for name, part in zip(found._fields, found, strict=True)}
    return np.asarray(found).tolist()


def model_frame(model: NaiveBayesModel, backend: Backend) -> Any:
    """A row for each class, column and state; for a number one for each class, with its parameters in words."""
    rows: list[tuple[str, str, str | None, float | None, str | None]] = []
    for column in model.columns:
        posterior = model.posterior(column.name)
        parameters = None if posterior is None else column.distribution.estimate(posterior)
        for c, name in enumerate(map(str, model.classes)):
            if parameters is None:
                rows.append((name, column.name, None, None, "constant"))
            elif isinstance(column.variable, DiscreteVariable):
                states = map(str, column.variable.states)
                rows += [(name, column.name, s, float(p), None) for s, p in zip(states, parameters[c], strict=True)]
            else:
                shown = column.distribution.describe(parameters, c, variable=column.variable)
                rows.append((name, column.name, None, None, shown))
    columns = [list(cells) for cells in zip(*rows, strict=True)] or [[]] * 5
    return frame_of(
        dict(zip([model.target.name, "column", "state", "probability", "parameters"], columns, strict=True)), backend
    )
