//! Writes the name of the shared library (its soname) into it, if the environment has one: `install` sets it. Lets it export
//! the functions of the header and no others.

use std::env;

/// The variable with the name.
const NAME: &str = "TENSOGRAM_SONAME";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={NAME}");
    // Some crate of feature `async-remote` has functions for C of its own. They stay inside. Zig does not know this option of linkers.
    let remote = env::var_os("CARGO_FEATURE_ASYNC_REMOTE").is_some();
    if remote && env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
    }
    if let Ok(name) = env::var(NAME) {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{name}");
    }
}
