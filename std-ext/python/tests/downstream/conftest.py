"""Files that the packages above the module open. The fixtures of the folder above hold here too."""

import numpy as np
import pytest

import support
import tensogram

LATITUDE, LONGITUDE = np.linspace(90, -90, 37), np.arange(72) * 5.0


def field(step):
    """A field on the grid."""
    return 280 + 20 * np.cos(np.radians(LATITUDE))[:, None] * np.sin(np.radians(LONGITUDE + step))


def entry(name, **more):
    """A base entry."""
    return {"name": name, **more}


@pytest.fixture(scope="session")
def weather(tmp_path_factory):
    """One message: two coordinates, fields by several codecs, one of them with holes."""
    path = str(tmp_path_factory.mktemp("xarray") / "weather.tgm")
    holes = field(3).astype("float32")
    holes[::5, 1::7] = np.nan
    objects = {
        "latitude": (LATITUDE, {}),
        "longitude": (LONGITUDE, {}),
        "plain": (field(0), {}),
        "packed": (field(1), support.LOSSY["packed"][0]),
        "szip": (field(2), support.LOSSY["packed szip"][0]),
        "holes": (holes, {"compression": "zstd"}),
        "lz4": (field(4).astype("float32"), {"compression": "lz4"}),
        "whole": (np.arange(37 * 72, dtype="int16").reshape(37, 72), {}),
    }
    tensogram.TensogramFile.create(path).append(
        {
            "base": [entry(name, units="K", mars={"param": name}) for name in objects],
            "title": "weather",
            "institution": "here",
        },
        [(support.descriptor(a.shape, str(a.dtype), **keys), a) for a, keys in objects.values()],
        allow_nan=True,
    )
    return path


@pytest.fixture(scope="session")
def steps(tmp_path_factory):
    """Twelve messages: one field each, with step 0 to 11."""
    path = str(tmp_path_factory.mktemp("xarray") / "steps.tgm")
    file = tensogram.TensogramFile.create(path)
    for step in range(12):
        file.append(
            {"base": [entry("latitude"), entry("longitude"), {"mars": {"param": "2t", "step": step}}]},
            [
                support.pair(LATITUDE, "float64"),
                support.pair(LONGITUDE, "float64"),
                support.pair(field(step), "float64"),
            ],
        )
    return path
