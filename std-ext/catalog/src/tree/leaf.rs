//! A leaf of a tree: a message whose columns have a row for each child.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use ciborium::Value as Owned;
use tgm_core::cbor::{Map, Value};
use tgm_std::metadata::query::compare::Number;
use tgm_std::metadata::query::expr::{Condition, Expr};
use tgm_std::metadata::query::version;
use tgm_std::{MessageBuilder, ObjectBuilder, Result};

use super::child::{Child, ChildKind, LONGEST_NAME, check_name};
use super::seen::{Form, Seen, may_hold};
use super::{FORMAT, MOST_CHILDREN};
use crate::bad;
use crate::cbor::{map, uint_of};
use crate::column::{Column, Width, write};
use crate::columns::Columns;

/// Keys of a leaf, at most.
const MOST_KEYS: usize = 4096;
/// Listed values of all children, and distinct values, of one key of a leaf, at most.
const MOST_VALUES: usize = 1 << 21;
/// Bytes of all distinct values of a key, and of all names, at most.
const MOST_BYTES: usize = 1 << 26;

/// What a child has under a key that its catalogue does not have.
static ANYTHING: Seen = Seen::ANYTHING;

/// Names of columns.
mod name {
    pub(super) const KIND: &str = "child.kind";
    pub(super) const MESSAGES: &str = "child.messages";
    pub(super) const OBJECTS: &str = "child.objects";
    pub(super) const LENGTH: &str = "child.length";
    pub(super) const DIGEST: &str = "child.digest";
    pub(super) const IDENTITY: &str = "child.identity";
    pub(super) const NAME: (&str, &str) = ("child.name", "child.name_bytes");
    pub(super) const CATALOG: (&str, &str) = ("child.catalog", "child.catalog_bytes");
}

/// Whether something may hold in a child, and whether it may not.
type May = (bool, bool);

/// A leaf, and what was read of it so far.
#[derive(Debug)]
pub(super) struct TreeLeaf {
    columns: Columns,
    pub(super) children: usize,
    name_bytes: usize,
    catalog_bytes: usize,
    pub(super) keys: Vec<KeyOfTree>,
}

/// What a leaf has of a key.
#[derive(Debug)]
pub(super) struct KeyOfTree {
    pub(super) path: String,
    /// Distinct summaries, listed values of all of them, distinct values, and bytes of these.
    summaries: usize,
    members: usize,
    values: usize,
    bytes: usize,
    read: OnceLock<Summaries>,
}

/// The summaries of a key.
#[derive(Debug)]
struct Summaries {
    /// For each child the number of its summary.
    of_children: Column,
    /// Each summary's form, whether the key is missing somewhere, and the end of its members.
    heads: Vec<(Form, bool, usize)>,
    /// The numbers of values.
    members: Column,
    /// The encoded values, one after the other, and their ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Summaries {
    fn value(&self, number: usize) -> Option<&[u8]> {
        let start = number.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.bytes.get(start..*self.ends.get(number)?)
    }

    /// The numbers of the values of a summary.
    fn members(&self, summary: usize) -> impl Iterator<Item = usize> {
        let end = |summary: usize| self.heads.get(summary).map_or(0, |(_, _, end)| *end);
        let start = summary.checked_sub(1).map_or(0, end);
        // Each was checked when it was read.
        (start..end(summary)).filter_map(|at| usize::try_from(self.members.get(at)?).ok())
    }

    fn seen(&self, summary: usize) -> Option<Seen> {
        let (form, lacks, _) = *self.heads.get(summary)?;
        let values = self.members(summary).filter_map(|number| self.value(number).map(<[u8]>::to_vec)).collect();
        Some(Seen { form, values, lacks })
    }
}

