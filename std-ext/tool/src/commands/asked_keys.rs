//! What `ls` and `get` are asked for: messages of files, and keys of them.

use std::io;
use std::sync::OnceLock;

use clap::Args;

use crate::args::files::Files;
use crate::args::object_numbers::ObjectNumbers;
use crate::commands::key_columns::{KeyColumns, Keys};
use crate::read::candidates::Level;
use crate::read::cataloged::{Asked, Cataloged};
use crate::read::chosen::Chosen;
use crate::read::entry::Entry;
use crate::read::input::MessagePart;
use crate::read::messages::for_each_message;
use crate::show::output::Out;

/// The messages and objects that a command lists, and the keys whose values it prints.
#[derive(Args, Debug)]
pub(crate) struct AskedKeys {
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    #[command(flatten)]
    pub(crate) cataloged: Cataloged,
    #[command(flatten)]
    pub(crate) named: Keys,
    /// The keys that are looked up. Filled in when the command runs.
    #[arg(skip)]
    keys: OnceLock<KeyColumns>,
    /// Apply -w and -p to each object by itself: a line for each object
    #[arg(long)]
    pub(crate) objects: bool,
    #[command(flatten)]
    pub(crate) only: ObjectNumbers,
}

impl AskedKeys {
    /// The keys that are looked up, beside columns with these titles. The first call decides which keys these are.
    pub(crate) fn keys_beside<'t>(&self, titles: impl IntoIterator<Item = &'t str>) -> &KeyColumns {
        self.keys.get_or_init(|| self.named.columns(titles, &self.files.listing))
    }

    /// The keys that are looked up.
    pub(crate) fn keys(&self) -> &KeyColumns {
        self.keys_beside([])
    }

    /// The messages that are asked for. A catalogue rules out others without reading them.
    pub(crate) fn messages(&self) -> Asked<'_> {
        let level = if self.objects { Level::Objects } else { Level::Messages };
        self.chosen.asked_of(level).by(self.cataloged.catalog.as_deref()).with_trees()
    }

    /// Calls `with` for each message that can be selected.
    pub(crate) fn for_each_message(
        &self,
        out: &mut Out,
        with: impl FnMut(&mut Out, &Entry<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        for_each_message(&self.files.paths, self.messages(), MessagePart::Outline, out, with)
    }
}
