"""``bayeslearn compare-networks``: the differences of two networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.cli import envelope, output
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.network_files import NETWORK, load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayeslearn.network import Comparison


@reads(unseen=True)
def run(
    a: Annotated[str, typer.Argument(help=NETWORK)],
    b: Annotated[str, typer.Argument(help="Another.")],
    *,
    data: Annotated[
        Data | None,
        typer.Option(help="CSV or Parquet files whose log-likelihood under each is compared. Repeatable."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """Compare two networks: shared, reversed and missing arcs, structural Hamming distance, log-likelihood of data.

    The distance counts pairs of variables that are connected differently: between the equivalence classes, which data
    can distinguish, and arc by arc, which also counts arcs that can be reversed within the class.

    Example: bayeslearn compare-networks asia model.json --data new-patients.csv
    """
    from bayeslearn.network import compare_networks

    one, other = load(a), load(b)
    if data is None:
        found = compare_networks(one, other)
    else:
        with data.opened() as given:
            found = compare_networks(one, other, given.data)
    output.show_json(found.to_dict()) if as_json else _show(found, a, b)


def _show(found: Comparison, a: str, b: str) -> None:
    counts = [
        ("shared", found.shared),
        ("reversed", found.reversed),
        (f"only {a}", found.only_in_first),
        (f"only {b}", found.only_in_second),
    ]
    pairs = [("distance", f"{found.distance} between classes, {found.arc_distance} arc by arc")]
    pairs += [("equivalent", "yes" if found.equivalent else "no")]
    pairs += [(name, f"{len(arcs)}{_arcs(arcs)}") for name, arcs in counts]
    lacking = ((b, found.variables_only_in_first), (a, found.variables_only_in_second))
    pairs += [("variables", f"{net} lacks {', '.join(names)}") for net, names in lacking if names]
    output.show_pairs(pairs)
    if found.log_likelihoods is not None:
        output.gap()
        rows = [
            [
                net,
                output.number(of.mean_log_likelihood),
                f"{of.log_likelihood:.8g}",
                str(of.n_parameters),
                f"{of.bic:.8g}",
            ]
            for net, of in zip((a, b), found.log_likelihoods, strict=True)
        ]
        output.show_table(["network", "mean log-likelihood", "log-likelihood", "parameters", "BIC"], rows)
        _warn(found, a, b)


def _arcs(arcs: Iterable[tuple[str, str]]) -> str:
    shown = ", ".join(" → ".join(arc) for arc in arcs)
    return f": {shown}" if shown else ""


def _warn(found: Comparison, a: str, b: str) -> None:
    """Rows of probability zero."""
    for net, of in zip((a, b), found.log_likelihoods or (), strict=True):
        if of.impossible:
            envelope.warn(f"{of.impossible} rows have probability zero under {net}")
