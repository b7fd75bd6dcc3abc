"""The picture of a network: a layered layout, with beliefs as bars in the nodes.

picture → what stands where        draw → the same as SVG        paint → the same on axes of matplotlib
"""

from bayeslearn.network.drawing.layout import Box, Layout, layered
from bayeslearn.network.drawing.painting import paint
from bayeslearn.network.drawing.scene import Picture, picture
from bayeslearn.network.drawing.svg import draw, write_svg

__all__ = ["Box", "Layout", "Picture", "draw", "layered", "paint", "picture", "write_svg"]
