"""Puts the files of a folder into an archive: `zip.py FOLDER ARCHIVE`. The same files give the same bytes."""

import sys
import zipfile
from pathlib import Path

folder, archive = map(Path, sys.argv[1:])
files = sorted(file for file in folder.iterdir() if file.is_file())
archive.unlink(missing_ok=True)
if files:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for file in files:
            # Names and times say nothing. Short names make small archives.
            made.writestr(zipfile.ZipInfo(file.name[:12]), file.read_bytes(), zipfile.ZIP_DEFLATED)
