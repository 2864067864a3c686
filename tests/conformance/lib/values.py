"""Values of the cases, and what a reader returns for them: made here, without a reader.

`Values` are the raw bytes in little-endian C order, one element after the other. They come from a small generator of
integers, so that they are the same everywhere.
"""

import hashlib
import math
import struct

from wire import SWAP_UNIT, WIDTH, product

# Bits of restored values (FORMAT 5.3), for one part of a complex number: NaN, +Inf, -Inf.
RESTORED = {
    "float16": (0x7E00, 0x7C00, 0xFC00),
    "bfloat16": (0x7FC0, 0x7F80, 0xFF80),
    "float32": (0x7FC00000, 0x7F800000, 0xFF800000),
    "complex64": (0x7FC00000, 0x7F800000, 0xFF800000),
    "float64": (0x7FF8 << 48, 0x7FF0 << 48, 0xFFF0 << 48),
    "complex128": (0x7FF8 << 48, 0x7FF0 << 48, 0xFFF0 << 48),
}
KINDS = ("nan", "inf+", "inf-")
FRACTION_BITS = {2: 10, 4: 23, 8: 52}


def noise(count, seed=1):
    """Numbers of 32 bits: the upper half of a linear congruential generator of 64 bits."""
    state, out = seed, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        out.append(state >> 32)
    return out


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def pack_bits(bits):
    """Eight bits a byte, the first in the highest bit."""
    out = bytearray(-(-len(bits) // 8))
    for at, bit in enumerate(bits):
        out[at // 8] |= bool(bit) << 7 - at % 8
    return bytes(out)


def unpack_bits(data, count):
    return [data[at // 8] >> 7 - at % 8 & 1 == 1 for at in range(count)]


def swapped(data, unit):
    """The bytes with each unit reversed."""
    return b"".join(data[at : at + unit][::-1] for at in range(0, len(data), unit))


def in_order(dtype, little, byte_order):
    return swapped(little, SWAP_UNIT[dtype]) if byte_order == "big" else little


def doubles(values):
    return struct.pack(f"<{len(values)}d", *values)


def ints(dtype, count, seed=1):
    """Integers over the whole range, the extremes first."""
    bits = 8 * WIDTH[dtype]
    high, low = noise(count, seed), noise(count, seed + 1)
    raw = [0, (1 << bits) - 1, 1 << bits - 1, (1 << bits - 1) - 1, 1] + [h << 32 | l for h, l in zip(high, low)]
    return b"".join((value % (1 << bits)).to_bytes(bits // 8, "little") for value in raw[:count])


def floats(dtype, count, seed=1):
    """Finite floats of both signs: zeros, subnormals, extremes, then numbers with random bits."""
    unit = SWAP_UNIT[dtype]
    bits = 8 * unit
    fraction = 7 if dtype == "bfloat16" else FRACTION_BITS[unit]
    exponent_all = ((1 << bits - 1 - fraction) - 1) << fraction
    sign = 1 << bits - 1
    first = [0, sign, 1, sign | 1, exponent_all - 1, sign | exponent_all - 1, 1 << fraction, exponent_all >> 1]
    high, low = noise(count * 2, seed), noise(count * 2, seed + 1)
    random = [(h << 32 | l) % (1 << bits) for h, l in zip(high, low)]
    # A one fewer in the exponent makes NaN and infinities finite.
    random = [value ^ 1 << fraction if value & exponent_all == exponent_all else value for value in random]
    parts = count * (WIDTH[dtype] // unit)
    return b"".join(value.to_bytes(unit, "little") for value in (first + random)[:parts])


def any_values(dtype, shape, seed=1):
    """Little-endian values of any dtype; packed bits for bitmask."""
    count = product(shape)
    if dtype == "bitmask":
        return pack_bits([value >> 31 for value in noise(count, seed)])
    if dtype in RESTORED:
        return floats(dtype, count, seed)
    return ints(dtype, count, seed)


def with_non_finite(dtype, little, places):
    """The values with `places` {element: kind} set: NaN with an odd fraction, or an infinity.

    Kinds are "nan", "inf+", "inf-"; for complex numbers ".re" or ".im" may follow: the other part stays.
    """
    unit, width = SWAP_UNIT[dtype], WIDTH[dtype]
    out = bytearray(little)
    for element, kind in places.items():
        kind, _, part = kind.partition(".")
        bits = RESTORED[dtype][KINDS.index(kind)] | (kind == "nan")
        for at in range(0, width, unit):
            if not part or (part == "im") == (at > 0):
                out[element * width + at : element * width + at + unit] = bits.to_bytes(unit, "little")
    return bytes(out)


def kind_of(dtype, element):
    """The kind of a little-endian element, or None if it is finite (PIPELINE 6.2)."""
    unit = SWAP_UNIT[dtype]
    fraction = 7 if dtype == "bfloat16" else FRACTION_BITS[unit]
    kinds = set()
    for at in range(0, len(element), unit):
        bits = int.from_bytes(element[at : at + unit], "little")
        exponent_all = ((1 << 8 * unit - 1 - fraction) - 1) << fraction
        if bits & exponent_all == exponent_all:
            is_nan = bits & (1 << fraction) - 1
            kinds.add("nan" if is_nan else "inf-" if bits >> 8 * unit - 1 else "inf+")
    return next((kind for kind in KINDS if kind in kinds), None)


def split_non_finite(dtype, little):
    """What a writer stores (zeros in place), a list of bools for each kind that occurs, and what a reader returns."""
    width, unit = WIDTH[dtype], SWAP_UNIT[dtype]
    stored, restored, masks = bytearray(little), bytearray(little), {}
    count = len(little) // width
    for element in range(count):
        span = slice(element * width, (element + 1) * width)
        kind = kind_of(dtype, little[span])
        if kind:
            masks.setdefault(kind, [False] * count)[element] = True
            stored[span] = bytes(width)
            bits = RESTORED[dtype][KINDS.index(kind)]
            restored[span] = bits.to_bytes(unit, "little") * (width // unit)
    return bytes(stored), {kind: masks[kind] for kind in KINDS if kind in masks}, bytes(restored)


def power(base, exponent):
    """By repeated squaring; a negative exponent is the reciprocal (PIPELINE 3.2)."""
    result, factor, left = 1.0, float(base), abs(exponent)
    while left:
        if left & 1:
            result *= factor
        left >>= 1
        factor = factor * factor if left else factor
    return result if exponent >= 0 else 1.0 / result if math.isfinite(result) else 0.0


def packing_of(values, bits, decimal=0):
    """Reference value and binary scale computed from finite values (PIPELINE 3.2)."""
    if not values or bits == 0:
        return (values[0] if values else 0.0), 0
    low, high = math.inf, -math.inf
    for value in values:
        low = value if value < low else low
        high = value if value > high else high
    spread = (high - low) * power(10, decimal)
    most = float((1 << bits) - 1)
    return low, (0 if spread == 0 else math.ceil(math.log2(spread / most)))


def pack(values, bits, reference, binary, decimal=0):
    """The numbers q of simple_packing (PIPELINE 3.3)."""
    scale = power(10, decimal) * power(2, -binary)
    most = float((1 << bits) - 1)
    out = []
    for value in values:
        scaled = (value - reference) * scale
        # To nearest, halves away from zero; `floor(x + 0.5)` is another function.
        whole = math.floor(abs(scaled))
        nearest = whole + (abs(scaled) - whole >= 0.5)
        out.append(int(min(max(0, nearest if scaled > 0 else -nearest), (1 << 64) - 1, int(most))))
    return out


def unpack(numbers, reference, binary, decimal=0):
    """The values of numbers q (PIPELINE 3.4): the product is rounded, then the sum."""
    scale = power(2, binary) * power(10, -decimal)
    return [reference + scale * float(number) for number in numbers]


def fields(numbers, bits):
    """Bit fields, most significant bit first."""
    whole = 0
    for number in numbers:
        whole = whole << bits | number
    length = -(-len(numbers) * bits // 8)
    return (whole << 8 * length - len(numbers) * bits).to_bytes(length, "big")
