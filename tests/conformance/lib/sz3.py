"""Containers of SZ3 assembled from PIPELINE 5.7, with the values that come out of them."""

import struct

import blobs
from values import doubles


def container(body, count, algorithm, bound, booleans):
    """Magic, version, body in a zstd frame, trailer."""
    width = max(count.bit_length(), 1)
    body = struct.pack("<Q", len(body)) + blobs.zstd(body, True)
    trailer = bytes([1, width]) + count.to_bytes(-(-width // 8), "little") + struct.pack("<Q", count)
    trailer += struct.pack("<BBdBBiiB", algorithm, 0, bound, booleans, 1, 65536, 128, 1)
    head = bytes.fromhex("10f342f300020303") + struct.pack("<Q", len(body))
    return head + body + bytes([len(trailer) + 1]) + trailer


def lossless(values):
    return container(doubles(values), len(values), 4, 0.5, 0xE0)


def quantiser(bound, radius, unpredictable):
    return struct.pack("<BdiQ", 2, bound, radius, len(unpredictable)) + doubles(unpredictable)


def huffman(symbols, counted=True):
    """A tree over the symbols, each deeper than the one before, and the bits."""
    kinds = sorted(set(symbols))
    # Nodes: inner ones at even places, the left child a leaf, the right one the rest.
    left, right, value, leaf, codes = [], [], [], [], {}
    for at, kind in enumerate(kinds):
        last = at == len(kinds) - 1
        if not last:
            node = len(left)
            left += [node + 1, 0]
            right += [node + 2, 0]
            value += [0, kind - kinds[0]]
            leaf += [0, 1]
        else:
            left.append(0)
            right.append(0)
            value.append(kind - kinds[0])
            leaf.append(1)
        codes[kind] = "1" * at + ("" if last else "0")
    tree = struct.pack("<i", kinds[0]) + struct.pack(">ii", len(left), (kinds[-1] - kinds[0]) // 2 + 1) + b"\0"
    tree += bytes(left) + bytes(right) + struct.pack(f"<{len(value)}i", *value) + bytes(leaf)
    text = "".join(codes[symbol] for symbol in symbols)
    packed = bytes(int(text[at : at + 8].ljust(8, "0"), 2) for at in range(0, len(text), 8))
    return tree + (struct.pack("<Q", len(symbols)) if counted else b"") + struct.pack("<Q", len(packed)) + packed


class Recover:
    """The values of symbols (PIPELINE 5.7): 0 takes the next unpredictable value."""

    def __init__(self, symbols, radius, unpredictable):
        self.symbols, self.radius, self.unpredictable = iter(symbols), radius, iter(unpredictable)

    def next(self, predicted, bound):
        symbol = next(self.symbols)
        return next(self.unpredictable) if symbol == 0 else predicted + float(2 * (symbol - self.radius)) * bound


def lorenzo(symbols, selectors, bound, unpredictable=(), radius=32768):
    body = (
        struct.pack("<Q", len(selectors))
        + huffman(selectors, False)
        + quantiser(bound, radius, unpredictable)
        + huffman(symbols)
    )
    recover, values = Recover(symbols, radius, unpredictable), []
    for at in range(len(symbols)):
        one, two = (values[at - back] if at >= back else 0.0 for back in (1, 2))
        values.append(recover.next(2 * one - two if selectors[at // 128] else one, bound))
    return container(body, len(symbols), 0, bound, 0xC0), values


def interpolation(symbols, bound, cubic, unpredictable=(), radius=32768):
    count = len(symbols)
    body = (
        struct.pack("<QIiiQdd", count, 32, cubic, 0, 0, -1.0, 0.0)
        + quantiser(bound, radius, unpredictable)
        + huffman(symbols)
    )
    recover, x = Recover(symbols, radius, unpredictable), [0.0] * count
    x[0] = recover.next(0.0, bound / 2)
    for level in range((count - 1).bit_length(), 0, -1):
        step, eb = 1 << level - 1, bound / 2 if level >= 3 else bound
        for start in range(0, count, 32 * step):
            end = min(start + 32 * step, count - 1)
            m = (end - start) // step + 1
            if m > 1:
                _segment(x, start, step, m, cubic, recover, eb)
    return container(body, count, 2, bound, 0xC0), x


def _segment(x, start, step, m, cubic, recover, eb):
    g = lambda at: x[start + at * step]

    def put(at, predicted):
        x[start + at * step] = recover.next(predicted, eb)

    if not cubic or m < 5:
        for at in range(1, m - 1, 2):
            put(at, (g(at - 1) + g(at + 1)) / 2)
        if m % 2 == 0:
            put(m - 1, g(m - 2) if m < 4 else -0.5 * g(m - 4) + 1.5 * g(m - 2))
        return
    at = 3
    while at + 3 < m:
        put(at, (-g(at - 3) + 9 * g(at - 1) + 9 * g(at + 1) - g(at + 3)) / 16)
        at += 2
    put(1, (3 * g(0) + 6 * g(2) - g(4)) / 8)
    put(at, (-g(at - 3) + 6 * g(at - 1) + 3 * g(at + 1)) / 8)
    if m % 2 == 0:
        put(m - 1, (3 * g(m - 6) - 10 * g(m - 4) + 15 * g(m - 2)) / 8)


def examples():
    """Name, payload and values."""
    yield "lossless", lossless([1.0, 2.0]), [1.0, 2.0]
    yield "lossless-many", lossless([at / 7 for at in range(300)]), [at / 7 for at in range(300)]
    middle = 32768
    steps = [middle + at % 5 - 2 for at in range(300)]
    yield ("lorenzo-one-symbol", *lorenzo([middle + 1] * 10, [0], 0.25))
    yield ("lorenzo-first-order", *lorenzo(steps, [0, 0, 0], 0.25))
    yield ("lorenzo-second-order", *lorenzo(steps, [0, 1, 0], 0.25))
    yield ("lorenzo-unpredictable", *lorenzo([0, *steps[:20], 0, *steps[20:40]], [0], 0.125, [1.5, -77.25]))
    for count in (2, 3, 5, 6, 17, 300):
        for cubic in (0, 1):
            given = [0, *steps[: count - 1]]
            yield (f"interpolation-{'cubic' if cubic else 'linear'}-{count}", *interpolation(given, 0.5, cubic, [10.0]))
