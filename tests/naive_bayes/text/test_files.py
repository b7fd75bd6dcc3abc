import contextlib
import gzip
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import CapacityError, FormatError, MissingFileError, ParameterError
from bayeslearn.families import Dirichlet
from bayeslearn.naive_bayes.text import (
    DocumentCounts,
    Hashed,
    TextModel,
    Tokeniser,
    collect,
    fit_text,
    read_text_model,
    write_text_model,
)
from bayeslearn.naive_bayes.text.file_reading import Reader

MODELS = {
    "plain": lambda: fit_text(["spam Spam eggs", "ham île"], ["bad", "good"]),
    "empty": lambda: fit_text([""], ["x"]),
    "bernoulli": lambda: fit_text(["a b", "b"], [1, 2], tokeniser=Tokeniser(kind="all"), likelihood="bernoulli"),
    "weighted": lambda: fit_text(["aa bb", "bb"], [True, False], weights=[0.3, 1e-9], class_prior=(0.2, 0.8)),
    "hashed": lambda: fit_text(["aa bb"], ["x"], vocabulary=Hashed(1000), class_prior=1.0),
    "columns": lambda: TextModel(collect(DocumentCounts.of([[1, 70_000], [0, 3]]), [0.5, 1.5])),
    "prior": lambda: fit_text(["aa bb"], ["x"], prior=Dirichlet([0.5, 2]), class_prior=Dirichlet.laplace()),
    "rule": lambda: fit_text(["aa bb"], ["x"], prior=Dirichlet.m_estimate(3, [0.1, 0.9])),
    "surrogate": lambda: fit_text(["a\ud800b"], ["x"], tokeniser=Tokeniser(kind="spaces", ngrams=(1, 2))),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back(name, tmp_path):
    model = MODELS[name]()
    write_text_model(model, tmp_path / "model.gz")
    back = read_text_model(tmp_path / "model.gz")
    assert back.statistics == model.statistics
    assert back.vocabulary == model.vocabulary
    assert (back.tokeniser, back.likelihood, back.classes) == (model.tokeniser, model.likelihood, model.classes)
    assert [type(name) for name in back.classes] == [type(name) for name in model.classes]
    np.testing.assert_array_equal(back.log_p_words, model.log_p_words)
    np.testing.assert_array_equal(back.log_p_classes, model.log_p_classes)


def test_the_same_model_is_the_same_file(tmp_path):
    for name in ("a", "b"):
        write_text_model(MODELS["plain"](), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_learning_goes_on_after_loading(tmp_path):
    model = fit_text(["aa bb"], ["x"])
    write_text_model(model, tmp_path / "m")
    more = fit_text(["cc"], ["y"]).statistics
    assert read_text_model(tmp_path / "m").updated(more).classify(["cc"]) == model.updated(more).classify(["cc"])


def test_a_large_vocabulary_makes_a_modest_file(tmp_path):
    rng = np.random.default_rng(0)
    texts = [" ".join(f"word{w}" for w in rng.integers(100_000, size=200)) for _ in range(2_000)]
    model = fit_text(texts, [f"class {i % 20}" for i in range(2_000)])
    write_text_model(model, tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 2_500_000
    assert read_text_model(tmp_path / "m").statistics == model.statistics


### files that are no models


@pytest.fixture
def document(tmp_path):
    """A model as its head and its parts, to be spoilt and written again."""
    write_text_model(MODELS["plain"](), tmp_path / "model")
    line, rest = gzip.decompress((tmp_path / "model").read_bytes()).split(b"\n", 1)
    return json.loads(line), rest


def written(path, head, rest):
    path.write_bytes(gzip.compress(json.dumps(head).encode() + b"\n" + rest))
    return path


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"format": "recipe"}, "expected {\"format\": 'bayeslearn text'"),
        ({"version": 99}, "version 99"),
        ({"likelihood": "gaussian"}, "unexpected value for `likelihood`"),
        ({"tokeniser": {"kind": "words"}}, "'tokeniser' is"),
        ({"classes": ["bad"]}, "do not fit their places"),
        ({"classes": ["bad", "good", "ugly"]}, "'documents' is missing, or not of 3"),
        ({"classes": ["bad", ["good"]]}, "a class is neither"),
        ({"classes": ["bad", "bad"]}, "classes must differ"),
        ({"vocabulary": {"kind": "words", "size": 3}}, "'lengths' is missing, or not of 3"),
        ({"vocabulary": {"kind": "runes", "size": 4}}, "'vocabulary' is"),
        ({"vocabulary": {"kind": "hashed", "size": -4}}, "`size` must be at least 1"),
        ({"prior": {"kind": "number", "value": -1}}, "`prior` must be at least 0"),
        ({"prior": {"kind": "dirichlet"}}, "'prior.alpha' is missing"),
        ({"prior": {"kind": "rule", "per_state": 1, "per_row": 1}}, "'prior' is"),
        ({"prior": {"kind": "hunch"}}, "'prior' is"),
        ({"present": True}, "'present.sizes' is missing"),
        ({"present": 1}, "'present' is 1"),
        ({"parts": None}, "'parts' is None"),
        ({"parts": [{"name": "a", "type": "|O", "length": 1}]}, "a part is described as"),
        ({"parts": [{"name": "a", "type": "<f8", "length": -1}]}, "a part is described as"),
    ],
)
def test_a_spoilt_head(document, tmp_path, changes, match):
    head, rest = document
    with pytest.raises(FormatError, match=match):
        read_text_model(written(tmp_path / "spoilt", head | changes, rest))


