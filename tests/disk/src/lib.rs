//! A simulated disk: what a file may hold after a crash.
//!
//! Between two waits a system may write the sectors of a file in any order, and each of them in any state that it went
//! through. The length of the file is written independently of them. So a crash leaves, for each sector and for the length,
//! any of the values since the last wait: this covers every prefix and every order of the writes, writes that are torn
//! between sectors, and lost or early changes of the length. Bytes that were never written are zeros.

use std::collections::BTreeMap;

/// What a program does to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Bytes are written.
    Write {
        /// Where, in bytes from the start of the file.
        offset: usize,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The file gets this length.
    SetLen(usize),
    /// The wait for what was written.
    Sync,
    /// The wait for the name of the file.
    SyncName,
}

/// Carries out a step on what programs see of the file.
pub fn apply(file: &mut Vec<u8>, step: &Step) {
    match step {
        Step::Write { offset, bytes } => {
            let end = offset + bytes.len();
            if file.len() < end {
                file.resize(end, 0);
            }
            file[*offset..end].copy_from_slice(bytes);
        }
        Step::SetLen(len) => file.resize(*len, 0),
        Step::Sync | Step::SyncName => {}
    }
}

/// All that the disk may hold after a crash.
#[derive(Debug)]
pub struct Crash {
    sector: usize,
    durable: Vec<u8>,
    /// The sectors that were written since the last wait, with the contents that each of them may have.
    sectors: BTreeMap<usize, Vec<Vec<u8>>>,
    /// The lengths that the file may have.
    lengths: Vec<usize>,
}

impl Crash {
    /// The crash after `steps` on a file that held `initial`, on a disk with sectors of this size.
    pub fn after(initial: &[u8], steps: &[Step], sector: usize) -> Self {
        let mut seen = initial.to_vec();
        let synced = steps.iter().rposition(|step| *step == Step::Sync).map_or(0, |at| at + 1);
        let (before, since) = steps.split_at(synced);
        for step in before {
            apply(&mut seen, step);
        }
        let mut crash = Self { sector, durable: seen.clone(), sectors: BTreeMap::new(), lengths: vec![seen.len()] };
        for step in since {
            let before = seen.len();
            apply(&mut seen, step);
            // A file that grows may be caught at each border of a sector.
            crash.lengths.extend((before..seen.len()).filter(|at| at % sector == 0));
            crash.lengths.push(seen.len());
            let touched = match step {
                Step::Write { offset, bytes } => *offset..offset + bytes.len(),
                Step::SetLen(len) => *len..before,
                Step::Sync | Step::SyncName => continue,
            };
            for number in touched.start / sector..touched.end.div_ceil(sector) {
                let old = sector_of(&crash.durable, number, sector);
                let versions = crash.sectors.entry(number).or_insert_with(|| vec![old]);
                let new = sector_of(&seen, number, sector);
                if !versions.contains(&new) {
                    versions.push(new);
                }
            }
        }
        crash.sectors.retain(|_, versions| versions.len() > 1);
        crash.lengths.sort_unstable();
        crash.lengths.dedup();
        crash
    }

    /// The number of states.
    pub fn count(&self) -> u128 {
        let lengths = self.lengths.len() as u128;
        self.sectors.values().fold(lengths, |count, versions| count.saturating_mul(versions.len() as u128))
    }

    /// The state for which `choose` picks a number below the one that it gets, once for the length and once for each sector.
    pub fn state(&self, mut choose: impl FnMut(usize) -> usize) -> Vec<u8> {
        let len = self.lengths[choose(self.lengths.len())];
        let mut file = self.durable.clone();
        let room = self.sectors.keys().next_back().map_or(0, |last| (last + 1) * self.sector);
        file.resize(file.len().max(room).max(len), 0);
        for (number, versions) in &self.sectors {
            let start = number * self.sector;
            file[start..start + self.sector].copy_from_slice(&versions[choose(versions.len())]);
        }
        file.truncate(len);
        file
    }

    /// All states.
    pub fn states(&self) -> impl Iterator<Item = Vec<u8>> {
        (0..self.count()).map(|number| {
            let mut rest = number;
            self.state(|count| {
                let chosen = rest % count as u128;
                rest /= count as u128;
                chosen as usize
            })
        })
    }
}

fn sector_of(file: &[u8], number: usize, sector: usize) -> Vec<u8> {
    let start = (number * sector).min(file.len());
    let mut bytes = file[start..(start + sector).min(file.len())].to_vec();
    bytes.resize(sector, 0);
    bytes
}
