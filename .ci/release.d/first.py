"""The first program in Python: GRIB becomes an archive and a dataset, and each compression gives its values back."""
import sys

import tgmio as tgm
import xarray

tgm.convert(sys.argv[1], "again.tgm")
dataset = xarray.open_dataset("again.tgm", engine="tgm")
name, field = next(iter(dataset.data_vars.items()))
print(name, dict(dataset.sizes), float(field.mean()))
values = field.values.astype("f8").ravel()
for compression in ("szip", "zstd", "lz4", "blosc2", "sz3", "zfp"):
    tgm.save("small.tgm", values, encoding=tgm.Encoding(within=0.01, compression=compression))
    back = tgm.open("small.tgm")[0].objects[0]
    assert back.stages and abs(back.read() - values).max() <= 0.01, compression
assert len(tgm.open("again.tgm")[0].objects) == 1
