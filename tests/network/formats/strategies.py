"""Random small networks, with tame or wild names."""

import numpy as np
from hypothesis import strategies as st

from bayeslearn.network import DAG, BayesianNetwork

TAME = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,5}", fullmatch=True)

#: What files stumble over: blanks, quotation marks, brackets, comments, markup, digits, other scripts.
WILD = st.one_of(
    st.sampled_from(
        [
            "<5",
            "12+",
            "0",
            "a b",
            " a",
            "a ",
            "",
            '"',
            "\\",
            '\\"',
            "a|b",
            "{",
            "}",
            "(x, y)",
            ";",
            "//",
            "/* */",
            "a/b",
        ]
    ),
    st.sampled_from(
        ["%", "=", "x.y-z", "&amp;", "<b>", "]]>", "ä", "日本", "\u00a0", "table", "default", "'", "a,b", "`"]
    ),
    st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], max_codepoint=0xFFFD), max_size=6),
)

#: These too: line breaks and other control characters.
ANY = st.one_of(WILD, st.sampled_from(["a\nb", "\t", "\r", "\x00", "\u2028", "\ud800", "\uffff"]))


@st.composite
def networks(draw, names=TAME, states=None, most=4):
    """A network of a few variables, each with some of those before it as parents, declared in any order."""
    variables = draw(st.lists(names, min_size=1, max_size=most, unique=True))
    labels = st.lists(names if states is None else states, min_size=1, max_size=3, unique_by=(str, lambda state: state))
    levels = {name: draw(labels) for name in variables}
    families = {name: draw(st.lists(st.sampled_from(variables[:i]), unique=True, max_size=3)) if i else []
                for i, name in enumerate(variables)}  # fmt: skip
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tables = {name: table(rng, [len(levels[v]) for v in (*families[name], name)]) for name in variables}
    order = draw(st.permutations(variables))
    dag = DAG({name: tuple(families[name]) for name in order})
    return BayesianNetwork.from_tables(dag, tables, states=levels, name=draw(names))


def table(rng, shape):
    """Rows of probabilities, some of them zero."""
    weights = rng.random(shape) * (rng.random(shape) < 0.8)
    weights[..., 0] += 1e-3
    return weights / weights.sum(axis=-1, keepdims=True)
