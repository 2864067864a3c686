"""What is secret in an address is in no text that the package makes: not in reprs, exceptions, warnings or reports."""

import asyncio
import io
import json
import pickle
import traceback
import warnings

import numpy as np
import pytest
import tgmio as tgm

import server
import support

SECRET = "S3CR3T"
REMOTE = {row["name"]: row["state"] for row in tgm.doctor()["features"]}["remote"] == "on"


class Named(io.BytesIO):
    """A file object that has its address for a name, as packages for other protocols make them."""

    def __init__(self, data, name):
        super().__init__(data)
        self.name = name


class Unwritable(Named):
    """One on a full disk."""

    def write(self, data):
        raise OSError(28, "No space left on device")


def messages(path):
    return [path.read_bytes()]


async def asynchronous(file):
    """All that an asynchronous file shows, when messages are there and when they are not."""
    file = await file
    shown = [repr(file), await file.message_count()]
    for call in (file.decode_message, file.read_message, file.file_decode_metadata, file.file_decode_descriptors):
        shown.append(await outcome(call(9)))
    return shown + [await outcome(file.file_decode_object(0, 9)), repr(aiter(file))]


async def outcome(work):
    try:
        return repr(await work)
    except Exception as error:
        return texts(error)


def synchronous(file):
    """All that a file shows, when messages are there and when they are not."""
    return [
        *tried(
            lambda: file,
            lambda: len(file),
            lambda: file[9],
            lambda: iter(file),
            lambda: file.decode_message(9),
            lambda: file.read_message(9),
            lambda: file.append({}, []),
            lambda: file.file_decode_object(0, 9),
            lambda: file.query("=="),
        ),
        *tried(file.close, lambda: len(file), lambda: file),
    ]


def tried(*uses):
    """What each of these gives or raises, as text."""
    shown = []
    for use in uses:
        try:
            shown.append(repr(use()))
        except Exception as error:
            shown.append(texts(error))
    return shown


def texts(error):
    """All that programs print of an exception."""
    seen = [repr(error), repr(error.args), repr(vars(error)), repr(getattr(error, "filename", None))]
    # Without the lines of this file.
    return seen + traceback.format_exception(error, limit=0)


def dataset():
    return pytest.importorskip("xarray").Dataset({"a": ("x", np.zeros(3))})


# What each function that takes a path or an address does with one. `path` is a local file of the same bytes.
ROUTES = {
    "TensogramFile.open": lambda address, path: synchronous(tgm.TensogramFile.open(address)),
    "TensogramFile.open_remote": lambda address, path: tried(
        lambda: synchronous(tgm.TensogramFile.open_remote(address, {"allow_http": "true"})),
        lambda: synchronous(tgm.TensogramFile.open_remote(address, {"allow_http": "maybe", "token": SECRET})),
    ),
    "TensogramFile.create": lambda address, path: synchronous(tgm.TensogramFile.create(address)),
    "AsyncTensogramFile.open": lambda address, path: asyncio.run(asynchronous(tgm.AsyncTensogramFile.open(address))),
    "AsyncTensogramFile.open_remote": lambda address, path: asyncio.run(
        asynchronous(tgm.AsyncTensogramFile.open_remote(address, {"allow_http": "true"}))
    ),
    "open": lambda address, path: tried(
        lambda: tgm.open(address),
        lambda: tgm.open(address)[9],
        lambda: tgm.open(address)._repr_html_(),
        lambda: tgm.open(address)[0],
        lambda: tgm.open(address, storage_options={"allow_http": "maybe", "token": SECRET}),
        lambda: tgm.open(address, mmap=True),
    ),
    "open, a file object": lambda address, path: tried(
        lambda: tgm.open(Named(path.read_bytes(), address)),
        lambda: tgm.open(Named(path.read_bytes(), address))[9],
        lambda: tgm.open(Named(b"TENSOGRM" * 9, address))[0],
        lambda: tgm.open(Named(b"GRIB" * 9, address)),
    ),
    "load": lambda address, path: tgm.load(address),
    "open_dataset": lambda address, path: tgm.open_dataset(address),
    "zarr_store": lambda address, path: tgm.zarr_store(address),
    "open_datasets": lambda address, path: tgm.open_datasets(address),
    # What is returned has the address, as readers need it.
    "references": lambda address, path: tgm.references(address) and None,
    "catalogue": lambda address, path: tried(
        lambda: tgm.catalogue(address), lambda: tgm.catalogue(address).save(), lambda: tgm.catalogue(f"{address}.catalog")
    ),
    "Catalogue.check": lambda address, path: tgm.catalogue(path).check(address),
    "Catalogues.save": lambda address, path: tried(
        lambda: tgm.catalogue([address]), lambda: tgm.catalogue([path], keys=["dtype"]).save(f"{address}.tree")
    ),
    "Catalogue.save": lambda address, path: tgm.catalogue(path).save(address),
    "save_dataset": lambda address, path: tgm.save_dataset(dataset(), address),
    "save": lambda address, path: tgm.save(address, np.zeros(3)),
    "Writer": lambda address, path: tried(
        lambda: tgm.Writer(address), lambda: tgm.Writer(address, append=True).object(np.zeros(3))
    ),
    "MessageStream": lambda address, path: tried(
        lambda: tgm.MessageStream(Named(path.read_bytes(), address)),
        lambda: next(tgm.MessageStream(Named(b"TENSOGRM" * 9, address))),
    ),
    "StreamingEncoder": lambda address, path: tried(
        lambda: tgm.StreamingEncoder({}, file=Named(b"", address)),
        lambda: tgm.StreamingEncoder({}, file=Unwritable(b"", address)),
    ),
    "open_mmap": lambda address, path: tgm.open_mmap(address),
    "convert": lambda address, path: tried(
        lambda: tgm.convert(address, path.parent / "out.tgm"), lambda: tgm.convert(path, address)
    ),
    "convert_grib": lambda address, path: tgm.convert_grib(address),
    "convert_netcdf": lambda address, path: tgm.convert_netcdf(address),
    "to_netcdf": lambda address, path: tgm.to_netcdf(messages(path), address),
    "is_remote_url": lambda address, path: tgm.is_remote_url(address),
    "validate_file": lambda address, path: tgm.validate_file(address),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "x.tgm").write_bytes(tgm.encode({"step": 1}, [(None, np.arange(4.0))]))
    (folder / "bad.tgm").write_bytes(b"TENSOGRM" * 9)
    with server.serving(folder) as running:
        yield running


