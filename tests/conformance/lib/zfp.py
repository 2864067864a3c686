"""Decoding of zfp streams, straight from PIPELINE 5.6: slow, for the values that sidecars expect."""

import math
import struct

NEGABINARY = 0xAAAAAAAAAAAAAAAA


def limits(mode, value):
    """minbits, maxbits, maxprec, minexp."""
    if mode == "fixed_rate":
        bits = max(math.floor(4 * value + 0.5), 12)
        return bits, bits, 64, -1074
    if mode == "fixed_precision":
        return 1, 16658, 64 if value == 0 else min(value, 64), -1074
    return 1, 16658, 64, max(math.frexp(value)[1] - 1, -1074)


class _Bits:
    """Bits of 64-bit words, least significant first, which is the order of the bytes too."""

    def __init__(self, data):
        self.whole, self.at = int.from_bytes(data, "little"), 0

    def read(self, count):
        self.at += count
        return self.whole >> self.at - count & (1 << count) - 1


def _planes(bits, budget, prec):
    """Four coefficients in negabinary."""
    out, seen = [0] * 4, 0
    for plane in range(63, 63 - min(prec, 64), -1):
        if budget <= 0:
            break
        take = min(seen, budget)
        budget -= take
        for at in range(take):
            out[at] |= bits.read(1) << plane
        while seen < 4 and budget > 0:
            budget -= 1
            if not bits.read(1):
                break
            while seen < 3 and budget > 0:
                budget -= 1
                if bits.read(1):
                    break
                seen += 1
            # The next coefficient's bit: read as 1, implied for the last, or taken as 1 when the budget ended.
            out[seen] |= 1 << plane
            seen += 1
    return out


def _signed(value):
    value %= 1 << 64
    return value - (1 << 64) if value >> 63 else value


def _block(bits, minbits, maxbits, maxprec, minexp):
    start, values = bits.at, [0.0] * 4
    if bits.read(1):
        emax = bits.read(11) - 1023
        prec = min(maxprec, max(0, emax - minexp + 4))
        x, y, z, w = (_signed((u ^ NEGABINARY) - NEGABINARY) for u in _planes(bits, maxbits - 12, prec))
        y, w = _signed(y + (w >> 1)), _signed(w - (_signed(y + (w >> 1)) >> 1))
        y, w = _signed(y + w), _signed(2 * w - _signed(y + w))
        z, x = _signed(z + x), _signed(2 * x - _signed(z + x))
        y, z = _signed(y + z), _signed(2 * z - _signed(y + z))
        w, x = _signed(w + x), _signed(2 * x - _signed(w + x))
        values = [math.ldexp(float(i), emax - 62) for i in (x, y, z, w)]
    bits.at = max(bits.at, start + minbits)
    return values


def decode(data, count, mode, value):
    """The values of a stream."""
    bits, out = _Bits(data), []
    for _ in range(0, count, 4):
        out += _block(bits, *limits(mode, value))
    return struct.pack(f"<{count}d", *out[:count])
