"""Paths that are not UTF-8, in every function that takes one."""

import asyncio
import contextlib
import os
import pathlib
import pickle
import sys

import numpy as np
import pytest

import support
import tgmio as tgm

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")

# A name that is not UTF-8; a name that is, for comparison.
NAMES = [b"fields-\xff\xfe.tgm", "Größe 2 m.tgm".encode()]
MESSAGE = tgm.encode({"base": [{"step": 1}]}, [(None, np.arange(4.0))])

# A path as programs have it.
FORMS = {
    "text": os.fsdecode,
    "bytes": lambda name: name,
    "Path": lambda name: pathlib.Path(os.fsdecode(name)),
    "PathLike of bytes": lambda name: type("PathLike", (), {"__fspath__": lambda self: name})(),
}


def asynchronous(path):
    async def run():
        async with await tgm.AsyncTensogramFile.open(path) as file:
            return await file.message_count(), os.fsencode(file.source())

    return asyncio.run(run())


def opened(path, **options):
    with tgm.open(path, **options) as archive:
        assert archive[0].objects[0].read()[1] == 1 and repr(archive) and archive._repr_html_()
        again = pickle.loads(pickle.dumps(archive))
        return len(again), os.fsencode(again.source)


def of_file(file):
    assert repr(file) and file[0].objects[0][1][1] == 1
    again = pickle.loads(pickle.dumps(file))
    return len(again), os.fsencode(again.source())


def written(path, append):
    with tgm.Writer(path, append=append) as writer:
        writer.object(np.arange(4.0))
    return opened(os.fsdecode(path))


def saved(path):
    tgm.save(path, np.arange(4.0))
    return opened(os.fsdecode(path))


def created(path):
    with tgm.TensogramFile.create(path) as file:
        file.append({}, [(None, np.arange(4.0))])
        return of_file(file)


def dataset(path, call):
    pytest.importorskip("xarray")
    tgm.save(os.fsdecode(path), {"a": np.arange(4.0)})
    with call() as found:
        assert found.sizes


def zarr_stored(path):
    zarr = pytest.importorskip("zarr")
    tgm.save(os.fsdecode(path), {"a": np.arange(4.0)})
    assert zarr.open_group(tgm.zarr_store(path), mode="r")["a"].shape == (4,)


def saved_dataset(path):
    xarray = pytest.importorskip("xarray")
    tgm.save_dataset(xarray.Dataset({"a": ("x", np.arange(4.0))}), path)
    return opened(os.fsdecode(path))


def catalogue_saved(path):
    """A catalogue at the path of the file itself. It is a file of messages too."""
    tgm.catalogue(path, keys=["dtype"]).save(path)
    with open(path, "rb") as file:
        assert tgm.decode_metadata(file.read()).extra["catalog"]["covers"]["messages"] == 1


def tree_saved(path):
    """A tree with the name of the file and its ending after it."""
    tree = os.fsencode(path) + b".tree"
    tgm.catalogue([path], keys=["dtype"]).save(tree)
    assert sorted(os.listdir(os.path.dirname(tree)))[-1] == os.path.basename(tree)


def referred(path):
    pytest.importorskip("zarr")
    refs = tgm.references(path)["refs"]
    [place] = [each for each in refs.values() if isinstance(each, list)]
    assert place[0] == f"file://{os.fsdecode(path)}"


def converted(path):
    with pytest.warns(UserWarning, match="not kept"):
        tgm.convert(path, os.fsdecode(path) + ".npy")


def no_grib(path):
    with pytest.raises(tgm.OtherError, match="GRIB message"):
        tgm.convert_grib(path)


def refused(call):
    with pytest.raises(RuntimeError, match="built without"):
        call()


# References are JSON, which holds text, and so are the names of a tree.
TEXT_ALONE = ("references", "Catalogues.save")
# What each function does with the path of a file. A route gives the number of messages and the bytes of the path, or None.
ROUTES = {
    "open": opened,
    "open_mmap": lambda path: opened(path, mmap=True),
    "load": lambda path: tgm.load(path)[0].tolist() == [0, 1, 2, 3] and None,
    "save": saved,
    "Writer": lambda path: written(path, False),
    "open_dataset": lambda path: dataset(path, lambda: tgm.open_dataset(path)),
    "open_datasets": lambda path: dataset(path, lambda: tgm.open_datasets(path)[0]),
    "zarr_store": lambda path: zarr_stored(path),
    "references": lambda path: referred(path),
    "catalogue": lambda path: None if len(tgm.catalogue(path)) == 1 else "nothing",
    "Catalogue.check": lambda path: None if tgm.catalogue(path).check(path) == "fresh" else "stale",
    "Catalogue.save": catalogue_saved,
    "Catalogues.save": tree_saved,
    "save_dataset": lambda path: saved_dataset(path),
    "TensogramFile.open": lambda path: of_file(tgm.TensogramFile.open(path)),
    "TensogramFile.create": created,
    "AsyncTensogramFile.open": asynchronous,
    "validate_file": lambda path: None if len(tgm.validate_file(path)["messages"]) == 1 else "nothing",
    "convert": converted,
    "convert_grib": no_grib,
    "convert_netcdf": lambda path: refused(lambda: tgm.convert_netcdf(path)),
    "to_netcdf": lambda path: refused(lambda: tgm.to_netcdf([MESSAGE], path)),
}
# Bytes are the content of an archive there, and no path.
CONTENT = {"open", "open_mmap", "load", "open_dataset", "open_datasets", "references", "zarr_store"}
# What is not a path of this machine.
OTHERS = {"TensogramFile.open_remote", "AsyncTensogramFile.open_remote", "is_remote_url", "MessageStream", "StreamingEncoder"}


def test_every_function_that_takes_a_path_has_its_route():
    takers = set()
    for name, taken in support.public_functions().items():
        if taken & {"source", "file", "stream", "target", "path"} and not name.startswith("Metadata."):
            takers.add(name)
    assert takers - OTHERS == set(ROUTES)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES, ids=["not text", "text"])
@pytest.mark.parametrize("route", ROUTES)
def test_paths_of_any_bytes(route, name, form, tmp_path):
    path = os.path.join(os.fsencode(tmp_path), name)
    with contextlib.suppress(OSError), open(path, "wb") as file:
        file.write(MESSAGE)
    if form == "bytes" and route in CONTENT:
        pytest.skip("bytes are the content here")
    if route in TEXT_ALONE and name == NAMES[0]:
        with pytest.raises(ValueError, match="hold.* that are UTF-8"):
            ROUTES[route](FORMS[form](path))
        return
    found = ROUTES[route](FORMS[form](path))
    assert found in (None, (1, path))


@pytest.mark.parametrize("route", ["open", "open_mmap", "TensogramFile.open", "AsyncTensogramFile.open", "validate_file"])
def test_errors_have_the_path(route, tmp_path):
    path = os.path.join(os.fsencode(tmp_path), NAMES[0])
    with pytest.raises(FileNotFoundError) as caught:
        ROUTES[route](os.fsdecode(path))
    assert os.fsencode(caught.value.filename) == path


def test_appending(tmp_path):
    path = os.fsdecode(os.path.join(os.fsencode(tmp_path), NAMES[0]))
    assert written(path, True)[0] == 1 and written(path, True)[0] == 2
