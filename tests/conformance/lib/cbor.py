"""CBOR: canonical encoding (FORMAT 3.1), decoding of what a reader accepts (FORMAT 3.2), and the mapping to JSON.

JSON has no bytes, tags, infinities, NaN, integers beyond 64 bits, or maps with other keys than text. They are written
as `{"$bytes": "hex"}`, `{"$tag": 5, "value": ...}`, `{"$float": "nan"}` (or "inf", "-inf"), `{"$int": "DIGITS"}` and
`{"$pairs": [[key, value], ...]}`. A JSON number with a fraction or an exponent is a float, any other an integer.
"""

import math
import struct
import sys

DEPTH = 256
sys.setrecursionlimit(10_000)


class CborError(Exception):
    """A rule of CBOR that is broken, and the offset in the item where."""

    def __init__(self, text, offset):
        super().__init__(f"{text} at byte {offset} of the CBOR")


class Tag:
    def __init__(self, number, value):
        self.number, self.value = number, value

    def __eq__(self, other):
        return isinstance(other, Tag) and (self.number, self.value) == (other.number, other.value)


class Pairs(list):
    """A map with keys that are not all text."""


class Raw(bytes):
    """Bytes that are CBOR already."""


def head(major, number):
    """The shortest head."""
    if number < 24:
        return bytes([major << 5 | number])
    for info, form in ((24, ">B"), (25, ">H"), (26, ">I"), (27, ">Q")):
        if number < 1 << 8 * struct.calcsize(form):
            return bytes([major << 5 | info]) + struct.pack(form, number)
    raise ValueError(number)


def encode_float(value):
    """The shortest float that gives back the same bits."""
    wide = struct.pack(">d", value)
    if math.isnan(value):
        return bytes([0xF9, 0x7E, 0])
    for lead, form in ((0xF9, ">e"), (0xFA, ">f")):
        try:
            short = struct.pack(form, value)
        except OverflowError:
            continue
        if struct.pack(">d", struct.unpack(form, short)[0]) == wide:
            return bytes([lead]) + short
    return b"\xfb" + wide


def encode(value):
    """The canonical item."""
    if isinstance(value, Raw):
        return bytes(value)
    if value is None:
        return b"\xf6"
    if isinstance(value, bool):
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, float):
        return encode_float(value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, Tag):
        return head(6, value.number) + encode(value.value)
    if isinstance(value, (dict, Pairs)):
        pairs = value.items() if isinstance(value, dict) else value
        pairs = sorted((encode(key), encode(item)) for key, item in pairs)
        return head(5, len(pairs)) + b"".join(key + item for key, item in pairs)
    return head(4, len(value)) + b"".join(map(encode, value))


def pairs_as_given(pairs):
    """A map with its entries in this order, repeated ones too."""
    return Raw(head(5, len(pairs)) + b"".join(encode(key) + encode(value) for key, value in pairs))


class _Decoder:
    def __init__(self, data, at):
        self.data, self.at = data, at

    def take(self, count):
        if count > len(self.data) - self.at:
            raise CborError("the item is cut off", self.at)
        self.at += count
        return self.data[self.at - count : self.at]

    def item(self, depth=0):
        start = self.at
        if depth > DEPTH:
            raise CborError("nesting is deeper than 256", start)
        lead = self.take(1)[0]
        major, info = lead >> 5, lead & 31
        if info in (28, 29, 30):
            raise CborError("reserved additional information", start)
        if major == 7:
            return self.simple(lead, start)
        if info == 31:
            return self.indefinite(major, start, depth)
        number = info if info < 24 else int.from_bytes(self.take(1 << info - 24), "big")
        if major in (0, 1):
            return number if major == 0 else -1 - number
        if major in (2, 3):
            return self.string(major, self.take(number), start)
        if major == 4:
            return self.array(self.item(depth + 1) for _ in self.counted(number))
        if major == 5:
            return self.map((self.item(depth + 1), self.item(depth + 1)) for _ in self.counted(number))
        return self.tag(number, self.item(depth + 1))

    def counted(self, number):
        if number > len(self.data) - self.at:
            raise CborError("the item is cut off", self.at)
        return range(number)

    @staticmethod
    def array(items):
        return list(items)

    @staticmethod
    def string(major, taken, start):
        if major == 2:
            return taken
        try:
            return taken.decode()
        except UnicodeDecodeError:
            raise CborError("text is not UTF-8", start) from None

    @staticmethod
    def map(pairs):
        pairs = list(pairs)
        if all(isinstance(key, str) for key, _ in pairs):
            if len({key for key, _ in pairs}) == len(pairs):
                return dict(pairs)
            found = RepeatedKeys(pairs)
            return found
        return Pairs(pairs)

    @staticmethod
    def tag(number, value):
        if number in (2, 3) and isinstance(value, bytes):
            integer = int.from_bytes(value, "big")
            if integer < 1 << 64:
                return integer if number == 2 else -1 - integer
        return Tag(number, value)

    def simple(self, lead, start):
        if lead in (0xF4, 0xF5):
            return lead == 0xF5
        if lead in (0xF6, 0xF7):
            return None
        form = {0xF9: ">e", 0xFA: ">f", 0xFB: ">d"}.get(lead)
        if form is None:
            raise CborError("a simple value that has no meaning", start)
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def indefinite(self, major, start, depth):
        if major not in (2, 3, 4, 5):
            raise CborError("an indefinite length where none can be", start)
        items = []
        while self.data[self.at : self.at + 1] != b"\xff":
            if major in (2, 3) and (self.take(1)[0] >> 5 != major or self.data[self.at - 1] & 31 == 31):
                raise CborError("a piece of another kind", self.at - 1)
            self.at -= major in (2, 3)
            items.append(self.item(depth + 1))
        self.take(1)
        if major in (2, 3):
            return (b"" if major == 2 else "").join(items)
        if major == 4:
            return items
        if len(items) % 2:
            raise CborError("a key without value", self.at)
        return self.map(zip(items[::2], items[1::2]))


class RepeatedKeys(dict):
    """A map in which a key is repeated: the last one counts, where the descriptor does not forbid it."""


def decode(data, at=0):
    """The item at an offset, and the offset of its end."""
    decoder = _Decoder(data, at)
    return decoder.item(), decoder.at


def to_json(value):
    """What JSON writes for an item."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    if isinstance(value, int) and not isinstance(value, bool) and not -(1 << 63) <= value < 1 << 64:
        return {"$int": str(value)}
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": value.hex()}
    if isinstance(value, Tag):
        return {"$tag": value.number, "value": to_json(value.value)}
    if isinstance(value, Pairs):
        return {"$pairs": [[to_json(key), to_json(item)] for key, item in value]}
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    return value


def from_json(value):
    """The item that JSON stands for."""
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$tag" in value:
        return Tag(value["$tag"], from_json(value["value"]))
    if len(value) == 1:
        [(key, item)] = value.items()
        if key == "$bytes":
            return bytes.fromhex(item)
        if key == "$int":
            return int(item)
        if key == "$float":
            return float(item)
        if key == "$pairs":
            return Pairs((from_json(k), from_json(v)) for k, v in item)
    return {key: from_json(item) for key, item in value.items()}
