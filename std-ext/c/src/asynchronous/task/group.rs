//! Tasks that are cancelled together: the tasks of a token, and all tasks of the process.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::Task;
use crate::locks::{lock, wait_while};

/// Tasks that have not ended yet. A task that ends leaves all its groups.
#[derive(Default)]
pub(in crate::asynchronous) struct Group {
    state: Mutex<State>,
    /// Told when the last task leaves.
    emptied: Condvar,
}

#[derive(Default)]
struct State {
    is_closed: bool,
    /// The tasks by their addresses.
    members: BTreeMap<usize, Arc<Task>>,
}

impl Group {
    /// Adds a task. Returns whether the group takes tasks: a closed one does not.
    pub(in crate::asynchronous) fn add(&self, task: &Arc<Task>) -> bool {
        let mut state = lock(&self.state);
        if !state.is_closed {
            state.members.insert(Arc::as_ptr(task).addr(), Arc::clone(task));
        }
        !state.is_closed
    }

    pub(in crate::asynchronous) fn remove(&self, task: &Task) {
        let mut state = lock(&self.state);
        let removed = state.members.remove(&std::ptr::from_ref(task).addr());
        let is_empty = state.members.is_empty();
        drop(state);
        if removed.is_some() && is_empty {
            self.emptied.notify_all();
        }
    }

    /// Takes no more tasks from now on.
    pub(in crate::asynchronous) fn close(&self) {
        lock(&self.state).is_closed = true;
    }

    pub(in crate::asynchronous) fn is_closed(&self) -> bool {
        lock(&self.state).is_closed
    }

    /// Waits until all tasks have ended, or until the time is over.
    pub(in crate::asynchronous) fn wait_until_empty(&self, at_most: Duration) {
        wait_while(&self.emptied, lock(&self.state), at_most, |state| !state.members.is_empty());
    }

    /// Closes the group and cancels its tasks. Returns how many have been cancelled.
    pub(in crate::asynchronous) fn cancel(&self) -> u64 {
        let members = {
            let mut state = lock(&self.state);
            state.is_closed = true;
            std::mem::take(&mut state.members)
        };
        // A task that ends leaves its groups, so their locks must be free.
        members.values().map(|task| u64::from(task.cancel())).sum()
    }

    /// The number of tasks that have not ended.
    #[cfg(test)]
    pub(in crate::asynchronous) fn len(&self) -> usize {
        lock(&self.state).members.len()
    }
}
