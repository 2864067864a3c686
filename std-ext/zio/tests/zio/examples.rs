//! Runs every example: each asserts what it shows.

macro_rules! examples {
    ($($name:ident = $path:literal;)+) => {
        $(
            #[path = $path]
            #[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic, reason = "checked as an example of its own")]
            mod $name;

            #[test]
            fn $name() {
                $name::main().unwrap();
            }
        )+

        const EXAMPLES: &[&str] = &[$(stringify!($name)),+];
    };
}

examples! {
    dealer = "../../examples/dealer.rs";
    flow = "../../examples/flow.rs";
    pub_sub = "../../examples/pub_sub.rs";
}

#[test]
fn every_example_is_run() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        assert!(EXAMPLES.contains(&name.as_str()), "{name} is not in the list");
    }
}
