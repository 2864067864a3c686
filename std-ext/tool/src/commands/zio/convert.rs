//! `tgm zio to-tgm` and `tgm zio from-tgm`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use tgm_core::Message;
use tgm_std::ByteOrder;
use tgm_zio::{BridgeOptions, file, from_tensogram, to_tensogram};

use super::ZioFiles;
use crate::commands::{Run, examples};
use crate::read::chosen::Chosen;
use crate::read::input::MessagePart;
use crate::read::messages::for_each_message;
use crate::show::output::Out;
use crate::show::text::escape;
use crate::write::destination::{Destination, OutputKind, Reads};

/// Write ZIO messages to a Tensogram file, one message each; from-tgm gives every byte back
///
/// Tensors become objects. Messages of other forms (TEXT, FLOW and the application's) become messages whose objects are
/// their payload parts.
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm zio to-tgm field.zio -O out.tgm", "a Tensogram file")]))]
pub(super) struct ToTgm {
    #[command(flatten)]
    sources: ZioFiles,
    /// Senders were big-endian; messages do not state their byte order
    #[arg(long)]
    big_endian: bool,
    /// Refuse tensors with descending dimensions, whose elements must be copied into another order
    #[arg(long)]
    no_copies: bool,
    /// The Tensogram file to write; appears when it is complete; "-" is standard output
    #[arg(short, visible_short_alias = 'O', long, value_name = "OUT")]
    output: Destination,
}

/// Write the messages of Tensogram files to a .zio file, as TENS
///
/// Messages that to-tgm made return to their original bytes. For other messages values are decoded, or with
/// --pass-through sent as they are stored, and losses are listed. Messages with a wrong digest are left out.
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm zio from-tgm field.tgm -O out.zio", "and back")]))]
pub(super) struct FromTgm {
    /// Tensogram files to read; "-" is standard input
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    chosen: Chosen,
    /// Send encoded and compressed objects as they are stored; only to-tgm can read them
    #[arg(long)]
    pass_through: bool,
    /// The .zio file to write; appears when it is complete; "-" is standard output
    #[arg(short, visible_short_alias = 'O', long, value_name = "OUT")]
    output: Destination,
}

impl Run for ToTgm {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let options = BridgeOptions { copy_descending: !self.no_copies, ..BridgeOptions::default() };
        let order = if self.big_endian { ByteOrder::Big } else { ByteOrder::Little };
        self.output.write(out, OutputKind::Messages, Reads::Only(&self.sources.paths), |out, sink| {
            Ok(self.sources.for_each(order, out, |out, entry| {
                let converted = match &entry.message {
                    Ok(message) => to_tensogram(message, &options),
                    Err(error) => {
                        out.report(&entry.place(), error);
                        return Ok(());
                    }
                };
                match converted {
                    Ok(bytes) => sink.write_all(&bytes),
                    Err(error) => {
                        out.report(&entry.place(), &error);
                        Ok(())
                    }
                }
            })?)
        });
        Ok(())
    }
}

impl Run for FromTgm {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let mut notes = Vec::new();
        let options = BridgeOptions { pass_through: self.pass_through, ..BridgeOptions::default() };
        self.output.write(out, OutputKind::Converted, Reads::Only(&self.paths), |out, mut sink| {
            Ok(for_each_message(&self.paths, self.chosen.asked(), MessagePart::Whole, out, |out, entry| {
                if !self.chosen.picks(out, entry) {
                    return Ok(());
                }
                let checked = Message::parse(entry.bytes).map_err(Into::into);
                let checked = checked.and_then(|message| self.chosen.digests.check_all(&message));
                match checked.and_then(|()| from_tensogram(entry.bytes, &options)) {
                    Ok((parts, not_kept)) => {
                        notes.extend(not_kept.iter().map(|note| format!("{}: not kept: {note}", entry.place())));
                        file::write(&mut sink, &parts)
                    }
                    Err(error) => {
                        out.report(&entry.place(), &error);
                        Ok(())
                    }
                }
            })?)
        });
        notes.iter().try_for_each(|note| writeln!(out, "{}", escape(note)))
    }
}
