"""``bayeslearn score``: the log-likelihood of sequences under a hidden Markov model."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from bayeslearn.cli import output, progress
from bayeslearn.cli.data_options import Data, Model, reads
from bayeslearn.cli.hmm_fit import Id  # noqa: TC001 - typer reads the annotation

#: The maximum number of sequences that are listed.
MAX_SHOWN = 20


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
    id_column: Id = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, with every sequence.")] = False,
) -> None:
    """Report the log-likelihood of each sequence, the least probable first.

    Example: bayeslearn score ecg.json beats.csv --id patient
    """
    import numpy as np

    from bayeslearn.hmm import HiddenMarkovModel
    from bayeslearn.hmm.sequence_sources import in_two_places, observed

    model = HiddenMarkovModel.load(model_file)
    if data.kind == "memory":
        data.one_file("--engine memory")
    with data.opened() as given, progress.bar("scoring", passes=data.passes):
        batches = (
            observed(model, given.data, id_column).batches()
            if given.folded
            else [model.sequences(given.data, id=id_column)]
        )
        parts = [(batch.ids, batch.lengths, model.log_likelihood(batch)) for batch in batches]
    ids = [name for names, _, _ in parts for name in names]
    if len(set(ids)) < len(ids):
        raise in_two_places([name for name, n in Counter(ids).items() if n > 1])
    lengths, log_p = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
    rows, per_row = int(lengths.sum()), log_p / lengths
    if as_json:
        output.show_json({
            "n_sequences": len(ids),
            "n_rows": rows,
            "log_likelihood": float(log_p.sum()),
            "sequences": [
                {"sequence": name, "n_rows": int(n), "log_likelihood": float(value)}
                for name, n, value in zip(ids, lengths, log_p, strict=True)
            ],
        })  # fmt: skip
        return
    output.show_pairs([
        ("Sequences", str(len(ids))),
        ("Rows", str(rows)),
        ("Log-likelihood", output.precise(log_p.sum())),
        ("Per row", output.number(float(log_p.sum()) / rows)),
    ])  # fmt: skip
    if len(ids) > 1:
        output.gap()
        order = np.argsort(per_row, kind="stable")[:MAX_SHOWN]
        shown = [[str(ids[i]), str(lengths[i]), output.precise(log_p[i]), output.number(per_row[i])] for i in order]
        output.show_table(["Sequence", "Rows", "Log-likelihood", "Per row"], shown)
