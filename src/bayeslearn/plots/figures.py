"""Figures and axes of plots, colors, and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayeslearn import files, lazy_imports
from bayeslearn.errors import ParameterError

matplotlib_figure: Any = lazy_imports.Optional("matplotlib.figure", "pictures", "plot")

#: The attributes of fitted estimators that hold their models.
MODELS = ("model_", "network_", "posterior_", "version_space_", "hypothesis_", "learner_")

#: Pixels of a drawn graph per inch.
DPI = 96


def figure_colors() -> Any:
    """A color for every code."""
    from matplotlib import colormaps  # noqa: PLC0415 - an extra, loaded when a picture is wanted

    wheel = colormaps["tab20"]
    return lambda code: wheel((2 * code + code // 10) % 20)


def save(figure: Any, path: str | Path) -> None:
    """Write a figure to a file, atomically; the extension sets the format."""
    path = Path(path)
    endings, ending = sorted(figure.canvas.get_supported_filetypes()), path.suffix.lstrip(".").lower()
    if ending not in endings:
        raise ParameterError(f"{path.name!r} has no ending of a picture", hint=f"use one of {', '.join(endings)}")
    with files.beside(path) as place:
        figure.savefig(place, format=ending, bbox_inches="tight", dpi=150)


def model_of(model: Any) -> Any:
    """The model of a fitted estimator; a model unchanged."""
    return next((getattr(model, name) for name in MODELS if hasattr(model, name)), model)


def canvas(ax: Any, size: tuple[float, float] = (6, 4)) -> tuple[Any, Any]:
    """The figure and its axes: those that were given, or new ones of a size in inches."""
    if ax is not None:
        return ax.figure, ax
    figure = matplotlib_figure.Figure(figsize=size, layout="constrained")
    return figure, figure.add_subplot()