impl TreeLeaf {
    /// Opens a leaf. Columns are checked when they are read.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for a message that is not a leaf, or a damaged one.
    pub(super) fn open(bytes: Vec<u8>) -> Result<Self> {
        let columns = Columns::open(bytes)?;
        let message = columns.message()?;
        let metadata = message.metadata()?;
        let about = metadata.get("extra.tree")?.ok_or_else(|| bad("this message is not a tree"))?;
        let about = about.as_map().map_err(|_| bad("this message is not a tree"))?;
        match uint_of(&about, "format")? {
            FORMAT => {}
            other => return Err(bad(format!("format {other} of trees is not known, this release reads {FORMAT}"))),
        }
        let children = count(&about, "children", MOST_CHILDREN)?;
        let (name_bytes, catalog_bytes) =
            (count(&about, "name_bytes", MOST_BYTES)?, count(&about, "catalog_bytes", MOST_BYTES)?);
        let keys = about.get("keys")?.ok_or_else(|| bad("keys is missing"))?.as_array()?;
        if keys.len() > MOST_KEYS {
            return Err(bad(format!("there are more than {MOST_KEYS} keys")));
        }
        let keys = keys.iter().map(|key| KeyOfTree::parse(&key?.as_map()?)).collect::<Result<_>>()?;
        Ok(Self { columns, children, name_bytes, catalog_bytes, keys })
    }

    /// The leaf of these children.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for a name that a tree cannot have, and for too many children; the errors of
    /// encoding.
    pub(super) fn write(children: &[Child]) -> Result<Vec<u8>> {
        if children.len() > MOST_CHILDREN {
            return Err(bad(format!("a leaf has at most {MOST_CHILDREN} children")));
        }
        let mut columns = Vec::new();
        let mut add = |name: &str, numbers: Vec<u64>| {
            if !numbers.is_empty() {
                columns.push(write(name, &numbers, Width::Narrowest));
            }
        };
        let each = |of: fn(&Child) -> u64| children.iter().map(of).collect::<Vec<u64>>();
        add(name::KIND, each(|child| u64::from(child.kind == ChildKind::Tree)));
        add(name::MESSAGES, each(|child| child.messages));
        add(name::OBJECTS, each(|child| child.objects));
        add(name::LENGTH, each(|child| child.length));
        add(name::DIGEST, each(|child| child.digest));
        add(name::IDENTITY, each(|child| child.identity.unwrap_or(0)));
        let mut texts = |(lengths, bytes): (&str, &str), of: fn(&Child) -> &str| -> Result<u64> {
            let total = children.iter().map(|child| of(child).len()).sum::<usize>();
            if total > MOST_BYTES {
                return Err(bad("the names of the children are too long"));
            }
            add(lengths, children.iter().map(|child| of(child).len() as u64).collect());
            add(bytes, children.iter().flat_map(|child| of(child).bytes().map(u64::from)).collect());
            Ok(total as u64)
        };
        let mut known = HashSet::new();
        for child in children {
            check_name(&child.name)?;
            if !known.insert(child.name.as_str()) {
                return Err(bad(format!("{} is there twice", child.name)));
            }
            child.catalog.as_deref().map_or(Ok(()), check_name)?;
        }
        let name_bytes = texts(name::NAME, |child| &child.name)?;
        let catalog_bytes = texts(name::CATALOG, |child| child.catalog.as_deref().unwrap_or(""))?;
        let mut paths: Vec<&str> = Vec::new();
        let mut known = HashSet::new();
        for (path, _) in children.iter().flat_map(|child| &child.keys) {
            if known.insert(path.as_str()) {
                paths.push(path);
            }
        }
        if paths.len() > MOST_KEYS {
            return Err(bad(format!("there are more than {MOST_KEYS} keys")));
        }
        let keys = paths.into_iter().map(|path| write_key(path, children, &mut columns)).collect::<Result<_>>()?;
        let about = map([
            ("format", FORMAT.into()),
            ("children", (children.len() as u64).into()),
            ("name_bytes", name_bytes.into()),
            ("catalog_bytes", catalog_bytes.into()),
            ("keys", Owned::Array(keys)),
        ]);
        columns.into_iter().fold(MessageBuilder::new().extra("tree", about), MessageBuilder::object).encode()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.columns.bytes()
    }

    fn number(&self, name: &str) -> Result<Column> {
        self.columns.named(name, self.children)
    }

