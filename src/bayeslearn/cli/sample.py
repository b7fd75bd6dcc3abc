"""``bayeslearn sample``: random cases of a network, as a table."""

from __future__ import annotations

import csv
import io
import sys
import time
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn import files
from bayeslearn.cli.networks import load
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bayeslearn.tables import Discrete, Table

#: Seconds of silence before a progress bar is shown.
PATIENCE = 2.0

#: Rows drawn and written at a time.
BATCH = 1 << 17


def run(
    net: Annotated[str, typer.Argument(help="A network file of any format, or a name that ships: alarm, asia.")],
    *,
    n: Annotated[int, typer.Option("-n", "--rows", help="How many cases to draw.")],
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write, .csv or .parquet; else CSV to stdout.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed draws the same cases.")] = None,
) -> None:
    """Draw independent cases from a network.

    Example: bayeslearn sample asia -n 1000 --seed 1 -o cases.parquet
    """
    from bayeslearn import validation
    from bayeslearn.network.inference.forward import draws

    validation.integer("-n", n, least=0)
    if seed is not None:
        validation.integer("--seed", seed, least=0)
    write = None if to is None else writer(to)
    network = load(net)
    variables = [cpt.variable for cpt in network]
    silent = n <= BATCH or (to is None and sys.stdout.isatty())  # a bar among the rows helps nobody
    tables = watched(draws(network, n, rng=seed, batch=BATCH), n, silent=silent)
    if to is None or write is None:
        for chunk in csv_chunks(variables, tables):
            sys.stdout.write(chunk.decode())
        return
    with files.beside(to) as place:
        write(place, variables, tables)
    sys.stderr.write(f"wrote {to}: {n} rows, {len(network)} columns\n")


### formats


def writer(path: Path) -> Any:
    """What writes files that end so."""
    writers = {".csv": write_csv, ".parquet": write_parquet}
    ending = path.suffix.lower()
    if ending not in writers:
        raise ParameterError(
            f"cannot tell the format of {str(path)!r} by its name", hint=f"names end in {' or '.join(writers)}"
        )
    return writers[ending]


def write_csv(path: Path, variables: list[Discrete], tables: Iterable[Table]) -> None:
    """A header, then a line for each row."""
    with path.open("wb") as file:
        file.writelines(csv_chunks(variables, tables))


def csv_chunks(variables: list[Discrete], tables: Iterable[Table]) -> Iterator[bytes]:
    """The text of a CSV file in parts; cells stand in quotes when one of the states needs them."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    head = io.StringIO()
    csv.writer(head, lineterminator="\n").writerow([v.name for v in variables])
    yield head.getvalue().encode()
    states = [[str(state) for state in v.states] for v in variables]
    odd = any(not state or set(state) & set(',"\r\n') for names in states for state in names)
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="needed" if odd else "none")
    words = [pa.array(names, pa.string()) for names in states]
    places = [f"f{i}" for i in range(len(variables))]
    for table in tables:
        out = io.BytesIO()
        columns = [values.take(pa.array(codes)) for values, codes in zip(words, table.codes, strict=True)]
        arrow_csv.write_csv(pa.Table.from_arrays(columns, names=places), out, options)
        yield out.getvalue()


def write_parquet(path: Path, variables: list[Discrete], tables: Iterable[Table]) -> None:
    """Columns of the states as they are: text, numbers or truth values; as text when a variable mixes these."""
    import pyarrow as pa
    from pyarrow import parquet

    values = [arrow_states(v) for v in variables]
    names = [v.name for v in variables]
    nothing = pa.Table.from_arrays([column(states, []) for states in values], names=names)
    with parquet.ParquetWriter(path, nothing.schema) as file:
        for table in tables:
            columns = [column(states, codes) for states, codes in zip(values, table.codes, strict=True)]
            file.write_table(pa.Table.from_arrays(columns, names=names))


def column(states: Any, codes: Any) -> Any:
    """The states of these codes; text is kept as codes and a dictionary."""
    import pyarrow as pa

    places = pa.array(codes, pa.int32())
    return pa.DictionaryArray.from_arrays(places, states) if pa.types.is_string(states.type) else states.take(places)


def arrow_states(variable: Discrete) -> Any:
    """The states of a variable as an Arrow array."""
    import pyarrow as pa

    kinds = {type(state) for state in variable.states}
    plain = len(kinds) == 1 and kinds <= {str, int, float, bool}
    return pa.array(variable.states if plain else [str(state) for state in variable.states])


### progress


def watched(tables: Iterable[Table], n: int, *, silent: bool) -> Iterator[Table]:
    """The tables, with a progress bar on stderr once it takes longer than a person likes to wait."""
    from rich.console import Console
    from rich.progress import Progress

    started, done = time.monotonic(), 0
    bar = Progress(
        console=Console(stderr=True), transient=True, auto_refresh=False, disable=silent,
        redirect_stdout=False, redirect_stderr=False,
    )  # fmt: skip
    with bar:
        task = bar.add_task("drawing", total=n, visible=False)
        for table in tables:
            yield table
            done += table.n_rows
            bar.update(task, completed=done, visible=time.monotonic() - started > PATIENCE, refresh=True)
