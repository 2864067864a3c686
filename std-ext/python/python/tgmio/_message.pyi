"""Not for programs: what they use is in `tgm`."""

from . import DecodedMessage as DecodedMessage
from . import StreamingEncoder

class Encoder(StreamingEncoder): ...
