"""Options of fits that write checkpoints, from which an interrupted fit continues."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayeslearn.errors import ParameterError

PANEL = "Checkpoints"

Checkpoint = Annotated[
    Path | None,
    typer.Option(help="Checkpoint file, .json: the best model so far, written atomically.", rich_help_panel=PANEL),
]
Every = Annotated[
    int, typer.Option("--checkpoint-every", help="Iterations between checkpoints.", rich_help_panel=PANEL)
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Continue from the --checkpoint, if it exists.", rich_help_panel=PANEL)
]


def check(checkpoint: Path | None, every: int, *, resume: bool) -> None:
    """Refuse a checkpoint that cannot be written, or continued from."""
    from bayeslearn import files, validation
    from bayeslearn.codec import require_model_name

    validation.integer("--checkpoint-every", every, min_value=1)
    if checkpoint is None and resume:
        raise ParameterError("--resume needs a checkpoint", hint="name the file with --checkpoint")
    if checkpoint is not None:
        require_model_name(checkpoint)
        files.destination(checkpoint)
