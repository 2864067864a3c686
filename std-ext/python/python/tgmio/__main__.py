"""The command `tgm`, as `tgm …` and as `python -m tgmio …`."""

import signal
import sys

from ._convert import native


def main():
    """Runs the command line of this process, and ends it as the program `tgm` does."""
    # Python's own handlers would wait until the command has ended. What was ignored stays ignored, but for SIGXFSZ, which
    # Python ignores itself.
    for name, before in (("SIGINT", signal.default_int_handler), ("SIGXFSZ", signal.SIG_IGN)):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is before:
            signal.signal(number, signal.SIG_DFL)
    sys.exit(native()._run_tool(["tgm", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
