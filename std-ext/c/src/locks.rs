//! Locks whose content stays usable after a panic: each change of it is complete or not done at all.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(feature = "async")]
use std::{sync::Condvar, time::Duration};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the lock away until `told` is signalled, or earlier.
#[cfg(feature = "async")]
pub(crate) fn wait<'a, T>(told: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    told.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Gives the lock away while `goes_on` holds, for some time at most.
#[cfg(feature = "async")]
pub(crate) fn wait_while<T>(
    told: &Condvar,
    guard: MutexGuard<'_, T>,
    at_most: Duration,
    goes_on: impl FnMut(&mut T) -> bool,
) {
    // Whether the time is over, the caller sees in what the lock protects.
    let _ = told.wait_timeout_while(guard, at_most, goes_on);
}
