"""Datasets of several files as one, and of parts that were appended: as `xarray.open_mfdataset(combine="by_coords")` joins them.

What has the dimension along which they differ is read where it lies. What has not is taken once if it is equal in all of them, as
`grid_mapping` variables are, and stacked otherwise.
"""

import numpy as np
import xarray as xr
from xarray.core import indexing

from ._arrays import JoinedArray

# Elements of a variable without the dimension that are compared. Of larger ones the first one counts.
MOST_COMPARED = 1 << 22
# The greatest number of chunks along the dimension.
MOST_CHUNKS = 10_000


def by_coordinates(datasets, names):
    """The datasets that files are together, the one with the most variables first. It lists the others as left out.

    Files with the same variables are joined along each dimension whose coordinates differ. Files with other variables are merged
    with them, if they have equal coordinates. `names` say how errors call each.
    """
    groups = {}
    for dataset, name in zip(datasets, names):
        groups.setdefault(frozenset(dataset.data_vars), []).append((dataset, name))
    # A file without data variables says something of coordinates alone.
    joined = [_group(list(group)) for group in groups.values()]
    joined.sort(key=lambda one: -len(one[0].data_vars))
    found = []
    for dataset, name in joined:
        for number, (other, others) in enumerate(found):
            if _fits(other, dataset):
                merged = other.assign(dataset.data_vars).assign_coords(
                    {key: value for key, value in dataset.coords.items() if key not in other.coords}
                )
                found[number] = (_with_about(merged, [other, dataset]), others)
                break
        else:
            found.append((dataset, name))
    if len(found) > 1:
        left_out = [f"{name} ({', '.join(map(str, dataset.data_vars))}): it has other coordinates" for dataset, name in found[1:]]
        about = found[0][0].encoding["tgm"]
        found[0][0].encoding["tgm"] = {**about, "left_out": [*about["left_out"], *left_out]}
    return [dataset for dataset, _ in found]


def in_order(parts, alongs, name):
    """A dataset with what was appended to it, one part behind the other. `alongs` are the dimensions of all parts but the first."""
    found = parts[0]
    runs, left_out = [], []
    for number, (part, along) in enumerate(zip(parts[1:], alongs), 1):
        # Writing it was interrupted.
        if lacking := [key for key, variable in found.variables.items() if along in variable.dims and key not in part.variables]:
            left_out.append(f"part {number} of {name}: it is not complete, and lacks {', '.join(map(str, lacking))}")
            continue
        if not runs or runs[-1][0] != along:
            runs.append((along, []))
        runs[-1][1].append(part)
    for along, run in runs:
        names = [f"{name}, part {number}" for number in range(len(run) + 1)]
        found = _concat([found, *run], names, along, is_appended=True)
    about = found.encoding["tgm"]
    found.encoding["tgm"] = {**about, "left_out": [*about["left_out"], *left_out]}
    return found


def _fits(one, other):
    """Whether what two datasets share is equal, such as coordinates. Large variables are not compared: they are of one alone."""
    if any(one.sizes[dim] != size for dim, size in other.sizes.items() if dim in one.sizes):
        return False
    shared = [(one.variables[name], other.variables[name]) for name in other.variables if name in one.variables]
    return all(variable.size <= MOST_COMPARED and variable.equals(same) for variable, same in shared)


def _group(group):
    """Files with the same variables as one dataset, and how errors call it."""
    for dim in group[0][0].sizes:
        for one in group[1:]:
            _check_units(dim, group[0], one)
    varying = [dim for dim in group[0][0].sizes if _differs(group, dim)]
    if len(group) > 1 and not varying:
        names = ", ".join(name for _, name in group[:3])
        raise ValueError(f"{names}: they have the same variables and coordinates, so nothing says how they go on")
    # The last dimension first, until one dataset is left.
    while varying:
        dim, others = varying.pop(), list(varying)
        rows = {}
        for dataset, name in group:
            rows.setdefault(tuple(_first(dataset, other) for other in others), []).append((dataset, name))
        group = [_along(row, dim) for row in rows.values()]
    if len(group) > 1:
        names = ", ".join(name for _, name in group[:3])
        raise ValueError(f"{names}: they do not form a box along their dimensions")
    return group[0]


def _differs(group, dim):
    indexes = [dataset.indexes.get(dim) for dataset, _ in group]
    first = indexes[0]
    return any((index is None) != (first is None) or (index is not None and not index.equals(first)) for index in indexes)


def _first(dataset, dim):
    """The first label of a dimension."""
    index = dataset.indexes.get(dim)
    return None if index is None or not len(index) else index[0]


def _along(row, dim):
    """Datasets in the order of their labels as one."""
    if len(row) == 1:
        return row[0]
    for dataset, name in row:
        if dim not in dataset.indexes:
            raise ValueError(f"{name}: it has no coordinate {dim}, along which others go on")
    # Without labels there is nothing to put anywhere.
    full = [one for one in row if one[0].sizes[dim]] or row[:1]
    is_falling = any(len(dataset.indexes[dim]) > 1 and dataset.indexes[dim].is_monotonic_decreasing for dataset, _ in full)
    try:
        full.sort(key=lambda one: one[0].indexes[dim][0], reverse=is_falling)
    except TypeError:
        raise ValueError(f"{', '.join(name for _, name in row[:3])}: labels of {dim} of different kinds cannot be compared") from None
    names = [name for _, name in full]
    return _concat([dataset for dataset, _ in full], names, dim), names[0]


