"""Arrays of which boxes are read: what xarray asks of them beside."""

import math

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

# Bytes that a selection of single points takes beside its result.
BESIDE_BYTES = 64 << 20


class BoxArray(BackendArray):
    """An array with a `shape`, a `dtype`, and `_read`, which reads a box: integers, slices and lists of indices."""

    def __getitem__(self, key):
        if isinstance(key, indexing.VectorizedIndexer):
            return self._points(key)
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _points(self, key):
        """The values of single points. Points that lie in one box are read together, a few hundred at a time."""
        keys = [np.arange(size)[each] if isinstance(each, slice) else np.asarray(each) for each, size in
                zip(key.tuple, self.shape)]
        arrays = [np.asarray(each) for each in key.tuple if not isinstance(each, slice)]
        if len(arrays) != len(keys):
            # Slices beside arrays: the result has the arrays' dimensions first.
            shape = np.broadcast_shapes(*(each.shape for each in arrays))
            slices = [each for each, given in zip(keys, key.tuple) if isinstance(given, slice)]
            ndim = len(shape) + len(slices)
            found, at = [], len(shape)
            for each, given in zip(keys, key.tuple):
                if isinstance(given, slice):
                    found.append(each.reshape([-1 if axis == at else 1 for axis in range(ndim)]))
                    at += 1
                else:
                    found.append(each.reshape(each.shape + (1,) * len(slices)))
            keys = found
        shape = np.broadcast_shapes(*(each.shape for each in keys))
        if math.prod(shape) == 0:
            return np.empty(shape, self.dtype)
        # Axes of the result along which some dimension varies alone are cut into runs, so that little is read beside.
        keys = [each.reshape((1,) * (len(shape) - each.ndim) + each.shape) for each in keys]
        out = np.empty(shape, self.dtype)
        self._points_into(keys, out)
        return out

    def _points_into(self, keys, out):
        unique = [np.unique(each) for each in keys]
        needed = math.prod(len(each) for each in unique) * self.dtype.itemsize
        longest = int(np.argmax(out.shape)) if out.ndim else 0
        if needed > max(BESIDE_BYTES, 2 * out.nbytes) and out.size > 1:
            half = out.shape[longest] // 2
            for part in (slice(None, half), slice(half, None)):
                place = (slice(None),) * longest + (part,)
                self._points_into([each if each.shape[longest] == 1 else each[place] for each in keys], out[place])
            return
        box = self._read(tuple(unique))
        out[...] = box[tuple(np.searchsorted(labels, each) for labels, each in zip(unique, keys))]


class JoinedArray(BoxArray):
    """Variables of xarray one behind the other, each read when it is asked for."""

    def __init__(self, parts, axis):
        self.parts = parts
        self.axis = axis
        self.ends = np.cumsum([part.shape[axis] for part in parts])
        self.shape = parts[0].shape[:axis] + (int(self.ends[-1]),) + parts[0].shape[axis + 1:]
        self.dtype = np.result_type(*(part.dtype for part in parts))

    def _read(self, key):
        wanted = key[self.axis]
        if isinstance(wanted, (int, np.integer)):
            number = int(np.searchsorted(self.ends, wanted, side="right"))
            return self._of_part(number, key, int(wanted) - self._start(number))
        indices = np.arange(self.shape[self.axis])[wanted]
        numbers = np.searchsorted(self.ends, indices, side="right")
        lens = [
            len(indices) if axis == self.axis else len(range(*each.indices(size))) if isinstance(each, slice) else len(each)
            for axis, (each, size) in enumerate(zip(key, self.shape))
            if not isinstance(each, (int, np.integer))
        ]
        # Dimensions of one index are not in the result.
        before = sum(not isinstance(each, (int, np.integer)) for each in key[:self.axis])
        out = np.empty(lens, self.dtype)
        for number in np.unique(numbers).tolist():
            places = np.flatnonzero(numbers == number)
            found = self._of_part(number, key, _as_slice(indices[places] - self._start(number)))
            out[(slice(None),) * before + (_as_slice(places),)] = found
        return out

    def _start(self, number):
        return int(self.ends[number - 1]) if number else 0

    def _of_part(self, number, key, along):
        return self.parts[number][key[:self.axis] + (along,) + key[self.axis + 1:]].values


def _as_slice(indices):
    """Indices that follow each other as a slice, of which more is read at once."""
    first, last = int(indices[0]), int(indices[-1])
    is_run = last - first + 1 == len(indices) and bool(np.all(np.diff(indices) == 1))
    return slice(first, last + 1) if is_run else indices
