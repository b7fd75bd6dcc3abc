"""What learners are made of: components, each a distribution over columns, and the product of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.components.component import Component as Component
    from bayeslearn.components.component import Density as Density
    from bayeslearn.components.component import Kernels as Kernels
    from bayeslearn.components.component import register_kernels as register_kernels
    from bayeslearn.components.product import Product as Product
    from bayeslearn.components.product import ProductDensity as ProductDensity
    from bayeslearn.components.product import register_sweep as register_sweep
    from bayeslearn.components.rows import Rows as Rows
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
