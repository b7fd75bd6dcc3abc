"""What ``bayeslearn fit regression`` reports of a function, as text and as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bayeslearn.cli import output
from bayeslearn.cli.input_data import MEMORY
from bayeslearn.cli.regression_methods import SummedRows

if TYPE_CHECKING:
    from bayeslearn.cli.regression_methods import Asked, Found
    from bayeslearn.regression.diagnostics import LeftOut

#: Weights that are printed, the largest; `--json` has all.
MOST_WEIGHTS = 30


def report(found: Found) -> dict[str, Any]:
    """All that is told, as plain values."""
    from bayeslearn.regression.classification_model import ClassificationModel
    from bayeslearn.regression.regression_model import RegressionModel

    rows, model = found.rows, found.model
    folded = isinstance(rows, SummedRows)
    answer: dict[str, Any] = {
        "method": found.asked.method,
        "target": list(rows.names),
        "rows": rows.n if folded else len(rows.targets),
        "without_target": rows.missing,
        "columns": list(model.features.schema.names),
        "features": list(model.features.names),
        "constant": list(model.features.constant),
        "filled": {name: n for name, n in (rows.holes if folded else rows.inputs.missing()).items() if n},
        "left_out": found.left_out,
    }
    if isinstance(model, RegressionModel):
        answer |= regression_report(found)
    elif isinstance(model, ClassificationModel):
        answer |= classification_report(found)
    else:
        answer |= local_report(found)
    if found.tried:
        answer["tried"] = [asdict(tried) for tried in found.tried]
    return answer


def regression_report(found: Found) -> dict[str, Any]:
    """Weights, noise, evidence and errors of rows left out."""
    from bayeslearn.errors import ImproperPriorError
    from bayeslearn.regression.diagnostics import largest_first, shrunk, weights_of
    from bayeslearn.regression.priors import undetermined

    model = found.model
    try:
        evidence: float | None = model.log_evidence()
    except ImproperPriorError:
        evidence = None
    prior, why = found.asked.prior or ("auto" if found.asked.method == "ols" else "evidence"), None
    if prior == "auto":
        why = undetermined(model.fit.statistics, model.fit.dim)
        prior = "reference" if why is None else "weak"
    return {
        "prior": prior,
        "prior_reason": why,
        "rank": model.fit.rank,
        "noise": dict(zip(model.outputs, model.fit.noise.tolist(), strict=True)),
        "log_evidence": evidence,
        "slopes_kept": dict(zip(model.outputs, shrunk(model).tolist(), strict=True)),
        **left_out_errors(found),
        **({} if model.basis is None else {"units": model.basis.size, "widths": model.basis.widths.tolist()}),
        "weights": [asdict(w) for w in largest_first(weights_of(model, found.asked.level))]
        if model.basis is None
        else [],
    }


def left_out_errors(found: Found) -> dict[str, Any]:
    """The errors of rows left out, where the rows are at hand."""
    from bayeslearn.cli.regression_methods import prior_of
    from bayeslearn.regression.diagnostics import held_out, leave_one_out, needs_holding_out

    if isinstance(found.rows, SummedRows):
        return {}
    prior = prior_of(found.asked, "auto" if found.asked.method == "ols" else "evidence")
    if needs_holding_out(found.model, found.rows, prior):
        return {"held_out": by_output(found, held_out(found.model, found.rows, prior))}
    return {"left_one_out": by_output(found, leave_one_out(found.model, found.rows))}


def by_output(found: Found, errors: list[LeftOut | None]) -> dict[str, Any]:
    """Errors as plain values."""
    return {
        name: None if e is None else {**asdict(e), "explained": e.share}
        for name, e in zip(found.model.outputs, errors, strict=True)
    }


def classification_report(found: Found) -> dict[str, Any]:
    """Weights, evidence, and how well the training rows are told."""
    from bayeslearn.evaluation import Metrics
    from bayeslearn.regression.diagnostics import class_weights, largest_first
    from bayeslearn.regression.targets import coded

    model, rows = found.model, found.rows
    judged = Metrics.of(model.predict_proba(rows.inputs), coded(rows.targets, model.classes), classes=model.classes)
    counts = judged.confusion.sum(axis=1)
    return {
        "classes": {str(label): int(n) for label, n in zip(model.classes, counts, strict=True)},
        "prior": found.asked.prior or ("evidence" if model.basis is not None else "1"),
        "precision": float(model.fit.prior.precision.diagonal().max()),
        "separated": model.fit.separated,
        "iterations": model.fit.iterations,
        "log_likelihood": model.fit.log_likelihood,
        "log_evidence": model.log_evidence(),
        "accuracy": judged.accuracy,
        "accuracy_of_largest": float(counts.max() / counts.sum()),
        "log_loss": judged.log_loss,
        **({} if model.basis is None else {"units": model.basis.size}),
        "weights": [asdict(w) for w in largest_first(class_weights(model, found.asked.level))]
        if model.basis is None
        else [],
    }


def local_report(found: Found) -> dict[str, Any]:
    """Settings and errors of rows left out."""
    from bayeslearn.regression.diagnostics import judged

    model = found.model
    fit = model.leave_one_out(most=5000, random_state=0) if len(model.rows) > 5000 else model.leave_one_out()
    y, w = model.outputs.reshape(len(model.rows), -1), model.sample_weight
    mean = fit.mean.reshape(len(fit.mean), -1)
    whole = len(mean) == len(y)
    errors = [judged(y[:, j] - mean[:, j], y[:, j], w) if whole else None for j in range(y.shape[1])]
    return {
        "settings": asdict(model.settings),
        "noise": dict(zip(found.rows.names, (model.noise**0.5).tolist(), strict=True)),
        "left_one_out": {
            name: None if e is None else {**asdict(e), "explained": e.share}
            for name, e in zip(found.rows.names, errors, strict=True)
        },
    }


def show_json(found: Found) -> None:
    """One object."""
    output.show_json(report(found))


def show(found: Found) -> None:
    """The report for people."""
    answer = report(found)
    missed = [("left-one-out error", f"not looked for, {MEMORY}")] if isinstance(found.rows, SummedRows) else []
    output.show_pairs([*pairs(answer, found.asked), *missed])
    weights = answer.get("weights", [])
    if not weights:
        return
    output.gap()
    several = len({w["output"] for w in weights}) > 1
    sides = f"{100 * found.asked.level:g} %"
    head = [*(["of"] if several else []), "weight of", "mean", f"low, {sides}", f"high, {sides}"]
    most = first_of(weights, MOST_WEIGHTS)
    shown = [[*([w["output"]] if several else []), w["name"], output.number(w["mean"]), *bounds(w)] for w in most]
    output.show_table(head, shown)
    if len(most) < len(weights):
        output.show_pairs([("", f"... and {len(weights) - len(most)} more with smaller effects; --json lists all")])


def first_of(sample_weight: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """The first of every output, so many together."""
    outputs = dict.fromkeys(w["output"] for w in sample_weight)
    each = max(most // len(outputs), 2)
    return [w for name in outputs for w in [w for w in sample_weight if w["output"] == name][:each]]


def bounds(weight: dict[str, Any]) -> list[str]:
    """The bounds of a weight, or that there are none."""
    return ["–" if weight[side] is None else output.number(weight[side]) for side in ("low", "high")]


def pairs(answer: dict[str, Any], asked: Asked) -> list[tuple[str, str]]:
    """What is told line by line."""
    told = [
        ("rows", str(answer["rows"]) + without(answer["without_target"])),
        ("columns", f"{len(answer['columns'])}, as {len(answer['features'])} features"),
    ]
    if answer["filled"]:
        told.append(("missing cells", "filled by the mean: " + listed(answer["filled"])))
    if answer["constant"]:
        told.append(("do not vary", ", ".join(answer["constant"])))
    told += [(f"left out: {column}", why) for column, why in answer["left_out"].items()]
    if "classes" in answer:
        told.append(("classes", listed(answer["classes"])))
    if "settings" in answer:
        told.append(
            ("fit", ", ".join(f"{name} {value}" for name, value in answer["settings"].items() if value is not None))
        )
    if "units" in answer:
        told.append(("radial units", f"{answer['units']}, centers by {asked.centers}"))
        told.append(("tried, log evidence", tried_told(answer["tried"])))
    if "rank" in answer:
        told += prior_told(answer)
    if "precision" in answer:
        told += class_told(answer)
    for name, value in answer.get("noise", {}).items():
        words = "unknown: too few cases" if math.isnan(value) else f"± {output.number(value)}"
        told.append((of("noise", name, answer), words))
    return [*told, *errors_told(answer)]


def tried_told(tried: list[dict[str, Any]]) -> str:
    """The highest evidence of every number of units."""
    best: dict[int, float] = {}
    for one in tried:
        best[one["units"]] = max(one["log_evidence"], best.get(one["units"], -math.inf))
    return ", ".join(f"{units}: {value:.6g}" for units, value in best.items())


def errors_told(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """The error of every output, on rows left out or held out."""
    return [
        (of(f"{kind} error", name, answer), error_told(error))
        for kind, key in (("left-one-out", "left_one_out"), ("held-out", "held_out"))
        for name, error in answer.get(key, {}).items()
    ]


def error_told(error: dict[str, Any] | None) -> str:
    """How far rows that were left out are off."""
    if error is None:
        return "undefined: the other rows do not determine it"
    mine, mean = output.number(error["error"]), output.number(error["of_mean"])
    return f"{mine}, of the mean alone {mean}: {100 * error['explained']:.1f} % explained"


def prior_told(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """What the prior was and did, what was not determined, and the evidence."""
    told = [("prior", str(answer["prior"]))]
    if answer["prior"] not in {"none", "reference"} and "units" not in answer:
        kept = ", ".join(f"{100 * share:.1f} %" for share in answer["slopes_kept"].values())
        why = f" ({answer['prior_reason']})" if answer["prior_reason"] else ""
        told[0] = ("prior", f"{answer['prior']}{why}: slopes are {kept} as long as by least squares")
    wide = len(answer["features"]) if "units" not in answer else answer["units"]
    if answer["rank"] < wide:
        told.append(("determined", f"{answer['rank']} of {wide} weights; the shortest are taken"))
    if answer["log_evidence"] is not None:
        told.append(("log evidence", f"{answer['log_evidence']:.8g}"))
    return told


def class_told(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """How classes are told apart."""
    prior = "none" if answer["precision"] == 0 else f"precision {output.number(answer['precision'])}"
    told = [("prior", prior)]
    if answer["separated"]:
        told.append(("separated", "without a prior the weights have no end; give one with --prior 1"))
    accuracy, largest = output.number(answer["accuracy"]), output.number(answer["accuracy_of_largest"])
    return [
        *told,
        ("log evidence", f"{answer['log_evidence']:.8g} (Laplace)"),
        (
            "training rows",
            f"accuracy {accuracy} (largest class {largest}), log loss {output.number(answer['log_loss'])}",
        ),
    ]


def without(n: int) -> str:
    """How many rows have no target."""
    return f", {n} without a target add nothing" if n else ""


def of(what: str, name: str, answer: dict[str, Any]) -> str:
    """A name with its output, where there are several."""
    return what if len(answer["target"]) == 1 else f"{what} of {name}"


def listed(amounts: dict[str, Any]) -> str:
    """Names and numbers."""
    return ", ".join(f"{name} {n}" for name, n in amounts.items())
