"""NetCDF and HDF5 for `tgmio`, which uses this package where it is installed."""
