import contextlib
import gzip
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import containers
from bayeslearn.distributions import Dirichlet
from bayeslearn.errors import CapacityError, FormatError, InputFileNotFoundError, ParameterError
from bayeslearn.naive_bayes.text import (
    DocumentCounts,
    HashedVocabulary,
    TextModel,
    Tokenizer,
    collect,
    fit_text,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "models"

MODELS = {
    "plain": lambda: fit_text(["spam Spam eggs", "ham île"], ["bad", "good"], prior=1.0),
    "empty": lambda: fit_text([""], ["x"], prior=1.0),
    "bernoulli": lambda: fit_text(
        ["a b", "b"], [1, 2], tokenizer=Tokenizer(analyzer="all"), likelihood="bernoulli", prior=1.0
    ),
    "weighted": lambda: fit_text(
        ["aa bb", "bb"], [True, False], sample_weight=[0.3, 1e-9], class_prior=(0.2, 0.8), prior=1.0
    ),
    "n_hash_features": lambda: fit_text(
        ["aa bb"], ["x"], vocabulary=HashedVocabulary(1000), class_prior=1.0, prior=1.0
    ),
    "columns": lambda: TextModel(collect(DocumentCounts.of([[1, 70_000], [0, 3]]), [0.5, 1.5])),
    "prior": lambda: fit_text(["aa bb"], ["x"], prior=Dirichlet([0.5, 2]), class_prior=Dirichlet.laplace()),
    "rule": lambda: fit_text(["aa bb"], ["x"], prior=Dirichlet.m_estimate(3, [0.1, 0.9])),
    "surrogate": lambda: fit_text(
        ["a\ud800b"], ["x"], tokenizer=Tokenizer(analyzer="spaces", ngram_range=(1, 2)), prior=1.0
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back(name, tmp_path):
    model = MODELS[name]()
    model.save(tmp_path / "model.gz")
    back = TextModel.load(tmp_path / "model.gz")
    assert back.statistics == model.statistics
    assert back.vocabulary == model.vocabulary
    assert (back.tokenizer, back.likelihood, back.classes) == (model.tokenizer, model.likelihood, model.classes)
    assert [type(name) for name in back.classes] == [type(name) for name in model.classes]
    np.testing.assert_array_equal(back.log_p_words, model.log_p_words)
    np.testing.assert_array_equal(back.log_p_classes, model.log_p_classes)


def test_the_same_model_is_the_same_file(tmp_path):
    for name in ("a", "b"):
        MODELS["plain"]().save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_learning_goes_on_after_loading(tmp_path):
    model = fit_text(["aa bb"], ["x"], prior=1.0)
    model.save(tmp_path / "m")
    more = fit_text(["cc"], ["y"], prior=1.0).statistics
    assert TextModel.load(tmp_path / "m").update(more).predict(["cc"]) == model.update(more).predict(["cc"])


def test_a_large_vocabulary_makes_a_modest_file(tmp_path):
    rng = np.random.default_rng(0)
    texts = [" ".join(f"word{w}" for w in rng.integers(100_000, size=200)) for _ in range(2_000)]
    model = fit_text(texts, [f"class {i % 20}" for i in range(2_000)], prior=1.0)
    model.save(tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 2_500_000
    assert TextModel.load(tmp_path / "m").statistics == model.statistics


def test_a_file_of_version_1_opens_and_is_written_as_version_5(tmp_path):
    for name in ("texts", "texts-bernoulli"):
        model = TextModel.load(GOLDEN / f"{name}.model")
        model.save(tmp_path / "m.json")
        assert json.loads((tmp_path / "m.json").read_text())["version"] == 5
        again = TextModel.load(tmp_path / "m.json")
        assert again.statistics == model.statistics
        np.testing.assert_array_equal(again.log_p_words, model.log_p_words)
        np.testing.assert_array_equal(again.log_p_classes, model.log_p_classes)
        assert again.tokenizer == model.tokenizer


### files that are no models


@pytest.fixture(params=["json", "packed", "version 1"])
def document(tmp_path, request, monkeypatch):
    """A model as its document and its arrays, to be damaged and written again."""
    if request.param == "version 1":
        content = gzip.decompress((GOLDEN / "texts.model").read_bytes())
    else:
        monkeypatch.setattr(containers, "MAX_INLINE", 0 if request.param == "packed" else 4096)
        MODELS["plain"]().save(tmp_path / "model")
        content = gzip.decompress((tmp_path / "model").read_bytes())
    line, rest = content.split(b"\n", 1)
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
        ({"tokenizer": {"kind": "words"}}, "'tokenizer' is|expected a model with"),
        ({"classes": ["a"]}, "expected 'documents' of shape"),
        ({"classes": ["a", "b", "c"]}, "expected 'documents' of shape"),
        ({"classes": ["a", ["b"]]}, "'classes' of a model is"),
        ({"classes": ["a", "a"]}, "classes must differ"),
        ({"vocabulary": {"kind": "runes", "size": 4}}, "'vocabulary' is|expected a model with"),
        ({"vocabulary": {"kind": "hashed", "size": -4}}, "`size` must be at least 1|expected a model with|no place"),
        ({"prior": {"kind": "number", "value": -1}}, "`prior` must be at least 0"),
        ({"prior": {"kind": "dirichlet"}}, "is no prior of 'prior'"),
        ({"prior": {"kind": "rule", "per_state": 1, "per_row": 1}}, "is no rule for a prior"),
        ({"prior": {"kind": "guess"}}, "is no prior of 'prior'"),
        ({"class_prior": {"kind": "fixed", "p": [0.2, "x"]}}, "'p' of 'class_prior' is"),
    ],
)
def test_a_damaged_head(document, tmp_path, changes, match):
    head, rest = document
    if "prior" in changes and head["version"] == 1:
        pytest.skip("the prior of this file has an array")
    if "vocabulary" in changes and "arrays" in head:
        match += "|an array is described as"
    with pytest.raises(FormatError, match=match):
        TextModel.load(written(tmp_path / "damaged", head | changes, rest))


def test_a_file_cannot_promise_more_than_it_has(document, tmp_path):
    head, rest = document
    wide = {"vocabulary": {"kind": "hashed", "size": 1 << 30}}
    with pytest.raises((CapacityError, FormatError), match=r"are more than|would need|described as|expected a model"):
        TextModel.load(written(tmp_path / "wide", head | wide, rest))
    if rest:
        with pytest.raises(FormatError, match="ends within the array"):
            TextModel.load(written(tmp_path / "short", head, rest[:-1]))
    with pytest.raises(FormatError, match="more in it than it announces"):
        TextModel.load(written(tmp_path / "long", head, rest + b"x"))


def test_words_must_be_utf8_and_differ(tmp_path):
    MODELS["plain"]().save(tmp_path / "m.json")
    good = json.loads((tmp_path / "m.json").read_text())
    assert bytes(good["vocabulary"]["letters"]).startswith(b"spameggsham")
    for letters, match in ((b"spam\xffggsham", "not UTF-8"), (b"spamham\xc3ham", "not UTF-8|twice")):
        rest = good["vocabulary"]["letters"][11:]
        changed = {**good, "vocabulary": {**good["vocabulary"], "letters": [*letters, *rest]}}
        (tmp_path / "odd.json").write_text(json.dumps(changed))
        with pytest.raises(FormatError, match=match):
            TextModel.load(tmp_path / "odd.json")
    for letters in ([256] * 15, [0.5] * 15, [-1] * 15, [[1] * 15]):
        changed = {**good, "vocabulary": {**good["vocabulary"], "letters": letters}}
        (tmp_path / "odd.json").write_text(json.dumps(changed))
        with pytest.raises(FormatError, match=r"letter|words do not fit"):
            TextModel.load(tmp_path / "odd.json")


@given(st.binary(max_size=60))
def test_any_other_file(content):
    with tempfile.TemporaryDirectory() as folder:
        for packed in (content, gzip.compress(content)):
            path = Path(folder) / "file"
            path.write_bytes(packed)
            with pytest.raises(FormatError, match=r"cannot be read|holds no text|this is not JSON|expected"):
                TextModel.load(path)


@given(st.data())
def test_a_byte_that_changed_never_ends_in_a_traceback(data):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        path = Path(folder) / "m"
        patched.setattr(containers, "MAX_INLINE", data.draw(st.sampled_from([0, 4096])))
        MODELS["bernoulli"]().save(path)
        content = bytearray(gzip.decompress(path.read_bytes()))
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        with contextlib.suppress(FormatError, CapacityError):
            assert isinstance(TextModel.load(path), TextModel)


def test_what_cannot_be_written_or_found(tmp_path):
    with pytest.raises(FormatError, match="a class must be a text, a number or a truth value"):
        fit_text(["aa"], [("a", 1)], prior=1.0).save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputFileNotFoundError, match="no such file"):
        TextModel.load(tmp_path / "nowhere")
    with pytest.raises(ParameterError, match="it is a folder"):
        MODELS["plain"]().save(tmp_path)
