"""Figures of the specification: sampled inference agrees with exact inference within its stated error (B4)."""

import pytest

from bayeslearn import read_network
from bayeslearn.network.inference.approximate import SampledInference

#: What was seen of the forest: thunder, and a campfire.
SEEN = {"Thunder": "yes", "Campfire": "yes"}


def test_forward_sampling_agrees_with_the_marginals():
    network = read_network("forest-fire")
    n = 20_000
    table = network.sample(n, random_state=0)
    for name, belief in network.query().beliefs.items():
        for code, p in enumerate(belief.values()):
            share = (table.codes_of(name) == code).mean()
            assert share == pytest.approx(p, abs=5 * (p * (1 - p) / n) ** 0.5 + 1e-12)


@pytest.mark.parametrize("method", ["rejection", "likelihood_weighting", "gibbs"])
@pytest.mark.parametrize("seed", [0, 1])
def test_sampling_agrees_with_exact_inference_within_its_error(method, seed):
    network = read_network("forest-fire")
    exact = network.query(SEEN)

    answer = SampledInference(network).query(SEEN, method=method, n_samples=16_000, random_state=seed)

    for name, belief in exact.beliefs.items():
        for state, p in belief.items():
            assert abs(answer[name][state] - p) <= 4.5 * answer.errors[name][state]
            assert answer.errors[name][state] < 0.03
    if answer.log_evidence is not None:
        assert abs(answer.log_evidence - exact.log_evidence) <= 4.5 * answer.log_evidence_error


def test_the_error_halves_with_four_times_the_draws():
    network = read_network("forest-fire")
    few, many = (SampledInference(network).query(SEEN, n_samples=n, random_state=0).precision for n in (5_000, 20_000))
    assert few / many == pytest.approx(2, rel=0.1)