# With the place of the server. No other machine is asked.
ADDRESSES = {
    "right": "http://S3CR3T:S3CR3T@{}/x.tgm?X-Amz-Signature=S3CR3T&S3CR3T=1#S3CR3T",
    "another file": "http://S3CR3T:S3CR3T@{}/bad.tgm?X-Amz-Signature=S3CR3T",
    "nothing": "http://u:S3CR3T@{}/nosuch.tgm?sig=S3CR3T#S3CR3T",
    "nobody answers": "http://u:S3CR3T@127.0.0.1:9/x.tgm?sig=S3CR3T",
    "wrong host": "http://u:S3CR3T@[bad/x.tgm?sig=S3CR3T",
    "wrong port": "http://u:S3CR3T@127.0.0.1:port/x.tgm?sig=S3CR3T",
    "another scheme": "ftp://S3CR3T:S3CR3T@127.0.0.1/x?S3CR3T",
    "few slashes": "http:u:S3CR3T@127.0.0.1/x#S3CR3T",
    "without a bucket": "s3://?S3CR3T",
}


@pytest.mark.skipif(not REMOTE, reason="built without remote files")
@pytest.mark.parametrize("kind", ADDRESSES)
@pytest.mark.parametrize("route", ROUTES)
def test_secrets_of_addresses_are_not_shown(route, kind, place, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    address = ADDRESSES[kind].format(place.url("").split("/")[2])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            shown = repr(ROUTES[route](address, place.folder / "x.tgm"))
        except Exception as error:
            shown = texts(error)
    written = "".join(capfd.readouterr())
    assert SECRET not in json.dumps([shown, written, [str(each.message) for each in told]])
    if kind == "right" and route == "TensogramFile.open":
        assert "/x.tgm" in shown and "IndexError" in shown


def test_every_function_that_takes_a_path_has_its_route():
    takers = set()
    for name, taken in support.public_functions().items():
        # Metadata have paths of keys.
        if taken & {"source", "file", "stream", "target"} or "path" in taken and not name.startswith("Metadata."):
            takers.add(name)
    assert takers == {name.partition(",")[0] for name in ROUTES}


@pytest.mark.parametrize("kind", ADDRESSES)
def test_addresses_are_not_created_as_local_files(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match="cannot create .*: addresses are read, and not written"):
        tgm.TensogramFile.create(ADDRESSES[kind].format("127.0.0.1:9"))
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not REMOTE, reason="built without remote files")
def test_pickles_and_sources_keep_the_address(place):
    address = ADDRESSES["right"].format(place.url("").split("/")[2])
    file = tgm.TensogramFile.open(address)
    again = pickle.loads(pickle.dumps(file))
    assert file.source() == again.source() == address and len(again) == 1
