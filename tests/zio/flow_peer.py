"""A peer of FLOW that knows the protocol from its description: libzmq, struct and json, nothing of this project.

    flow_peer.py ROLE ENDPOINT

Connects to ENDPOINT, and prints a line of JSON at the end. Everything has a time-out.

    SENDER    a DEALER that asks to send COUNT messages, with more credit than it will get
    RECEIVER  a DEALER that asks to receive, and pays piece by piece
    SERVER    a ROUTER that is asked, and receives: it grants GRANT at most
    REFUSER   a ROUTER that answers every question by EOT
"""

import json
import struct
import sys

import zmq

COUNT = 7
ASKED = 9
GRANT = 3
TIMEOUT_MS = 60_000


class Flow:
    def __init__(self, socket):
        self.socket, self.seqno, self.peer, self.seen = socket, 0, [], []

    def send(self, label, payload=()):
        prefix = b"ZIO0FLOW" + json.dumps(label).encode()
        parts = [prefix, struct.pack("<QQQ", 0, 0, self.seqno), *payload]
        self.seqno += 1
        self.socket.send_multipart(self.peer + [b""] + parts)

    def receive(self):
        frames = self.socket.recv_multipart()
        at = frames.index(b"")
        self.peer, (delimiter, prefix, coords, *payload) = frames[:at], frames[at:]
        assert delimiter == b"" and prefix[:8] == b"ZIO0FLOW", prefix
        assert struct.unpack("<QQQ", coords)[2] == len(self.seen), "numbers rise by one"
        label = json.loads(prefix[8:].decode())
        self.seen.append(label["flow"])
        return label, payload

    def end(self):
        self.send({"flow": "EOT"})
        while self.receive()[0]["flow"] != "EOT":
            pass


def tensor(number):
    described = {"shape": [2], "word": 8, "dtype": "u", "part": 0}
    return {"flow": "DAT", "TENS": {"tensors": [described]}}, [struct.pack("<2Q", number, number * number)]


def values(label, payload):
    described, = label["TENS"]["tensors"]
    assert described == {"shape": [2], "word": 8, "dtype": "u", "part": 0}
    return struct.unpack("<2Q", payload[0])


def sender(flow):
    flow.send({"flow": "BOT", "direction": "extract", "credit": ASKED})
    answer, _ = flow.receive()
    assert answer["flow"] == "BOT" and answer["direction"] == "inject", answer
    limit, credit, most = answer["credit"], 0, 0
    for number in range(COUNT):
        while credit == 0:
            paid, _ = flow.receive()
            assert paid["flow"] == "PAY", paid
            credit += paid["credit"]
        most = max(most, credit)
        flow.send(*tensor(number))
        credit -= 1
    flow.end()
    return {"limit": limit, "most": most}


def receiver(flow):
    flow.send({"flow": "BOT", "direction": "inject", "credit": ASKED})
    answer, _ = flow.receive()
    assert answer["flow"] == "BOT" and answer["direction"] == "extract", answer
    return receive_all(flow, answer["credit"])


def server(flow):
    asked, _ = flow.receive()
    assert asked["flow"] == "BOT" and asked["direction"] == "extract", asked
    limit = min(asked["credit"], GRANT)
    flow.send({"flow": "BOT", "direction": "inject", "credit": limit})
    return receive_all(flow, limit)


def receive_all(flow, limit):
    # One by one, as a receiver may: credit is paid in pieces.
    for _ in range(limit):
        flow.send({"flow": "PAY", "credit": 1})
    found, paid = [], limit
    while True:
        label, payload = flow.receive()
        if label["flow"] == "EOT":
            flow.send({"flow": "EOT"})
            return {"limit": limit, "values": found}
        assert label["flow"] == "DAT", label
        found.append(values(label, payload))
        assert len(found) <= paid, "no more than was paid for"
        flow.send({"flow": "PAY", "credit": 1})
        paid += 1


def refuser(flow):
    asked, _ = flow.receive()
    assert asked["flow"] == "BOT"
    flow.end()
    return {}


def main(role, endpoint):
    context = zmq.Context()
    kind = zmq.ROUTER if role in ("SERVER", "REFUSER") else zmq.DEALER
    socket = context.socket(kind)
    for option in (zmq.SNDTIMEO, zmq.RCVTIMEO, zmq.LINGER):
        socket.setsockopt(option, TIMEOUT_MS)
    socket.connect(endpoint)
    flow = Flow(socket)
    report = globals()[role.lower()](flow)
    print(json.dumps({**report, "seen": flow.seen}), flush=True)
    socket.close()
    context.term()


main(*sys.argv[1:])
