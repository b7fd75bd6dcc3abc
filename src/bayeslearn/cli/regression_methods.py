"""How ``bayeslearn fit regression`` learns a function."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from bayeslearn.cli import interrupt, progress

if TYPE_CHECKING:
    from bayeslearn.cli.input_data import Given
    from bayeslearn.regression.targets import Examples
    from bayeslearn.tables import Table


class Asked(NamedTuple):
    """The options."""

    method: str
    target: tuple[str, ...]
    prior: str | None
    dropped: tuple[str, ...]
    discrete: tuple[str, ...]
    sample_weight: str | None
    level: float
    units: Any
    centers: str
    width: Any
    degree: Any
    criterion: Any
    kernel: str
    bandwidth: Any
    max_states: int
    seed: int


@dataclass(frozen=True)
class SummedRows:
    """Of rows that were folded: how many there are, how many of them have no target, and which cells are missing."""

    names: tuple[str, ...]
    n: int
    missing: int
    holes: dict[str, int]


@dataclass(frozen=True)
class Found:
    """What was learned, of which rows, and what was tried on the way."""

    model: Any
    #: Examples, or what is known of them where they were folded.
    rows: Any
    asked: Asked
    left_out: dict[str, str]
    tried: tuple[Any, ...] = ()


### learning


def learn(given: Given, asked: Asked, passes: progress.Passes) -> Found:
    """The function that was asked for."""
    from bayeslearn.regression.targets import examples
    from bayeslearn.tables.schema import require_known

    known = given.names
    require_known([*asked.target, *asked.discrete, *([asked.sample_weight] if asked.sample_weight else [])], known)
    left_out = dict.fromkeys(asked.dropped, "asked for")
    columns = [n for n in known if n not in left_out and n not in asked.target and n != asked.sample_weight]
    how: dict[str, Any] = {
        "columns": columns, "sample_weight": given.sample_weight,
        "discrete": [n for n in asked.discrete if n in columns],
        "max_states": asked.max_states, "left_out": left_out,
    }  # fmt: skip
    if given.folded:
        with progress.bar("adding up", passes=passes):
            return folded(given, asked, how)
    data = numbers_apart(given.settled(), asked)
    how["columns"] = given.columns(columns, data)
    left_out |= given.left_out
    classes = asked.method == "sigmoid" or (asked.method == "rbf" and holds_words(data, asked))
    rows = examples(data, asked.target[0] if classes else asked.target, classes=classes, **how)
    if asked.method == "ols":
        from bayeslearn.regression import fit_linear

        return Found(fit_linear(rows, None, prior=prior_of(asked, "auto")), rows, asked, left_out)
    if asked.method == "local":
        return Found(local(rows, asked), rows, asked, left_out)
    if asked.method == "sigmoid":
        return Found(sigmoid(rows, asked), rows, asked, left_out)
    return radial(rows, asked, left_out, classes=classes)


def numbers_apart(data: Any, asked: Asked) -> Any:
    """A table of many files with numbers as numbers, as they are read from one."""
    from bayeslearn.tables import Table
    from bayeslearn.tables.numeric_states import all_numbers, with_numbers

    if not isinstance(data, Table):
        return data
    kept = {*asked.discrete, *(asked.target if asked.method == "sigmoid" else ())}
    return with_numbers(data, [v for v in data.schema.discrete if v.name not in kept and all_numbers(v)])


def folded(given: Given, asked: Asked, how: dict[str, Any]) -> Found:
    """Least squares of a source: moments are added up, and nothing else is kept of the rows."""
    from bayeslearn.regression import fit_linear
    from bayeslearn.regression.out_of_core import opened

    model = fit_linear(given.data, asked.target, prior=prior_of(asked, "auto"), **how)
    source, names = opened(given.data, asked.target, **how)
    holes = source.missing()
    gone = holes[names[0]] if len(names) == 1 else source.fold(partial(without_any, names))
    cells = {name: n for name, n in holes.items() if name not in names}
    return Found(model, SummedRows(names, source.n_rows, gone, cells), asked, how["left_out"])


def without_any(names: tuple[str, ...], table: Table) -> int:
    """Rows that lack one of these numbers."""
    import numpy as np

    return int(np.isnan([table.values_of(name) for name in names]).any(axis=0).sum())


def holds_words(path: Any, asked: Asked) -> bool:
    """Whether the target is a column of words, or of numbers that are names."""
    from bayeslearn.regression.inputs import read

    if len(asked.target) > 1:
        return False
    return bool(read(path, columns=asked.target, discrete=[n for n in asked.discrete if n in asked.target],
                     max_states=asked.max_states).schema.discrete)  # fmt: skip


def prior_of(asked: Asked, usual: Any) -> Any:
    """A prior by its name or its number."""
    if asked.prior is None:
        return usual
    try:
        return float(asked.prior)
    except ValueError:
        return asked.prior


def sigmoid(rows: Examples, asked: Asked) -> Any:
    """Sigmoid units, with a bar that follows the climb."""
    from bayeslearn.regression import fit_logistic

    prior = prior_of(asked, 1.0)
    with interrupt.once("the best weights so far") as stop, progress.bar("climbing") as tell:

        def step(number: int, value: float) -> None:
            stop.heed()
            tell(number / 100, f"iteration {number}, objective {value:.8g}")

        return fit_logistic(rows, None, prior=prior, progress=step)


def radial(rows: Examples, asked: Asked, left_out: dict[str, str], *, classes: bool) -> Found:
    """Radial units, with a bar that follows the search."""
    from bayeslearn.regression import fit_rbf, fit_rbf_classifier

    prior = prior_of(asked, "evidence")
    with interrupt.once("the best units so far") as stop, progress.bar("placing units") as tell:

        def step(now: Any) -> None:
            stop.heed()
            tell(now.units / 128, f"{now.units} units, log evidence {now.log_evidence:.7g}")

        how: dict[str, Any] = {
            "centers": asked.centers, "width": asked.width, "prior": prior, "random_state": asked.seed,
            "progress": step,
        }  # fmt: skip
        if classes:
            model, tried = fit_rbf_classifier(rows, None, asked.units, **how)
            return Found(model, rows, asked, left_out, tried)
        found = fit_rbf(rows, None, asked.units, **how)
        return Found(found.model, rows, asked, left_out, found.tried)


def local(rows: Examples, asked: Asked) -> Any:
    """Local fits; rows without a target are left out."""
    import numpy as np

    from bayeslearn.regression.local.model import local_regression

    there = np.flatnonzero(~np.isnan(rows.targets).any(axis=1))
    y = rows.targets[there]
    model = local_regression(
        rows.inputs.take(there), y[:, 0] if y.shape[1] == 1 else y, degree=asked.degree, criterion=asked.criterion,
        kernel=asked.kernel, k="auto" if asked.units == "auto" else asked.units, bandwidth=asked.bandwidth,
        sample_weight=None if rows.sample_weight is None else rows.sample_weight[there], random_state=asked.seed,
    )  # fmt: skip
    model = replace(model, output_names=tuple(rows.names))
    with progress.bar("leaving rows out"):
        _ = model.settings
    return model
