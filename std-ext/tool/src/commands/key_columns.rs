//! Columns for the values of keys that the user names, beside the columns of a listing.

use clap::Args;
use serde_json::Value as Json;
use tgm_core::metadata::MessageMetadata;

use crate::args::listing::ListFlags;
use crate::read::select::{Annotations, Scope, annotations, text};
use crate::show::json;
use crate::show::table::{Cell, Table};

/// The flag that names keys.
#[derive(Args, Debug, Default)]
pub(crate) struct Keys {
    /// Print the values of these keys, which are dotted paths
    #[arg(short = 'p', long = "keys", value_name = "KEY,...", value_delimiter = ',')]
    pub(crate) keys: Vec<String>,
}

/// The keys of a listing: those that are printed, and those that rows are sorted by.
#[derive(Debug, Default)]
pub(crate) struct KeyColumns {
    printed: Vec<String>,
    hidden: Vec<String>,
}

impl Keys {
    /// The columns of these keys, and of the keys to sort by unless they are titles of `own` columns.
    pub(crate) fn columns<'t>(&self, own: impl IntoIterator<Item = &'t str>, listing: &ListFlags) -> KeyColumns {
        let mut known: Vec<_> = own.into_iter().map(str::to_string).collect();
        known.extend(self.keys.iter().cloned());
        let hidden = listing.sort_keys().filter(|key| !known.iter().any(|known| known == key));
        KeyColumns { printed: self.keys.clone(), hidden: hidden.map(str::to_string).collect() }
    }
}

impl KeyColumns {
    /// All keys: the printed ones first.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &str> {
        self.printed.iter().chain(&self.hidden).map(String::as_str)
    }

    /// The table with columns for the printed keys.
    pub(crate) fn shown_in(&self, table: Table) -> Table {
        table.with_titles(&self.printed)
    }

    /// The table with columns for the keys that only sort. They stand after all others.
    pub(crate) fn hidden_in(&self, table: Table) -> Table {
        table.with_hidden(self.hidden.iter().map(String::as_str))
    }

    /// The annotations under the keys.
    ///
    /// # Errors
    /// The errors of reading metadata.
    pub(crate) fn annotations(&self, message: &MessageMetadata<'_>) -> tgm_core::Result<Annotations> {
        annotations(message, self.asked())
    }

    /// The values of all keys.
    ///
    /// # Errors
    /// The errors of reading metadata.
    pub(crate) fn values(&self, scope: &Scope<'_, '_>) -> tgm_core::Result<Vec<Option<Json>>> {
        self.asked().map(|key| scope.get(key)).collect()
    }

    /// The cells of these values: of the printed keys, and of those that only sort. Missing values are blank.
    pub(crate) fn cells(&self, values: &[Option<Json>]) -> [Vec<Cell>; 2] {
        let cell =
            |index: usize| values.get(index).and_then(Option::as_ref).map_or("".into(), |value| text(value).into());
        let printed = self.printed.len();
        [(0..printed).map(cell).collect(), (printed..printed + self.hidden.len()).map(cell).collect()]
    }

    /// The values of the printed keys as JSON. `None` if there is no such key.
    pub(crate) fn json(&self, values: &[Option<Json>]) -> Option<Json> {
        let entries = self.printed.iter().map(String::as_str).zip(values.iter().cloned());
        (!self.printed.is_empty()).then(|| json::object(entries))
    }
}
