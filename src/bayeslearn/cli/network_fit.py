"""``bayeslearn fit network``: from a file of cases, with holes or without, to a network that can be asked."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

from bayeslearn.cli import interrupt, network_fit_report, plot_files, progress, structure_options
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.input_data import MEMORY, Given
from bayeslearn.cli.network_files import hidden_variables, keep
from bayeslearn.cli.structure_options import Bins, Forbid, Leaves, MaxStates, Require, Roots, Tiers, Weights  # noqa: TC001
from bayeslearn.errors import ParameterError

#: Bytes that a search may take for what it remembers, when nothing is said.
MOST_MEMORY = 1 << 30


@reads()
def run(
    data: Annotated[
        Data,
        typer.Argument(
            help="CSV or Parquet files of cases, or patterns, or a name that ships: chest-clinic; ?, empty and NaN are "
            "missing."
        ),
    ],
    *,
    to: Annotated[
        Path, typer.Option("-o", "--output", help="The model to write; .json keeps the counts and the prior too.")
    ],
    target: Annotated[
        str | None, typer.Option(help="The variable that tan and naive are built around, and the root of tree.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="auto, hill-climb, tabu, orders, ges or exact search by score; k2, best-parents or faint-parents "
            "under an --order; pc or mmhc test; tree, tan, naive or empty are of a fixed form."
        ),
    ] = "auto",
    score: Annotated[str, typer.Option(help="bic (or mdl), aic, loglik, k2, bdeu:CASES or bds:CASES.")] = "bic",
    order: Annotated[str | None, typer.Option(help="A,B,C: all variables, parents before children.")] = None,
    require: Require = None,
    forbid: Forbid = None,
    tiers: Tiers = None,
    roots: Roots = None,
    leaves: Leaves = None,
    max_parents: Annotated[int | None, typer.Option(help="The most parents that a variable may have.")] = None,
    hidden: Annotated[
        list[str] | None, typer.Option(help="VAR:N or VAR:STATE,STATE,...: a variable that no row shows.")
    ] = None,
    restarts: Annotated[
        int,
        typer.Option(help="For hill-climb and tabu: how often to search on after some arcs were changed at random."),
    ] = 0,
    bootstrap: Annotated[int, typer.Option(help="Resamples of the rows, which tell how sure each arc is.")] = 0,
    average: Annotated[
        bool, typer.Option("--average", help="Keep the arcs that resamples agree on; 100 of them when not said.")
    ] = False,
    prior: Annotated[
        str, typer.Option(help="Cases that tables have seen before: none, laplace, k2, jeffreys, bdeu:N or m:N.")
    ] = "bdeu:1",
    discretize: Annotated[
        str, typer.Option(help="Strategy for numeric columns: quantile, uniform, or mdl with a --target.")
    ] = "quantile",
    bins: Bins = None,
    max_states: MaxStates = 255,
    sample_weight: Weights = None,
    alpha: Annotated[float, typer.Option(help="The level of tests, for pc and mmhc.")] = 0.05,
    test: Annotated[str, typer.Option(help="g2, chi2 or mi, for pc and mmhc.")] = "g2",
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds after which the best so far is taken; the check has as many again.")
    ] = None,
    held_out: Annotated[
        float, typer.Option(help="Share of the rows that are kept back to see what the structure is worth; 0 for none.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw the network into this .svg or .png file.")] = None,
    compact: plot_files.Compact = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Fit a Bayesian network: structure and parameters.

    Constant and identifier columns are dropped, numeric columns discretized.
    Ctrl-C ends the search with the best network so far.

    Example: bayeslearn fit network cases.csv --bootstrap 200 -o model.json
    """
    from bayeslearn.network import fit_network
    from bayeslearn.network.evaluation import held_out as check
    from bayeslearn.network.structure.fit import ROUNDS

    _check(to, plot, held_out, seed, bootstrap)
    _check_order(order, method)
    knowledge = structure_options.known(require, forbid, tiers, roots, leaves, max_parents)
    limit = MOST_MEMORY if data.limit is None else data.limit
    reading: dict[str, Any] = {"discretize": discretize, "n_bins": bins, "max_states": max_states}
    settings: dict[str, Any] = {
        "method": method, "score": score, "target": target, "order": structure_options.names(order) or None,
        "knowledge": knowledge, "hidden": hidden_variables(hidden), "prior": prior, "alpha": alpha, "test": test,
        "restarts": restarts, "time_limit": time_limit, "memory_limit": limit,
    }  # fmt: skip
    with data.opened(sample_weight=sample_weight, max_states=max_states, limits_more=True) as given:
        with interrupt.once() as stop, progress.bar("learning", passes=data.passes) as tell:
            told = structure_options.telling(tell, stop, time_limit)
            reading |= {"sample_weight": given.sample_weight, "bootstrap": bootstrap, "average": average}
            fit = fit_network(given.settled(), **reading, **settings, random_state=seed, progress=told)
            ended = network_fit_report.ended(fit, time_limit, by_hand=stop.asked)
            checked = None
            if held_out and not stop.asked and not given.folded:
                told = structure_options.telling(tell, stop, time_limit, "checking: ")
                checked = check(fit, share=held_out, random_state=seed, time_limit=time_limit, progress=told)
        keep(fit.network, to)
        if plot is not None:
            plot_files.draw(fit.network, {}, plot, compact=compact)
        if stop.asked:  # a check that was ended says nothing
            checked = None
        unchecked = None if checked or not held_out else why_unchecked(given, stop)
        rounds = bootstrap or (ROUNDS if average else 0)
        asked = network_fit_report.Asked(rounds, knowledge, ended, unchecked)
        (network_fit_report.show_json if as_json else network_fit_report.show)(fit, checked, asked)
    sys.stderr.write(f"learned in {fit.seconds:.2f} s\n")


def why_unchecked(given: Given, stop: interrupt.Stop) -> str:
    """What kept rows from being held out."""
    if stop.asked:
        return "Ctrl-C came before"
    return f"no rows were held out, {MEMORY}; or score other files" if given.folded else "there are too few rows"


### what was asked for


def _check(to: Path, plot: Path | None, held_out: float, seed: int, bootstrap: int) -> None:
    """All that can be seen to be wrong before the rows are read."""
    from bayeslearn import files, validation
    from bayeslearn.network.formats.read_write import label_of

    label_of(to, None)
    files.destination(to)
    if plot is not None:
        plot_files.check(plot)
    validation.number("--held-out", held_out, min_value=0, below=1)
    validation.integer("--seed", seed, min_value=0)
    validation.integer("--bootstrap", bootstrap, min_value=0)


def _check_order(order: str | None, method: str) -> None:
    """An order that a method would not look at is a mistake."""
    from bayeslearn.network.structure.algorithms import METHODS

    taking = [name for name, entry in METHODS.items() if entry.needs == "order"]
    if order and method in METHODS and method not in taking:
        raise ParameterError(
            f"--method {method} does not look at an order",
            hint=f"take {' or '.join(taking)}, or write it as --tiers, with ; between the variables",
        )
