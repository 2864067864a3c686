//! `tgm`: looks into Tensogram files, checks them, takes values out, makes messages and edits them.
//!
//! Each subcommand is a file of its own. What they share: [`input`] opens files and reads them at positions, [`messages`]
//! is the one iteration over their messages, [`lost`] tells users of bytes that belong to no message, [`digests`] checks
//! what is handed out, [`select`] looks keys up in metadata, [`edit`] takes messages apart and puts them together,
//! [`destination`] is the only door to files that are written, [`table`] and [`json`] lay results out, [`output`] is the
//! only door to standard output and error.
//! A message that is damaged never hides the others: what is wrong is gathered in [`output::Out`] and becomes the exit
//! code, 0 if there was nothing, 1 otherwise, 2 for usage.

mod advice;
mod assign;
mod cli;
mod copy;
mod create;
mod destination;
mod digest;
mod digests;
mod doctor;
mod dump;
mod dump_text;
mod edit;
mod encode_flags;
mod extract;
mod flags;
mod frame_list;
mod frames;
mod get;
mod info;
mod input;
mod interrupt;
mod json;
mod key_path;
mod limits;
mod lost;
mod ls;
mod merge;
mod messages;
mod metadata_flags;
mod npy;
mod npy_read;
mod numbers;
mod output;
mod pipeline_flags;
mod progress;
mod repack;
mod replace;
mod rescue;
mod reshuffle;
mod rewrite;
mod row_major;
mod salvage;
mod same_file;
mod scan;
mod select;
mod set;
mod show;
mod split;
mod summary;
mod survive;
mod table;
mod temporary;
mod tensor_input;
mod text;
mod upgrade;
mod validate;
mod values;
mod verify;
#[cfg(feature = "zio")]
mod zio;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let mut out = output::Out::new();
    let done = cli.run(&mut out);
    out.finish(done)
}
