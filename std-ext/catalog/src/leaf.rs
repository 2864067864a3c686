//! A leaf as it is read: checked when it is opened, its columns decoded when they are asked for.

use std::sync::OnceLock;

use tgm_core::cbor::{Kind, Map, Value};
use tgm_core::descriptor::Dtype;

use super::cbor::{ABSENT_INTEGER, ENCODED_CBOR, map_of, uint_of};
use super::column::{Column, Stored};
use super::columns::Columns;
use super::gather::{LEAF_MESSAGES, LEAF_OBJECTS};
use super::proof::Proof;
use super::told::{self, ToldHead, Untold};
use super::{CatalogLimits, FORMAT, bad, name};
use tgm_std::{Result, TensogramError};

/// Keys of a catalogue, at most.
const MOST_KEYS: usize = 4096;

/// A leaf: its message, and what was read of it so far.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) covers: Covers,
    pub(super) proof: Proof,
    pub(super) keys: Vec<KeyHead>,
    /// What objects say.
    pub(super) facts: std::result::Result<Vec<ToldHead>, Untold>,
    columns: Columns,
    places: OnceLock<Places>,
    /// For each message the number of its first object, and one more; `None` inside if each message has one object.
    first_objects: OnceLock<Option<Vec<u32>>>,
}

/// The messages and objects of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Covers {
    pub(super) first: usize,
    pub(super) messages: usize,
    pub(super) objects: usize,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Where messages and objects are.
#[derive(Debug)]
pub(super) struct Places {
    /// For each message: offset in the file, and length.
    pub(super) messages: Vec<(u64, u64)>,
    /// For each object: offset of its frame in the file, and length.
    pub(super) objects: Vec<(u64, u64)>,
}

/// What a leaf says of a key.
#[derive(Debug)]
pub(super) struct KeyHead {
    pub(super) path: String,
    pub(super) kind: Storage,
    of_messages: Option<usize>,
    of_objects: Option<usize>,
    message_rows: OnceLock<Column>,
    object_rows: OnceLock<Column>,
}

/// How values of a key are stored.
#[derive(Debug)]
pub(super) enum Storage {
    Codes(Table),
    Integers,
    Floats,
}

/// The distinct values of a key as CBOR, one after the other.
#[derive(Debug, Default)]
pub(super) struct Table {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The code of a missing value.
    pub(super) absent: u64,
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The values in the order of their codes.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        // The ends were noted while the bytes were added, so they ascend and lie in them.
        self.ends.iter().map(move |&end| self.bytes.get(std::mem::replace(&mut start, end)..end).unwrap_or(&[]))
    }
}

impl Leaf {
    /// Opens a leaf. Checks the digest and the content of its metadata; columns are checked when they are read.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for a message that is not a leaf, or a damaged one.
    pub(super) fn open(bytes: Vec<u8>, limits: &CatalogLimits) -> Result<Self> {
        let columns = Columns::open(bytes)?;
        let message = columns.message()?;
        let metadata = message.metadata()?;
        let about = metadata.get("extra.catalog")?.ok_or_else(|| bad("this message is not a catalogue"))?;
        let about = about.as_map().map_err(|_| bad("this message is not a catalogue"))?;
        match uint_of(&about, "format")? {
            FORMAT => {}
            other => return Err(bad(format!("format {other} is not known, this release reads {FORMAT}"))),
        }
        let covers = Covers::parse(&map_of(&about, "covers")?, limits)?;
        let proof = Proof::parse(&map_of(&about, "data")?)?;
        let keys = about.get("keys")?.ok_or_else(|| bad("keys is missing"))?.as_array()?;
        if keys.len() > MOST_KEYS {
            return Err(bad(format!("there are more than {MOST_KEYS} keys")));
        }
        let keys = keys.iter().map(|key| KeyHead::parse(&key?.as_map()?)).collect::<Result<_>>()?;
        let facts = told::parse(about.get("facts")?)?;
        let (places, first_objects) = (OnceLock::new(), OnceLock::new());
        Ok(Self { covers, proof, keys, facts, columns, places, first_objects })
    }

