"""Variables as files have them: times as numbers with units, texts, and attributes."""

import warnings

import numpy as np
import xarray as xr

# What xarray keeps in `encoding` of how times are counted, and what else a file says of them.
TIMES = ("units", "calendar")
TIMES_OF_FILES = (*TIMES, "dtype", "_FillValue")
# Attributes that name other variables. xarray keeps them there too, where it made coordinates of these.
NAMES = xr.conventions.CF_RELATED_DATA


def encoded(name, variable, like=None):
    """Times as numbers with units, as files have them. Packing of a file that it came from is left out.

    `like` is the variable of a file that this one goes on. Times count as that one does, unless its units cannot tell each of them.
    """
    names = {key: variable.encoding[key] for key in NAMES if key in variable.encoding and key not in variable.attrs}
    variable = xr.Variable(variable.dims, variable._data, {**variable.attrs, **names}, variable.encoding, fastpath=True)
    if variable.dtype.kind in "mMO":
        # The values decide which units can say each time, and whether objects are texts. So dask has to compute them first.
        variable = variable.compute()
    if variable.dtype.kind not in "mMO" or is_text(variable):
        return variable
    given = variable.encoding if like is None else like.encoding
    kept = {key: given[key] for key in (TIMES if like is None else TIMES_OF_FILES) if key in given}
    if variable.dtype.kind in "mM":
        # The units must be able to say each time.
        kept.setdefault("dtype", np.dtype("int64"))
        if variable.dtype.kind == "M" and "units" not in kept:
            kept["units"] = "nanoseconds since 1970-01-01" if variable.dtype == "M8[ns]" else "seconds since 1970-01-01"
            kept.setdefault("calendar", "proleptic_gregorian")
        if variable.dtype.kind == "m" and like is None:
            kept["units"] = "nanoseconds" if variable.dtype == "m8[ns]" else "seconds"
        if variable.dtype.kind == "M" and like is not None:
            # That is what a file means which does not say it.
            kept.setdefault("calendar", "standard")
    found = _counted(name, variable, kept)
    if variable.dtype.kind in "mM":
        # Readers other than xarray need to know which number stands for a missing time.
        fill = {"_FillValue": np.iinfo("int64").min} if np.isnat(variable.values).any() else {}
        whole = {**{key: kept[key] for key in TIMES if key in kept}, "dtype": np.dtype("int64"), **fill}
        fine = variable.astype(f"{variable.dtype.kind}8[ns]")
        # xarray loses times of long units that are counted in shorter ones, and far ones beside a fill value.
        first = {**fill, **kept} if kept["dtype"] == np.int64 else kept
        ways = (_counted(name, times, how) for times, how in ((variable, first), (fine, first), (fine, kept), (fine, whole)))
        found = next((each for each in ways if tells(name, each, variable)), found)
    if like is not None and "units" in kept:
        # xarray has other words for some units.
        same = xr.Variable(found.dims, found.data, {**found.attrs, "units": kept["units"]})
        found = same if tells(name, same, variable) else found
    return found


def _counted(name, times, encoding):
    times = times.copy(deep=False)
    times.encoding = encoding
    with warnings.catch_warnings():
        # Where whole numbers of these units cannot say each time, xarray takes finer units. The file came with fractions.
        warnings.filterwarnings("ignore", message="Time(s|deltas) can't be serialized faithfully")
        return xr.conventions.encode_cf_variable(times, name=name)


def tells(name, numbers, times):
    """Whether numbers with units are these times, for a reader."""
    use_cftime = times.dtype.kind == "O" or None
    with warnings.catch_warnings():
        # Newer releases of xarray have another way to ask for objects.
        warnings.simplefilter("ignore")
        try:
            again = xr.conventions.decode_cf_variable(name, numbers, use_cftime=use_cftime, decode_timedelta=True).load()
        except (ValueError, OverflowError):
            return False
    if again.dtype.kind != times.dtype.kind or again.dtype.kind == "O":
        return again.equals(times)
    # numpy compares in the shorter unit, which has no room for far times.
    in_unit = again.astype(times.dtype)
    return in_unit.equals(times) and in_unit.astype(again.dtype).equals(again)


def is_text(variable):
    if variable.dtype.kind != "O":
        return False
    flat = np.asarray(variable.values).reshape(-1)
    return flat.size == 0 or isinstance(flat[0], (str, bytes)) or flat[0] is None


def is_bytes(variable):
    """Whether texts are bytes, as readers have characters of NetCDF without an encoding."""
    if variable.dtype.kind != "O":
        return variable.dtype.kind == "S"
    given = [each for each in np.asarray(variable.values).reshape(-1).tolist() if isinstance(each, (str, bytes))]
    given = [each for each in given if each] or given
    return bool(given) and all(isinstance(each, bytes) for each in given)


def texts(name, variable):
    flat = [("" if each is None or each is np.nan else each) for each in np.asarray(variable.values).reshape(-1).tolist()]
    if not all(isinstance(each, (str, bytes)) for each in flat):
        raise TypeError(f"variable {name!r}: elements of type {variable.dtype} are neither numbers, times nor texts")
    values = [_text(name, each) if isinstance(each, bytes) else each for each in flat]
    found = {"dimensions": list(variable.dims), "shape": list(variable.shape), "values": values}
    if is_bytes(variable):
        found["type"] = "char"
    if variable.attrs:
        found["attributes"] = attributes(name, variable.attrs)
    return found


def _text(name, value):
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        text = f"variable {name!r}: texts are UTF-8, and {value!r} is not: give bytes as numbers, by .view('uint8')"
        raise ValueError(text) from error


def attributes(name, given):
    found = {}
    for key, value in given.items():
        try:
            found[str(key)] = _attribute(value)
        except TypeError:
            text = f"{name}: attribute {key!r} is neither a text, a number, nor a list or a dict of these: {value!r}"
            raise TypeError(text) from None
    return found


def _attribute(value):
    """A value of attributes as metadata have it. Truth values in lists are numbers."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError
        return {key: _attribute(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [int(each) if isinstance(each, (bool, np.bool_)) else _attribute(each) for each in value]
    if value is None or isinstance(value, (int, float, str)):
        return value
    raise TypeError
