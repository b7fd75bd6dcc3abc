"""Options of climbs that write down how far they are, so that a job that was killed goes on from there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayeslearn.errors import ParameterError

PANEL = "Long climbs"

Checkpoint = Annotated[
    Path | None,
    typer.Option(
        help="A .json file that the model is written to on the way, whole or not at all.", rich_help_panel=PANEL
    ),
]
Every = Annotated[int, typer.Option(help="How many iterations apart.", rich_help_panel=PANEL)]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on from the --checkpoint, if it is there.", rich_help_panel=PANEL)
]


def check(checkpoint: Path | None, every: int, *, resume: bool) -> None:
    """Refuse what cannot be written, or gone on from."""
    from bayeslearn import files, validation
    from bayeslearn.codec import require_model_name

    validation.integer("--every", every, min_value=1)
    if checkpoint is None and resume:
        raise ParameterError("what should be gone on from?", hint="name the file with --checkpoint")
    if checkpoint is not None:
        require_model_name(checkpoint)
        files.destination(checkpoint)
