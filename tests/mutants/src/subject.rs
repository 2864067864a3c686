//! The packages that can be changed, and the tests that judge their changes.

use crate::Result;

/// A package that is changed.
pub struct Subject {
    /// What the command line calls it. Its results are in a folder of this name, and its reasons in a file of this name.
    pub name: &'static str,
    /// Its name for cargo.
    pub package: &'static str,
    /// Its name for the compiler.
    pub library: &'static str,
    /// Where its `lib.rs` is, from the root of the repository.
    pub source: &'static str,
    /// Beginnings of paths below `source`. Files with such a path are changed; without beginnings, all files are.
    changed: &'static [&'static str],
    /// What cargo is to check it with all the code that is changed.
    pub check: &'static [&'static str],
    /// What cargo gets of its features, to build tests.
    pub features: &'static [&'static str],
    /// Tests of the package that are not unit tests.
    pub own_tests: &'static [&'static str],
    /// Tests of the package `tgm-tests`. None of them is built if this is empty.
    pub shared_tests: &'static [&'static str],
}

/// All of core.
const CORE: Subject = Subject {
    name: "core",
    package: "tgm-core",
    library: "tgm_core",
    source: "core/src",
    changed: &[],
    check: &["--all-features"],
    features: &["--features", "tgm-core/serde"],
    own_tests: &["exhaustive", "samples", "stored"],
    shared_tests: &["agreement", "bounds"],
};

/// The features of std with which its tests are built: what `tgm-tests` asks for, the encoder for tokio, and the codecs that
/// cmake builds, because encoding has code of its own for them.
const FEATURES_OF_STD: &[&str] = &[
    "--no-default-features",
    "--features",
    "tgm-std/async,tgm-std/blosc2,tgm-std/lz4,tgm-std/mmap,tgm-std/ndarray,tgm-std/parallel,tgm-std/roaring,\
     tgm-std/sz3-decode,tgm-std/libaec,tgm-std/zstd",
];

/// What std does with messages: decoding, encoding, appending. Tests that count allocations are among those that judge, for what
/// is borrowed and what is reserved is seen there alone.
const STD: Subject = Subject {
    name: "std",
    package: "tgm-std",
    library: "tgm_std",
    source: "std-ext/src",
    changed: &["decode", "encode", "file/append"],
    check: FEATURES_OF_STD,
    features: FEATURES_OF_STD,
    own_tests: &["library"],
    shared_tests: &["agreement", "bounds"],
};

/// What tgm-zio has without std. Its own tests judge.
const ZIO: Subject = Subject {
    name: "zio",
    package: "tgm-zio",
    library: "tgm_zio",
    source: "std-ext/zio/src",
    changed: &["wire"],
    check: &["--all-features"],
    features: &["--all-features"],
    own_tests: &["zio"],
    shared_tests: &[],
};

impl Subject {
    /// The subject that is changed unless another one is named.
    pub const DEFAULT: &'static Self = &CORE;

    /// The subject of a name.
    ///
    /// # Errors
    /// No package has this name.
    pub fn named(name: &str) -> Result<&'static Self> {
        let found = [&CORE, &STD, &ZIO].into_iter().find(|subject| subject.name == name);
        found.ok_or_else(|| format!("--package: core, std or zio, not {name}").into())
    }

    /// The file of `path`, from `source`.
    pub fn within<'p>(&self, path: &'p str) -> &'p str {
        path.strip_prefix(self.source).map_or(path, |path| path.trim_start_matches('/'))
    }

    /// Whether the file of a path from the root of the repository is changed.
    pub fn changes(&self, path: &str) -> bool {
        let path = self.within(path);
        let begins = |beginnings: &[&str]| beginnings.iter().any(|beginning| path.starts_with(beginning));
        self.changed.is_empty() || begins(self.changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_says_which_of_its_files_are_changed() {
        assert!(CORE.changes("core/src/lib.rs"));
        assert!(STD.changes("std-ext/src/file/append/group.rs") && !STD.changes("std-ext/src/file/mmap.rs"));
        assert!(ZIO.changes("std-ext/zio/src/wire/json.rs") && !ZIO.changes("std-ext/zio/src/label.rs"));
        assert!(Subject::named("std").is_ok() && Subject::named("c").is_err());
    }
}
