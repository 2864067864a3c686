//! Which messages and objects of two files belong together: by their places, or by keys.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;

use tgm_core::Message;
use tgm_std::TensogramError;

use super::{Compare, Id, Side, Work, shown};
use crate::read::chosen::Chosen;
use crate::read::entry::{Entry, Place};
use crate::read::input::{Input, MessagePart};
use crate::read::select::{Scope, annotations};
use crate::read::structure::Structure;

/// Pairs of messages that a thread compares before it takes others.
const TOGETHER: usize = 16;

impl Work<'_, '_> {
    /// Compares messages and objects with the same numbers.
    pub(super) fn by_place(&mut self, a: &Input, b: &Input) -> io::Result<()> {
        let (mut left, mut right) = (Side::new(a), Side::new(b));
        let (selected_a, selected_b) = (self.selected(&mut left), self.selected(&mut right));
        let pairs: Vec<_> = selected_a.iter().copied().zip(selected_b.iter().copied()).collect();
        self.in_order((a, b), pairs.chunks(TOGETHER), |comparison, pairs| {
            for pair in pairs {
                comparison.messages(*pair);
            }
        })?;
        let both = selected_a.len().min(selected_b.len());
        for (side, name, rest) in [(a, "first", selected_a.get(both..)), (b, "second", selected_b.get(both..))] {
            for index in rest.unwrap_or_default() {
                self.only_in(name, side, (*index, None))?;
            }
        }
        Ok(())
    }

    /// Compares objects whose values of the keys are equal.
    pub(super) fn by_keys(&mut self, a: &Input, b: &Input) -> io::Result<()> {
        let (mut left, mut right) = (Side::new(a), Side::new(b));
        let (of_a, of_b) = (self.keyed(&mut left), self.keyed(&mut right));
        let mut unmatched: HashMap<&str, VecDeque<Id>> = HashMap::new();
        for (key, id) in &of_b {
            unmatched.entry(key).or_default().push_back(*id);
        }
        let mut pairs = Vec::new();
        for (key, id) in &of_a {
            match unmatched.get_mut(key.as_str()).and_then(VecDeque::pop_front) {
                Some(other) => pairs.push((*id, other)),
                None => self.only_in("first", a, (id.0, Some((id.1, key))))?,
            }
        }
        self.pairs((a, b), pairs)?;
        let mut rest: Vec<_> =
            unmatched.into_iter().flat_map(|(key, ids)| ids.into_iter().map(move |id| (id, key))).collect();
        rest.sort_unstable();
        for ((message, object), key) in rest {
            self.only_in("second", b, (message, Some((object, key))))?;
        }
        Ok(())
    }

    /// Compares pairs of objects. A message is read once for all pairs that follow each other, of the file with fewer messages
    /// once for all of its pairs: two files of equal objects take the time of reading them, however they are divided.
    fn pairs(&mut self, (a, b): (&Input, &Input), mut pairs: Vec<(Id, Id)>) -> io::Result<()> {
        let count = |message: fn(&(Id, Id)) -> usize| pairs.iter().map(message).collect::<HashSet<_>>().len();
        let of_a: fn(&(Id, Id)) -> usize = |pair| pair.0.0;
        let of_b: fn(&(Id, Id)) -> usize = |pair| pair.1.0;
        let is_by_a = count(of_a) <= count(of_b);
        let (outer, inner) = if is_by_a { (of_a, of_b) } else { (of_b, of_a) };
        pairs.sort_by_key(outer);
        let groups = pairs.chunk_by(|one, next| outer(one) == outer(next));
        self.in_order((a, b), groups, |comparison, of_outer| comparison.group(of_outer, is_by_a, inner))
    }

    /// The numbers of the messages that are selected.
    fn selected(&mut self, side: &mut Side<'_>) -> Vec<usize> {
        let mut found = Vec::new();
        for Place { index, .. } in self.compare.chosen.choice.of(side.input, self.out).unwrap_or_default() {
            let Chosen { selection, digests, .. } = &self.compare.chosen;
            if selection.is_empty() {
                found.push(index);
                continue;
            }
            let selected = side.entry(index, MessagePart::Outline).and_then(|entry| {
                let message = Message::parse(entry.bytes)?;
                Ok(selection.has(&digests.metadata(&message)?, Structure::new(&message, &entry))?)
            });
            match selected {
                Ok(true) => found.push(index),
                Ok(false) => {}
                Err(error) => self.out.report(&format!("{}: message {index}", side.input.name()), &error),
            }
        }
        found
    }

    /// The objects that are selected, each with the values of the keys.
    fn keyed(&mut self, side: &mut Side<'_>) -> Vec<(String, Id)> {
        let mut found = Vec::new();
        for Place { index, .. } in self.compare.chosen.choice.of(side.input, self.out).unwrap_or_default() {
            let keys = side.entry(index, MessagePart::Outline).and_then(|entry| self.keys_of(&entry));
            match keys {
                Ok(keys) => found.extend(keys.into_iter().map(|(object, key)| (key, (index, object)))),
                Err(error) => self.out.report(&format!("{}: message {index}", side.input.name()), &error),
            }
        }
        found
    }

    fn keys_of(&self, entry: &Entry<'_>) -> Result<Vec<(usize, String)>, TensogramError> {
        let Compare { by, only, chosen: Chosen { selection, digests, .. }, .. } = self.compare;
        let message = Message::parse(entry.bytes)?;
        let metadata = digests.metadata(&message)?;
        let asked = annotations(&metadata, by.iter().map(String::as_str))?;
        let among = selection.of_objects(&metadata)?;
        let mut found = Vec::new();
        for (index, (about, object)) in metadata.objects().zip(message.objects()).enumerate() {
            let (about, object) = (about?, object.ok());
            let structure = Structure::new(&message, entry).of_object(index, object.as_ref());
            if !only.has(index) || !among.has(&about, structure)? {
                continue;
            }
            let scope = Scope::Object(&about, &asked, structure);
            let value = |key: &String| scope.get(key).map(|value| format!("{key}={}", shown(value.as_ref())));
            let values = by.iter().map(value).collect::<Result<Vec<_>, _>>()?;
            found.push((index, values.join(", ")));
        }
        Ok(found)
    }
}
