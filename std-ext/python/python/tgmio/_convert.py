"""Files of other formats: the command `tgm convert`, in this process."""

import os
import warnings

from . import _native
from ._errors import OtherError


def native():
    """The compiled half that has the command: the one with NetCDF, where `tgmio-netcdf` is installed."""
    try:
        from tgmio_netcdf import _native as with_netcdf
    except ImportError:
        return _native
    return with_netcdf


def convert(source, target, /, **options):
    """Converts a file, or a list of files, into the file `target`: GRIB, Zarr, numpy, safetensors and CSV into Tensogram, and back.

    The formats are found by content and by the ends of names. Options are the same as of the command `tgm convert`, which
    `tgm convert --help` lists, with `_` in place of `-`; `from_` for `--from`:

    >>> import numpy, tgmio as tgm
    >>> numpy.save("a.npy", numpy.arange(6.0).reshape(2, 3))
    >>> tgm.convert("a.npy", "a.tgm", compression="zstd")
    >>> tgm.open("a.tgm")[0][0].read()
    array([[0., 1., 2.],
           [3., 4., 5.]])

    What a format cannot take is a warning. What cannot be read raises `OtherError`; the rest is written, but not with
    `strict=True`. A wrong option raises `ValueError`. Other threads of Python run meanwhile; conversions run one after the other.
    """
    sources = source if isinstance(source, (list, tuple)) else [source]
    words = [_word(source) for source in sources]
    for word in words:
        if not _native.is_remote_url(word):
            _must_exist(word)
    _run("convert", words, target, options)


def _must_exist(path):
    """Raises the system's error for a path that cannot be read, without what may be secret in it."""
    try:
        os.stat(path)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, _native._shown(path)[0]) from None


def _run(command, words, target, options):
    """Runs a command of the tool that writes to `target`. Its remarks are warnings, and its problems an error."""
    flags = [flag for name, value in options.items() for flag in _flags(name, value)]
    written = _word(target)
    quoted = [written, *words]
    try:
        remarks, problems = native()._call_tool(["tgm", command, *flags, f"--output={written}", "--", *words])
    except ValueError as error:
        raise ValueError(_advised(str(error), quoted).removeprefix("error: ").strip()) from None
    for remark in remarks:
        warnings.warn(_advised(remark, quoted), stacklevel=3)
    if problems:
        raise OtherError("\n".join(_advised(problem, quoted) for problem in problems))


def _word(path):
    """A path as a word of a command line: `-` is the name of a file here."""
    text = os.fsdecode(path)
    return "./-" if text == "-" else text


def _flags(name, value):
    """An option as words of a command line."""
    flag = "--" + name.rstrip("_").replace("_", "-")
    if value is None:
        return []
    if value is False:
        return [f"{flag}=false"] if name in ("allow_nan", "allow_inf") else []
    if value is True:
        return [flag]
    return [f"{flag}={each}" for each in (value if isinstance(value, (list, tuple)) else [value])]


def _advised(text, paths):
    """A text of the tool with what users of the package can do, and without what may be secret in paths."""
    for path in paths:
        text = text.replace(path, _native._shown(path)[0])
    return text.replace("and this build of tgm lacks the feature `netcdf`", "which the package `tgmio-netcdf` adds")


def convert_grib(
    path,
    *,
    grouping="merge_all",
    preserve_all_keys=False,
    encoding="none",
    bits=None,
    filter="none",
    compression="none",
    compression_level=None,
    threads=0,
    hash="xxh3",
):
    """The messages of a file of GRIB: a list of one message with all fields, or with `grouping="one_to_one"` one for each.

    Values stay packed as GRIB has them, unless `encoding`, `bits`, `filter` or `compression` say otherwise. With
    `preserve_all_keys` a field gets all numbers of its sections as keys, and the few that tell fields apart otherwise.
    """
    return _messages(
        path,
        _grouping(grouping, ("merge_all", "one_to_one")),
        {
            "from_": "grib2",
            "grib_keys": "all" if preserve_all_keys else "few",
            **_stages(encoding, bits, filter, compression, compression_level, threads, hash),
        },
    )


def convert_grib_buffer(
    buffer,
    *,
    grouping="merge_all",
    preserve_all_keys=False,
    encoding="none",
    bits=None,
    filter="none",
    compression="none",
    compression_level=None,
    threads=0,
    hash="xxh3",
):
    """As `convert_grib`, for the bytes of a file."""
    import tempfile

    options = {name: value for name, value in locals().items() if name not in ("buffer", "tempfile")}

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "buffer.grib2")
        with open(path, "wb") as file:
            file.write(memoryview(buffer).cast("B"))
        return convert_grib(path, **options)


def convert_netcdf(
    path,
    *,
    split_by="file",
    cf=False,
    encoding="none",
    bits=None,
    filter="none",
    compression="none",
    compression_level=None,
    threads=0,
    hash="xxh3",
):
    """The messages of a file of NetCDF or HDF5: a list of one message with all variables. Needs the package `tgmio-netcdf`.

    Attributes are kept, with `cf` and without.
    """
    _needs_netcdf()
    stages = _stages(encoding, bits, filter, compression, compression_level, threads, hash)
    return _messages(path, _grouping(split_by, ("file",)), {"from_": "netcdf", **stages})


def to_grib(messages):
    """The GRIB messages that `messages` were made of, as bytes."""
    import tempfile

    joined = _native._joined(messages)
    with tempfile.TemporaryDirectory() as folder:
        made, back = (os.path.join(folder, name) for name in ("made.tgm", "back.grib2"))
        with open(made, "wb") as file:
            file.write(joined)
        convert(made, back)
        with open(back, "rb") as file:
            return file.read()


def to_netcdf(messages, path):
    """Writes a file of NetCDF of messages. Needs the package `tgmio-netcdf`."""
    import tempfile

    joined = _native._joined(messages)
    _word(path)
    _needs_netcdf()
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "made.tgm")
        with open(made, "wb") as file:
            file.write(joined)
        convert(made, path, to="netcdf")


def _needs_netcdf():
    """Raises what `tensogram` raises in a build without it."""
    if not native().__has_netcdf__:
        raise RuntimeError(
            "tensogram was built without NetCDF support: the package `tgmio-netcdf` adds it; xarray reads and writes it too, with "
            "`tgm.save_dataset` and `tgm.open_dataset(…).to_netcdf`"
        )


def _grouping(name, known):
    """Whether all objects come into one message."""
    if name not in known:
        raise ValueError(f"{name!r} is not one of {', '.join(map(repr, known))}")
    return name == known[0]


def _stages(encoding, bits, filter, compression, level, threads, hash):
    """The options of the tool by the arguments of the package `tensogram`: `none` leaves a stage as the file has it."""
    if hash not in ("xxh3", "none", None):
        raise ValueError(f"metadata error: unknown hash type: {hash!r} (expected 'xxh3' or 'none')")
    stages = {"encoding": encoding, "filter": filter, "compression": compression}
    options = {name: value for name, value in stages.items() if value != "none"}
    return {**options, "bits": bits, "level": level, "threads": threads, "no_hash": hash != "xxh3"}


def _messages(path, is_one, options):
    """The messages that a file becomes."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "made.tgm")
        convert(path, made, **options)
        if is_one:
            _run("merge", [made], made, {})
        with open(made, "rb") as file:
            data = file.read()
    return [data[offset : offset + length] for offset, length in _native.scan(data)]