    /// Messages of all children.
    pub(super) fn messages(&self) -> Result<u64> {
        self.sum(name::MESSAGES)
    }

    /// Objects of all children.
    pub(super) fn objects(&self) -> Result<u64> {
        self.sum(name::OBJECTS)
    }

    fn sum(&self, name: &str) -> Result<u64> {
        let column = self.number(name)?;
        (0..self.children).try_fold(0_u64, |all, row| Ok(all.saturating_add(column.at(row)?)))
    }

    /// Texts of all children.
    fn texts(&self, (lengths, bytes): (&str, &str), total: usize) -> Result<Vec<String>> {
        let (lengths, bytes) = (self.number(lengths)?, self.columns.named(bytes, total)?);
        let mut at = 0_usize;
        let mut found = Vec::with_capacity(self.children);
        for row in 0..self.children {
            let len = usize::try_from(lengths.at(row)?).ok().filter(|len| *len <= LONGEST_NAME);
            let end = len.and_then(|len| at.checked_add(len)).filter(|end| *end <= total);
            let end = end.ok_or_else(|| bad("the lengths of names do not add up"))?;
            let text = (at..end).map(|at| Ok(u8::try_from(bytes.at(at)?).unwrap_or(b'?')));
            let text = String::from_utf8(text.collect::<Result<_>>()?);
            found.push(text.map_err(|_| bad("a name is not UTF-8"))?);
            at = end;
        }
        Ok(found)
    }

    /// The names of all children. Each was checked.
    pub(super) fn names(&self) -> Result<Vec<String>> {
        let names = self.texts(name::NAME, self.name_bytes)?;
        names.iter().try_for_each(|name| check_name(name))?;
        Ok(names)
    }

    /// All children, without what values their keys have.
    pub(super) fn children(&self) -> Result<Vec<Child>> {
        let names = self.names()?;
        let catalogs = self.texts(name::CATALOG, self.catalog_bytes)?;
        let [kinds, messages, objects, lengths, digests, identities] =
            [name::KIND, name::MESSAGES, name::OBJECTS, name::LENGTH, name::DIGEST, name::IDENTITY];
        let columns = (self.number(kinds)?, self.number(messages)?, self.number(objects)?);
        let proofs = (self.number(lengths)?, self.number(digests)?, self.number(identities)?);
        let child = |(row, (name, catalog)): (usize, (String, String))| {
            let kind = match columns.0.at(row)? {
                0 => ChildKind::File,
                1 => ChildKind::Tree,
                other => return Err(bad(format!("kind {other} of a child is not known"))),
            };
            let catalog = Some(catalog).filter(|catalog| !catalog.is_empty());
            catalog.as_deref().map_or(Ok(()), check_name)?;
            let identity = Some(proofs.2.at(row)?).filter(|identity| *identity != 0);
            let (messages, objects) = (columns.1.at(row)?, columns.2.at(row)?);
            let (length, digest) = (proofs.0.at(row)?, proofs.1.at(row)?);
            Ok(Child { kind, name, catalog, messages, objects, length, digest, identity, keys: Vec::new() })
        };
        names.into_iter().zip(catalogs).enumerate().map(child).collect()
    }

    fn key(&self, path: &str) -> Option<&KeyOfTree> {
        self.keys.iter().find(|key| key.path == path)
    }

    /// What all children have under a key, each summary once.
    pub(super) fn seen(&self, path: &str) -> Result<Vec<Seen>> {
        let Some(key) = self.key(path) else { return Ok(vec![Seen::ANYTHING]) };
        let summaries = self.summaries(key)?;
        Ok((0..key.summaries).filter_map(|summary| summaries.seen(summary)).collect())
    }

    /// What a child has under a key.
    pub(super) fn seen_of(&self, path: &str, child: usize) -> Result<Seen> {
        let Some(key) = self.key(path) else { return Ok(Seen::ANYTHING) };
        let summaries = self.summaries(key)?;
        let summary = usize::try_from(summaries.of_children.at(child)?).ok().and_then(|number| summaries.seen(number));
        summary.ok_or_else(|| bad(format!("key {path} has no summary for a child")))
    }

