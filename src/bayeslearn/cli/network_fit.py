"""``bayeslearn fit network``: a Bayesian network, structure and parameters, fitted to data."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import interrupt, output, plot_files, progress, structure_options
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.input_data import MEMORY, Given
from bayeslearn.cli.network_files import hidden_variables, keep
from bayeslearn.cli.structure_options import (  # noqa: TC001 - as above
    Bins,
    Forbidden,
    Leaves,
    MaxParents,
    MaxStates,
    Required,
    Roots,
    Tiers,
    Weights,
)
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from bayeslearn.network import BayesianNetwork

#: Bytes that a search may take for what it remembers, by default.
MAX_MEMORY = 1 << 30


@reads()
def run(
    data: Annotated[
        Data,
        typer.Argument(
            help="CSV or Parquet files, patterns, or a shipped table (chest-clinic); ?, empty and NaN are missing."
        ),
    ],
    *,
    to: Annotated[
        Path, typer.Option("-o", "--output", help="The model to write; .json and .model keep counts, prior and bins.")
    ],
    target: Annotated[
        str | None, typer.Option(help="Class variable of tan and naive_bayes, and root of chow_liu.")
    ] = None,
    algorithm: Annotated[
        str,
        typer.Option(
            help="auto; by score: hill_climb, tabu, order_search, ges, exact; with an --order: k2, "
            "optimal_given_order, weak_parents_given_order; by tests: pc, mmhc; of a fixed form: chow_liu, tan, "
            "naive_bayes, empty."
        ),
    ] = "auto",
    criterion: Annotated[
        str, typer.Option(help="Score of structures: bic (or mdl), aic, loglik, k2, bdeu:N or bds:N.")
    ] = "bic",
    order: Annotated[str | None, typer.Option(help="A,B,C: all variables, parents before children.")] = None,
    required: Required = None,
    forbidden: Forbidden = None,
    tiers: Tiers = None,
    roots: Roots = None,
    leaves: Leaves = None,
    max_parents: MaxParents = None,
    hidden: Annotated[
        list[str] | None, typer.Option(help="VAR:N or VAR:STATE,STATE,...: a variable that no column shows.")
    ] = None,
    n_restarts: Annotated[int, typer.Option(help="Random restarts of hill_climb and tabu.")] = 0,
    bootstrap: Annotated[int, typer.Option(help="Number of bootstrap samples for arc strengths.")] = 0,
    average: Annotated[
        bool, typer.Option("--average", help="Keep the arcs that most bootstrap samples agree on (100 by default).")
    ] = False,
    prior: Annotated[
        str, typer.Option(help="Prior of the CPTs: none, laplace, k2, jeffreys, bdeu:N or m:N.")
    ] = "bdeu:1",
    discretize: Annotated[
        str, typer.Option(help="Strategy for numeric columns: quantile, uniform, or mdl with a --target.")
    ] = "quantile",
    n_bins: Bins = None,
    max_states: MaxStates = 255,
    sample_weight: Weights = None,
    significance_level: Annotated[float, typer.Option(help="Significance level of the tests of pc and mmhc.")] = 0.05,
    test: Annotated[str, typer.Option(help="Test of pc and mmhc: g_test, chi2 or mutual_information.")] = "g_test",
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for the search; the hold-out comparison has as many again.")
    ] = None,
    test_size: Annotated[
        float, typer.Option(help="Share of the rows held out for a comparison with baselines; 0 for none.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(help="Seed of random numbers.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw the network into this .svg or .png file.")] = None,
    compact: plot_files.Compact = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Fit a Bayesian network: structure and parameters.

    Constant and identifier columns are dropped, numeric columns discretized.
    Ctrl-C ends the search with the best network so far.

    Example: bayeslearn fit network patients.csv --bootstrap 200 -o model.json
    """
    from bayeslearn.network import fit_network

    _check(to, plot, test_size, seed, bootstrap)
    _check_order(order, algorithm)
    settings: dict[str, Any] = {
        "algorithm": algorithm, "criterion": criterion, "target": target, "hidden": hidden_variables(hidden),
        "order": structure_options.names(order) or None, "prior": prior, "significance_level": significance_level,
        "knowledge": structure_options.known(required, forbidden, tiers, roots, leaves, max_parents), "test": test,
        "n_restarts": n_restarts, "bootstrap": bootstrap, "average": average, "time_limit": time_limit,
        "memory_limit": MAX_MEMORY if data.limit is None else data.limit, "discretize": discretize, "n_bins": n_bins,
        "max_states": max_states, "random_state": seed,
    }  # fmt: skip
    with data.opened(sample_weight=sample_weight, max_states=max_states, limits_more=True) as given:
        with interrupt.once() as stop, progress.bar("fitting", passes=data.passes) as tell:
            report = structure_options.reporting(tell, stop, time_limit)
            network = fit_network(
                given.settled(), sample_weight=given.sample_weight, progress=report, **settings
            )  # fmt: skip
            stopped = "Ctrl-C" if stop.asked else "the time limit" if late(network, time_limit) else None
            if test_size:
                report = structure_options.reporting(tell, stop, time_limit, "hold-out comparison: ")
                options = {"test_size": test_size, "random_state": seed, "time_limit": time_limit, "progress": report}
                network = compared(network, given, stop, options)
        keep(network, to)
        if plot is not None:
            plot_files.draw(network, {}, plot, compact=compact)
        info = network.fit_info
        if as_json:
            output.show_json(info.to_dict() | {"stopped_by": stopped})
        else:
            sys.stdout.write(info.summary() + "\n" + (f"\nStopped by {stopped}\n" if stopped else ""))
    sys.stderr.write(f"fitted in {info.seconds:.2f} s\n")


