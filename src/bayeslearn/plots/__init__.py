"""Plots of models and results. Needs matplotlib: ``pip install 'bayeslearn[plot]'``.

Every function draws on the axes `ax`, or on a new figure without them, and returns the figure; :func:`save` writes one
to a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.plots.figures import save as save
    from bayeslearn.plots.models import plot_arcs as plot_arcs
    from bayeslearn.plots.models import plot_calibration as plot_calibration
    from bayeslearn.plots.models import plot_class_indicators as plot_class_indicators
    from bayeslearn.plots.models import plot_confusion_matrix as plot_confusion_matrix
    from bayeslearn.plots.models import plot_contributions as plot_contributions
    from bayeslearn.plots.models import plot_cpt as plot_cpt
    from bayeslearn.plots.models import plot_density as plot_density
    from bayeslearn.plots.models import plot_em_history as plot_em_history
    from bayeslearn.plots.models import plot_error_by_n_neighbors as plot_error_by_n_neighbors
    from bayeslearn.plots.models import plot_explanation as plot_explanation
    from bayeslearn.plots.models import plot_hierarchy as plot_hierarchy
    from bayeslearn.plots.models import plot_importances as plot_importances
    from bayeslearn.plots.models import plot_learning_curve as plot_learning_curve
    from bayeslearn.plots.models import plot_member_weights as plot_member_weights
    from bayeslearn.plots.models import plot_mixture as plot_mixture
    from bayeslearn.plots.models import plot_neighbors as plot_neighbors
    from bayeslearn.plots.models import plot_network as plot_network
    from bayeslearn.plots.models import plot_query as plot_query
    from bayeslearn.plots.models import plot_regression as plot_regression
    from bayeslearn.plots.models import plot_responsibilities as plot_responsibilities
    from bayeslearn.plots.models import plot_sensitivity as plot_sensitivity
    from bayeslearn.plots.models import plot_state_posterior as plot_state_posterior
    from bayeslearn.plots.models import plot_states as plot_states
    from bayeslearn.plots.models import plot_transitions as plot_transitions
    from bayeslearn.plots.models import plot_voronoi as plot_voronoi
    from bayeslearn.plots.models import plot_words as plot_words
    from bayeslearn.plots.textbook import plot_bayes_gibbs as plot_bayes_gibbs
    from bayeslearn.plots.textbook import plot_description_lengths as plot_description_lengths
    from bayeslearn.plots.textbook import plot_error_intervals as plot_error_intervals
    from bayeslearn.plots.textbook import plot_expert_weights as plot_expert_weights
    from bayeslearn.plots.textbook import plot_function_graph as plot_function_graph
    from bayeslearn.plots.textbook import plot_growth_function as plot_growth_function
    from bayeslearn.plots.textbook import plot_mistake_bounds as plot_mistake_bounds
    from bayeslearn.plots.textbook import plot_mistake_curve as plot_mistake_curve
    from bayeslearn.plots.textbook import plot_mistake_trial as plot_mistake_trial
    from bayeslearn.plots.textbook import plot_model_comparison as plot_model_comparison
    from bayeslearn.plots.textbook import plot_pac_simulation as plot_pac_simulation
    from bayeslearn.plots.textbook import plot_posterior as plot_posterior
    from bayeslearn.plots.textbook import plot_sample_complexity as plot_sample_complexity
    from bayeslearn.plots.textbook import plot_shattered_points as plot_shattered_points
    from bayeslearn.plots.textbook import plot_version_space as plot_version_space
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
