"""Not for programs: what they use is in `tgm`."""

from typing import Any

from . import convert as convert
from . import convert_grib as convert_grib
from . import convert_grib_buffer as convert_grib_buffer
from . import convert_netcdf as convert_netcdf
from . import to_grib as to_grib
from . import to_netcdf as to_netcdf

def native() -> Any: ...