    fn summaries<'k>(&self, key: &'k KeyOfTree) -> Result<&'k Summaries> {
        if let Some(found) = key.read.get() {
            return Ok(found);
        }
        let column = |what: &str, rows: usize| self.columns.named(&format!("{what}.{}", key.path), rows);
        let wrong = || bad(format!("the values of key {} do not add up", key.path));
        let ends = |what: &str, rows: usize, total: usize| -> Result<Vec<usize>> {
            let (lengths, mut end) = (column(what, rows)?, 0_usize);
            let mut found = Vec::with_capacity(rows);
            for row in 0..rows {
                let len = usize::try_from(lengths.at(row)?).map_err(|_| wrong())?;
                end = end.checked_add(len).filter(|end| *end <= total).ok_or_else(wrong)?;
                found.push(end);
            }
            if end == total { Ok(found) } else { Err(wrong()) }
        };
        let of_children = column("key", self.children)?;
        if (0..self.children).any(|child| of_children.get(child).is_none_or(|code| code >= key.summaries as u64)) {
            return Err(wrong());
        }
        let forms = column("form", key.summaries)?;
        let mut heads = Vec::with_capacity(key.summaries);
        for (row, end) in ends("count", key.summaries, key.members)?.into_iter().enumerate() {
            let code = forms.at(row)?;
            let form = Form::ALL.into_iter().find(|form| form.code() == code / 2).ok_or_else(wrong)?;
            heads.push((form, code % 2 == 1, end));
        }
        let members = column("member", key.members)?;
        if (0..key.members).any(|at| members.get(at).is_none_or(|number| number >= key.values as u64)) {
            return Err(wrong());
        }
        let ends = ends("value", key.values, key.bytes)?;
        let bytes = match column("bytes", key.bytes)? {
            Column::U8(bytes) => bytes,
            Column::Equal(byte) => vec![u8::try_from(byte).map_err(|_| wrong())?; key.bytes],
            _ => return Err(wrong()),
        };
        Ok(key.read.get_or_init(|| Summaries { of_children, heads, members, bytes, ends }))
    }

    /// For each child whether an expression may hold somewhere in it, and whether it may not.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for a damaged leaf.
    pub(super) fn may_hold(&self, expr: &Expr) -> Result<Vec<May>> {
        let joined = |inner: &[Expr], with: fn(May, May) -> May, none: May| {
            let mut all = vec![none; self.children];
            for expr in inner {
                let other = self.may_hold(expr)?;
                all.iter_mut().zip(other).for_each(|(one, other)| *one = with(*one, other));
            }
            Ok(all)
        };
        match expr {
            Expr::Is(condition) => self.of_condition(condition),
            Expr::Alias(alias) => self.may_hold(&alias.meant),
            Expr::Not(inner) => Ok(self.may_hold(inner)?.into_iter().map(|(may, may_not)| (may_not, may)).collect()),
            Expr::All(inner) => joined(inner, |one, other| (one.0 && other.0, one.1 || other.1), (true, false)),
            Expr::Any(inner) => joined(inner, |one, other| (one.0 || other.0, one.1 && other.1), (false, true)),
        }
    }

    fn of_condition(&self, condition: &Condition) -> Result<Vec<May>> {
        if condition.is_version() {
            let holds = condition.holds(version()?.as_ref())?;
            return Ok(vec![(holds, !holds); self.children]);
        }
        let Some(key) = self.key(&condition.key) else { return Ok(vec![(true, true); self.children]) };
        let summaries = self.summaries(key)?;
        let value = |number: usize| summaries.value(number).and_then(|value| Value::parse(value, 0).ok());
        let mut holds = Vec::with_capacity(key.values);
        for number in 0..key.values {
            let value = value(number).ok_or_else(|| bad(format!("a value of key {} is damaged", key.path)))?;
            holds.push(condition.holds(Some(&value))?);
        }
        let mut of_summaries = Vec::with_capacity(key.summaries);
        for (summary, (form, lacks, _)) in summaries.heads.iter().enumerate() {
            let members = || summaries.members(summary);
            let listed = members().filter_map(|number| holds.get(number).copied());
            let number = |at: usize| Number::of(&value(members().nth(at)?)?);
            of_summaries.push(may_hold((*form, *lacks), listed, || number(0).zip(number(1)), condition)?);
        }
        let of_child = |child: usize| {
            let summary = summaries.of_children.get(child).and_then(|summary| usize::try_from(summary).ok());
            // The numbers were checked.
            summary.and_then(|summary| of_summaries.get(summary).copied()).unwrap_or((true, true))
        };
        Ok((0..self.children).map(of_child).collect())
    }
}

