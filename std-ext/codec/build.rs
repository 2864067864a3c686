//! Builds the C++ of feature `sz3`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "sz3")]
    sz3::build();
}

#[cfg(feature = "sz3")]
mod sz3 {
    use std::path::{Path, PathBuf};
    use std::{env, fs};

    const SHIM: &str = "src/codecs/sz3/containers/shim.cpp";
    const INCLUDE: &str = "vendor/SZ3/include";
    /// The version of SZ3 and of its format.
    const VERSION: [&str; 3] = ["3", "3", "2"];

    pub(super) fn build() {
        println!("cargo::rerun-if-changed={SHIM}");
        println!("cargo::rerun-if-changed={INCLUDE}");
        println!("cargo::rustc-env=TGM_SZ3_VERSION={}", VERSION.join("."));
        let out = PathBuf::from(variable("OUT_DIR"));
        let mut build = cc::Build::new();
        build.cpp(true).std("c++17").file(SHIM).warnings(false);
        build.include(INCLUDE).include(version_header(&out));
        // The folder of zstd's headers. If zstd-sys uses an installed zstd, it is a list of folders, and may be empty.
        let zstd = variable("DEP_ZSTD_INCLUDE");
        build.includes(env::split_paths(&zstd).filter(|folder| !folder.as_os_str().is_empty()));
        // NDEBUG, because assertions end the process. No fused operations, because the compressor's predictions would
        // differ from a decoder's.
        build.define("NDEBUG", None).flag_if_supported("-ffp-contract=off").flag_if_supported("/bigobj");
        // Without optimisation SZ3's templates are too slow, in debug builds too. Optimising takes two seconds more.
        if matches!(variable("OPT_LEVEL").as_str(), "0" | "1") {
            build.opt_level(2);
        }
        if variable("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static") {
            link_statically(&mut build);
        }
        build.compile("tgm_sz3");
    }

    /// Links the C++ library as an archive. The compiler says where that is.
    fn link_statically(build: &mut cc::Build) {
        let compiler = build.get_compiler();
        if !compiler.is_like_gnu() && !compiler.is_like_clang() {
            return;
        }
        let Ok(found) = compiler.to_command().arg("-print-file-name=libstdc++.a").output() else { return };
        let archive = PathBuf::from(String::from_utf8_lossy(&found.stdout).trim());
        if let Some(folder) = archive.parent().filter(|_| archive.is_absolute()) {
            println!("cargo::rustc-link-search=native={}", folder.display());
            build.cpp_link_stdlib_static(true);
        }
    }

    /// Writes SZ3's `version.hpp`, as SZ3's own build does. Returns the folder to include.
    fn version_header(out: &Path) -> PathBuf {
        let template = fs::read_to_string(Path::new(INCLUDE).join("SZ3/version.hpp.in")).expect("SZ3 is vendored");
        let [major, minor, patch] = VERSION;
        let version = VERSION.join(".");
        let header = template
            .replace("@PROJECT_NAME@", "SZ3")
            .replace("@PROJECT_VERSION@", &version)
            .replace("@PROJECT_VERSION_MAJOR@", major)
            .replace("@PROJECT_VERSION_MINOR@", minor)
            .replace("@PROJECT_VERSION_PATCH@", patch)
            .replace("@PROJECT_VERSION_TWEAK@", "")
            .replace("@SZ3_DATA_VERSION@", &version);
        let include = out.join("include");
        fs::create_dir_all(include.join("SZ3")).expect("OUT_DIR can be written to");
        fs::write(include.join("SZ3/version.hpp"), header).expect("OUT_DIR can be written to");
        include
    }

    fn variable(name: &str) -> String {
        println!("cargo::rerun-if-env-changed={name}");
        env::var(name).unwrap_or_default()
    }
}
