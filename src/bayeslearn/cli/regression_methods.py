"""How ``bayeslearn fit regression`` reads the rows, and fits a function to them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from bayeslearn.cli import interrupt, progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.cli.input_data import Given


class Asked(NamedTuple):
    """The options."""

    method: str
    target: tuple[str, ...]
    prior: str | None
    discrete: tuple[str, ...]
    sample_weight: str | None
    n_units: Any
    centers: str
    width: Any
    degree: Any
    locality: Any
    n_neighbors: Any
    kernel: str
    bandwidth: Any
    max_states: int
    seed: int
    features: Any = "columns"
    n_bins: int = 5


def fitted(given: Given, asked: Asked, dropped: dict[str, str], passes: progress.Passes) -> tuple[Any, Any]:
    """The model, and its rows; no rows of a source."""
    from bayeslearn.regression import fit_linear
    from bayeslearn.regression.targets import examples
    from bayeslearn.tables.schema import require_known

    known = given.names
    require_known([*asked.target, *asked.discrete, *([asked.sample_weight] if asked.sample_weight else [])], known)
    columns = [n for n in known if n not in dropped and n not in asked.target and n != asked.sample_weight]
    how: dict[str, Any] = {
        "columns": columns, "sample_weight": given.sample_weight,
        "discrete": [n for n in asked.discrete if n in columns], "max_states": asked.max_states, "dropped": dropped,
    }  # fmt: skip
    if given.folded:
        with progress.bar("reading", passes=passes):
            return of_source(given, asked, how), None
    data = numbers_apart(given.settled(), asked)
    how["columns"] = given.columns(columns, data)
    dropped |= given.dropped_columns
    classes = asked.method == "logistic" or (asked.method == "rbf" and holds_words(data, asked))
    rows = examples(data, asked.target[0] if classes else asked.target, classes=classes, **how)
    if asked.method == "linear":
        return fit_linear(rows, None, prior=prior_of(asked, "auto")), rows
    return interruptible(rows, asked, classes=classes), rows


def of_source(given: Given, asked: Asked, how: dict[str, Any]) -> Any:
    """Least squares of a source: moments are added up, and nothing else is kept of the rows."""
    from bayeslearn.regression.out_of_core import opened
    from bayeslearn.regression.regression_model import linear_of_source

    began = time.perf_counter()
    return linear_of_source(*opened(given.data, asked.target, **how), prior_of(asked, "auto"), began)


def interruptible(rows: Any, asked: Asked, *, classes: bool) -> Any:
    """The model of a fit that takes a while: with a bar, and ended early by an interrupt."""
    from bayeslearn.regression import fit_local, fit_logistic, fit_rbf, fit_rbf_classifier

    if asked.method == "local":
        return fit_local(
            rows, None, degree=asked.degree, locality=asked.locality, kernel=asked.kernel,
            n_neighbors=asked.n_neighbors, bandwidth=asked.bandwidth, random_state=asked.seed, progress=True,
        )  # fmt: skip
    with interrupt.once("the best coefficients so far") as stop, progress.bar("fitting") as tell:

        def step(now: Any) -> None:
            stop.heed()
            tell(now.fraction, now.message)

        if asked.method == "logistic":
            return fit_logistic(
                rows, None, prior=prior_of(asked, 1.0), features=asked.features, n_bins=asked.n_bins, progress=step
            )
        fit: Callable[..., Any] = fit_rbf_classifier if classes else fit_rbf
        return fit(
            rows, None, asked.n_units, centers=asked.centers, width=asked.width, prior=prior_of(asked, "evidence"),
            random_state=asked.seed, progress=step,
        )  # fmt: skip


def numbers_apart(data: Any, asked: Asked) -> Any:
    """A table of many files with numbers as numbers, as they are read from one."""
    from bayeslearn.tables import Table
    from bayeslearn.tables.discretization import all_numbers, with_numbers

    if not isinstance(data, Table):
        return data
    kept = {*asked.discrete, *(asked.target if asked.method == "logistic" else ())}
    return with_numbers(data, [v for v in data.schema.discrete if v.name not in kept and all_numbers(v)])


def holds_words(path: Any, asked: Asked) -> bool:
    """Whether the target is a column of text, or of numbers that are categories."""
    from bayeslearn.regression.targets import read

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
