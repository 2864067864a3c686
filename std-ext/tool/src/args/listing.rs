//! Flags of commands that list: notation, order, number of rows, and the file for the text.

use std::path::PathBuf;

use clap::Args;

use crate::show::form::{Form, Notation, SortKey};
use crate::write::destination::Destination;

/// A command's listing: its form, its file, and the files that the command reads.
#[derive(Debug, Default)]
pub(crate) struct Listed<'c> {
    /// The form.
    pub(crate) form: Form,
    /// The file for the text; `None` is standard output.
    pub(crate) output: Option<&'c Destination>,
    /// The files that are read.
    pub(crate) reads: &'c [PathBuf],
}

/// Flags for JSON.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Listing")]
pub(crate) struct JsonFlags {
    /// Print one JSON document
    #[arg(short, long)]
    json: bool,
    /// Print a line of JSON for each item of that document
    #[arg(long, conflicts_with = "json")]
    jsonl: bool,
}

impl JsonFlags {
    /// Whether JSON is asked for, in one of its forms.
    pub(crate) const fn is_on(&self) -> bool {
        self.json || self.jsonl
    }

    /// The form that the flags ask for.
    pub(crate) fn form(&self) -> Form {
        Form { notation: self.notation().unwrap_or_default(), ..Form::default() }
    }

    fn notation(&self) -> Option<Notation> {
        match (self.json, self.jsonl) {
            (_, true) => Some(Notation::JsonLines),
            (true, _) => Some(Notation::Json),
            _ => None,
        }
    }
}

/// Flags of commands that print text or JSON.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Listing")]
pub(crate) struct TextFlags {
    #[command(flatten)]
    json: JsonFlags,
    /// Write the text to this file, which appears when it is complete; `.json`, `.jsonl` and, for rows, `.csv` at the end of its
    /// name say how [short: -o too]
    #[arg(short = 'O', short_alias = 'o', long, value_name = "LISTING")]
    output: Option<Destination>,
}

impl TextFlags {
    /// Whether JSON is asked for.
    pub(crate) fn json(&self) -> bool {
        matches!(self.notation(), Notation::Json | Notation::JsonLines)
    }

    /// The notation that the flags ask for, or that the name of the file ends with.
    fn notation(&self) -> Notation {
        let named = || match ending(self.output.as_ref()?)?.as_str() {
            "json" => Some(Notation::Json),
            "jsonl" | "ndjson" => Some(Notation::JsonLines),
            _ => None,
        };
        self.json.notation().or_else(named).unwrap_or_default()
    }

    /// The listing of a command that reads these files.
    pub(crate) fn listed<'c>(&'c self, reads: &'c [PathBuf]) -> Listed<'c> {
        let form = Form { notation: self.notation(), ..Form::default() };
        Listed { form, output: self.output.as_ref(), reads }
    }
}

/// What the name of a file ends with, in small letters.
pub(crate) fn ending(output: &Destination) -> Option<String> {
    Some(output.path()?.extension()?.to_str()?.to_ascii_lowercase())
}

/// Flags of commands that list rows.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Listing")]
pub(crate) struct ListFlags {
    #[command(flatten)]
    text: TextFlags,
    /// Print rows with commas between whole values, below a row of titles
    #[arg(long, conflicts_with_all = ["json", "jsonl"])]
    csv: bool,
    /// Sort rows by columns or keys; with JSON, messages by their values
    #[arg(short = 'B', long, value_name = "KEY[:desc],...", value_delimiter = ',')]
    sort: Vec<SortKey>,
    /// Print the first N rows only; with JSON, N messages
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,
}

impl ListFlags {
    /// Whether JSON is asked for.
    pub(crate) fn json(&self) -> bool {
        !self.csv && self.text.json()
    }

    /// Whether a flag says something that rows alone can have.
    pub(crate) fn is_about_rows(&self) -> bool {
        self.csv || self.limit.is_some() || !self.sort.is_empty() || self.is_named_csv()
    }

    /// Whether the name of the file asks for rows with commas.
    fn is_named_csv(&self) -> bool {
        !self.text.json.is_on() && self.text.output.as_ref().and_then(ending).is_some_and(|ending| ending == "csv")
    }

    /// The keys to sort by.
    pub(crate) fn sort_keys(&self) -> impl Iterator<Item = &str> {
        self.sort.iter().map(|sort| sort.key.as_str())
    }

    /// The listing of a command that reads these files.
    pub(crate) fn listed<'c>(&'c self, reads: &'c [PathBuf]) -> Listed<'c> {
        let mut listed = self.text.listed(reads);
        if self.csv || self.is_named_csv() {
            listed.form.notation = Notation::Csv;
        }
        Listed { form: Form { limit: self.limit, sort: self.sort.clone(), ..listed.form }, ..listed }
    }
}
