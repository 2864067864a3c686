"""planted.py OUT: writes an array with the planted codec, and reads it back whole and in part."""
import sys

import numpy
import tgmio as tgm

values = numpy.arange(1000, dtype="<f4")
message = tgm.encode({}, [({"compression": "planted"}, values)])
((descriptor, found),) = tgm.decode(message, verify_hash=True)[1]
assert descriptor.compression == "planted" and (found == values).all()
(part,) = tgm.decode_range(message, 0, [(10, 10)])[0:1]
assert (numpy.asarray(part).ravel() == values[10:20]).all(), part
report = tgm.doctor()
assert {"label": "pipeline planted", "outcome": "ok"} in report["self_test"], report["self_test"]
with open(sys.argv[1], "wb") as file:
    file.write(message)
