//! A file in memory, in place of one on disk.

use std::cell::{Cell, RefCell};
use std::io;
use std::ops::Range;

use tgm_core::scan::Source as _;
use tgm_disk::{Step, apply};

use crate::file::append::medium::Medium;

/// A file in memory that keeps all steps.
#[derive(Debug, Default)]
pub(super) struct Simulated {
    pub(super) seen: RefCell<Vec<u8>>,
    pub(super) steps: RefCell<Vec<Step>>,
    /// Bytes that were read.
    pub(super) read: Cell<usize>,
    /// The number of writes and waits so far.
    count: Cell<usize>,
    /// The numbers of those that fail.
    failing: RefCell<Range<usize>>,
}

impl Simulated {
    pub(super) fn new(initial: &[u8]) -> Self {
        Self { seen: RefCell::new(initial.to_vec()), ..Self::default() }
    }

    fn done(&self, step: Step) {
        apply(&mut self.seen.borrow_mut(), &step);
        self.steps.borrow_mut().push(step);
    }

    fn fails(&self) -> bool {
        let number = self.count.replace(self.count.get() + 1);
        self.failing.borrow().contains(&number)
    }

    /// From now on, the writes and waits of these numbers fail.
    pub(super) fn fail(&self, numbers: Range<usize>) {
        self.count.set(0);
        *self.failing.borrow_mut() = numbers;
    }
}

impl Medium for Simulated {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let Ok(read) = self.seen.borrow().as_slice().read_at(offset, out);
        self.read.set(self.read.get() + read);
        Ok(read)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).unwrap();
        if self.fails() {
            self.done(Step::Write { offset, bytes: bytes[..bytes.len() / 2].to_vec() });
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.done(Step::Write { offset, bytes: bytes.to_vec() });
        Ok(())
    }

    fn cut(&self, len: u64) -> io::Result<()> {
        self.done(Step::SetLen(usize::try_from(len).unwrap()));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        if self.fails() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.done(Step::Sync);
        Ok(())
    }

    fn sync_name(&self) -> io::Result<()> {
        self.done(Step::SyncName);
        Ok(())
    }
}
