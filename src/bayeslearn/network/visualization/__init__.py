"""The picture of a network: a layered layout, with beliefs as bars in the nodes.

figure_layout → positions of nodes and arcs        renderers → SVG, or axes of matplotlib

:meth:`.BayesianNetwork.to_svg`, :meth:`.DAG.to_svg` and :func:`bayeslearn.plots.plot_network` draw it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.network.visualization.figure_layout import Picture as Picture
    from bayeslearn.network.visualization.layout import Box as Box
    from bayeslearn.network.visualization.layout import Layout as Layout
    from bayeslearn.network.visualization.renderers import write_svg as write_svg
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
