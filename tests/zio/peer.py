"""A peer that knows ZIO messages from their description: libzmq, struct and json, nothing of this project.

    peer.py ROLE ENDPOINT

Connects to ENDPOINT as PUSH, PULL, DEALER, ROUTER or SUB. Senders send the messages of `outgoing`; receivers print a line of JSON
for each of the COUNT messages that they get. DEALER sends first and ROUTER answers. SUB takes one message of the level that it
subscribes to. Everything has a time-out.
"""

import json
import struct
import sys

import zmq

COUNT = 3
TIMEOUT_MS = 60_000
CODES = {("f", 4): "f", ("f", 8): "d", ("i", 2): "h", ("u", 1): "B", ("u", 8): "Q"}


def message(level, form, coords, label, payloads):
    prefix = b"ZIO" + str(level).encode() + form.ljust(4).encode() + json.dumps(label).encode()
    return [prefix, struct.pack("<QQQ", *coords)] + payloads


def outgoing():
    plane = {"shape": [2, 3], "word": 8, "dtype": "f", "metadata": {"plane": "U", "units": "\u00b5V"}}
    fortran = {"shape": [2, 2], "word": 2, "dtype": "i", "order": [0, 1], "part": 1}
    large = {"shape": [1024, 1024], "word": 1, "dtype": "u"}
    return [
        message(4, "TENS", (1, 2, 2**64 - 1), {"TENS": {"tensors": [plane], "metadata": None}},
                [struct.pack("<6d", *range(6))]),
        message(0, "FLOW", (0, 0, 1), {"flow": "DAT", "TENS": {"tensors": [fortran]}},
                [b"the application's", struct.pack("<4h", 1, 3, 2, 4), b""]),
        message(8, "", (0, 0, 2), {"TENS": {"tensors": [large]}}, [bytes(i % 251 for i in range(1 << 20))]),
    ]


def packed(parts):
    size = lambda n: bytes([n]) if n < 255 else b"\xff" + struct.pack(">I", n)
    return b"".join(size(len(part)) + part for part in parts)


def unpacked(data):
    parts = []
    while data:
        n, data = data[0], data[1:]
        if n == 255:
            n, data = struct.unpack(">I", data[:4])[0], data[4:]
        assert len(data) >= n
        parts, data = parts + [data[:n]], data[n:]
    return parts


def described(parts):
    prefix, coords, *payloads = unpacked(parts[0]) if len(parts) == 1 else parts
    assert prefix[:3] == b"ZIO", prefix
    label = json.loads(prefix[8:].decode())
    values = []
    for tensor in label["TENS"].get("tensors", []):
        data = payloads[tensor["part"]]
        count = 1
        for extent in tensor["shape"]:
            count *= extent
        assert len(data) == count * tensor["word"]
        values.append(struct.unpack("<%d%s" % (count, CODES[tensor["dtype"], tensor["word"]]), data))
    return {
        "level": int(prefix[3:4]), "form": prefix[4:8].decode(), "coords": struct.unpack("<QQQ", coords), "label": label,
        "sizes": [len(part) for part in payloads], "values": values,
    }


def report(parts):
    print(json.dumps(described(parts)), flush=True)


def main(role, endpoint):
    context = zmq.Context()
    socket = context.socket(getattr(zmq, role))
    socket.setsockopt(zmq.SNDTIMEO, TIMEOUT_MS)
    socket.setsockopt(zmq.RCVTIMEO, TIMEOUT_MS)
    socket.setsockopt(zmq.LINGER, TIMEOUT_MS)
    if role == "SUB":
        socket.setsockopt(zmq.SUBSCRIBE, b"ZIO3TENS")
    socket.connect(endpoint)
    if role == "PUSH":
        for parts in outgoing():
            socket.send_multipart(parts)
            socket.send(packed(parts))
    elif role == "PULL":
        for _ in range(COUNT):
            report(socket.recv_multipart())
    elif role == "SUB":
        report(socket.recv_multipart())
    elif role == "DEALER":
        for parts in outgoing():
            socket.send_multipart([b""] + parts)
        for _ in range(COUNT):
            delimiter, *parts = socket.recv_multipart()
            assert delimiter == b""
            report(parts)
    elif role == "ROUTER":
        for answer in outgoing():
            identity, delimiter, *parts = socket.recv_multipart()
            assert delimiter == b""
            report(parts)
            socket.send_multipart([identity, b""] + answer)
    socket.close()
    context.term()


main(*sys.argv[1:])