def _check_units(dim, one, other):
    """Numbers with other units are not in one order: times that were not decoded."""
    units = [dataset.variables[dim].attrs.get("units") for dataset, _ in (one, other) if dim in dataset.variables]
    if len(set(units)) > 1:
        raise ValueError(f"{one[1]}, {other[1]}: {dim} has units {units[0]!r} and {units[1]!r}: decode times to join them")


def _concat(datasets, names, dim, is_appended=False):
    """Datasets one behind the other along a dimension that all of them have."""
    if len(datasets) == 1:
        return datasets[0]
    first = datasets[0]
    variables, left_out = {}, []
    for name, variable in first.variables.items():
        parts = [dataset.variables.get(name) for dataset in datasets]
        if is_appended and dim not in variable.dims:
            # It is stored once.
            variables[name] = variable
            continue
        if missing := [file for file, part in zip(names, parts) if part is None]:
            if name in first.data_vars or is_appended:
                raise ValueError(f"{missing[0]}: it has no variable {name!r}, which {names[0]} has")
            left_out.append(f"{name}: {missing[0]} does not have it")
            continue
        variables[name] = _joined(name, parts, names, dim, [dataset.sizes[dim] for dataset in datasets])
    index = variables.get(dim)
    if index is not None and not is_appended:
        labels = xr.Variable(index.dims, index.values).to_index()
        if not (labels.is_monotonic_increasing or labels.is_monotonic_decreasing):
            raise ValueError(f"{_overlap(datasets, names, dim)}: their {dim} overlaps, or is not in order")
    dataset = xr.Dataset(variables, attrs=first.attrs).set_coords(set(first.coords) & set(variables))
    dataset = _with_about(dataset, datasets)
    dataset.encoding["tgm"]["left_out"] += left_out
    return dataset


def _overlap(datasets, names, dim):
    """The first two files whose labels are out of order."""
    ends = [(dataset.indexes[dim].min(), dataset.indexes[dim].max()) for dataset in datasets]
    for number in range(len(ends) - 1):
        (low, high), (next_low, next_high) = ends[number:number + 2]
        if next_low <= high and low <= next_high:
            return f"{names[number]}, {names[number + 1]}"
    return ", ".join(names[:3])


def _joined(name, parts, names, dim, lens):
    """A variable of several datasets."""
    first = parts[0]
    if all(dim not in part.dims for part in parts):
        if first.size > MOST_COMPARED or all(part.equals(first) for part in parts[1:]):
            return first
        parts = [part.set_dims({dim: size, **part.sizes}) for part, size in zip(parts, lens)]
        first = parts[0]
    axis = first.dims.index(dim) if dim in first.dims else None
    for part, file in zip(parts, names):
        rest = [(one, size) for one, size in part.sizes.items() if one != dim]
        if axis is None or part.dims != first.dims or rest != [(one, size) for one, size in first.sizes.items() if one != dim]:
            raise ValueError(f"{file}: {name!r} has dimensions {dict(part.sizes)}, and {dict(first.sizes)} in {names[0]}")
        if (part.dtype.kind in "mM") != (first.dtype.kind in "mM") or (part.dtype.kind in "OUS") != (first.dtype.kind in "OUS"):
            raise ValueError(f"{file}: {name!r} is of type {part.dtype}, and {first.dtype} in {names[0]}")
    if name == dim:
        values = np.concatenate([part.values for part in parts])
        return xr.Variable(first.dims, values, first.attrs, first.encoding)
    encoding = {key: value for key, value in first.encoding.items() if key != "preferred_chunks"}
    if chunks := first.encoding.get("preferred_chunks"):
        encoding["preferred_chunks"] = {**chunks, dim: _chunks(parts, dim)}
    array = JoinedArray(parts, axis)
    return xr.Variable(first.dims, indexing.LazilyIndexedArray(array), first.attrs, encoding)


def _chunks(parts, dim):
    """Sizes of chunks along the dimension: no chunk has values of two files."""
    sizes = []
    for part in parts:
        size = part.sizes[dim]
        chunk = part.encoding.get("preferred_chunks", {}).get(dim, size)
        chunk = max(1, chunk if isinstance(chunk, int) else max(chunk))
        sizes += [min(chunk, size - start) for start in range(0, size, chunk)]
    if len(sizes) > MOST_CHUNKS:
        total = sum(sizes)
        chunk = -(-total // MOST_CHUNKS)
        sizes = [min(chunk, total - start) for start in range(0, total, chunk)]
    return tuple(sizes)


def _with_about(dataset, parts):
    """The dataset with what its parts tell of themselves."""
    abouts = [part.encoding["tgm"] for part in parts]
    merged = {key: [each for about in abouts for each in about[key]] for key in ("left_out", "notes", "lost", "archives")}
    sources = [part.encoding["source"] for part in parts]
    flat = [each for source in sources for each in (source if isinstance(source, list) else [source])]
    flat = list(dict.fromkeys(flat))
    dataset.encoding = {**parts[0].encoding, "source": flat[0] if len(flat) == 1 else flat, "tgm": merged}
    return dataset
