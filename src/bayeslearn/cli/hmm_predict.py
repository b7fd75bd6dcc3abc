"""``bayeslearn predict``: the hidden state of every row of a file."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, plot_files, table_writer
from bayeslearn.cli.data_options import Data, Model, reads
from bayeslearn.cli.hmm_fit import Id  # noqa: TC001 - typer reads the annotation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.cli.input_data import Given
    from bayeslearn.hmm import HiddenMarkovModel, Sequences, StatePath
    from bayeslearn.tables import Schema, Table, Variable


@reads(unseen=True)
def run(
    model_file: Model,
    data: Annotated[
        Data,
        typer.Argument(
            help="CSV or Parquet files, or patterns, each sequence in one file; missing values are marginalized out."
        ),
    ],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write, .csv or .parquet; default: CSV to stdout.")
    ] = None,
    id_column: Id = None,
    marginal: Annotated[
        bool, typer.Option("--marginal", help="The most probable state of each row instead of the most probable path.")
    ] = False,
    true_states: Annotated[
        str | None, typer.Option(help="Column of true states: the number of correct states is reported.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot of the states to write, .svg or .png.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object, with the columns if there is no -o.")
    ] = False,
) -> None:
    """Most probable state path of each sequence, and the probability of each state in every row.

    Example: bayeslearn predict casino.json rolls.csv -o states.csv
    """
    from bayeslearn.hmm import HiddenMarkovModel

    if to is not None:
        table_writer.writer(to)
    if plot is not None:
        plot_files.check(plot)
    model = HiddenMarkovModel.load(model_file)
    if data.kind == "memory":
        data.one_file("--engine memory")
    with data.opened() as given:
        given.refuse("--plot", plot, "draws the rows")
        found = Decoding(model, *(read_all if given.folded else read_one)(model, given, id_column, true_states))
        tables = found.answers(marginal=marginal)
        columns = table_writer.write_answers(to, found.schema, tables, found.n_rows, "decoding", as_json=as_json)
    if true_states is not None:
        sys.stderr.write(f"{found.n_correct} of {found.n_known} known states are correct\n")
    if as_json:
        output.show_json({
            "n_rows": found.n_rows,
            "log_likelihood": found.log_likelihood,
            "log_probability": found.log_probability,
            "n_known": None if true_states is None else found.n_known,
            "n_correct": None if true_states is None else found.n_correct,
        } | columns)  # fmt: skip
    if plot is not None and found.last is not None:
        draw(found.last, plot)


def draw(best: StatePath, plot: Path) -> None:
    """Write the plot of the states."""
    from bayeslearn import plots

    plots.save(plots.plot_states(best), plot)
    sys.stderr.write(f"wrote {plot}\n")


def read_one(model: HiddenMarkovModel, given: Given, id_column: str | None, truth: str | None) -> tuple[Any, ...]:
    """The sequences of a file in memory, the id of each row, and the true states."""
    from bayeslearn.tables import as_table

    sequences, ids = model.sequences(given.data, id=id_column), None
    if id_column is not None:
        ids = as_table(given.data, columns=[id_column], discrete=True, max_states=2**31 - 1, allow_constant=True)
    codes = None if ids is None or id_column is None else ids.codes_of(id_column)
    variable = None if ids is None or id_column is None else ids.schema[id_column]
    return [(sequences, codes)], sequences.n_rows, variable, codes_of_true_states(model, given, truth)


def read_all(model: HiddenMarkovModel, given: Given, id_column: str | None, truth: str | None) -> tuple[Any, ...]:
    """The same of files that are read batch by batch, after a pass that counts the sequences."""
    import numpy as np

    from bayeslearn.hmm.sequence_sources import lengths_by_id, observed
    from bayeslearn.tables import DiscreteVariable

    sequences = observed(model, given.data, id_column)
    lengths = lengths_by_id(sequences)
    place = {name: i for i, name in enumerate(lengths)}
    batches = ((batch, np.repeat([place[name] for name in batch.ids], batch.lengths)) for batch in sequences.batches())
    variable = DiscreteVariable(str(id_column), tuple(lengths))
    return batches, sum(lengths.values()), variable, codes_of_true_states(model, given, truth)


def codes_of_true_states(model: HiddenMarkovModel, given: Given, truth: str | None) -> NDArray[Any] | None:
    """The codes of the true states of all rows, −1 where unknown."""
    import numpy as np

    from bayeslearn.tables import DiscreteVariable, Schema
    from bayeslearn.tables.schema import require_known

    if truth is None:
        return None
    require_known([truth], given.names)
    source = given.coded(Schema([DiscreteVariable(truth, model.states)]))
    return np.concatenate([batch.codes_of(truth) for batch in source.batches()])


@dataclass
class Decoding:
    """The states of rows, and their totals after the last answer."""

    model: HiddenMarkovModel
    #: Sequences, each batch with the code of the id of each row.
    batches: Iterable[tuple[Sequences, NDArray[Any] | None]]
    n_rows: int
    id_variable: Variable | None
    truth: NDArray[Any] | None
    log_likelihood: float = 0.0
    log_probability: float = 0.0
    n_known: int = 0
    n_correct: int = 0
    #: The paths of the last batch.
    last: StatePath | None = None

    @property
    def schema(self) -> Schema:
        """The sequence of each row, its state, and the probabilities of all states."""
        from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema

        states = self.model.states
        ids = [] if self.id_variable is None else [self.id_variable]
        return Schema([
            *ids, DiscreteVariable("state", states), *(NumericVariable(f"P(state={s})") for s in states)
        ])  # fmt: skip

    def answers(self, *, marginal: bool) -> Iterator[Table]:
        """The answer batch by batch."""
        import numpy as np

        from bayeslearn.tables import Table

        start, schema = 0, self.schema
        for sequences, ids in self.batches:
            posterior, self.last = self.model.posterior(sequences), self.model.decode(sequences)
            codes = posterior.probabilities.argmax(axis=1) if marginal else self.last.codes
            self.log_likelihood += float(posterior.log_likelihood.sum())
            self.log_probability += float(self.last.log_probability.sum())
            if self.truth is not None:
                true = self.truth[start : start + len(codes)]
                self.n_known += int((true >= 0).sum())
                self.n_correct += int(((true >= 0) & (true == codes)).sum())
            start += len(codes)
            rows = [codes] if ids is None else [ids, codes]
            yield Table(schema, np.stack(rows), posterior.probabilities.T)
