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
