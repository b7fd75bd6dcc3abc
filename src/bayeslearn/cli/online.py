"""``bayeslearn online``: a vote of experts that predicts each row before its label is known."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.cli import output, plot_files, progress
from bayeslearn.cli.data_options import CELLS, OneFile, reads
from bayeslearn.cli.structure_options import names
from bayeslearn.errors import EmptyTableError, ParameterError

if TYPE_CHECKING:
    from bayeslearn.cli.input_data import Given
    from bayeslearn.online import MistakeCurve, WeightedMajority
    from bayeslearn.tables import Table

#: Experts that are shown; `--json` lists all.
MAX_SHOWN = 12

#: The kinds of experts.
EXPERTS = ("majority", "columns", "naive")


@reads(*CELLS)
def run(
    data: Annotated[OneFile, typer.Argument(help="A CSV or Parquet file; its rows are read in order.")],
    *,
    target: Annotated[str, typer.Option(help="Column of the labels; rows without a label are dropped.")],
    experts: Annotated[
        str | None,
        typer.Option(help=r"Experts: majority, columns (majority given each state), naive (Bayes). \[default: all]"),
    ] = None,
    expert_columns: Annotated[
        str | None, typer.Option(help="A,B: columns with the predictions of experts; missing values are abstentions.")
    ] = None,
    beta: Annotated[float, typer.Option(help="Factor of the weight of an expert for each mistake.")] = 0.5,
    randomized: Annotated[bool, typer.Option("--randomized", help="Draw each prediction by the weights.")] = False,
    n_bins: Annotated[int, typer.Option(help="Number of bins of equal frequency per numeric column.")] = 5,
    max_states: Annotated[int, typer.Option(help="Categorical columns with more states are dropped.")] = 255,
    seed: Annotated[int, typer.Option(help="Seed of random predictions.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Plot mistakes and their bound to FILE.svg or .png.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Weighted majority over experts, row by row: number of mistakes, and their bounds.

    Example: bayeslearn online mushrooms.csv --target class --plot mistakes.png
    """
    from bayeslearn import validation
    from bayeslearn.cli.online_experts import Experts
    from bayeslearn.online import WeightedMajority, run_online

    if plot is not None:
        plot_files.check(plot)
    validation.integer("--seed", seed, min_value=0)
    words, columns = names(experts), names(expert_columns)
    odd = [word for word in words if word not in EXPERTS]
    if odd:
        raise ParameterError(f"no expert is called {odd[0]!r}", hint=f"they are {', '.join(EXPERTS)}")
    dropped = data.dropped(target)
    table = read(data.given, target, columns, dropped, n_bins, max_states)
    panel = Experts(table, target, words or (() if columns else EXPERTS), columns)
    learner = WeightedMajority(
        panel.names, beta=beta, classes=range(len(panel.labels)), randomized=randomized, random_state=seed
    )
    with progress.bar("Online learning") as step:
        curve = run_online(learner, panel.rounds(), progress=lambda now: step(now.detail / table.n_rows))
    found = Voted(learner, curve, table, dropped)
    found.show_json() if as_json else found.show()
    if plot is not None:
        from bayeslearn import plots

        plots.save(plots.plot_mistake_curve(curve, f"Vote of {len(panel.names)} experts"), plot)
        sys.stderr.write(f"wrote {plot}\n")


def read(
    given: Given, target: str, expert_columns: list[str], dropped: dict[str, str], n_bins: int, max_states: int
) -> Table:
    """The rows that have a label, with numeric columns discretized."""
    from bayeslearn.tables import as_table
    from bayeslearn.tables.schema import require_known

    known = given.names
    require_known([target, *expert_columns], known)
    if target in expert_columns:
        raise ParameterError(f"{target!r} is the target and no expert", hint="remove it from --expert-columns")
    columns = [name for name in known if name not in dropped]
    table = as_table(
        given.data, columns=columns, discrete=[target, *expert_columns], allow_constant=True, max_states=max_states,
        dropped_columns=dropped,
    )  # fmt: skip
    table = table.take(table.codes_of(target) >= 0)
    if not table.n_rows:
        raise EmptyTableError(
            f"no row of {given.path} has a label in column {target!r}", hint="name another column with --target"
        )
    empty = [v.name for v in table.schema.numeric if table.missing()[v.name] == table.n_rows]
    dropped |= dict.fromkeys(empty, "all values are missing")
    table = table.drop(empty) if empty else table
    return table.discretize(n_bins=n_bins) if table.schema.numeric else table


@dataclass(frozen=True)
class Voted:
    """The learner after all rows, its mistake curve, and the columns that were not used."""

    learner: WeightedMajority
    curve: MistakeCurve
    table: Table
    dropped: dict[str, str]

    def show(self) -> None:
        """The report."""
        learner, rounds = self.learner, self.learner.rounds
        lines = [("rounds", str(rounds)), ("experts", str(len(learner.experts)))]
        lines += [(f"dropped: {name}", why) for name, why in self.dropped.items()]
        lines.append(("mistakes", f"{learner.mistakes} ({learner.mistakes / rounds:.4g})"))
        if learner.randomized:
            lines.append(("mistakes expected", output.number(learner.expected_mistakes)))
        lines += [
            ("best expert", f"{learner.best}: {learner.best_mistakes} ({learner.best_mistakes / rounds:.4g})"),
            ("regret", output.number(self.curve.regret[-1])),
            ("bound on mistakes" + (" expected" if learner.randomized else ""), output.number(self.curve.bounds[-1])),
        ]
        output.show_pairs(lines)
        output.gap()
        rows = sorted(learner.to_dict()["experts"], key=lambda e: (e["mistakes"], -e["weight"]))[:MAX_SHOWN]
        output.show_table(
            ["expert", "mistakes", "predictions", "weight"],
            [[e["expert"], f"{e['mistakes']}", f"{e['n_predictions']}", output.number(e["weight"])] for e in rows],
        )
        if len(learner.experts) > MAX_SHOWN:
            sys.stdout.write(f"and {len(learner.experts) - MAX_SHOWN} more\n")

    def show_json(self) -> None:
        """The learner, its curve and the dropped columns as JSON."""
        regret = {"regret": self.curve.regret[-1], "bound": self.curve.bounds[-1]}
        dropped = {"dropped_columns": self.dropped}
        output.show_json({**self.learner.to_dict(), **regret, **dropped, "curve": self.curve.to_dict()})
