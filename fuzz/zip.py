"""Puts the smallest files of a folder into an archive, `zip.py FOLDER ARCHIVE BYTES`, until it has that many bytes.

The same files give the same bytes.
"""

import sys
import zipfile
from pathlib import Path

folder, archive, most = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
files = sorted((file for file in folder.iterdir() if file.is_file()), key=lambda file: (file.stat().st_size, file.name))
archive.unlink(missing_ok=True)
if files:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for file in files:
            # Names and times say nothing. Short names make small archives. The directory at the end takes some 60 bytes a file.
            made.writestr(zipfile.ZipInfo(file.name[:12]), file.read_bytes(), zipfile.ZIP_DEFLATED)
            if made.fp.tell() + 60 * len(made.namelist()) > most:
                break
