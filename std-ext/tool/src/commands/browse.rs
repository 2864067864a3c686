//! `tgm browse`: files in a full screen.
//!
//! | file | subject |
//! |---|---|
//! | [`app`] | what is chosen and known: a state machine without threads, files or screen |
//! | [`bindings`] | which key does what; the help follows from it |
//! | [`mod@slice`] | the part of an object that is drawn |
//! | [`panes`] | drawing the state |
//! | [`source`] | a file, and its messages as far as a scan in the background has found them |
//! | [`fetch`] | threads that read and decode what the screen shows |
//! | [`search`] | a thread that looks for a message |
//! | [`screen`] | the terminal, which is restored however the program ends |
//!
//! The thread that draws reads no file. It tells the other threads what it misses, and draws what has come.

mod app;
mod bindings;
mod fetch;
mod panes;
mod run;
mod screen;
mod search;
mod slice;
mod source;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::args::decoding::Decoding;
use crate::commands::browse::app::App;
use crate::commands::browse::source::Source;
use crate::commands::plot::Depth;
use crate::commands::{Run, examples};
use crate::read::digests::Digests;
use crate::show::output::Out;
use tgm_std::file::SourceName;

/// Look at files in a full screen: messages, objects, metadata, frames, pictures
///
/// Messages are listed while the file is still being scanned. "?" shows the keys, "q" ends it. Damaged objects are not
/// drawn without --ignore-hash; their pane says what is wrong.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm browse field.tgm three.tgm", "messages, objects, metadata and pictures; ? shows the keys"),
]))]
pub(crate) struct Browse {
    /// Files or addresses to look at; standard input cannot be one
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    digests: Digests,
    #[command(flatten)]
    decoding: Decoding,
}

impl Run for Browse {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        if let Some(text) = self.obstacle() {
            out.problem(&text);
            return Ok(());
        }
        let mut sources = Vec::new();
        for path in &self.paths {
            match Source::open(path) {
                Ok(source) => sources.push(Arc::new(source)),
                Err(error) => out.problem(&format!("cannot read {}\n{error}", SourceName::of(path))),
            }
        }
        if sources.is_empty() {
            return Ok(());
        }
        let names = sources.iter().map(|source| source.name().to_string()).collect();
        let app = App::new(names, Depth::of_terminal(out.has_colours()));
        let reading = fetch::Reading { digests: self.digests, options: self.decoding.options() };
        if let Err(error) = run::run(app, &sources, &reading) {
            out.problem(&format!("cannot show the screen\n{error}"));
        }
        Ok(())
    }
}

impl Browse {
    /// Why there can be no full screen.
    fn obstacle(&self) -> Option<String> {
        let instead = "`tgm ls`, `tgm dump` and `tgm plot` print";
        if self.paths.iter().any(|path| path == Path::new("-")) {
            return Some(format!(
                "tgm browse reads keys from the terminal, not messages from standard input; {instead}"
            ));
        }
        if !Out::is_terminal() {
            return Some(format!("tgm browse needs a terminal, and standard output is not one; {instead}"));
        }
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
        (is_dumb && cfg!(unix))
            .then(|| format!("tgm browse needs a terminal that can place text (TERM is dumb); {instead}"))
    }
}
