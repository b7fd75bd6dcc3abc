"""Slow, obvious twins, and random classes."""

import itertools
from functools import lru_cache

import numpy as np
from hypothesis import strategies as st

from bayeslearn.learning_theory import ConceptClass


@st.composite
def concept_classes(draw, hypotheses=20, points=6):
    """Random small classes, some of them lopsided."""
    n, p = draw(st.integers(1, hypotheses)), draw(st.integers(1, points))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return ConceptClass.from_matrix(rng.random((n, p)) < draw(st.sampled_from([0.1, 0.3, 0.5, 0.8])))


def patterns(concepts, places):
    return {tuple(row) for row in concepts.labels[:, list(places)].tolist()}


def vc_dimension(concepts):
    p = range(len(concepts.points))
    shattered = (
        d
        for d in reversed(range(len(p) + 1))
        for s in itertools.combinations(p, d)
        if len(patterns(concepts, s)) == 2**d
    )
    return next(shattered)


def growth(concepts, m):
    return max(len(patterns(concepts, s)) for s in itertools.combinations(range(len(concepts.points)), m))


def games(concepts):
    """Opt and Halving by their definitions, over sets of rows."""

    def splits(space):
        for x in range(len(concepts.points)):
            yes = frozenset(row for row in space if row[x])
            if yes and yes != space:
                yield yes, space - yes

    @lru_cache(None)
    def optimal(space):
        return max((1 + min(optimal(a), optimal(b)) for a, b in splits(space)), default=0)

    @lru_cache(None)
    def halving(space):
        moves = [pair for a, b in splits(space) for pair in ((a, b), (b, a))]
        return max(((len(kept) <= len(gone)) + halving(kept) for kept, gone in moves), default=0)

    everything = frozenset(map(tuple, concepts.labels.tolist()))
    return optimal(everything), halving(everything)
