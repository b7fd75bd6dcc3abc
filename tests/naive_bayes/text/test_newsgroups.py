"""20 Newsgroups from a Parquet file, from folders and from scikit-learn's cache."""

from __future__ import annotations

import codecs
import pickle

import pyarrow as pa
import pytest
from pyarrow import parquet

from bayeslearn.errors import EmptyTableError, FormatError, ParameterError
from bayeslearn.naive_bayes.text.newsgroups import CACHE, article, read_newsgroups

ARTICLE = "Newsgroups: sci.space\nSubject: Re: Moon\nPath: a!b\n\nBody one.\n\nBody two."


@pytest.mark.parametrize(
    ("headers", "text"),
    [("all", ARTICLE), ("subject", "Re: Moon\nBody one.\n\nBody two."), ("none", "Body one.\n\nBody two.")],
)
def test_headers(headers, text):
    assert article(ARTICLE, headers) == text
    assert article(ARTICLE.replace("\n", "\r\n"), headers).split() == text.split()


def test_articles_without_a_subject_or_without_a_body():
    assert article("From: me\n\nhello\nSubject: no", "subject") == "\nhello\nSubject: no"
    assert article("Subject: alone", "subject") == "alone\n"
    assert article("Subject: alone", "none") == ""


def test_parquet(tmp_path):
    columns = {"group": ["a", "b", "a"], "split": ["train", "test", "test"], "text": [ARTICLE, "x", "y"]}
    parquet.write_table(pa.table(columns), tmp_path / "news.parquet")
    assert read_newsgroups(tmp_path / "news.parquet").labels == ["a", "b", "a"]
    test = read_newsgroups(tmp_path / "news.parquet", subset="test")
    assert (test.texts, test.labels) == (["x", "y"], ["b", "a"])
    assert read_newsgroups(tmp_path / "news.parquet", subset="train", headers="none").texts == [
        "Body one.\n\nBody two."
    ]
    with pytest.raises(ParameterError, match="unexpected value for `headers`: 'some'"):
        read_newsgroups(tmp_path / "news.parquet", headers="some")


def test_a_split_that_is_not_there(tmp_path):
    parquet.write_table(pa.table({"group": ["a"], "split": ["all"], "text": ["x"]}), tmp_path / "news.parquet")
    with pytest.raises(EmptyTableError, match="there are no articles of 'test'"):
        read_newsgroups(tmp_path / "news.parquet", subset="test")
    parquet.write_table(pa.table({"group": ["a"], "text": ["x"]}), tmp_path / "news.parquet")
    with pytest.raises(ParameterError, match="it has no column 'split'"):
        read_newsgroups(tmp_path / "news.parquet", subset="test")


def test_folders(tmp_path):
    for name in ("20news-bydate-train/sci.med/1", "20news-bydate-test/sci.med/2", "20_newsgroups/sci.med/3"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(b"Subject: x\n\nna\xefve")
    by_date = read_newsgroups(tmp_path, headers="none")
    assert (by_date.texts, by_date.labels) == (["naïve"] * 2, ["sci.med"] * 2)
    assert read_newsgroups(tmp_path, subset="test").names == ["sci.med/2"]
    assert read_newsgroups(tmp_path / "20_newsgroups").names == ["sci.med/3"]
    with pytest.raises(ParameterError, match="is not split by date"):
        read_newsgroups(tmp_path / "20_newsgroups", subset="test")


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("a pickle was opened",)


def test_the_cache_is_a_pickle_and_is_left_alone_unless_trusted(tmp_path):
    (tmp_path / CACHE).write_bytes(codecs.encode(pickle.dumps(Bomb()), "zlib_codec"))
    for path in (tmp_path, tmp_path / CACHE):
        with pytest.raises(FormatError, match="is a pickle, and reading a pickle runs whatever is in it"):
            read_newsgroups(path)


def test_the_cache_through_scikit_learn(tmp_path):
    from sklearn.utils import Bunch

    parts = {
        name: Bunch(data=[f"Subject: s\n\n{name}"], target=[0], target_names=["sci.med"], filenames=["f"])
        for name in ("train", "test")
    }
    (tmp_path / CACHE).write_bytes(codecs.encode(pickle.dumps(parts), "zlib_codec"))
    corpus = read_newsgroups(tmp_path, trust_cache=True, headers="none")
    assert (sorted(corpus.texts), corpus.labels) == (["test", "train"], ["sci.med"] * 2)
