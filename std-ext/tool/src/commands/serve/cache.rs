//! Bytes by keys, up to a budget: those that were used last.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use hyper::body::Bytes;

/// A cache.
#[derive(Debug)]
pub(super) struct Cache<K> {
    budget: u64,
    taken: u64,
    /// Counts uses.
    now: u64,
    /// The bytes of each key, and its last use.
    entries: HashMap<K, (u64, Bytes)>,
    /// Keys by their last use.
    uses: BTreeMap<u64, K>,
}

impl<K: Clone + Eq + Hash> Cache<K> {
    pub(super) fn new(budget: u64) -> Self {
        Self { budget, taken: 0, now: 0, entries: HashMap::new(), uses: BTreeMap::new() }
    }

    /// The bytes of a key.
    pub(super) fn get(&mut self, key: &K) -> Option<Bytes> {
        let (last, bytes) = self.entries.get_mut(key)?;
        self.now = self.now.wrapping_add(1);
        self.uses.remove(last);
        *last = self.now;
        self.uses.insert(self.now, key.clone());
        Some(bytes.clone())
    }

    /// Keeps bytes, in place of those that were not used for longest. More than the budget is not kept.
    pub(super) fn put(&mut self, key: K, bytes: Bytes) {
        let len = bytes.len() as u64;
        if len > self.budget {
            return;
        }
        self.remove(&key);
        while self.taken.saturating_add(len) > self.budget {
            let Some(oldest) = self.uses.values().next().cloned() else { break };
            self.remove(&oldest);
        }
        self.now = self.now.wrapping_add(1);
        self.taken = self.taken.saturating_add(len);
        self.uses.insert(self.now, key.clone());
        self.entries.insert(key, (self.now, bytes));
    }

    fn remove(&mut self, key: &K) {
        if let Some((last, bytes)) = self.entries.remove(key) {
            self.uses.remove(&last);
            self.taken = self.taken.saturating_sub(bytes.len() as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_stays_within_the_budget() {
        let mut cache = Cache::new(10);
        for key in 0..3 {
            cache.put(key, Bytes::from(vec![key; 4]));
            // The first one is used again and again.
            assert!(cache.get(&0).is_some());
        }
        assert_eq!((cache.get(&1), cache.taken, cache.entries.len()), (None, 8, 2));
        assert_eq!(cache.get(&2), Some(Bytes::from(vec![2; 4])));
        cache.put(3, Bytes::from(vec![3; 11]));
        assert_eq!((cache.get(&3), cache.taken), (None, 8));
        cache.put(0, Bytes::from(vec![9; 10]));
        assert_eq!((cache.taken, cache.entries.len(), cache.uses.len()), (10, 1, 1));
    }
}
