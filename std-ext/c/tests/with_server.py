"""Runs a command while the files of a folder are served: `served:NAME` among its arguments becomes the address of a file.

Usage: with_server.py FOLDER COMMAND ARGUMENT…"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python/tests"))
from server import serving

with serving(pathlib.Path(sys.argv[1])) as server:
    given = [word.removeprefix("served:") for word in sys.argv[2:]]
    command = [name if name == word else server.url(name) for name, word in zip(given, sys.argv[2:])]
    code = subprocess.run(command).returncode
sys.exit(code)
