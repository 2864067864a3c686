"""Queries that select nothing because a key is written otherwise in the metadata."""

import warnings
from difflib import get_close_matches

# Keys that ask for the structure.
_STRUCTURAL = {
    "dtype", "shape", "ndim", "encoding", "filter", "compression", "codec", "bytes", "count", "objects", "version"
}
_PROPOSED = 3
# How deep maps are searched for keys, and how many keys are looked at.
_DEEPEST, _MOST = 8, 10_000


def warn_of_keys(message, keys):
    """Warns of each key that the message does not have, if it has one that may be meant.

    `message` is the first that was asked. The `keys` are of a query that selected nothing.
    """
    metadata = message.metadata
    known = {}
    for entries in [*metadata.base, metadata.extra]:
        _collect("", entries, _DEEPEST, known)
    for key in dict.fromkeys(keys):
        plain = key.replace('"', "").removeprefix("extra.")
        if plain in _STRUCTURAL or plain in known or metadata.get_path(key) is not None:
            continue
        last = plain.rpartition(".")[2].lower()
        near = [last] if last in known.values() else get_close_matches(last, set(known.values()), 1, 0.6)
        meant = [path for path, name in known.items() if name in near][:_PROPOSED]
        if meant:
            text = f"no object matches the query, and the first message has no key {key}; did you mean {' or '.join(meant)}?"
            # Native functions have no frame: the next one is the program's.
            warnings.warn(text, UserWarning, stacklevel=2)


def _collect(place, entries, depth, known):
    """Adds the paths of all entries, each with its last name in small letters."""
    for key, value in entries.items():
        if not isinstance(key, str) or key == "_reserved_" or len(known) >= _MOST:
            continue
        known[place + key] = key.lower()
        if isinstance(value, dict) and depth:
            _collect(f"{place}{key}.", value, depth - 1, known)