    /// The bytes of the message.
    pub(super) fn bytes(&self) -> &[u8] {
        self.columns.bytes()
    }

    /// For each message the number of its first object within the leaf, and the number of objects at the end. `None` if
    /// each message has one object.
    pub(super) fn first_objects(&self) -> Result<Option<&[u32]>> {
        if let Some(found) = self.first_objects.get() {
            return Ok(found.as_deref());
        }
        let Covers { messages, objects, .. } = self.covers;
        let counts = self.columns.named(name::COUNT, messages)?;
        let found = if counts == Column::Equal(1) && messages == objects {
            None
        } else {
            let mut next = 0_u64;
            let wrong = || bad("the numbers of objects do not add up");
            let number = |first: u64| u32::try_from(first).map_err(|_| wrong());
            let mut firsts = Vec::with_capacity(messages + 1);
            for row in 0..messages {
                firsts.push(number(next)?);
                next = next.checked_add(counts.at(row)?).filter(|next| *next <= objects as u64).ok_or_else(wrong)?;
            }
            if next != objects as u64 {
                return Err(wrong());
            }
            firsts.push(number(next)?);
            Some(firsts)
        };
        Ok(self.first_objects.get_or_init(|| found).as_deref())
    }

    /// The numbers within the leaf of the objects of a message.
    pub(super) fn objects_of(&self, message: usize) -> Result<std::ops::Range<usize>> {
        let found = match self.first_objects()? {
            None => (message < self.covers.messages).then(|| message..message + 1),
            Some(firsts) => match firsts.get(message..) {
                Some([first, end, ..]) => Some(*first as usize..*end as usize),
                _ => None,
            },
        };
        found.ok_or_else(|| bad("a message is missing"))
    }

    /// Where all messages and objects are.
    pub(super) fn places(&self) -> Result<&Places> {
        if let Some(found) = self.places.get() {
            return Ok(found);
        }
        let Covers { messages, objects, start, end, .. } = self.covers;
        let (gaps, tails) = (self.columns.named(name::GAP, messages)?, self.columns.named(name::TAIL, messages)?);
        let (leads, lengths) = (self.columns.named(name::LEAD, objects)?, self.columns.named(name::LENGTH, objects)?);
        let outside = || bad("a message or an object lies outside of the covered bytes");
        let step = |at: u64, by: u64| at.checked_add(by).filter(|at| *at <= end).ok_or_else(outside);
        let mut places = Places { messages: Vec::with_capacity(messages), objects: Vec::with_capacity(objects) };
        let mut at = start;
        for message in 0..messages {
            let offset = step(at, gaps.at(message)?)?;
            at = offset;
            for object in self.objects_of(message)? {
                let frame = step(at, leads.at(object)?)?;
                let length = lengths.at(object)?;
                places.objects.push((frame, length));
                at = step(frame, length)?;
            }
            at = step(at, tails.at(message)?)?;
            places.messages.push((offset, at - offset));
        }
        if at != end {
            return Err(bad("the lengths of the messages do not add up"));
        }
        Ok(self.places.get_or_init(|| places))
    }

    /// For each object the code of a fact, or that of a missing one.
    pub(super) fn fact_column(&self, fact: &ToldHead) -> Result<Column> {
        let rows = self.covers.objects;
        if rows == 0 {
            return Ok(Column::Equal(fact.absent));
        }
        let Stored { column, dtype } = self.columns.read(fact.object, &fact.path, rows)?;
        if matches!(dtype, Dtype::Int64 | Dtype::Float64) {
            return Err(bad(format!("the column of fact {} is of {dtype}", fact.path)));
        }
        check_codes(&fact.path, &column, fact.values.len(), fact.absent)?;
        Ok(column)
    }

