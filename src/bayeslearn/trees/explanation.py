"""Explanations: what each column adds to a prediction, along the paths of a row through the trees.

The prediction of a tree changes at every split of the path; the change belongs to the column of the split. With p₀ the
mean prediction of the roots and δ_j the mean over the trees of the changes at splits of column j,

    p̄ = p₀ + Σ_j δ_j

is exact. Of classes, ln p̄(c) − ln p₀(c) is divided among the columns in proportion to δ_j(c). So with the temperature τ

    ln p(c)/p(c') = τ [ln p₀(c)/p₀(c') + Σ_j (a_j(c) − a_j(c'))]        a_j(c) = δ_j(c) (ln p̄ − ln p₀)/(p̄ − p₀)

and against all other classes together, with r their probabilities given that the class is another,

    ln p(c)/(1 − p(c)) = start + Σ_j τ [a_j(c) − Σ r a_j(c')]           start = τ [ln p₀(c) − Σ r ln p₀(c')] − H(r)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from bayeslearn import validation
from bayeslearn.errors import ParameterError
from bayeslearn.regression.explanation import FeatureExplanation
from bayeslearn.tables import DiscreteVariable
from bayeslearn.trees.predictive import tempered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables import Table
    from bayeslearn.trees.model import BayesianForestModel

    Floats = NDArray[np.float64]

#: Rows that are explained together.
ROWS = 1 << 10


def explanations(model: BayesianForestModel, rows: Table) -> list[FeatureExplanation]:
    """The explanation of each row."""
    if model.is_classifier and len(model.classes) < 2:
        raise ParameterError(f"there is only one class, {model.classes[0]!r}: nothing can be explained")
    found = []
    for batch in rows.batches(ROWS):
        cells = written(batch)
        targets, start, parts = (of_classes if model.is_classifier else of_numbers)(model, batch)
        for i, target in enumerate(targets):
            values = {name: column[i] for name, column in cells.items()}
            amounts = dict(zip(model.feature_names, parts[i].tolist(), strict=True))
            found.append(FeatureExplanation(target, float(start[i] + parts[i].sum()), float(start[i]), values, amounts))
    return found


def written(rows: Table) -> dict[str, list[Any]]:
    """The cells of rows by column, None where they are missing."""
    found = {}
    for v in rows.schema:
        if isinstance(v, DiscreteVariable):
            found[v.name] = list(rows.column(v.name))
        else:
            found[v.name] = [None if np.isnan(x) else float(x) for x in rows.values_of(v.name)]
    return found


def of_numbers(model: BayesianForestModel, rows: Table) -> tuple[list[str], Floats, Floats]:
    """The name of the target, the prediction without any column, and what each column adds."""
    values = validation.lock(model.leaves.values[:, :1].copy())
    parts = model.trees.steps(values, model.trees.bins.codes(rows))[:, :, 0] * model.scale
    start = values[model.trees.roots].mean() * model.scale + model.center
    return [model.target.name] * len(rows), np.full(len(rows), start), parts


def of_classes(model: BayesianForestModel, rows: Table) -> tuple[list[str], Floats, Floats]:
    """The same in log odds of the predicted class against all others."""
    values, n = model.leaves.values, np.arange(len(rows))
    steps = model.trees.steps(values, model.trees.bins.codes(rows))
    start = values[model.trees.roots].mean(axis=0)
    p = start + steps.sum(axis=1)
    best, t = tempered(p, model.temperature).argmax(axis=1), model.temperature
    logs = t * np.log(p)
    logs[n, best] = -np.inf
    r = special.softmax(logs, axis=1)
    r[n, best] = 0.0
    parts = t * steps * slope(p, start)[:, None, :]
    base = t * np.log(start)
    contrast = parts[n, :, best] - np.einsum("ik,ijk->ij", r, parts)
    first = base[best] - r @ base + special.xlogy(r, r).sum(axis=1)
    return [f"{model.target.name}={model.classes[c]} (log odds)" for c in best], first, contrast


def slope(p: Floats, start: Floats) -> Floats:
    """(ln p − ln p₀)/(p − p₀); 1/p₀ where they are equal."""
    ratio = p / start - 1.0
    small = np.abs(ratio) < 1e-8
    return np.asarray(np.where(small, 1.0 - ratio / 2, np.log1p(ratio) / np.where(small, 1.0, ratio)) / start)
