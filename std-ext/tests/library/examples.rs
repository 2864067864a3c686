//! Runs every example: each asserts what it shows.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

macro_rules! examples {
    ($($(#[$when:meta])* $name:ident = $path:literal;)+) => {
        $(
            $(#[$when])*
            #[path = $path]
            #[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic, reason = "checked as an example of its own")]
            mod $name;

            $(#[$when])*
            #[test]
            fn $name() {
                $name::main().unwrap();
            }
        )+

        /// All of them, those that this build leaves out too.
        const EXAMPLES: &[&str] = &[$(stringify!($name)),+];
    };
}

examples! {
    #[cfg(all(feature = "mmap", feature = "zstd"))]
    archive_filter = "../../examples/archive_filter.rs";
    ml_reader = "../../examples/ml_reader.rs";
    model_run = "../../examples/model_run.rs";
    ported = "../../examples/ported.rs";
    #[cfg(feature = "remote")]
    remote_range = "../../examples/remote_range.rs";
    #[cfg(feature = "remote")]
    serve_async = "../../examples/serve_async.rs";
    tcp = "../../examples/tcp.rs";
}

#[test]
fn every_example_is_run() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        assert!(EXAMPLES.contains(&name.as_str()), "{name} is not in the list");
    }
}
