"""How the values of an object are encoded."""

import math

from . import _native
from ._inputs import as_array

# Codecs that lose nothing; then codecs of numbers, which lose digits.
_LOSSLESS = ("none", "szip", "zstd", "lz4", "blosc2", "rle", "roaring")
_LOSSY = ("zfp", "sz3")
_LEVELS = {"zstd": "zstd_level", "blosc2": "blosc2_clevel"}
_LEVEL_RANGES = {"zstd": (1, 22), "blosc2": (0, 9)}
# szip as most writers choose it: 128 blocks of 16 samples; values are predicted from those before.
_SZIP = {"szip_rsi": 128, "szip_block_size": 16}
_SZIP_PREDICTS, _SZIP_BIG_ENDIAN = 8, 4
_SZIP_WIDTH = 4
# Bits of the greatest value that zfp keeps at least, of 64: its transform takes some of them.
_ZFP_BITS = 56

_NAMES = ("bits", "within", "compression", "level", "shuffle", "rate", "precision")


class Encoding:
    """How the values of an object are encoded: a descriptor whose parameters follow from an array.

    It stands wherever a descriptor is expected. Without arguments values are stored as they are.

    | argument | |
    |---|---|
    | `bits` | packs floats into so many bits each (simple_packing); the step follows from their range. szip rounds up to 8, 16, 24 or 32, shuffle to whole bytes |
    | `within` | the largest error of a value, in its unit: simple_packing with the fewest bits, or the tolerance of zfp or sz3 |
    | `compression` | "szip", "zstd", "lz4", "blosc2", "zfp", "sz3"; "rle" and "roaring" for truth values |
    | `level` | of zstd (1 to 22) and blosc2 (0 to 9) |
    | `shuffle` | whether bytes of equal weight are stored together. Left open, it is chosen where szip needs it |
    | `rate`, `precision` | of zfp, instead of `within`: bits of a value, and bits that are kept |

    Packed values are float64; float16, bfloat16 and float32 are widened first, which is exact. NaN and infinities are
    left out of the range; `allow_nan` and `allow_inf` of the call that encodes permit them.

    Raises TypeError for an argument of another name, and ValueError for arguments that do not go together, here or when
    the array is known.

    >>> import numpy, tgmio as tgm
    >>> field = numpy.linspace(250, 300, 1000, dtype="float32")
    >>> message = tgm.encode({}, [(tgm.Encoding(within=0.01, compression="szip"), field)])
    >>> found = tgm.Message(message)[0]
    >>> found.stages, bool(abs(found.read() - field).max() <= 0.01)
    (('simple_packing', 'szip'), True)
    """

    __module__ = "tgmio"
    __slots__ = _NAMES

    def __init__(
        self,
        *,
        bits=None,
        within=None,
        compression=None,
        level=None,
        shuffle=None,
        rate=None,
        precision=None,
        **unknown,
    ):
        for name in unknown:
            raise TypeError(f"Encoding has no argument {name!r}: {_nearest(name, _NAMES, 'it has')}")
        compression = "none" if compression is None else compression
        if compression not in _LOSSLESS + _LOSSY:
            hint = _nearest(str(compression), _LOSSLESS + _LOSSY, "it is one of")
            raise ValueError(f"unknown compression {compression!r}: {hint}")
        bits, level = _integer("bits", bits), _integer("level", level)
        rate, precision = _number("rate", rate), _integer("precision", precision)
        values = (bits, _number("within", within), compression, level, shuffle, rate, precision)
        for name, value in zip(_NAMES, values, strict=True):
            object.__setattr__(self, name, value)
        self._check()

    def _check(self):
        """Raises ValueError for arguments that do not go together."""
        is_lossy = self.compression in _LOSSY
        if self.bits is not None and self.within is not None:
            raise ValueError("bits or within: each says how many bits a value gets")
        if self.bits is not None and is_lossy:
            raise ValueError(f"bits pack values into integers, which {self.compression} does not take: use within")
        if self.bits is not None and not 0 <= self.bits <= 64:
            raise ValueError(f"bits are 0 to 64, not {self.bits}")
        for name in ("within", "rate", "precision"):
            value = getattr(self, name)
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise ValueError(f"{name} is a positive number, not {value}")
        if self.level is not None and self.compression not in _LEVELS:
            raise ValueError(f"compression {self.compression!r} has no level: {' and '.join(_LEVELS)} have one")
        if self.level is not None:
            least, most = _LEVEL_RANGES[self.compression]
            if not least <= self.level <= most:
                raise ValueError(f"levels of {self.compression} are {least} to {most}, not {self.level}")
        if is_lossy and self.shuffle:
            raise ValueError(f"{self.compression} takes numbers, whose bytes cannot be shuffled")
        if self.compression == "zfp":
            if sum(value is not None for value in (self.within, self.rate, self.precision)) != 1:
                raise ValueError("zfp takes one of within, rate and precision")
        elif self.rate is not None or self.precision is not None:
            raise ValueError("rate and precision are of zfp")
        if self.compression == "sz3" and self.within is None:
            raise ValueError("sz3 needs within")

    def __setattr__(self, name, value):
        raise AttributeError("an Encoding does not change: make another one")

    def __delattr__(self, name):
        self.__setattr__(name, None)

    def _given(self):
        """The arguments that are not left open."""
        found = {name: getattr(self, name) for name in _NAMES}
        return {name: value for name, value in found.items() if value is not None and value != "none"}

    def __repr__(self):
        return f"Encoding({', '.join(f'{name}={value!r}' for name, value in self._given().items())})"

    def __eq__(self, other):
        return self._given() == other._given() if isinstance(other, Encoding) else NotImplemented

    def __hash__(self):
        return hash(tuple(self._given().items()))

    def __reduce__(self):
        return _again, (self._given(),)

    def descriptor(self, array):
        """The descriptor of an array under this encoding, as a dict, and the array to store with it.

        It is another array if its values have to be widened.

        >>> import numpy, tgmio as tgm
        >>> tgm.Encoding(compression="szip").descriptor(numpy.zeros(4, "float32"))[0]["szip_rsi"]
        128
        """
        array = as_array(array)
        is_packed = self.bits is not None or self.within is not None and self.compression not in _LOSSY
        if is_packed or self.compression in _LOSSY:
            array = self._widened(array)
        if self.compression == "zfp" and self.within is not None:
            self._check_zfp(array)
        keys = {"type": "ntensor", "shape": list(array.shape), "dtype": _name(array.dtype)}
        bits = None
        if is_packed:
            bits, packing = self._packing(array)
            keys |= {"encoding": "simple_packing", **packing}
        width = array.dtype.itemsize if bits is None else max(1, -(-bits // 8))
        shuffle = self.shuffle
        if shuffle is None:
            shuffle = self.compression == "szip" and bits is None and width > _SZIP_WIDTH
        if shuffle:
            keys |= {"filter": "shuffle", "shuffle_element_size": width}
        keys |= self._compressed(array, is_raw=bits is None and not shuffle)
        return keys, array

    def _compressed(self, array, is_raw):
        """The keys of the compression."""
        keys = {} if self.compression == "none" else {"compression": self.compression}
        if self.compression == "szip":
            is_big = is_raw and array.dtype.newbyteorder("S") == array.dtype.newbyteorder("<") != array.dtype
            keys |= {**_SZIP, "szip_flags": _SZIP_PREDICTS | (_SZIP_BIG_ENDIAN if is_big else 0)}
        elif self.compression == "zfp":
            modes = {"within": ("fixed_accuracy", "zfp_tolerance"), "rate": ("fixed_rate", "zfp_rate")}
            modes["precision"] = ("fixed_precision", "zfp_precision")
            name = next(name for name in modes if getattr(self, name) is not None)
            mode, key = modes[name]
            value = getattr(self, name)
            keys |= {"zfp_mode": mode, key: int(value) if name == "precision" else float(value)}
        elif self.compression == "sz3":
            keys |= {"sz3_error_bound_mode": "abs", "sz3_error_bound": float(self.within)}
        if self.level is not None:
            keys[_LEVELS[self.compression]] = int(self.level)
        return keys

    def _widened(self, array):
        """The array as float64, which is the only type that can be packed."""
        import numpy as np

        name = _name(array.dtype)
        if name not in ("float16", "bfloat16", "float32", "float64"):
            what = self.compression if self.compression in _LOSSY else "packing"
            raise ValueError(f"{what} takes floats, and the array is of dtype {array.dtype}: give .astype('float64')")
        # Gaps become NaN, which the encoder records in a mask.
        if isinstance(array, np.ma.MaskedArray):
            array = array.astype("float64").filled(np.nan)
        return array.astype("float64", copy=False)

    def _check_zfp(self, array):
        """Raises ValueError where zfp would not keep the error: it has so many bits of the greatest value of a block."""
        import numpy as np

        greatest = float(np.abs(array[np.isfinite(array)]).max(initial=0))
        if greatest > self.within * 2.0**_ZFP_BITS:
            raise ValueError(f"zfp cannot keep values up to {greatest:g} within {self.within:g}: take another compression")

    def _packing(self, array):
        """The bits of a value, and the keys of the packing."""
        import numpy as np

        finite = array[np.isfinite(array)] if array.size else array
        # The step of the fewest bits: bits beyond them are zeros, which compress well.
        within = packing_within(finite, self.within) if self.within is not None else None
        fewest = bits = int(self.bits) if within is None else within["sp_bits_per_value"]
        if self.compression == "szip":
            # Samples of szip are whole bytes.
            bits = whole_bytes(fewest)
            if bits > 32:
                raise ValueError(f"szip packs up to 32 bits, and {bits} are needed: take another compression")
        elif self.shuffle:
            # What is shuffled are bytes.
            bits = -(-fewest // 8) * 8
        if within is not None:
            return bits, {**within, "sp_bits_per_value": bits}
        if finite.size == array.size:
            # The encoder derives the rest from all values.
            return bits, {"sp_bits_per_value": bits}
        return bits, {**_native.compute_packing_params(_flat(finite), bits, 0)}


def _nearest(name, known, otherwise):
    """Advice for a name that is not known."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1, 0.5)
    return f"did you mean {near[0]!r}?" if near else f"{otherwise} {', '.join(known)}"


def _again(given):
    """The encoding that was pickled."""
    return Encoding(**given)


def _integer(name, value):
    """An argument that is an integer, if it is given."""
    if value is None:
        return None
    if not isinstance(value, bool) and hasattr(value, "__index__"):
        return value.__index__()
    raise TypeError(f"{name} is an integer, not {value!r}")


def _number(name, value):
    """An argument that is a number, if it is given."""
    if value is None or not isinstance(value, (bool, str)) and hasattr(value, "__float__"):
        return value
    raise TypeError(f"{name} is a number, not {value!r}")


def whole_bytes(bits):
    """The fewest bits of whole bytes, and at least one byte."""
    return max(8, -(-bits // 8) * 8)


def packing_within(finite, error):
    """The keys of packing finite values into the fewest bits that keep an error. ValueError if there are none."""
    return {**_native._packing_within(_flat(finite), float(error))}


def _flat(finite):
    import numpy as np

    return np.ascontiguousarray(finite, "float64").reshape(-1)


def _name(dtype):
    """The name of a dtype in descriptors."""
    name = "bitmask" if dtype.kind == "b" else dtype.newbyteorder("=").name
    if dtype.kind not in "biufc" and name != "bfloat16":
        raise ValueError(f"data must be a numpy array of numbers or truth values (got dtype {dtype})")
    return name
