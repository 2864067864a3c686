"""Names and attributes of fields as other programs have them: earthkit-data's names, and cfgrib's attributes `GRIB_*`."""

import re

import numpy as np

# Dimensions and coordinates of earthkit-data by our names. Levels come beside.
EARTHKIT = {"number": "member", "time": "forecast_reference_time"}
# What the templates of section 3 are called by ecCodes, and described as. A reduced grid has one dimension.
GRIDS = {
    0: ("regular_ll", "Latitude/longitude"),
    1: ("rotated_ll", "Rotated latitude/longitude"),
    10: ("mercator", "Mercator"),
    20: ("polar_stereographic", "Polar stereographic"),
    30: ("lambert", "Lambert Conformal"),
    40: ("regular_gg", "Gaussian latitude/longitude"),
    41: ("rotated_gg", "Rotated Gaussian latitude/longitude"),
    90: ("space_view", "Space view perspective or orthographic"),
    101: ("unstructured_grid", "General unstructured grid"),
    140: ("lambert_azimuthal_equal_area", "Lambert azimuthal equal area projection"),
}
# Types of grids of edition 1, by the templates that are the same.
TYPES = {0: 0, 10: 1, 1: 10, 5: 20, 3: 30, 4: 40, 14: 41, 90: 90}
CENTRES = {
    7: ("kwbc", "US National Weather Service - NCEP"),
    34: ("rjtd", "Japanese Meteorological Agency - Tokyo"),
    54: ("cwao", "Canadian Meteorological Service - Montreal"),
    74: ("egrr", "U.K. Met Office - Exeter"),
    78: ("edzw", "Offenbach"),
    85: ("lfpw", "French Weather Service - Toulouse"),
    98: ("ecmf", "European Centre for Medium-Range Weather Forecasts"),
}
# Keys that are kept as they are, and keys of angles and lengths.
KEPT = ("paramId", "typeOfLevel", "N", "Nx", "Ny")
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


def add_grib_attributes(native, dataset):
    """Adds what cfgrib tells of variables and of the dataset, as far as the metadata of the first message of each has it."""
    from . import open as open_archive

    # Of a tree these are the files that were chosen.
    sources, opened, centres, editions = native.sources, {}, {}, {}
    for name, variable in dataset.data_vars.items():
        if (place := native.first_object(name)) is None:
            continue
        source, message, number = place
        if source not in opened:
            opened[source] = open_archive(sources[source][0])
        metadata = opened[source][message].objects[number].metadata
        if not (grib := metadata.get("grib")):
            continue
        variable.attrs.update(_of_variable(dict(grib), dict(metadata.get("mars") or {}), name, variable))
        centres[grib.get("centre"), grib.get("subCentre")] = None
        # Messages of edition 2 do not say theirs.
        editions[grib.get("edition", 2)] = None
    if len(centres) == 1:
        [(centre, below)] = centres
        word, description = CENTRES.get(centre, (centre, None))
        dataset.attrs.update({"GRIB_edition": max(editions), "Conventions": "CF-1.7"})
        dataset.attrs["GRIB_centre"] = word
        if description:
            dataset.attrs["GRIB_centreDescription"] = dataset.attrs["institution"] = description
        if below is not None:
            dataset.attrs["GRIB_subCentre"] = below


def _of_variable(grib, mars, name, variable):
    """The attributes of a variable, by the metadata of one of its messages."""
    given, attributes = {}, variable.attrs
    template = grib.get("gridDefinitionTemplateNumber", TYPES.get(grib.get("dataRepresentationType")))
    if template in GRIDS:
        kind, given["gridDefinitionDescription"] = GRIDS[template]
        is_reduced = template in (40, 41) and "Ni" not in grib
        given["gridType"] = kind.replace("regular", "reduced").replace("rotated_gg", "reduced_rotated_gg") if is_reduced else kind
    given.update({key: grib[key] for key in KEPT if key in grib})
    if "Ni" in grib and "Nj" in grib:
        given.update(zip(("Ni", "Nj") if template in (40, 41) else ("Nx", "Ny"), (grib["Ni"], grib["Nj"])))
    # A reduced grid is told by its rows.
    if "Ni" in grib or "Nx" in grib:
        # Edition 1 has angles in thousandths of a degree, and lengths in metres.
        degree, metre = (1e3, 1) if grib.get("edition") == 1 else (1e6, 1e3)
        given.update({f"{key}InDegrees": grib[key] / degree for key in DEGREES if key in grib})
        given.update({f"{key}InMetres": grib[key] / metre for key in METRES if key in grib})
        scanning = grib.get("scanningMode", 0)
        given.update(iScansNegatively=scanning >> 7 & 1, jScansPositively=scanning >> 6 & 1, jPointsAreConsecutive=scanning >> 5 & 1)
    texts = {"name": "long_name", "cfName": "standard_name", "shortName": "param"}
    given.update({new: attributes[key] for new, key in texts.items() if key in attributes})
    if "units" in attributes:
        # As ecCodes writes powers.
        given["units"] = re.sub(r"(?<=[A-Za-z])(-?\d)", r"**\1", attributes["units"])
    given.update(stepType=attributes.get("stepType", "instant"), stepUnits=1, cfVarName=name, missingValue=MISSING)
    given.setdefault("cfName", "unknown")
    if "numberOfDataPoints" in grib:
        given["numberOfPoints"] = grib["numberOfDataPoints"]
    if "type" in mars:
        given["dataType"] = mars["type"]
    return {f"GRIB_{key}": value for key, value in sorted(given.items())}
