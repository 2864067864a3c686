"""References of kerchunk: the objects of an archive as chunks of Zarr that lie in files, without a copy."""

import json

from ._sources import Archive, shown, sources_of


def references(source, options):
    """References of version 1, over keys of Zarr 2: what fsspec, xarray, kerchunk and VirtualiZarr open.

    An error names each variable whose objects are not chunks as they lie.
    """
    archive = Archive(sources_of(source), options)
    natives = archive.native()
    if not natives:
        raise ValueError(f"{shown(archive.sources[0])[0]}: the archive has no objects")
    text, refused = natives[0].references()
    if refused:
        raise ValueError(f"these are not chunks as they lie: {'; '.join(f'{name}: {why}' for name, why in refused)}")
    return json.loads(text)
