"""``bayeslearn sequence score``: how probable sequences are under a model."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import Annotated

import typer

from bayeslearn.cli import output
from bayeslearn.cli.sequence_learn import Id  # noqa: TC001 - typer reads the annotation
from bayeslearn.cli.sources import CELLS, OneFile, reads

#: Sequences that are shown by themselves.
MOST_SHOWN = 20


@reads(*CELLS, unseen=True)
def run(
    model_file: Annotated[Path, typer.Argument(metavar="MODEL", help="A model of `bayeslearn sequence learn`.")],
    data: Annotated[OneFile, typer.Argument(help="A CSV or Parquet file; what is missing in it is integrated out.")],
    *,
    id_column: Id = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, with every sequence.")] = False,
) -> None:
    """Tell the log likelihood of each sequence, the least probable first: where the model is surprised.

    Example: bayeslearn sequence score ecg.json new.csv --id patient
    """
    import numpy as np

    from bayeslearn.sequence import HiddenMarkovModel

    model = HiddenMarkovModel.load(model_file)
    sequences = model.sequences(data.given.data, id=id_column)
    log_p = model.log_likelihood(sequences)
    per_row = log_p / sequences.lengths
    if as_json:
        output.show_json({
            "sequences": len(sequences),
            "rows": sequences.n_rows,
            "log_likelihood": float(log_p.sum()),
            "each": [
                {"sequence": name, "rows": int(n), "log_likelihood": float(value)}
                for name, n, value in zip(sequences.ids, sequences.lengths, log_p, strict=True)
            ],
        })  # fmt: skip
        return
    output.show_pairs([
        ("sequences", str(len(sequences))),
        ("rows", str(sequences.n_rows)),
        ("log likelihood", output.precise(log_p.sum())),
        ("per row", output.number(float(log_p.sum()) / sequences.n_rows)),
    ])  # fmt: skip
    if len(sequences) > 1:
        output.gap()
        order = np.argsort(per_row, kind="stable")[:MOST_SHOWN]
        rows = [
            [str(sequences.ids[i]), str(sequences.lengths[i]), output.precise(log_p[i]), output.number(per_row[i])]
            for i in order
        ]
        output.show_table(["sequence", "rows", "log likelihood", "per row"], rows)
