//! Output by libraries that write to names: files that they jump to and fro in, and folders.

#[cfg(feature = "netcdf")]
use std::fs::File;
#[cfg(feature = "netcdf")]
use std::io;
use std::path::Path;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
use std::path::PathBuf;

use crate::show::output::Out;
#[cfg(any(feature = "parquet", feature = "zarr"))]
use crate::write::destination::report;
use crate::write::destination::{Destination, Failure};
#[cfg(feature = "netcdf")]
use crate::write::destination::{OutputKind, Reads};
#[cfg(feature = "netcdf")]
use tgm_std::file::replace::Temporary;
#[cfg(any(feature = "parquet", feature = "zarr"))]
use tgm_std::file::replace::TemporaryFolder;

impl Destination {
    /// The folder in which the output lies. For standard output, that of temporary files.
    #[cfg(any(feature = "netcdf", feature = "zarr"))]
    pub(crate) fn folder(&self) -> PathBuf {
        let Some(path) = self.path() else { return std::env::temp_dir() };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        parent.map_or_else(|| PathBuf::from("."), Path::to_path_buf)
    }

    /// Lets `produce` write a file by its name, and copies it to the output when it is complete. It lies beside the output,
    /// where there is room for it. Errors are reported.
    #[cfg(feature = "netcdf")]
    pub(crate) fn write_named(
        &self,
        out: &mut Out,
        reads: Reads<'_>,
        produce: impl FnOnce(&mut Out, &Path) -> Result<(), Failure>,
    ) {
        self.write(out, OutputKind::Values, reads, |out, sink| {
            let temporary = Temporary::with_name(&self.folder())?;
            let Some(path) = temporary.name() else { return Err(io::Error::other("a file has no name").into()) };
            produce(out, path)?;
            io::copy(&mut File::open(path)?, sink)?;
            Ok(())
        });
    }

    /// Lets `make` begin a folder, and `fill` it. It appears when it is complete, where nothing may be. Errors are reported.
    #[cfg(any(feature = "parquet", feature = "zarr"))]
    pub(crate) fn write_folder<T>(
        &self,
        out: &mut Out,
        make: impl FnOnce(&Path) -> Result<T, Failure>,
        fill: impl FnOnce(&mut Out, T) -> Result<(), Failure>,
    ) {
        let Some(path) = self.path() else {
            out.problem("the output is a directory: name one");
            return;
        };
        if path.symlink_metadata().is_ok() {
            out.problem(&format!("cannot write {self}\nit exists already, and directories are not replaced"));
            return;
        }
        let written = TemporaryFolder::new(path, make).and_then(|(folder, made)| {
            fill(out, made)?;
            Ok(folder.put_at(path)?)
        });
        if let Err(failure) = written {
            report(self, out, failure);
        }
    }
}