def late(network: BayesianNetwork, limit: float | None) -> bool:
    """Whether a time limit ended the search, or the search took longer."""
    info = network.fit_info
    return bool(info.stopped_early or (limit is not None and info.seconds > limit))


def compared(network: BayesianNetwork, given: Given, stop: interrupt.Stop, options: dict[str, Any]) -> BayesianNetwork:
    """The network with its hold-out comparison, or with a note why there is none."""
    from bayeslearn.fit_info import with_fit_info
    from bayeslearn.network import evaluate_holdout

    found = None if stop.asked or given.folded else evaluate_holdout(network, **options)
    if stop.asked:  # a comparison that was ended is not complete
        found, why = None, "Ctrl-C ended the fit"
    else:
        why = f"it {MEMORY.removeprefix('which ')}; or score other files" if given.folded else "there are too few rows"
    info = network.fit_info
    notes = info.notes if found else (*info.notes, f"no hold-out comparison: {why}")
    return with_fit_info(network, replace(info, holdout=found, notes=notes))


### what was asked for


def _check(to: Path, plot: Path | None, test_size: float, seed: int, bootstrap: int) -> None:
    """All mistakes that are visible before the rows are read."""
    from bayeslearn import files, validation
    from bayeslearn.network.formats.read_write import label_of

    label_of(to, None)
    files.destination(to)
    if plot is not None:
        plot_files.check(plot)
    validation.number("--test-size", test_size, min_value=0, below=1)
    validation.integer("--seed", seed, min_value=0)
    validation.integer("--bootstrap", bootstrap, min_value=0)


def _check_order(order: str | None, algorithm: str) -> None:
    """Refuse an order that the algorithm does not use."""
    from bayeslearn import validation
    from bayeslearn.network.structure.algorithms import ALGORITHMS

    if order is None:
        return
    taking = [name for name, entry in ALGORITHMS.items() if entry.needs == "order"]
    if validation.choice("--algorithm", algorithm, list(ALGORITHMS)) not in taking:
        raise ParameterError(
            f"--algorithm {algorithm} does not use an order",
            hint=f"choose {', '.join(taking)}, or write the order as --tiers, with ; between the variables",
        )
