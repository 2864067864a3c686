"""XXH3-64 with seed 0 and the default secret: the digest of a frame's body (FORMAT 1.6)."""

import struct

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
MASK = (1 << 64) - 1
P32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
MX1, MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25


def _u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def _u64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


def _fold(a, b):
    product = a * b
    return (product & MASK) ^ (product >> 64)


def _avalanche(h):
    h ^= h >> 37
    h = h * MX1 & MASK
    return h ^ h >> 32


def _xxh64_avalanche(h):
    h ^= h >> 33
    h = h * P64[1] & MASK
    h ^= h >> 29
    h = h * P64[2] & MASK
    return h ^ h >> 32


def _mix16(data, at, secret_at):
    return _fold(_u64(data, at) ^ _u64(SECRET, secret_at), _u64(data, at + 8) ^ _u64(SECRET, secret_at + 8))


def _short(data):
    n = len(data)
    if n == 0:
        return _xxh64_avalanche(_u64(SECRET, 56) ^ _u64(SECRET, 64))
    if n <= 3:
        combined = data[0] << 16 | data[n >> 1] << 24 | data[-1] | n << 8
        return _xxh64_avalanche(combined ^ _u32(SECRET, 0) ^ _u32(SECRET, 4))
    if n <= 8:
        value = _u32(data, n - 4) + (_u32(data, 0) << 32)
        h = value ^ _u64(SECRET, 8) ^ _u64(SECRET, 16)
        h ^= ((h << 49 | h >> 15) ^ (h << 24 | h >> 40)) & MASK
        h = h * MX2 & MASK
        h ^= (h >> 35) + n
        h = h * MX2 & MASK
        return h ^ h >> 28
    low = _u64(data, 0) ^ _u64(SECRET, 24) ^ _u64(SECRET, 32)
    high = _u64(data, n - 8) ^ _u64(SECRET, 40) ^ _u64(SECRET, 48)
    swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
    return _avalanche(n + swapped + high + _fold(low, high) & MASK)


def _middle(data):
    n = len(data)
    acc = n * P64[0] & MASK
    if n <= 128:
        for i in reversed(range((n - 1) // 32 + 1)):
            acc += _mix16(data, 16 * i, 32 * i)
            acc += _mix16(data, n - 16 * (i + 1), 32 * i + 16)
        return _avalanche(acc & MASK)
    for i in range(8):
        acc += _mix16(data, 16 * i, 16 * i)
    acc = _avalanche(acc & MASK)
    for i in range(8, n // 16):
        acc += _mix16(data, 16 * i, 16 * (i - 8) + 3)
    acc += _mix16(data, n - 16, 136 - 17)
    return _avalanche(acc & MASK)


def _long(data):
    n = len(data)
    acc = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]

    def accumulate(at, secret_at):
        words = struct.unpack_from("<8Q", data, at)
        secret = struct.unpack_from("<8Q", SECRET, secret_at)
        for lane in range(8):
            keyed = words[lane] ^ secret[lane]
            acc[lane ^ 1] = acc[lane ^ 1] + words[lane] & MASK
            acc[lane] = acc[lane] + (keyed & 0xFFFFFFFF) * (keyed >> 32) & MASK

    stripes_per_block = (len(SECRET) - 64) // 8
    block = 64 * stripes_per_block
    blocks = (n - 1) // block
    for b in range(blocks):
        for s in range(stripes_per_block):
            accumulate(b * block + 64 * s, 8 * s)
        for lane, key in enumerate(struct.unpack_from("<8Q", SECRET, len(SECRET) - 64)):
            acc[lane] = (acc[lane] ^ acc[lane] >> 47 ^ key) * P32[0] & MASK
    for s in range((n - 1 - block * blocks) // 64):
        accumulate(blocks * block + 64 * s, 8 * s)
    accumulate(n - 64, len(SECRET) - 64 - 7)
    h = n * P64[0] & MASK
    for i in range(4):
        h += _fold(acc[2 * i] ^ _u64(SECRET, 11 + 16 * i), acc[2 * i + 1] ^ _u64(SECRET, 11 + 16 * i + 8))
    return _avalanche(h & MASK)


def xxh3_64(data):
    """The digest as a number."""
    if len(data) <= 16:
        return _short(data)
    return _middle(data) if len(data) <= 240 else _long(data)
