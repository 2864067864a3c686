//! Writes the blosc2 cases for `blosc2/` to read: one file each in the folder given, empty if we refuse the case.

use std::path::PathBuf;

use tgm_interop::{ours, some_cases, strategy};

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).expect("a folder"));
    std::fs::create_dir_all(&folder)?;
    for (index, case) in some_cases(&strategy::cases_of(true)).enumerate() {
        let message = ours::encode(&case, &case.data()).unwrap_or_default();
        std::fs::write(folder.join(format!("{index}.tgm")), message)?;
    }
    Ok(())
}
