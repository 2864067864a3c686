//! How threads are shared among the objects of a message.

use tgm_codec::threads::Threads;

/// Several objects at a time on one thread each, or one object after the other on all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sharing {
    /// The threads for one object.
    pub(super) inner: Threads,
    /// Whether objects are encoded at the same time. These cannot be compressed into one buffer.
    pub(super) is_concurrent: bool,
}

impl Sharing {
    /// How `threads` are shared among a number of objects.
    pub(super) const fn new(threads: Threads, objects: usize) -> Self {
        let are_several = objects > 1;
        let inner = if are_several { threads.alone() } else { threads };
        Self { inner, is_concurrent: are_several && !threads.is_one() }
    }
}

#[cfg(all(test, feature = "parallel"))]
mod tests {
    use super::*;

    #[test]
    fn threads_take_an_object_each_or_work_together_on_one() {
        let sharing = |threads, objects| {
            let Sharing { inner, is_concurrent } =
                Sharing::new(Threads::resolve(threads, 1, Some(0)).unwrap(), objects);
            (inner.count(), is_concurrent)
        };
        assert_eq!([sharing(3, 0), sharing(3, 1)], [(3, false), (3, false)]);
        assert_eq!([sharing(3, 2), sharing(3, 3)], [(1, true), (1, true)]);
        assert_eq!([sharing(1, 1), sharing(1, 2)], [(1, false), (1, false)]);
    }
}
