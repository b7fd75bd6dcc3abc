"""The picture of a network: a layered layout, with beliefs as bars in the nodes.

picture → what stands where        draw → the same as SVG        paint → the same on axes of matplotlib
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.network.visualization.figure_layout import Picture as Picture
    from bayeslearn.network.visualization.figure_layout import picture as picture
    from bayeslearn.network.visualization.layout import Box as Box
    from bayeslearn.network.visualization.layout import Layout as Layout
    from bayeslearn.network.visualization.layout import layered as layered
    from bayeslearn.network.visualization.renderers import draw as draw
    from bayeslearn.network.visualization.renderers import paint as paint
    from bayeslearn.network.visualization.renderers import write_svg as write_svg
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
