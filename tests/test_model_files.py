"""Models of every kind whose files were tampered with: an error that names the file and the part."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from bayeslearn import codec, containers
from bayeslearn.errors import CapacityError, FormatError
from tests.fuzz.models import KINDS, OLD, written, written_packed

VERSION = rb'"version": \d'
#: Networks have their own tests, whose errors say the line.
PLAIN = [name for name in KINDS if name not in OLD and name != "network"]


def load(tmp_path, name, content):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    return KINDS[name].load(path)


def changed(name, *way, to):
    """The file of a model with another value at a place."""
    document = json.loads(written(name))
    part = document
    for key in way[:-1]:
        part = part[key]
    part[way[-1]] = to
    return json.dumps(document).encode()


### all kinds


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: text[:-3], "this is not JSON"),
        (lambda text: re.sub(VERSION, rb'\g<0>, "version": 1', text), "the key 'version' stands twice"),
        (lambda text: re.sub(VERSION, b'"version": 1e999', text), "version inf"),
        (lambda text: re.sub(VERSION, b'"version": ' + b"9" * 5000, text), "beyond 64 bits"),
        (lambda text: re.sub(VERSION, b'"version": NaN', text), "expected a number, found NaN"),
        (lambda text: re.sub(VERSION, b'"version": 99', text), "version 99, and this program reads up to"),
        (lambda text: re.sub(VERSION, b'"version": true', text), "version True"),
        (lambda text: re.sub(VERSION, rb'\g<0>, "x": ' + b"[" * 100_000, text), "nested too deeply"),
        (lambda text: re.sub(VERSION, rb'\g<0>, "x": 1', text), "expected|unknown part|has the unknown key"),
        (lambda text: b"\xff" + text, "not UTF-8"),
        (lambda text: b"[" + text + b"]", "expected"),
    ],
)
def test_what_is_no_document_is_named(tmp_path, name, spoil, message):
    with pytest.raises(FormatError, match=message) as caught:
        load(tmp_path, name, spoil(written(name)))
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("name", PLAIN)
def test_every_part_of_another_type_or_missing_is_named(tmp_path, name):
    known = json.loads(written(name))
    for key in known.keys() - {"format", "version", "lineage", "rules"}:
        for value in ([[]], {"a": [None]}, 1e300, *([] if isinstance(known[key], str) else ["\ud800"])):
            with pytest.raises(FormatError, match=re.escape(str(tmp_path))):
                load(tmp_path, name, changed(name, key, to=value))
        document = json.loads(written(name))
        del document[key]
        with pytest.raises(FormatError, match=re.escape(str(tmp_path))):
            load(tmp_path, name, json.dumps(document).encode())


def test_a_packed_model_is_unpacked_up_to_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(containers, "MAX_BYTES", 10_000)
    path = tmp_path / "model.json.gz"
    path.write_bytes(gzip.compress(b" " * 10_000_000))
    with pytest.raises(CapacityError, match="unpacks to more than 10,000 bytes, which are read at most"):
        KINDS["naive_bayes"].load(path)


### parts


@pytest.mark.parametrize(
    ("name", "way", "value", "message"),
    [
        ("naive_bayes", ("target", "variable", "states"), 1, "not the description of a variable"),
        ("naive_bayes", ("target", "variable", "kind"), [], "unknown kind"),
        ("naive_bayes", ("column_exponents",), [None], "'column_exponents' of a model is"),
        ("naive_bayes", ("columns",), [1], "'columns' of a model is"),
        ("hmm_gaussian", ("emissions", "floor"), [1e-9, 1e-9, 1e-9], "`floor` has the shape"),
        ("hmm_gaussian", ("emissions", "floor"), [-1.0, 0.0], "floor"),
        ("hmm_gaussian", ("emissions", "var"), [[1.0, 1.0]] * 3, "`var` has the shape"),
        ("hmm_full", ("emissions", "floor"), [], "`floor` has the shape"),
        ("hmm_symbols", ("states",), [["a"], "b"], "'states' of a model is"),
        ("hmm_symbols", ("states",), [None, "b"], "'states' of a model is"),
        ("radial", ("basis", "widths"), [1.0] * 9, "expected 'widths' of shape"),
        ("radial", ("basis", "widths"), [1e-200] * 3, "'widths' holds numbers"),
        ("linear", ("features", "spread"), [1e-320] * 3, "'spread' holds numbers"),
        ("linear", ("outputs",), [1], "'outputs' of a model is"),
        ("linear", ("statistics", "scatter"), [[1.0, 2.0, 0, 0], [2.0, 1.0, 0, 0], [0] * 4, [0] * 4], "below zero"),
        ("sigmoid", ("precision",), [[-1.0, 0, 0, 0], [0] * 4, [0] * 4, [0] * 4], "below zero in some direction"),
        ("mixture_gaussian", ("weights",), [[1.0]], "the weights do not sum to 1"),
        ("mixture_table", ("parts", 0, "parameters"), [[1e300]], "not finite numbers"),
        ("weighted_majority", ("experts",), ["a", None], "'experts' of a learner is"),
        ("neighbors", ("columns", 0, "cells"), [None], "has 1 cells"),
        ("forest", ("trees", "column"), [0, -1, -1], "add up to 39, but there are 3 nodes"),
        ("forest", ("trees", "sizes"), [1, 1, 1], "add up to"),
        ("forest", ("temperature",), -1.0, "`temperature` must be"),
        ("local", ("rows",), [1, 2], "do not fit each other"),
        ("local", ("rows",), ["a"] * 24, "'rows' holds"),
    ],
)
def test_a_part_that_does_not_fit_is_named(tmp_path, name, way, value, message):
    with pytest.raises(FormatError, match=message):
        load(tmp_path, name, changed(name, *way, to=value))


### arrays behind the document


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("type", []), ("type", "|O"), ("shape", True), ("shape", [-1]), ("shape", [2**62]), ("shape", [1e9]),
        ("path", None), ("path", []), ("path", ["nowhere"]), ("path", ["format"]), ("path", ["vocabulary", 0]),
        ("further", 1),
    ],
)  # fmt: skip
def test_an_array_that_is_described_wrongly(tmp_path, part, value):
    head, _, rest = written_packed("text").partition(b"\n")
    document = json.loads(head)
    document["arrays"][0][part] = value
    with pytest.raises((FormatError, CapacityError), match=r"an array is described as|arrays of more than"):
        load(tmp_path, "text", json.dumps(document).encode() + b"\n" + rest)


@pytest.mark.parametrize(
    ("part", "value"),
    [("type", []), ("type", "|O"), ("length", True), ("length", 2**62), ("name", None), ("length", 1e9)],
)
def test_an_array_of_version_1_that_is_described_wrongly(tmp_path, part, value):
    head, _, rest = gzip.decompress(OLD["text_version_1"].read_bytes()).partition(b"\n")
    document = json.loads(head)
    document["parts"][0][part] = value
    with pytest.raises((FormatError, CapacityError), match=r"an array is described as|arrays of more than"):
        load(tmp_path, "text", json.dumps(document).encode() + b"\n" + rest)


def test_what_cannot_be_written_is_named(tmp_path):
    with pytest.raises(FormatError, match="holds numbers that are not finite"):
        codec.write(tmp_path / "a.json", "x", {"p": [float("nan")]})
    assert not list(tmp_path.iterdir())
