"""Datasets that go on where the one in a file ends."""

import os

import numpy as np
import xarray as xr

from ._sources import Archive
from ._variables import TIMES, is_bytes, is_text, tells


# Attributes by which readers change values. A file has them once, for all that is appended.
OF_VALUES = ("_FillValue", "missing_value", "_Unsigned")


class Before:
    """A variable of a file that goes on: as it is opened, its type there, and its attributes there."""

    def __init__(self, file, variable, about):
        self.file, self.variable, self.attributes = file, variable, about["attributes"]
        self.dtype = None if about["dtype"] is None else np.dtype(about["dtype"])


def rest(dataset, path, file, dim):
    """What of a dataset is stored when it is appended to a file: the variables with the dimension. The number of the part, and the
    variables that go on, by their names.
    """
    natives = Archive((os.path.abspath(path),), {}).native()
    if not natives or not natives[0].is_of_files:
        raise ValueError(f"{file}: it is not a dataset that was saved, so nothing can be appended along {dim}")
    known = xr.open_dataset(path, engine="tgm")
    if dim not in known.dims:
        raise ValueError(f"{file}: it has no dimension {dim}")
    for name, variable in known.variables.items():
        own = dataset.variables.get(name)
        if dim not in variable.dims:
            if own is not None and not own.equals(variable):
                raise ValueError(f"{file}: {name!r} differs from what the file has, and has no dimension {dim}")
            continue
        if own is None:
            raise ValueError(f"{file}: it has a variable {name!r}, which the dataset lacks")
        sizes = [{key: size for key, size in each.sizes.items() if key != dim} for each in (own, variable)]
        if own.dims != variable.dims or sizes[0] != sizes[1]:
            raise ValueError(f"{file}: {name!r} has dimensions {dict(variable.sizes)}, and {dict(own.sizes)} in the dataset")
        if _kind(own) != _kind(variable):
            has, given = (f"{each.dtype} ({_kind(each)})" for each in (variable, own))
            raise ValueError(f"{file}: {name!r} is of type {has}, and {given} in the dataset")
    if unknown := [name for name in dataset.variables if name not in known.variables]:
        raise ValueError(f"{file}: it has no variable {unknown[0]!r}")
    growing = [name for name in known.variables if dim in known.variables[name].dims]
    unchanged = [name for name in dataset.coords if dim not in dataset.variables[name].dims]
    abouts = {about["name"]: about for about in natives[0].variables}
    before = {name: Before(file, known.variables[name], abouts[name]) for name in growing}
    return dataset[growing].drop_vars(unchanged, errors="ignore"), natives[0].appended + 1, before


def _kind(variable):
    """What cannot be joined: numbers, times of a calendar, durations, texts and bytes."""
    kind = variable.dtype.kind
    if kind in "SUT" or (kind == "O" and is_text(variable)):
        return "bytes" if is_bytes(variable) else "texts"
    if kind == "O":
        return f"times of the calendar {getattr(next(iter(variable.values.flat)), 'calendar', None)}"
    return {"M": "times", "m": "durations"}.get(kind, "numbers")


def as_in_file(name, variable, stored, options, before):
    """What is appended of a variable, whose numbers for files are `stored`, and in which type: the one that the file has.

    Readers take the attributes of what was written first. So the ones that follow must mean the same. ValueError if they do not, and
    where the file's type does not hold all numbers.
    """
    place = f"{before.file}: {name!r}"
    own, is_time = stored.dtype.newbyteorder("="), before.variable.dtype.kind in "mMO"
    units = [each.get("units") for each in (before.variable.encoding if is_time else before.attributes, stored.attrs)]
    if is_time and not tells(name, stored, variable):
        raise ValueError(f"{place} counts {units[0]} as {before.dtype}, which does not tell each time of the dataset")
    if units[0] != units[1]:
        if before.variable.dtype.kind not in "MO":
            raise ValueError(f"{place} has units {units[0]!r}, and {units[1]!r} in the dataset")
        if "_FillValue" not in before.variable.encoding and before.variable.isnull().any():
            raise ValueError(f"{place} counts {units[0]}, which do not tell each time of the dataset")
        # Both are counted anew, whatever their types are.
        return stored, own
    if is_time:
        # Bounds have the units of what they bound.
        told = {key: value for key, value in stored.attrs.items() if key not in TIMES or key in before.attributes}
        stored = xr.Variable(stored.dims, stored.data, told)
    if not is_time:
        if own.kind in "iu" and ("scale_factor" in stored.attrs or "add_offset" in stored.attrs):
            # The attributes beside them make them values, before they are joined.
            own = xr.conventions.decode_cf_variable(name, stored).dtype
            if own == before.dtype:
                return stored, stored.dtype
        for key in OF_VALUES:
            has, given = before.attributes.get(key), stored.attrs.get(key)
            if given is not None and not _is_equal(given, has):
                raise ValueError(f"{place} has {key} {has!r}, and {given!r} in the dataset")
    if options.get("within") is not None and own.kind == before.dtype.kind == "f" and before.dtype != np.float64:
        raise ValueError(f"{place} is of type {before.dtype}, and packed values are float64: append it without 'within'")
    if not _holds(before.dtype, own) and not (own == before.variable.dtype == bool):
        raise ValueError(f"{place} is of type {before.dtype}, and {own} in the dataset")
    return stored, before.dtype


def _holds(dtype, other):
    """Whether a type has all numbers of another one."""
    if dtype == other:
        return True
    is_rounded = other.kind in "iu" and other.itemsize == 8 and dtype.kind in "fc"
    return other.kind != "b" and np.can_cast(other, dtype, "safe") and not is_rounded


def _is_equal(one, other):
    """Whether two attributes are equal. NaN stands for itself, whether an attribute says so or not."""
    both = [np.asarray(each) for each in (one, other)]
    is_nan = both[0].dtype.kind == "f" and np.isnan(both[0]).all()
    return is_nan or np.array_equal(*both)
