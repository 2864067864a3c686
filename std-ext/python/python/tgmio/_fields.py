"""Names and attributes of fields as other programs have them: earthkit-data's names, and cfgrib's attributes `GRIB_*`."""

import math
import re
import struct

import numpy as np

# Dimensions and coordinates of earthkit-data by our names. Levels come beside.
EARTHKIT = {"number": "member", "time": "forecast_reference_time"}
# What the templates of section 3 are called by ecCodes, and described as in edition 2 and edition 1. A reduced grid has one dimension.
GRIDS = {
    0: ("regular_ll", "Latitude/longitude", "Latitude/Longitude Grid"),
    1: ("rotated_ll", "Rotated latitude/longitude", "Rotated Latitude/Longitude grid"),
    10: ("mercator", "Mercator", "Mercator Projection Grid"),
    20: ("polar_stereographic", "Polar stereographic", "Polar Stereographic Projection Grid"),
    30: ("lambert", "Lambert Conformal", "Lambert Conformal"),
    40: ("regular_gg", "Gaussian latitude/longitude", "Gaussian Latitude/Longitude Grid"),
    41: ("rotated_gg", "Rotated Gaussian latitude/longitude", "Rotated Gaussian latitude/longitude grid"),
    50: ("sh", "Spherical harmonic coefficients", "Spherical Harmonic Coefficients"),
    90: ("space_view", "Space view perspective or orthographic", "Space view perspective or orthographic grid"),
    101: ("unstructured_grid", "General unstructured grid", ""),
    140: ("lambert_azimuthal_equal_area", "Lambert azimuthal equal area projection", ""),
}
# Types of grids of edition 1, by the templates that are the same.
TYPES = {0: 0, 10: 1, 1: 10, 5: 20, 3: 30, 4: 40, 14: 41, 50: 50, 90: 90}
# The keys that cfgrib has of each type of grid. It has none of other types.
_SCANNING = ("iScansNegatively", "jPointsAreConsecutive", "jScansPositively")
_CORNERS = (
    "latitudeOfFirstGridPointInDegrees", "latitudeOfLastGridPointInDegrees", "longitudeOfFirstGridPointInDegrees",
    "longitudeOfLastGridPointInDegrees",
)
_POLE = ("latitudeOfSouthernPoleInDegrees", "longitudeOfSouthernPoleInDegrees")
_STEPS = ("iDirectionIncrementInDegrees", "jDirectionIncrementInDegrees")
KEYS = {
    "regular_ll": ("Nx", "Ny", *_STEPS, *_SCANNING, *_CORNERS),
    "rotated_ll": ("Nx", "Ny", "angleOfRotationInDegrees", *_STEPS, *_SCANNING, *_CORNERS, *_POLE),
    "reduced_ll": ("Ny", "jDirectionIncrementInDegrees", *_SCANNING[1:], *_CORNERS[:2]),
    "regular_gg": ("N", "Ni", "Nj", "iDirectionIncrementInDegrees", *_SCANNING, *_CORNERS),
    "rotated_gg": ("N", "Nx", "Ny", "angleOfRotationInDegrees", "iDirectionIncrementInDegrees", *_SCANNING, *_CORNERS, *_POLE),
    "lambert": (
        "LaDInDegrees", "LoVInDegrees", *_SCANNING, "latitudeOfFirstGridPointInDegrees", "longitudeOfFirstGridPointInDegrees", *_POLE,
        "DxInMetres", "DyInMetres", "Latin1InDegrees", "Latin2InDegrees", "Nx", "Ny",
    ),
    "reduced_gg": ("N", "pl"),
    "sh": ("J", "K", "M"),
}
# Types of data of edition 2 that have no `mars.type`, by `typeOfProcessedData`.
DATA_TYPES = ("an", "fc", "af", "cf", "pf", "cp", "sa", "ra", "ep")
CENTRES = {
    7: ("kwbc", "US National Weather Service - NCEP"),
    34: ("rjtd", "Japanese Meteorological Agency - Tokyo"),
    54: ("cwao", "Canadian Meteorological Service - Montreal"),
    74: ("egrr", "U.K. Met Office - Exeter"),
    78: ("edzw", "Offenbach"),
    85: ("lfpw", "French Weather Service - Toulouse"),
    98: ("ecmf", "European Centre for Medium-Range Weather Forecasts"),
}
# Keys of angles and lengths.
DEGREES = (
    "LaD", "LoV", "Latin1", "Latin2", "latitudeOfFirstGridPoint", "longitudeOfFirstGridPoint", "latitudeOfLastGridPoint",
    "longitudeOfLastGridPoint", "latitudeOfSouthernPole", "longitudeOfSouthernPole", "iDirectionIncrement",
    "jDirectionIncrement",
)
METRES = ("Dx", "Dy")
# The number that ecCodes has for a missing value.
MISSING = 3.4028234663852886e38