def test_a_file_cannot_promise_more_than_it_has(document, tmp_path):
    head, rest = document
    huge = [{"name": "letters", "type": "<f8", "length": 1 << 60}]
    with pytest.raises(CapacityError, match="more than 2,147,483,648 bytes"):
        read_text_model(written(tmp_path / "huge", head | {"parts": huge}, b""))
    with pytest.raises(CapacityError, match="are more than"):
        read_text_model(written(tmp_path / "wide", head | {"vocabulary": {"kind": "hashed", "size": 1 << 30}}, rest))
    with pytest.raises(FormatError, match="ends within the part"):
        read_text_model(written(tmp_path / "short", head, rest[:-1]))
    with pytest.raises(FormatError, match="more in it than it announces"):
        read_text_model(written(tmp_path / "long", head, rest + b"x"))


def test_words_must_be_utf8_and_differ(document, tmp_path):
    head, rest = document
    at = rest.index(b"spameggsham")
    for letters, match in ((b"spam\xffggsham", "not UTF-8"), (b"spamham\xc3ham", "not UTF-8|twice")):
        with pytest.raises(FormatError, match=match):
            read_text_model(written(tmp_path / "odd", head, rest[:at] + letters + rest[at + 11 :]))


@given(st.binary(max_size=60))
def test_any_other_file(content):
    with tempfile.TemporaryDirectory() as folder:
        for packed in (content, gzip.compress(content)):
            path = Path(folder) / "file"
            path.write_bytes(packed)
            with pytest.raises(FormatError, match=r"cannot be read|is no text model"):
                read_text_model(path)


@given(st.data())
def test_a_byte_that_changed_never_ends_in_a_traceback(data):
    model = MODELS["bernoulli"]()
    with tempfile.TemporaryDirectory() as folder:
        write_text_model(model, Path(folder) / "m")
        content = bytearray(gzip.decompress((Path(folder) / "m").read_bytes()))
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(FormatError, CapacityError):
        assert isinstance(Reader(io.BytesIO(bytes(content)), "m").model(), TextModel)


def test_what_cannot_be_written_or_found(tmp_path):
    with pytest.raises(FormatError, match="a class must be a text, a number or a truth value"):
        write_text_model(fit_text(["aa"], [("a", 1)]), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(MissingFileError, match="no such file"):
        read_text_model(tmp_path / "nowhere")
    with pytest.raises(ParameterError, match="it is a folder"):
        write_text_model(MODELS["plain"](), tmp_path)
