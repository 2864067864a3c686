//! What `ls` and `get` are asked for: messages of files, and keys of them.

use std::io;

use clap::Args;

use crate::args::files::Files;
use crate::args::object_numbers::ObjectNumbers;
use crate::read::cataloged::Cataloged;
use crate::read::choice::MessageChoice;
use crate::read::digests::Digests;
use crate::read::entry::Entry;
use crate::read::select::Selection;
use crate::show::output::Out;

/// The messages and objects that a command lists, and the keys whose values it prints.
#[derive(Args, Debug)]
pub(crate) struct AskedKeys {
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) choice: MessageChoice,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) cataloged: Cataloged,
    /// The keys whose values are printed, as dotted paths
    #[arg(short = 'p', long = "keys", value_name = "KEY,...", value_delimiter = ',')]
    pub(crate) keys: Vec<String>,
    /// Apply -w and -p to each object by itself: a line for each object
    #[arg(long)]
    pub(crate) objects: bool,
    #[command(flatten)]
    pub(crate) only: ObjectNumbers,
    #[command(flatten)]
    pub(crate) digests: Digests,
}

impl AskedKeys {
    /// Calls `with` for each message that can be selected. A catalogue rules out the others without reading them.
    pub(crate) fn for_each_message(
        &self,
        out: &mut Out,
        with: impl FnMut(&mut Out, &Entry<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let (files, selection) = ((&*self.files.paths, self.choice), (&self.selection, self.objects));
        self.cataloged.for_each_message(files, selection, out, with)
    }
}
