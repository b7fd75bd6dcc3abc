"""Valid files, damaged at random: an answer or a named error, never a crash, never half a network."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import BayeslearnError
from bayeslearn.network.formats import FORMATS, format_network, parse_network, read_network
from bayeslearn.network.formats.bif import Reader
from bayeslearn.source_text import Source
from tests.network.formats.strategies import WILD, networks
from tests.network.formats.texts import TEXTS
from tests.properties import trials

#: Pieces that mean something to one format or another.
SPLINTERS = st.one_of(
    st.sampled_from(
        [*'{}()[]|;,"\\%=<>/&', "//", "/*", "*/", "-1", "1e999", "nan", "NaN", "9" * 30, "2", "0", "\n", "\x00"]
    ),
    st.sampled_from(
        ["default", "table", "property", "node", "&x;", "<!--", "<![CDATA[", "null", "true", '""', "yes", "A", "١"]
    ),
    st.text(max_size=4),
)


@st.composite
def damaged(draw, text):
    """A text after one to four accidents."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        span = text[start:end]
        kind = draw(st.sampled_from(["delete", "twice", "replace", "reverse", "cut", "move"]))
        if kind == "delete":
            text = text[:start] + text[end:]
        elif kind == "twice":
            text = text[:end] + span + text[end:]
        elif kind == "replace":
            text = text[:start] + draw(SPLINTERS) + text[end:]
        elif kind == "reverse":
            text = text[:start] + span[::-1] + text[end:]
        elif kind == "cut":
            text = text[:start]
        else:
            place = draw(st.integers(0, len(text)))
            text = text[:place] + span + text[place:]
    return text


def check(label, text):
    """A whole network that can be used and written, or an error of ours."""
    try:
        network = parse_network(text, label)
    except BayeslearnError:
        return
    assert parse_network(format_network(network, "json"), "json") == network


@pytest.mark.parametrize(("label", "text"), TEXTS)
@given(data=st.data())
def test_damaged_texts(label, text, data):
    check(label, data.draw(damaged(text)))


@pytest.mark.parametrize("label", FORMATS)
@given(network=networks(WILD), data=st.data())
def test_damaged_texts_of_ours(label, network, data):
    check(label, data.draw(damaged(format_network(network, label))))


@pytest.mark.parametrize("label", FORMATS)
@given(text=st.lists(SPLINTERS, max_size=30).map("".join))
def test_nonsense(label, text):
    check(label, text)


@pytest.mark.parametrize("text", [text for label, text in TEXTS if label == "bif"])
@given(data=st.data())
def test_the_short_way_takes_what_the_long_way_takes(text, data):
    source = Source(data.draw(damaged(text)))
    answers = []
    for fast in (True, False):
        try:
            answers.append(Reader(source, fast=fast).network())
        except BayeslearnError as error:
            answers.append(str(error))

    assert answers[0] == answers[1]


@pytest.mark.parametrize(("label", "text"), TEXTS)
@given(data=st.data())
@trials(25)
def test_damaged_files(tmp_path_factory, label, text, data):
    packed = data.draw(st.booleans())
    content = bytearray(gzip.compress(text.encode()) if packed else text.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / f"damaged{FORMATS[label].endings[0]}{'.gz' if packed else ''}"
    path.write_bytes(content)
    try:
        network = read_network(path)
    except BayeslearnError:
        pass
    else:
        assert parse_network(format_network(network, "json"), "json") == network