def as_earthkit(dataset):
    """The dataset under the names of earthkit-data: `2t`, `member`, `forecast_reference_time`, `level` ascending."""
    names = {name: new for name, new in EARTHKIT.items() if name in dataset.variables}
    kinds = {variable.attrs.get("typeOfLevel") for variable in dataset.data_vars.values()} & set(dataset.dims)
    if len(kinds) == 1:
        names[kinds.pop()] = "level"
    short = {name: variable.attrs.get("param") for name, variable in dataset.data_vars.items()}
    for name, wanted in short.items():
        if isinstance(wanted, str) and wanted and wanted not in dataset.variables and list(short.values()).count(wanted) == 1:
            names[name] = wanted
    found = dataset.rename(names)
    if "level" in found.dims:
        if len(found.level) > 1 and found.level[0] > found.level[-1]:
            found = found.isel(level=slice(None, None, -1))
        attributes = {key: value for key, value in found.level.attrs.items() if key != "stored_direction"}
        levels = found.level.values
        whole = levels.astype("int64") if np.all(levels == np.floor(levels)) else levels
        found = found.assign_coords(level=("level", whole, attributes))
    if "member" in found.variables:
        found.member.attrs = {"standard_name": "realization", "long_name": "ensemble member id"}
    found.encoding = dataset.encoding
    return found


def add_grib_attributes(native, given, dataset):
    """Adds what cfgrib tells of variables and of the dataset, as far as the metadata of the first message of each has it."""
    from . import open as open_archive

    # The files of a tree that were chosen.
    sources, opened, centres, editions = native.sources, {}, {}, {}
    for name, variable in dataset.data_vars.items():
        if (place := native.first_object(name)) is None:
            continue
        source, message, number = place
        if source not in opened:
            is_path = isinstance(given[0], str)
            opened[source] = open_archive(sources[source][0]) if is_path else given[source]
        found = opened[source][message].objects[number]
        if not (grib := dict(found.metadata.get("grib") or {})):
            continue
        edition = 1 if "table2Version" in grib else 2
        points = math.prod(found.shape)
        variable.attrs.update(_of_variable(grib, edition, points, dict(found.metadata.get("mars") or {}), name, variable))
        centres[grib.get("centre"), grib.get("subCentre")] = None
        editions[edition] = None
    if len(centres) == 1:
        [(centre, below)] = centres
        word, description = CENTRES.get(centre, (str(centre), None))
        dataset.attrs.update({"GRIB_edition": max(editions), "Conventions": "CF-1.7"})
        dataset.attrs["GRIB_centre"] = word
        if description:
            dataset.attrs["GRIB_centreDescription"] = dataset.attrs["institution"] = description
        if below is not None:
            dataset.attrs["GRIB_subCentre"] = below


def _of_variable(grib, edition, points, mars, name, variable):
    """The attributes of a variable, by the metadata of one of its messages."""
    given, attributes = {"numberOfPoints": points}, variable.attrs
    template = grib.get("gridDefinitionTemplateNumber", TYPES.get(grib.get("dataRepresentationType")))
    if template in GRIDS:
        kind, *descriptions = GRIDS[template]
        given["gridDefinitionDescription"] = descriptions[2 - edition]
        is_reduced = template in (0, 40, 41) and "Ni" not in grib
        given["gridType"] = kind.replace("regular", "reduced").replace("rotated_gg", "reduced_rotated_gg") if is_reduced else kind
        of_grid = {**_of_grid(grib, edition), **_of_sections(grib, edition, template)}
        given.update({key: of_grid[key] for key in KEYS.get(given["gridType"], ()) if key in of_grid})
        given.update({key: of_grid[key] for key in ("NV", "uvRelativeToGrid") if key in of_grid})
    texts = {"name": "long_name", "cfName": "standard_name", "shortName": "param"}
    given.update({new: attributes[key] for new, key in texts.items() if key in attributes})
    given.update({key: grib[key] for key in ("paramId", "typeOfLevel") if key in grib})
    if "units" in attributes:
        # As ecCodes writes powers.
        given["units"] = re.sub(r"(?<=[A-Za-z])(-?\d)", r"**\1", attributes["units"])
    given.update(stepType=attributes.get("stepType", "instant"), stepUnits=1, cfVarName=name, missingValue=MISSING)
    given.setdefault("cfName", "unknown")
    processed = grib.get("typeOfProcessedData")
    if "type" in mars:
        given["dataType"] = mars["type"]
    elif isinstance(processed, int) and processed < len(DATA_TYPES):
        given["dataType"] = DATA_TYPES[processed]
    # In edition 1 the local section of ECMWF has it.
    if "numberOfForecastsInEnsemble" in grib and (edition == 2 or grib.get("centre") == 98):
        given["totalNumber"] = grib["numberOfForecastsInEnsemble"]
    return {f"GRIB_{key}": value for key, value in sorted(given.items())}


