"""``bayeslearn fit mixture``: clusters of the rows of a table."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import Annotated, Any

import typer

from bayeslearn.cli import checkpoint_options, interrupt, output, progress
from bayeslearn.cli.checkpoint_options import Checkpoint, Every, Resume  # noqa: TC001 - typer reads the annotations
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.input_data import Given  # noqa: TC001 - typer reads the annotations
from bayeslearn.cli.naive_bayes_fit import pairs
from bayeslearn.errors import ParameterError


@reads()
def run(
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns; ?, empty and NaN are missing.")],
    *,
    to: Annotated[Path, typer.Option("-o", "--output", help="Model file to write, .json or .json.gz.")],
    n_components: Annotated[
        str, typer.Option(help="Number of components, or auto: the number with the best criterion.")
    ] = "auto",
    distribution: Annotated[
        list[str] | None,
        typer.Option(help="Distribution of a column, COL=NAME: categorical, gaussian, poisson, gamma, ..."),
    ] = None,
    covariance_type: Annotated[
        str | None,
        typer.Option(help="full, tied, diag or spherical; default: full if all columns are numeric, else diag."),
    ] = None,
    prior: Annotated[
        str, typer.Option(help="weak: one pseudo-row per component, keeps variances regular; none: maximum likelihood.")
    ] = "weak",
    sample_weight: Annotated[str | None, typer.Option(help="Column with the weight of each row.")] = None,
    criterion: Annotated[
        str | None,
        typer.Option(help="marginal_likelihood, bic or aic; default: marginal_likelihood, bic without a prior."),
    ] = None,
    min_components: Annotated[int, typer.Option(help="Smallest number that auto tries.")] = 1,
    max_components: Annotated[int, typer.Option(help="Largest number that auto tries.")] = 20,
    patience: Annotated[
        int, typer.Option(help="auto tries larger numbers until this many in a row do not improve the criterion.")
    ] = 2,
    n_init: Annotated[int, typer.Option(help="Number of initializations; the best result is kept.")] = 4,
    tol: Annotated[float, typer.Option(help="Gain in log-likelihood, in nats, at which EM has converged.")] = 1e-3,
    max_iter: Annotated[int, typer.Option(help="Maximum number of iterations.")] = 1000,
    max_states: Annotated[int, typer.Option(help="Categorical columns with more states are dropped.")] = 255,
    checkpoint: Checkpoint = None,
    checkpoint_every: Every = 5,
    resume: Resume = False,
    seed: Annotated[int, typer.Option(help="Seed of the initializations.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Plot of the clusters to write, .png, .svg or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Fit a mixture by EM: clusters of rows with categorical, numeric and count columns and missing values.

    Numeric tables get Gaussian components. In other tables columns are independent within a component.

    Example: bayeslearn fit mixture zoo.csv --drop-columns name -o zoo.json
    """
    from bayeslearn import files, validation
    from bayeslearn.codec import require_model_name
    from bayeslearn.mixture import fit_mixture

    require_model_name(to)
    files.destination(to)
    prior = validation.choice("--prior", prior, ["weak", "none"])
    number: Any = n_components
    if n_components.lower() != "auto":
        number = validation.positive_count("--n-components", n_components, ("auto",))
    kinds, dropped = pairs("--distribution", distribution), data.dropped(sample_weight)
    options: dict[str, Any] = {
        "covariance_type": covariance_type, "prior": None if prior == "none" else "weak", "criterion": criterion,
        "min_components": min_components, "max_components": max_components, "patience": patience, "n_init": n_init,
        "tol": tol, "max_iter": max_iter, "random_state": validation.integer("--seed", seed, min_value=0),
        **checkpoints(checkpoint, checkpoint_every, number, resume=resume),
    }  # fmt: skip
    with data.opened(sample_weight=sample_weight, max_states=max_states) as given:
        given.refuse("--plot", plot, "draws the rows")
        table = given.settled(read(given, kinds, dropped, sample_weight, max_states))
        kinds = {name: kind for name, kind in kinds.items() if name in table.schema.names}
        with interrupt.once("the best clusters so far") as stop, progress.bar("fitting", passes=data.passes) as tell:
            model = fit_mixture(table, number, distributions=kinds, progress=progress.following(tell, stop), **options)
        model.save(to)
        info = replace(model.fit_info, dropped_columns=dropped)
        if as_json:
            output.show_json(info.to_dict())
        else:
            sys.stdout.write(info.summary() + "\n")
        if plot is not None:
            from bayeslearn import plots

            plots.save(plots.plot_mixture(model, table), plot)
    sys.stderr.write(f"wrote {to}: {model.n_components} components, {len(table.schema)} columns\n")


def checkpoints(checkpoint: Path | None, every: int, n_components: Any, *, resume: bool) -> dict[str, Any]:
    """The checkpoint to write, and the one to continue from."""
    from bayeslearn.mixture import MixtureModel

    checkpoint_options.check(checkpoint, every, resume=resume)
    if checkpoint is None:
        return {}
    if n_components == "auto":
        raise ParameterError("--checkpoint needs a number of components", hint="--n-components 3")
    begun = {"init": MixtureModel.load(checkpoint)} if resume and checkpoint.exists() else {}
    return {"checkpoint": checkpoint, "checkpoint_every": every, **begun}


def read(
    given: Given, kinds: dict[str, str], dropped: dict[str, str], sample_weight: str | None, max_states: int
) -> Any:
    """The table or the source, without columns that are not wanted or cannot be used."""
    from bayeslearn.mixture.mixed_table import read_table
    from bayeslearn.tables.schema import require_known

    known = given.names
    require_known([*kinds, *([sample_weight] if sample_weight else [])], known)
    columns = [name for name in known if name not in dropped and name != sample_weight]
    return read_table(given.data, kinds, columns, given.sample_weight, max_states, dropped)[0]
