//! The facts of a leaf: columns of codes in memory, as they are written, and as they are read.

use ciborium::Value as Owned;
use tgm_core::Message;
use tgm_core::cbor::{Kind, Map, Value};
use tgm_core::metadata::MessageMetadata;
use tgm_std::{ObjectBuilder, Result};

use super::bad;
use super::cbor::{map, uint_of};
use super::column::{Column, Width, write};
use super::dictionary::{ABSENT, Dictionary};
use super::facts::{EXTRA, FactSink, Facts};
use super::name;

/// Paths of facts, at most. A file with more has no columns of them.
const MOST_FACTS: usize = 1024;

/// Why facts are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Untold {
    /// The catalogue is of a release that did not know them.
    Old,
    /// They do not fit into columns, as with messages that say something of themselves.
    Unfit,
}

/// The values of one path.
#[derive(Clone, Debug, Default)]
pub(super) struct ToldColumn {
    pub(super) path: String,
    pub(super) dictionary: Dictionary,
    /// For each object, as far as it is known. What is missing at the end is absent.
    pub(super) codes: Vec<u32>,
}

impl ToldColumn {
    /// Sets the value of an object, which is the last one so far, or follows it.
    fn set(&mut self, row: usize, code: u32) {
        self.codes.resize(row.max(self.codes.len()), ABSENT);
        match self.codes.get_mut(row) {
            Some(known) => *known = code,
            None => self.codes.push(code),
        }
    }
}

/// The facts of neighbouring objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub(super) columns: Vec<ToldColumn>,
    /// The column after the one that was asked for last: objects tell the same facts in the same order.
    next: usize,
}

/// Facts of one message or object, by their columns and codes. `None` if they do not fit into columns.
struct Taken<'t> {
    told: &'t mut Told,
    cells: Option<Vec<(usize, u32)>>,
}

impl FactSink for Taken<'_> {
    fn fact(&mut self, path: &str, value: &[u8]) {
        let Some(cells) = &mut self.cells else { return };
        // What a message says of itself belongs to no object.
        let cell = if path.starts_with(EXTRA) { None } else { self.told.cell(path, value) };
        match cell {
            Some(cell) => cells.push(cell),
            None => self.cells = None,
        }
    }
}

impl Told {
    /// The column of a path. `None` if there are too many.
    fn column(&mut self, path: &str) -> Option<usize> {
        let is_it = |column: &ToldColumn| column.path == path;
        let guess = self.next;
        let found = match self.columns.get(guess) {
            Some(column) if is_it(column) => guess,
            _ => match self.columns.iter().position(is_it) {
                Some(found) => found,
                None if self.columns.len() < MOST_FACTS => {
                    self.columns.push(ToldColumn { path: path.to_string(), ..ToldColumn::default() });
                    self.columns.len() - 1
                }
                None => return None,
            },
        };
        self.next = found + 1;
        Some(found)
    }

    /// The column and the code of a fact. `None` if it does not fit.
    fn cell(&mut self, path: &str, value: &[u8]) -> Option<(usize, u32)> {
        let column = self.column(path)?;
        Some((column, self.columns.get_mut(column)?.dictionary.code(value).ok()?))
    }

    /// Facts that were read. `column_of` reads the column of `rows` objects.
    ///
    /// # Errors
    /// The errors of reading columns.
    pub(super) fn read(
        heads: &[ToldHead],
        rows: usize,
        column_of: impl Fn(&ToldHead) -> Result<Column>,
    ) -> Result<Self> {
        let column = |head: &ToldHead| {
            let mut column = ToldColumn { path: head.path.clone(), ..ToldColumn::default() };
            let codes = head.values.iter().map(|value| column.dictionary.code(value)).collect::<Result<Vec<_>>>()?;
            let read = column_of(head)?;
            let code = |row: usize| codes.get(usize::try_from(read.get(row)?).ok()?).copied();
            column.codes = (0..rows).map(|row| code(row).unwrap_or(ABSENT)).collect();
            Ok(column)
        };
        Ok(Self { columns: heads.iter().map(column).collect::<Result<_>>()?, next: 0 })
    }

    /// Adds the objects of a message, the first of which has a row. Returns whether their facts fit into columns.
    ///
    /// # Errors
    /// The errors of metadata and descriptors.
    pub(super) fn add(&mut self, first: usize, message: &Message<'_>, metadata: &MessageMetadata<'_>) -> Result<bool> {
        let mut facts = Facts::default();
        self.next = 0;
        let mut taken = Taken { told: self, cells: Some(Vec::new()) };
        facts.of_message(metadata, &mut taken)?;
        let Some(of_all) = taken.cells else { return Ok(false) };
        for (index, (about, object)) in metadata.objects().zip(message.objects()).enumerate() {
            let mut taken = Taken { told: self, cells: Some(of_all.clone()) };
            facts.of_object(&about?, object?.descriptor(), &mut taken)?;
            let Some(cells) = taken.cells else { return Ok(false) };
            // What an object says comes last, and counts.
            for (column, code) in cells {
                if let Some(column) = self.columns.get_mut(column) {
                    column.set(first + index, code);
                }
            }
        }
        Ok(true)
    }

