#!/usr/bin/env python3
"""Opens references that `references.py` kept by VirtualiZarr, and compares with the values beside them.

Usage: virtual.py FOLDER

VirtualiZarr reads data that are written into references from version 2.8 on, which needs Python 3.12. It has no texts.
"""
import sys
import warnings
from pathlib import Path

import numpy as np
import xarray as xr
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtualizarr.parsers import KerchunkJSONParser, KerchunkParquetParser

warnings.filterwarnings("ignore")


def main():
    registry = ObjectStoreRegistry({"file://": LocalStore()})
    cases = sorted(Path(sys.argv[1]).iterdir())
    for case in cases:
        expected = np.load(case / "expected.npz")
        for name, parser in (("refs.json", KerchunkJSONParser), ("refs.parq", KerchunkParquetParser)):
            store = parser(skip_variables=["name"])(f"file://{case / name}", registry)
            found = xr.open_dataset(store, engine="zarr", consolidated=False, zarr_format=3).load()
            for variable in expected:
                assert np.array_equal(found[variable].values, expected[variable], equal_nan=True), f"{case / name}: {variable}"
    assert cases, "there are no cases"
    print(f"references: VirtualiZarr reads {len(cases)} archives where they lie")


main()