impl KeyOfTree {
    fn parse(map: &Map<'_>) -> Result<Self> {
        let path = map.get("path")?.ok_or_else(|| bad("path of a key is missing"))?.as_text()?.to_string();
        Ok(Self {
            path,
            summaries: count(map, "summaries", MOST_CHILDREN)?,
            members: count(map, "members", MOST_VALUES)?,
            values: count(map, "values", MOST_VALUES)?,
            bytes: count(map, "bytes", MOST_BYTES)?,
            read: OnceLock::new(),
        })
    }
}

/// Adds the columns of a key. Returns its entry in the annotation.
fn write_key(path: &str, children: &[Child], columns: &mut Vec<ObjectBuilder<'static>>) -> Result<Owned> {
    let mut summaries: HashMap<Seen, u64> = HashMap::new();
    let mut values: HashMap<Vec<u8>, u64> = HashMap::new();
    let (mut codes, mut forms, mut counts, mut members) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut lengths, mut bytes) = (Vec::new(), Vec::new());
    for child in children {
        let seen = child.keys.iter().find(|(known, _)| known == path).map_or(&ANYTHING, |(_, seen)| seen);
        if let Some(code) = summaries.get(seen) {
            codes.push(*code);
            continue;
        }
        // Lists that differ everywhere would make the tree as large as its catalogues.
        let room = (MOST_VALUES / 2).saturating_sub(members.len());
        let kept = match seen {
            seen if seen.values.len() <= room => seen.clone(),
            _ if room >= 2 => seen.as_range(),
            _ => Seen::ANYTHING,
        };
        let known = summaries.get(&kept).copied();
        let number = known.unwrap_or_else(|| {
            let number = forms.len() as u64;
            forms.push(kept.form.code() * 2 + u64::from(kept.lacks));
            counts.push(kept.values.len() as u64);
            for value in &kept.values {
                let next = values.len() as u64;
                let code = *values.entry(value.clone()).or_insert_with(|| {
                    lengths.push(value.len() as u64);
                    bytes.extend(value.iter().map(|byte| u64::from(*byte)));
                    next
                });
                members.push(code);
            }
            summaries.insert(kept, number);
            number
        });
        summaries.insert(seen.clone(), number);
        codes.push(number);
    }
    if bytes.len() > MOST_BYTES {
        return Err(bad(format!("the values of key {path} are too long for a tree")));
    }
    let entry = map([
        ("path", path.into()),
        ("summaries", (forms.len() as u64).into()),
        ("members", (members.len() as u64).into()),
        ("values", (lengths.len() as u64).into()),
        ("bytes", (bytes.len() as u64).into()),
    ]);
    for (what, numbers) in
        [("key", codes), ("form", forms), ("count", counts), ("member", members), ("value", lengths), ("bytes", bytes)]
    {
        if !numbers.is_empty() {
            columns.push(write(&format!("{what}.{path}"), &numbers, Width::Narrowest));
        }
    }
    Ok(entry)
}

/// A number of rows, which is checked before there is memory for them.
fn count(map: &Map<'_>, key: &str, most: usize) -> Result<usize> {
    let found = uint_of(map, key)?;
    let count = usize::try_from(found).ok().filter(|count| *count <= most);
    count.ok_or_else(|| bad(format!("it has {found} {key}, more than the limit of {most}")))
}
