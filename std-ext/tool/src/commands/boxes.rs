//! Files that a box of a dataset, or what was computed of one, is written as: with coordinates, or bare.

use tgm_std::TensogramError;

use crate::show::output::Out;
use crate::write::destination::{Destination, Failure, OutputKind, Reads};

/// What a dataset of variables with coordinates is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Messages,
    #[cfg(feature = "netcdf")]
    Netcdf,
    #[cfg(feature = "zarr")]
    Zarr,
}

impl Target {
    /// The target that the end of a name asks for. `None` for other ends. One that this build lacks ends the program.
    pub(crate) fn of_ending(ending: &str) -> Option<Self> {
        match ending {
            "tgm" => Some(Self::Messages),
            #[cfg(feature = "netcdf")]
            "nc" | "nc4" => Some(Self::Netcdf),
            #[cfg(not(feature = "netcdf"))]
            "nc" | "nc4" => {
                crate::args::files::usage("NetCDF is written by builds with the feature `netcdf`, which this one lacks")
            }
            #[cfg(feature = "zarr")]
            "zarr" => Some(Self::Zarr),
            #[cfg(not(feature = "zarr"))]
            "zarr" => {
                crate::args::files::usage("Zarr is written by builds with the feature `zarr`, which this one lacks")
            }
            _ => None,
        }
    }

    /// Writes a message that is made when the output is ready. Failures of making it are reported at `place`.
    pub(crate) fn write(
        self,
        output: &Destination,
        (place, reads): (&str, Reads<'_>),
        out: &mut Out,
        make: &dyn Fn() -> Result<Vec<u8>, TensogramError>,
    ) {
        match self {
            Self::Messages => {
                output.write(out, OutputKind::Messages, reads, |_, sink| {
                    Ok(sink.write_all(&make().map_err(Failure::at(place))?)?)
                });
            }
            #[cfg(feature = "netcdf")]
            Self::Netcdf => {
                use tgm_convert::ArrayWriter as _;
                use tgm_convert::netcdf::{NetcdfWriter, ToNetcdfOptions};
                output.write_named(out, reads, |out, path| {
                    let message = make().map_err(Failure::at(place))?;
                    let failed = || Failure::at(output.to_string());
                    let mut writer = NetcdfWriter::create(path, ToNetcdfOptions::default()).map_err(failed())?;
                    let tell = &mut |note: tgm_convert::Note| out.remark(&format!("{place}: {note}"));
                    writer.write(&message, tell).map_err(failed())?;
                    writer.finish().map_err(failed())
                });
            }
            #[cfg(feature = "zarr")]
            Self::Zarr => {
                use tgm_convert::ArrayWriter as _;
                use tgm_convert::zarr::{ToZarrOptions, ZarrWriter};
                let failed = || Failure::at(output.to_string());
                output.write_folder(
                    out,
                    |path| ZarrWriter::create(path, ToZarrOptions::default()).map_err(failed()),
                    |out, mut writer| {
                        let message = make().map_err(Failure::at(place))?;
                        let tell = &mut |note: tgm_convert::Note| out.remark(&format!("{place}: {note}"));
                        writer.write(&message, tell).map_err(failed())?;
                        writer.finish().map_err(failed())
                    },
                );
            }
        }
    }
}
