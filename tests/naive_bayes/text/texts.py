"""Texts that hypothesis makes up: short, from few characters, so that words repeat and every alphabet is met."""

from hypothesis import strategies as st

ALPHABET = "aAbZ_9 .,-!\t\n\x00\x1cäÄßİéж中𝔘\u0301\u00a0\ufffd\ud800"

any_text = st.text(st.sampled_from(ALPHABET) | st.characters(), max_size=40)
corpora = st.lists(any_text, max_size=5)
words = st.lists(st.text(st.sampled_from("abcdefgh"), min_size=1, max_size=20), unique=True, max_size=8)
