//! Looks for the tools that the chosen features need.
//!
//! A false alarm would stop a build that works. So a tool passes unless it is certainly missing: if the target is
//! another machine, if the system has many places for tools, and if a program is present but does not run.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for name in ["CMAKE", "CXX", "LIBCLANG_PATH", "LLVM_CONFIG_PATH", "PATH"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    require(
        "CARGO_FEATURE_CMAKE",
        has_cmake,
        "cmake is missing, which features `blosc2` and `libaec` of tgm-std need: install it \
         (`apt-get install cmake`, `brew install cmake`, `pip install cmake`) or name it in the environment variable CMAKE; \
         without these features everything else works, reading blosc2 included",
    );
    require(
        "CARGO_FEATURE_LIBCLANG",
        has_libclang,
        "libclang is missing, which feature `libaec` of tgm-std needs: install it (`apt-get install libclang-dev`, \
         `brew install llvm`, `pip install libclang`) or name its folder in the environment variable LIBCLANG_PATH; \
         without this feature everything else works, szip both ways included",
    );
    require(
        "CARGO_FEATURE_CXX",
        has_cxx,
        "a C++ compiler is missing, which feature `sz3` of tgm-std needs to write sz3: install one (`apt-get install g++`, \
         `xcode-select --install`) or name it in the environment variable CXX; \
         without this feature everything else works, reading sz3 included",
    );
}

/// Fails with a sentence if a feature is on and its tool is missing.
fn require(feature: &str, has: fn() -> bool, sentence: &str) {
    if env::var_os(feature).is_some() && !has() {
        println!("cargo::error={sentence}");
    }
}

fn has_cmake() -> bool {
    // On Windows it may be part of Visual Studio, which is not on the path.
    cfg!(windows) || runs(&from_environment("CMAKE").unwrap_or_else(|| "cmake".into()))
}

fn has_cxx() -> bool {
    if cfg!(windows) || env::var_os("TARGET") != env::var_os("HOST") || env::var_os("CROSS_COMPILE").is_some() {
        return true;
    }
    match from_environment("CXX") {
        // The variable may hold arguments too, or a wrapper before the compiler.
        Some(named) => {
            let text = named.to_string_lossy();
            runs(&named) || text.split_whitespace().any(|word| runs(&word.into()))
        }
        None => ["c++", "g++", "clang++"].iter().any(|name| runs(&name.into())),
    }
}

fn has_libclang() -> bool {
    if !cfg!(target_os = "linux") {
        return true;
    }
    if let Some(named) = env::var_os("LIBCLANG_PATH") {
        let named = PathBuf::from(named);
        return named.is_file() || holds_libclang(&named);
    }
    let llvm_config = env::var_os("LLVM_CONFIG_PATH").unwrap_or_else(|| "llvm-config".into());
    // llvm-config knows folders that are listed nowhere else.
    if env::var_os("LIBCLANG_STATIC_PATH").is_some() || runs(&llvm_config) {
        return true;
    }
    let listed = ["LD_LIBRARY_PATH", "LIBRARY_PATH"].into_iter().filter_map(env::var_os);
    let listed = listed.flat_map(|paths| env::split_paths(&paths).collect::<Vec<_>>());
    let roots = fs::read_dir("/usr").into_iter().chain(fs::read_dir("/usr/local")).flatten().flatten();
    let roots = roots.filter(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with("lib") || name.to_string_lossy().starts_with("llvm")
    });
    listed.into_iter().any(|folder| holds_libclang(&folder))
        || roots.into_iter().any(|root| holds_deep(&root.path(), 2))
}

/// Whether a folder, or a folder up to `depth` levels below it, holds libclang.
fn holds_deep(folder: &Path, depth: usize) -> bool {
    holds_libclang(folder)
        || depth > 0
            && fs::read_dir(folder)
                .into_iter()
                .flatten()
                .flatten()
                .any(|entry| entry.path().is_dir() && holds_deep(&entry.path(), depth - 1))
}

/// Whether a folder holds libclang, under any of its names.
fn holds_libclang(folder: &Path) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libclang") && !name.contains("-cpp.") && (name.contains(".so") || name.ends_with(".a"))
    })
}

/// The value of the variable, or of its variants for a target, by the rules of the crates `cmake` and `cc`.
fn from_environment(name: &str) -> Option<OsString> {
    let target = env::var("TARGET").unwrap_or_default();
    let kind = if env::var_os("TARGET") == env::var_os("HOST") { "HOST" } else { "TARGET" };
    let names = [
        format!("{name}_{target}"),
        format!("{name}_{}", target.replace('-', "_")),
        format!("{kind}_{name}"),
        name.to_owned(),
    ];
    names.into_iter().find_map(env::var_os)
}

/// Whether a program can be started.
fn runs(program: &OsString) -> bool {
    let quiet = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    !quiet.is_err_and(|error| error.kind() == ErrorKind::NotFound)
}