def _of_grid(grib, edition):
    """What keys say of a grid."""
    # Edition 1 has angles in thousandths of a degree, and lengths in metres.
    degree, metre = (1e3, 1) if edition == 1 else (1e6, 1e3)
    given = {key: grib[key] for key in ("J", "K", "M", "N", "Ni", "Nj", "Nx", "Ny") if key in grib}
    given.setdefault("Nx", grib.get("Ni"))
    given.setdefault("Ny", grib.get("Nj"))
    given.update({f"{key}InDegrees": grib[key] / degree for key in DEGREES if key in grib})
    given.update({f"{key}InMetres": grib[key] / metre for key in METRES if key in grib})
    scanning = grib.get("scanningMode", 0)
    given.update(iScansNegatively=scanning >> 7 & 1, jScansPositively=scanning >> 6 & 1, jPointsAreConsecutive=scanning >> 5 & 1)
    return {key: value for key, value in given.items() if value is not None}


# Octets of the flags of components, which are counted from 1, by the template.
_FLAGS = {0: 55, 1: 55, 40: 55, 41: 55, 10: 47, 30: 47}


def _of_sections(grib, edition, template):
    """What only the sections say: the flag of components, the count of vertical coordinates, the lengths of rows, and the turn of a grid."""
    sections = [each for each in grib.get("sections", ()) if isinstance(each, bytes)]
    given = {}
    if edition == 1:
        # The section of the grid follows the one of the product, if there is one.
        if len(sections) < 3 or not sections[1][7] >> 7:
            return given
        grid, is_turned = sections[2], template in (1, 41)
        given["NV"], flags, start = grid[3], grid[16:17], grid[4] - 1 + 4 * grid[3]
        rows, width = grid[start:] if start < len(grid) else b"", 2
        if is_turned:
            places = zip(_POLE, (grid[32:35], grid[35:38]))
            given.update({key: _signed(octets) / 1e3 for key, octets in places})
            given["angleOfRotationInDegrees"] = _ibm(grid[38:42])
    else:
        grid = next((each for each in sections[1:] if each[4:5] == b"\3"), b"")
        product = next((each for each in sections[1:] if each[4:5] == b"\4"), b"")
        given["NV"] = int.from_bytes(product[5:7], "big")
        at = _FLAGS.get(template, 0)
        flags, width = grid[at - 1:at] if at else b"", grid[10] if len(grid) > 10 else 0
        rows = grid[len(grid) - width * grib.get("Nj", 0):] if width else b""
        if template in (1, 41) and len(grid) >= 84:
            [given["angleOfRotationInDegrees"]] = struct.unpack(">f", grid[80:84])
    if flags and template != 50:
        given["uvRelativeToGrid"] = flags[0] >> 3 & 1
    if rows and width in (1, 2, 4):
        given["pl"] = np.frombuffer(rows[:len(rows) // width * width], f">u{width}").astype("int64")
    return given


def _signed(octets):
    """A number whose first bit is its sign."""
    number = int.from_bytes(octets, "big")
    sign = 1 << (8 * len(octets) - 1)
    return -(number - sign) if number & sign else number


def _ibm(octets):
    """A float of 32 bits whose exponent is of 16."""
    number = int.from_bytes(octets, "big")
    value = (number & 0xFFFFFF) / 2**24 * 16.0 ** ((number >> 24 & 0x7F) - 64)
    return -value if number >> 31 else value
