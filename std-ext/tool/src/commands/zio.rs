//! `tgm zio`: ZIO messages with tensors, and their conversion to and from Tensogram.

mod convert;
mod show;

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use tgm_std::core::wire::MAGIC;
use tgm_std::{ByteOrder, TensogramError};
use tgm_zio::{Message, file};

use crate::args::listing::Listed;
use crate::commands::Run;
use crate::read::pipes;
use crate::show::output::Out;
use tgm_std::file::SourceName;

/// List .zio files (ZIO messages), and convert them to Tensogram files and back
///
/// A .zio file is a sequence of messages, which is read one message at a time. Each message is packed into one buffer with its size in front, by the same
/// codec that packs parts. The bare buffer of one message is read as well.
#[derive(Args, Debug)]
pub(crate) struct Zio {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Ls(show::Ls),
    Dump(show::Dump),
    ToTgm(convert::ToTgm),
    FromTgm(convert::FromTgm),
}

impl Zio {
    fn command(&self) -> &dyn Run {
        match &self.command {
            Command::Ls(command) => command,
            Command::Dump(command) => command,
            Command::ToTgm(command) => command,
            Command::FromTgm(command) => command,
        }
    }
}

impl Run for Zio {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        self.command().run(out)
    }

    fn listed(&self) -> Listed<'_> {
        self.command().listed()
    }
}

/// The files to read.
#[derive(Args, Debug)]
struct ZioFiles {
    /// .zio files to read; "-" is standard input
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
}

/// A message of a .zio file, or the error of opening it.
struct ZioMessage<'f> {
    file: &'f str,
    index: usize,
    offset: u64,
    message: Result<Message<'f>, TensogramError>,
}

impl ZioMessage<'_> {
    fn place(&self) -> String {
        format!("{}: message {}", self.file, self.index)
    }
}

impl ZioFiles {
    /// Calls `with` for each message of each file, whose values have the order. Files that cannot be read and broken framing
    /// are reported.
    fn for_each(
        &self,
        order: ByteOrder,
        out: &mut Out,
        mut with: impl FnMut(&mut Out, &ZioMessage<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        for path in &self.paths {
            let name = SourceName::of(path).to_string();
            let mut source = match open(path) {
                Ok(source) => source,
                Err(error) => {
                    out.problem(&format!("cannot read {name}\n{error}"));
                    continue;
                }
            };
            // No ZIO message begins so. Read as ZIO, such a file would be a thousand broken messages.
            if source.fill_buf().is_ok_and(|start| start.starts_with(MAGIC)) {
                let instead = "`tgm ls` lists it, and `tgm zio from-tgm` makes ZIO messages of it";
                out.problem(&format!("{name}: a Tensogram file: {instead}"));
                continue;
            }
            for (index, message) in file::Reader::new(source).enumerate() {
                match message {
                    Err(error) => out.report(&name, &error),
                    Ok((offset, bytes)) => {
                        let message = Message::from_buffer(&bytes, order).map_err(TensogramError::from);
                        with(out, &ZioMessage { file: &name, index, offset, message })?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The file, or standard input.
fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    Ok(Box::new(BufReader::new(pipes::open(path)?)))
}
