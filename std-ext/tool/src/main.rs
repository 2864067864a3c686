//! The program `tgm`: all of it is the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    tgm_tool::run(std::env::args_os()).into()
}
