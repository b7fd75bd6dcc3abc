"""20 Newsgroups: articles of twenty discussion groups, with their headers or without.

    a Parquet file       columns group and text, and split (train, test) where there is one
    a folder             20_newsgroups/GROUP/article, or 20news-bydate-train and 20news-bydate-test side by side
    scikit-learn's cache 20news-bydate_py3.pkz, which is a pickle: reading it runs whatever is in it, so that it is
                         left to scikit-learn's own loader, and only when ``trust_cache=True`` asks for it

What of an article is read:

    all       everything; headers like Newsgroups: and Path: name the group
    subject   the subject and the body
    none      the body alone
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from bayeslearn import validation
from bayeslearn.errors import EmptyTableError, FormatError, ParameterError
from bayeslearn.naive_bayes.text.corpus import Corpus
from bayeslearn.naive_bayes.text.corpus_readers import read_corpus

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

HEADERS = ("all", "subject", "none")
SUBSETS = ("train", "test")
CACHE = "20news-bydate_py3.pkz"
SUBJECT = re.compile(r"^subject:[ \t]*([^\r\n]*)", re.MULTILINE | re.IGNORECASE)
BLANK = re.compile(r"\r?\n[ \t]*\r?\n")


def read_newsgroups(
    path: str | os.PathLike[str],
    *,
    headers: str = "all",
    subset: str | None = None,
    trust_cache: bool = False,
    progress: Callable[[float], object] | None = None,
) -> Corpus:
    """The articles, labeled by their groups; `subset` is ``train`` or ``test`` of the split by date, None for all."""
    headers = validation.choice("headers", headers, HEADERS)
    subset = validation.choice("subset", subset, (None, *SUBSETS))
    path = Path(path)
    if path.suffix == ".pkz" or (path / CACHE).is_file():
        corpus = _cached(path if path.is_dir() else path.parent, subset, trusted=trust_cache)
    elif path.is_dir():
        corpus = _folders(path, subset, progress)
    else:
        corpus = _parquet(path, subset)
    if not len(corpus):
        raise EmptyTableError(f"there are no articles of {subset!r} in {str(path)!r}", path=path)
    return Corpus([article(text, headers) for text in corpus.texts], corpus.labels, corpus.names, corpus.notes)


def article(text: str, headers: str) -> str:
    """What of an article is read."""
    if headers == "all":
        return text
    blank = BLANK.search(text)
    head, body = (text[: blank.start()], text[blank.end() :]) if blank else (text, "")
    if headers == "none":
        return body
    subject = SUBJECT.search(head)
    return f"{subject[1] if subject else ''}\n{body}"


### where articles are kept


def _parquet(path: Path, subset: str | None) -> Corpus:
    from bayeslearn.tables.file_readers import parquet_file  # noqa: PLC0415 - loads Arrow

    corpus = read_corpus(path, "text", "group")
    if subset is None:
        return corpus
    with parquet_file(path) as file:
        if "split" not in file.schema_arrow.names:
            raise ParameterError(f"{str(path)!r} is not split: it has no column 'split'", hint="leave `subset` out")
        splits = file.read(["split"])["split"].to_pylist()
    return corpus.take([i for i, split in enumerate(splits) if split == subset])


def _folders(path: Path, subset: str | None, progress: Callable[[float], object] | None) -> Corpus:
    by_date = [folder for name in SUBSETS for folder in sorted(path.glob(f"*{name}")) if folder.is_dir()]
    if not by_date:
        if subset is not None:
            raise ParameterError(
                f"{str(path)!r} is not split by date", hint="expected folders *-train and *-test in it"
            )
        return read_corpus(path, encoding="latin-1", progress=progress)
    parts = [folder for folder in by_date if subset is None or folder.name.endswith(subset)]
    first, *more = (read_corpus(folder, encoding="latin-1", progress=progress) for folder in parts)
    return sum(more, first)


def _cached(folder: Path, subset: str | None, *, trusted: bool) -> Corpus:
    """The cache of scikit-learn, through its own loader."""
    if not trusted:
        raise FormatError(
            f"{str(folder / CACHE)!r} is a pickle, and reading a pickle runs whatever is in it",
            hint="if you trust the file, pass `trust_cache=True` (--trust-cache): scikit-learn then reads it",
            path=folder / CACHE,
        )
    from sklearn.datasets import fetch_20newsgroups  # noqa: PLC0415 - heavy

    bunch = fetch_20newsgroups(data_home=folder, subset=subset or "all", shuffle=False, download_if_missing=False)
    return Corpus(list(bunch.data), [bunch.target_names[k] for k in bunch.target])
