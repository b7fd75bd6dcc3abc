"""Random spaces, attributes and examples."""

from hypothesis import strategies as st

from bayeslearn.hypotheses import AttributeSpace, Conjunction, Examples


@st.composite
def attributes(draw, most=4, states=3, fewest=1):
    sizes = draw(st.lists(st.integers(fewest, states), min_size=1, max_size=most))
    return AttributeSpace.parse({f"a{i}": [f"v{j}" for j in range(k)] for i, k in enumerate(sizes)})


def rows(known):
    return st.tuples(*[st.sampled_from(states) for states in known.states])


def conjunctions(known):
    some = st.tuples(*[st.sampled_from([*states, "?"]) for states in known.states])
    return st.one_of(some, st.just(("∅",) * len(known))).map(lambda c: Conjunction.from_constraints(known, c))


@st.composite
def consistent_examples(draw, most=8, **kinds):
    """Examples that some conjunction labels, in random order; the conjunction may never be seen to be true."""
    known = draw(attributes(**kinds))
    target = draw(conjunctions(known))
    seen = draw(st.lists(rows(known), max_size=most))
    return Examples.from_rows(seen, [target(row) for row in seen], attributes=known)


@st.composite
def any_examples(draw, most=6, **kinds):
    """Examples with labels at random: often no conjunction agrees with them."""
    known = draw(attributes(**kinds))
    seen = draw(st.lists(st.tuples(rows(known), st.booleans()), max_size=most))
    return Examples.from_rows([row for row, _ in seen], [label for _, label in seen], attributes=known)


def plain(examples):
    """States, rows and labels without any of our types, for the slow twins."""
    pairs = [(tuple(row.values()), label) for row, label in examples]
    return examples.attributes.states, [row for row, _ in pairs], [label for _, label in pairs]


def spelled(h):
    """A conjunction as the slow twins spell it."""
    return None if "∅" in h.constraints else h.constraints
