//! Keeps for `doctor` what only a build script knows.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=TGM_TARGET={}", std::env::var("TARGET").unwrap_or_default());
}
