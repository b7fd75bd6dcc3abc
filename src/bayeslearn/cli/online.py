"""``bayeslearn online``: rows answered one after the other, each before its label is told, by a vote of experts."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

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
MOST_SHOWN = 12

#: Experts by the words for them.
EXPERTS = ("majority", "columns", "naive")


@reads(*CELLS)
def run(
    data: Annotated[OneFile, typer.Argument(help="A CSV or Parquet file, whose rows come in order.")],
    *,
    target: Annotated[str, typer.Option(help="The column of the labels; rows without one are left out.")],
    experts: Annotated[
        str | None,
        typer.Option(help="Who votes: majority, columns (the majority beside each state), naive (Bayes); all of them."),
    ] = None,
    advice: Annotated[
        str | None, typer.Option(help="A,B: columns that hold the advice of experts; a missing cell is none.")
    ] = None,
    beta: Annotated[float, typer.Option(help="What a mistake of an expert multiplies its weight by.")] = 0.5,
    randomized: Annotated[bool, typer.Option("--randomized", help="Draw each guess by the weights.")] = False,
    bins: Annotated[int, typer.Option(help="Intervals of a column of numbers, of as many rows each.")] = 5,
    max_states: Annotated[int, typer.Option(help="Columns of words with more states are left out.")] = 255,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw mistakes beside their bound, .svg or .png.")] = None,
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
    words, columns = names(experts), names(advice)
    odd = [word for word in words if word not in EXPERTS]
    if odd:
        raise ParameterError(f"no expert is called {odd[0]!r}", hint=f"they are {', '.join(EXPERTS)}")
    left_out = data.dropped(target)
    table = read(data.given, target, columns, left_out, bins, max_states)
    panel = Experts(table, target, words or (() if columns else EXPERTS), columns)
    learner = WeightedMajority(
        panel.names, beta=beta, classes=range(len(panel.labels)), randomized=randomized, random_state=seed
    )
    with progress.bar("voting") as tell:
        course = run_online(learner, panel.rounds(), progress=lambda done: tell(done / table.n_rows))
    found = Voted(learner, course, table, left_out)
    found.show_json() if as_json else found.show()
    if plot is not None:
        from bayeslearn import plots

        plots.save(plots.plot_mistake_curve(course, f"vote of {len(panel.names)} experts"), plot)
        sys.stderr.write(f"wrote {plot}\n")


def read(given: Given, target: str, advice: list[str], left_out: dict[str, str], bins: int, max_states: int) -> Table:
    """The rows that have a label, numbers cut into intervals."""
    from bayeslearn.tables import as_table
    from bayeslearn.tables.schema import require_known

    known = given.names
    require_known([target, *advice], known)
    if target in advice:
        raise ParameterError(f"{target!r} is the target: it is no expert", hint="leave it out of --advice")
    columns = [name for name in known if name not in left_out]
    table = as_table(
        given.data, columns=columns, discrete=[target, *advice], allow_constant=True, max_states=max_states,
        left_out=left_out,
    )  # fmt: skip
    table = table.take(table.codes_of(target) >= 0)
    if not table.n_rows:
        raise EmptyTableError(
            f"no row of {given.path} has a label in column {target!r}", hint="name another column with --target"
        )
    empty = [v.name for v in table.schema.numeric if table.missing()[v.name] == table.n_rows]
    left_out |= dict.fromkeys(empty, "every cell is missing")
    table = table.drop(empty) if empty else table
    return table.discretize(n_bins=bins) if table.schema.numeric else table


@dataclass(frozen=True)
class Voted:
    """What is told of the vote."""

    learner: WeightedMajority
    course: MistakeCurve
    table: Table
    left_out: dict[str, str]

    def show(self) -> None:
        """The report."""
        learner, rounds = self.learner, self.learner.rounds
        lines = [("rounds", str(rounds)), ("experts", str(len(learner.experts)))]
        lines += [(f"left out: {name}", why) for name, why in self.left_out.items()]
        lines.append(("mistakes", f"{learner.mistakes} ({learner.mistakes / rounds:.4g})"))
        if learner.randomized:
            lines.append(("mistakes expected", output.number(learner.expected_mistakes)))
        lines += [
            ("best expert", f"{learner.best}: {learner.best_mistakes} ({learner.best_mistakes / rounds:.4g})"),
            ("regret", output.number(self.course.regret[-1])),
            ("bound on mistakes" + (" expected" if learner.randomized else ""), output.number(self.course.bounds[-1])),
        ]
        output.show_pairs(lines)
        output.gap()
        rows = sorted(self.experts(), key=lambda e: (e["mistakes"], -e["weight"]))[:MOST_SHOWN]
        output.show_table(
            ["expert", "mistakes", "spoke", "weight"],
            [[e["expert"], f"{e['mistakes']}", f"{e['spoke']}", output.number(e["weight"])] for e in rows],
        )
        if len(learner.experts) > MOST_SHOWN:
            sys.stdout.write(f"and {len(learner.experts) - MOST_SHOWN} more\n")

    def experts(self) -> list[dict[str, Any]]:
        """Each expert with what it did."""
        told = self.learner.statistics
        return [
            {"expert": name, "mistakes": int(wrong), "spoke": int(spoke), "weight": weight}
            for (name, weight), wrong, spoke in zip(self.learner.weights.items(), told.wrong, told.spoke, strict=True)
        ]

    def show_json(self) -> None:
        """The same for a machine, with the curves."""
        learner, course = self.learner, self.course
        output.show_json({
            "rounds": learner.rounds,
            "beta": learner.beta,
            "mistakes": learner.mistakes,
            "expected_mistakes": learner.expected_mistakes,
            "best": learner.best,
            "best_mistakes": learner.best_mistakes,
            "regret": course.regret[-1],
            "bound": course.bounds[-1],
            "left_out": self.left_out,
            "experts": self.experts(),
            "course": {
                "rounds": course.rounds.tolist(), "mistakes": course.mistakes.tolist(), "best": course.best.tolist(),
                "bounds": course.bounds.tolist(),
            },
        })  # fmt: skip
