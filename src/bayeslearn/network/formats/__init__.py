"""Bayesian networks in and out of files.

    from bayeslearn.network.formats import read_network, write_network
    write_network(read_network("alarm.bif"), "alarm.xdsl.gz")

The ending names the format, see ``FORMATS``: .json (our own, keeps everything; .model is the same packed), .bif,
.xmlbif, .bifxml or .xml, .net, .xdsl, .uai. What is written is read back equal, with these limits: only JSON keeps
counts, priors, notes, cuts and the types of states (elsewhere ``True`` and ``1`` become text); UAI has no names; BIF
refuses names with line breaks.

pyAgrum reads .bif (names that are identifiers), .net and .bifxml (every name). It has a different order of
the tables of XDSL and UAI; write .agrum.xdsl or .agrum.uai for it. Files of either order are read.

pgmpy reads .bif, .xmlbif, .xdsl and .net, and .uai not rightly: it orders the tables otherwise and forgets the order of
the parents. What it writes is read in all five.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.network.formats.read_write import FORMATS as FORMATS
    from bayeslearn.network.formats.read_write import Format as Format
    from bayeslearn.network.formats.read_write import format_network as format_network
    from bayeslearn.network.formats.read_write import parse_network as parse_network
    from bayeslearn.network.formats.read_write import read_network as read_network
    from bayeslearn.network.formats.read_write import write_network as write_network
    from bayeslearn.network.formats.uai import read_evidence as read_evidence
    from bayeslearn.network.formats.uai import write_evidence as write_evidence
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