    /// Adds the facts of objects that follow `rows` others. Returns whether they fit.
    pub(super) fn append(&mut self, rows: usize, other: &Self) -> bool {
        for from in &other.columns {
            let Some(column) = self.column(&from.path).and_then(|column| self.columns.get_mut(column)) else {
                return false;
            };
            let codes = from.dictionary.values().map(|value| column.dictionary.code(value)).collect::<Result<Vec<_>>>();
            let Ok(codes) = codes else { return false };
            column.codes.resize(rows.max(column.codes.len()), ABSENT);
            column.codes.extend(from.codes.iter().map(|code| codes.get(*code as usize).copied().unwrap_or(ABSENT)));
        }
        true
    }

    /// Adds columns for `rows` objects to `columns`. A column that equals another one is that one. Returns the entries of the
    /// leaf's annotation.
    pub(super) fn write(&self, rows: usize, columns: &mut Vec<ObjectBuilder<'static>>) -> Owned {
        let mut written: Vec<(Vec<u64>, usize)> = Vec::new();
        let mut entries = Vec::new();
        for column in &self.columns {
            let reserved = reserved_for(column.dictionary.values().len());
            let code = |row: usize| match column.codes.get(row) {
                Some(code) if *code != ABSENT => u64::from(*code),
                _ => reserved,
            };
            let codes: Vec<u64> = (0..rows).map(code).collect();
            let known = written.iter().find(|(known, _)| *known == codes).map(|(_, object)| *object);
            let object = known.unwrap_or_else(|| {
                columns.push(write(&format!("{}{}", name::OF_FACTS, column.path), &codes, Width::Narrowest));
                written.push((codes, columns.len() - 1));
                columns.len() - 1
            });
            let values = column.dictionary.values().map(|value| Owned::Bytes(value.to_vec())).collect();
            entries.push(map([
                ("path", column.path.as_str().into()),
                ("object", (object as u64).into()),
                ("values", Owned::Array(values)),
                ("absent", reserved.into()),
            ]));
        }
        Owned::Array(entries)
    }
}

/// The code of a missing value, for a table of `len` values: the greatest number of the narrowest type that has a code for
/// each value and one more.
pub(super) const fn reserved_for(len: usize) -> u64 {
    match len {
        0..=0xff => 0xff,
        0x100..=0xffff => 0xffff,
        _ => 0xffff_ffff,
    }
}

/// The facts of a leaf, or why it has none.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for damaged ones.
pub(super) fn parse(facts: Option<Value<'_>>) -> Result<std::result::Result<Vec<ToldHead>, Untold>> {
    Ok(match facts {
        None => Err(Untold::Old),
        Some(facts) if facts.kind() == Kind::Null => Err(Untold::Unfit),
        Some(facts) => Ok(ToldHead::parse_all(&facts)?),
    })
}

/// What a leaf says of a path of facts.
#[derive(Debug)]
pub(super) struct ToldHead {
    pub(super) path: String,
    /// The object that holds the column.
    pub(super) object: usize,
    pub(super) values: Vec<Vec<u8>>,
    pub(super) absent: u64,
}

impl ToldHead {
    /// The entries of a leaf's annotation.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for damaged ones.
    fn parse_all(facts: &Value<'_>) -> Result<Vec<Self>> {
        let facts = facts.as_array()?;
        if facts.len() > MOST_FACTS {
            return Err(bad(format!("there are more than {MOST_FACTS} facts")));
        }
        facts.iter().map(|fact| Self::parse(&fact?.as_map()?)).collect()
    }

    fn parse(map: &Map<'_>) -> Result<Self> {
        let path = map.get("path")?.ok_or_else(|| bad("path of a fact is missing"))?.as_text()?.to_string();
        let object = usize::try_from(uint_of(map, "object")?).map_err(|_| bad("the column of a fact is missing"))?;
        let values = map.get("values")?.ok_or_else(|| bad("values of a fact are missing"))?.as_array()?;
        let values = values.iter().map(|value| Ok(value?.as_bytes()?.chunks().flatten().copied().collect()));
        let values: Vec<Vec<u8>> = values.collect::<Result<_>>()?;
        let absent = uint_of(map, "absent")?;
        if absent < values.len() as u64 {
            return Err(bad("the code of a missing fact is one of a value"));
        }
        Ok(Self { path, object, values, absent })
    }
}
