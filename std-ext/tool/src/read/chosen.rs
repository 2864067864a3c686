//! The flags that choose messages.

use clap::Args;

use crate::read::candidates::Level;
use crate::read::cataloged::Asked;
use crate::read::choice::MessageChoice;
use crate::read::digests::Digests;
use crate::read::entry::Entry;
use crate::read::select::Selection;
use crate::show::output::Out;

/// The flags that choose messages, and say how they are checked.
#[derive(Args, Debug, Default)]
pub(crate) struct Chosen {
    #[command(flatten)]
    pub(crate) choice: MessageChoice,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) digests: Digests,
}

impl Chosen {
    /// The messages that are chosen.
    pub(crate) fn asked(&self) -> Asked<'_> {
        self.asked_of(Level::Messages)
    }

    /// The messages that are chosen by what they are, or by what their objects are.
    pub(crate) fn asked_of(&self, level: Level) -> Asked<'_> {
        Asked::new(self.choice, &self.selection, level)
    }

    /// Whether the filter selects a message. One that cannot be read is reported, and not selected.
    pub(crate) fn picks(&self, out: &mut Out, entry: &Entry<'_>) -> bool {
        self.selection.picks(out, entry, self.digests)
    }

    /// Whether the filter selects a message.
    ///
    /// # Errors
    /// For a message that cannot be read.
    pub(crate) fn chooses(&self, entry: &Entry<'_>) -> tgm_std::Result<bool> {
        self.selection.chooses(entry, self.digests)
    }
}