    /// The values of a key for all objects.
    pub(super) fn object_column<'l>(&'l self, key: &'l KeyHead) -> Result<&'l Column> {
        if let Some(found) = key.object_rows.get() {
            return Ok(found);
        }
        let column = if let Some(object) = key.of_objects {
            self.key_column(key, object, self.covers.objects)?
        } else {
            let column = self.message_column(key)?;
            match (column, self.first_objects()?) {
                (Column::Equal(_), _) | (_, None) => column.clone(),
                (column, Some(firsts)) => repeated(column, firsts),
            }
        };
        Ok(key.object_rows.get_or_init(|| column))
    }

    /// The values of a key for all messages.
    pub(super) fn message_column<'l>(&'l self, key: &'l KeyHead) -> Result<&'l Column> {
        if let Some(found) = key.message_rows.get() {
            return Ok(found);
        }
        let column = match (key.of_messages, key.of_objects) {
            (Some(object), _) => self.key_column(key, object, self.covers.messages)?,
            (None, Some(_)) => self.first_of_objects(key)?,
            (None, None) => return Err(bad(format!("key {} has no column", key.path))),
        };
        Ok(key.message_rows.get_or_init(|| column))
    }

    /// For each message the first value of its objects.
    fn first_of_objects(&self, key: &KeyHead) -> Result<Column> {
        let column = self.object_column(key)?;
        let Some(firsts) = self.first_objects()? else { return Ok(column.clone()) };
        let absent = key.absent();
        let mut rows = Vec::with_capacity(self.covers.messages);
        for [first, end] in firsts.array_windows() {
            let mut found = absent;
            for object in *first as usize..*end as usize {
                let code = column.at(object)?;
                if Some(code) != absent {
                    found = Some(code);
                    break;
                }
            }
            // No float stands for a missing value.
            rows.push(found.ok_or_else(|| bad(format!("key {} has no value for a message", key.path)))?);
        }
        Ok(Column::U64(rows))
    }

    /// The column of a key, whose numbers were checked.
    fn key_column(&self, key: &KeyHead, object: usize, rows: usize) -> Result<Column> {
        if rows == 0 {
            return Ok(Column::Equal(0));
        }
        let Stored { column, dtype } = self.columns.read(object, &key.path, rows)?;
        let is_right = match &key.kind {
            Storage::Codes(_) => !matches!(dtype, Dtype::Int64 | Dtype::Float64),
            Storage::Integers => dtype == Dtype::Int64,
            Storage::Floats => dtype == Dtype::Float64,
        };
        if !is_right {
            return Err(bad(format!("column {} is of {dtype}", key.path)));
        }
        if let Storage::Codes(table) = &key.kind {
            check_codes(&key.path, &column, table.len(), table.absent)?;
        }
        Ok(column)
    }
}

/// # Errors
/// [`TensogramError::Metadata`] if a number of a column is neither the code of one of `len` values nor that of a missing one.
fn check_codes(path: &str, column: &Column, len: usize, absent: u64) -> Result<()> {
    let is_code = |code: u64| code < len as u64 || code == absent;
    let all = match column {
        Column::Equal(code) => is_code(*code),
        Column::U8(codes) => codes.iter().all(|code| is_code(u64::from(*code))),
        Column::U16(codes) => codes.iter().all(|code| is_code(u64::from(*code))),
        Column::U32(codes) => codes.iter().all(|code| is_code(u64::from(*code))),
        Column::U64(codes) => codes.iter().all(|code| is_code(*code)),
    };
    if all { Ok(()) } else { Err(bad(format!("column {path} has a code without a value"))) }
}

/// The number of each message for each of its objects.
fn repeated(column: &Column, firsts: &[u32]) -> Column {
    fn each<T: Copy>(numbers: &[T], firsts: &[u32]) -> Vec<T> {
        // They ascend.
        let counts = firsts.array_windows().map(|[first, end]| (end - first) as usize);
        numbers.iter().zip(counts).flat_map(|(number, count)| std::iter::repeat_n(*number, count)).collect()
    }
    match column {
        Column::Equal(number) => Column::Equal(*number),
        Column::U8(numbers) => Column::U8(each(numbers, firsts)),
        Column::U16(numbers) => Column::U16(each(numbers, firsts)),
        Column::U32(numbers) => Column::U32(each(numbers, firsts)),
        Column::U64(numbers) => Column::U64(each(numbers, firsts)),
    }
}

