"""Mixtures as files; see :mod:`bayeslearn.model_files`. Parameters are kept beside the statistics.

    {"equal": ..., "weights": [...], "shares": {"prior", "statistics"},
     "parts": [{"columns", "family", "covariance", "variance", "prior", "parameters", "statistics"}, ...],
     "lineage": {"shares", "bases", "parts"}}                                     only where it was updated

Arrays have a row for each component.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import model_files
from bayeslearn.families import (
    Bundle,
    Categorical,
    Counts,
    Dirichlet,
    Gamma,
    MultivariateNormal,
    MultivariateParameters,
    Normal,
    NormalInverseGamma,
    NormalInverseWishart,
    NormalParameters,
    Poisson,
)
from bayeslearn.mixture.model import SHARES, Mixture, MixturePrior
from bayeslearn.mixture.parts import Part
from bayeslearn.model_files import plain
from bayeslearn.tables import Discrete
from bayeslearn.tables.variables import variable_from_dict

if TYPE_CHECKING:
    import os

    from bayeslearn.model_files import Reader

LABEL = "bayeslearn mixture"

FAMILIES = {"categorical": Categorical, "poisson": Poisson, "normal": Normal, "gaussian": MultivariateNormal}

### writing


def write(model: Mixture, path: str | os.PathLike[str]) -> None:
    """Write a model to a .json or .json.gz file, all or nothing."""
    model_files.write(path, LABEL, parts_of(model))


def parts_of(model: Mixture) -> dict[str, Any]:
    """The model as plain values."""
    known = model.statistics
    return {
        "equal": model.equal,
        "weights": model.weights.tolist(),
        "shares": {"prior": plain(model.prior.shares), "statistics": None if known is None else plain(known[SHARES])},
        "parts": [
            {
                "columns": [column.to_dict() for column in part.columns],
                "family": next(name for name, kind in FAMILIES.items() if type(part.family) is kind),
                "covariance": part.family.covariance if part.joint else None,
                "variance": part.variance,
                "prior": plain(prior),
                "parameters": [np.asarray(p).tolist() for p in (θ if isinstance(θ, tuple) else (θ,))],
                "statistics": None if known is None else plain(known[part.name]),
            }
            for part, prior, θ in zip(model.parts, model.prior.parts, model.parameters, strict=True)
        ],
        **model_files.plain_lineage(model.lineage),
    }


### reading


def read(path: str | os.PathLike[str]) -> Mixture:
    """The model of a file, checked in full."""
    return model_files.read(path, LABEL, model_of)


def model_of(reader: Reader, document: dict[str, Any]) -> Mixture:
    """The whole document."""
    keys = {"equal": bool, "weights": list, "shares": dict, "parts": list}
    own = {key: value for key, value in document.items() if key not in {"lineage", "bases"}}
    equal, weights, shares, parts = reader.entries(own, keys, "a model")
    w = reader.numbers(weights, "weights")
    if w.ndim != 1 or not w.size or (w < 0).any() or abs(w.sum() - 1) > 1e-6:
        reader.wrong("the weights do not sum to 1")
    if not parts:
        reader.wrong("it has no parts")
    prior, statistics = reader.entries(shares, {"prior": dict, "statistics": (dict, type(None))}, "the shares")
    whole = statistics is not None
    read = [part_of(reader, entry, len(w), whole=whole) for entry in parts]
    known = {SHARES: reader.statistics(statistics, Counts, [w.shape])} if whole else {}
    known |= {part.name: found for part, _, _, found in read}
    if whole and len(known) != len(read) + 1:
        reader.wrong("two parts have the same columns")
    priors = MixturePrior(reader.statistics(prior, Dirichlet, [w.shape]), tuple(p for _, p, _, _ in read))
    return Mixture(
        tuple(part for part, _, _, _ in read), w, tuple(θ for _, _, θ, _ in read), priors,
        Bundle(known) if whole else None, equal, reader.lineage(document, Bundle(known) if whole else None),
    )  # fmt: skip


def part_of(reader: Reader, entry: Any, k: int, *, whole: bool) -> tuple[Part, Any, Any, Any]:
    """One part, its prior, its parameters and its statistics."""
    keys: dict[str, Any] = {
        "columns": list, "family": str, "covariance": (str, type(None)), "variance": (int, float, type(None)),
        "prior": dict, "parameters": list, "statistics": (dict, type(None)),
    }  # fmt: skip
    columns, family, covariance, variance, prior, parameters, statistics = reader.entries(entry, keys, "a part")
    variables: Any = tuple(variable_from_dict(column) for column in columns)
    if family not in FAMILIES or not variables or (statistics is None) is whole:
        reader.wrong(f"{entry!r:.80} is no part")
    if (family == "categorical") is not isinstance(variables[0], Discrete) or (
        len(variables) > 1 and family != "gaussian"
    ):
        reader.wrong(f"the columns of a {family} part are {columns!r:.80}")
    part = Part(variables, family_of(family, variables, covariance), variance)
    kind = {"categorical": Dirichlet, "poisson": Gamma}.get(family, NormalInverseGamma)
    kind = NormalInverseWishart if covariance in {"full", "tied"} else kind
    names = [f.name for f in fields(kind)]
    values = reader.entries(prior, dict.fromkeys(names, list), "a prior")
    read = kind(*(reader.numbers(v, name) for v, name in zip(values, names, strict=True)))
    part.shaped(read, k)  # the prior fits
    found = None
    if whole:
        zero = part.family.zero((k,))
        found = reader.statistics(statistics, type(zero), [a.shape for a in zero.arrays()])
    return part, read, parameters_of(reader, part, parameters, k), found


def family_of(name: str, variables: tuple[Any, ...], covariance: Any) -> Any:
    """The family of a part."""
    if name == "categorical":
        return Categorical(variables[0].size)
    return MultivariateNormal(len(variables), covariance) if name == "gaussian" else FAMILIES[name]()


def parameters_of(reader: Reader, part: Part, values: list[Any], k: int) -> Any:
    """Parameters of the right shape, under which a density can be computed."""
    arrays = [reader.numbers(value, "parameters") for value in values]
    shapes = parameter_shapes(part, k)
    if [a.shape for a in arrays] != shapes:
        reader.wrong(f"expected parameters of shapes {shapes}, found {[a.shape for a in arrays]}")
    found: Any = arrays[0]
    if len(arrays) == 2:
        found = (MultivariateParameters if part.joint else NormalParameters)(*arrays)
    part.log_prob(found, np.zeros((1, part.family.dim)) if part.joint else np.zeros(1, np.intp))
    return found


def parameter_shapes(part: Part, k: int) -> list[tuple[int, ...]]:
    """The shapes of the parameters of k components."""
    if isinstance(part.family, Categorical):
        return [(k, part.family.size)]
    if not part.joint:
        return [(k,)] if isinstance(part.family, Poisson) else [(k,), (k,)]
    d = part.family.dim
    spread = {"full": (k, d, d), "tied": (d, d), "diagonal": (k, d), "spherical": (k,)}[part.family.covariance]
    return [(k, d), spread]
