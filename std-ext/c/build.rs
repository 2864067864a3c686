//! Writes the name of the shared library (its soname) into it, if the environment has one: `install` sets it.

use std::env;

/// The variable with the name.
const NAME: &str = "TENSOGRAM_SONAME";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={NAME}");
    if let Ok(name) = env::var(NAME) {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{name}");
    }
}