impl Covers {
    fn parse(map: &Map<'_>, limits: &CatalogLimits) -> Result<Self> {
        let count = |key: &str, limit: usize| {
            let found = uint_of(map, key)?;
            usize::try_from(found)
                .ok()
                .filter(|found| *found <= limit)
                .ok_or_else(|| bad(format!("it has {found} {key}, more than the limit of {limit}")))
        };
        let (start, end) = (uint_of(map, "start")?, uint_of(map, "end")?);
        let first = usize::try_from(uint_of(map, "first")?);
        let first = first.map_err(|_| bad("its messages have numbers that this machine cannot count"))?;
        let messages = count("messages", limits.max_messages.min(LEAF_MESSAGES))?;
        let objects = count("objects", limits.max_objects.min(LEAF_OBJECTS * 2))?;
        if start > end || messages == 0 {
            return Err(bad("it covers nothing"));
        }
        Ok(Self { first, messages, objects, start, end })
    }
}

impl KeyHead {
    fn parse(map: &Map<'_>) -> Result<Self> {
        let text = |key: &str| {
            let found = map.get(key)?.ok_or_else(|| bad(format!("{key} of a key is missing")))?;
            Ok::<_, TensogramError>(found.as_text()?.to_string())
        };
        let column = |key: &str| {
            let found = map.get(key)?.map(|found| found.as_u64()).transpose()?;
            let found = found.map(usize::try_from).transpose();
            found.map_err(|_| bad(format!("the {key} column of a key is missing")))
        };
        let path = text("path")?;
        let kind = match text("kind")?.as_str() {
            name::CODES => Storage::Codes(Table::parse(map)?),
            name::INTEGERS => Storage::Integers,
            name::FLOATS => Storage::Floats,
            other => return Err(bad(format!("kind {other} of key {path} is not known"))),
        };
        let (of_messages, of_objects) = (column(name::MESSAGE)?, column(name::OBJECT)?);
        let (message_rows, object_rows) = (OnceLock::new(), OnceLock::new());
        Ok(Self { path, kind, of_messages, of_objects, message_rows, object_rows })
    }

    /// The number that stands for a missing value, if one does.
    pub(super) const fn absent(&self) -> Option<u64> {
        match &self.kind {
            Storage::Codes(table) => Some(table.absent),
            Storage::Integers => Some(ABSENT_INTEGER.cast_unsigned()),
            Storage::Floats => None,
        }
    }
}

impl Table {
    fn parse(map: &Map<'_>) -> Result<Self> {
        let values = map.get("values")?.ok_or_else(|| bad("values of a key are missing"))?.as_array()?;
        let mut table = Self { absent: uint_of(map, "absent")?, ..Self::default() };
        for value in values {
            let value = value?;
            match wrapped(&value)? {
                Some(encoded) => table.bytes.extend_from_slice(&encoded),
                None => table.bytes.extend_from_slice(value.as_encoded()),
            }
            table.ends.push(table.bytes.len());
        }
        if table.absent < table.len() as u64 {
            return Err(bad("the code of a missing value is one of a value"));
        }
        Ok(table)
    }
}

/// The CBOR inside of a byte string, checked. `None` for other values.
fn wrapped(value: &Value<'_>) -> Result<Option<Vec<u8>>> {
    if value.kind() != Kind::Tag {
        return Ok(None);
    }
    let (ENCODED_CBOR, inner) = value.as_tag()? else { return Ok(None) };
    let encoded: Vec<u8> = inner.as_bytes()?.chunks().flatten().copied().collect();
    if Value::parse(&encoded, 0)?.as_encoded().len() != encoded.len() {
        return Err(bad("a value has more than one item"));
    }
    Ok(Some(encoded))
}
