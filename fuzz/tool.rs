//! Runs the tool `tgm` on damaged files: `tool SECONDS TGM SEEDS ARTIFACTS`.
//!
//! The command lines are fixed, the files are seeds with bytes changed. Every run must end within ten
//! seconds, with exit code 0, 1 or 2 and without a panic; what is printed with `--json` is one JSON document. A file
//! that breaks this is kept in ARTIFACTS, beside a note of the command line. It is built with the targets, but is not
//! one, because it starts processes.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, io};

/// Command lines; `IN` is the damaged file, `OUT` a new file.
const COMMANDS: &[&str] = &[
    "info --json IN",
    "ls --json IN",
    "ls IN",
    "dump --json IN",
    "dump IN",
    "frames --json IN",
    "get -p mars.param,version --json IN",
    "digest --json IN",
    "scan --json IN",
    "verify --json IN",
    "validate --json IN",
    "validate IN",
    "extract IN -O OUT",
    "copy IN OUT",
    "set -s extra.k=v IN OUT",
    "merge IN IN -o OUT",
    "split IN -o OUT_[index]",
    "repack IN -o OUT --compression zstd",
    "reshuffle IN -o OUT",
    "salvage IN -o OUT",
    "upgrade IN -o OUT",
    "convert --from grib2 IN -o OUT",
    "convert --from tgm IN -o OUT",
    "convert --from tgm IN -o OUT.npz --deflate",
    "convert --from tgm IN -o OUT.safetensors",
    "convert --from tgm IN -o OUT_[index].npy",
    "convert --from npz IN -o OUT",
    "convert --from npy IN -o OUT",
    "convert --from safetensors IN -o OUT",
    "convert --from csv IN -o OUT",
    "zio from-tgm IN --output OUT",
    "zio to-tgm IN --output OUT",
    "zio ls --json IN",
    "zio dump --json IN",
];
/// How long a run may take.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    match run() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("tool: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs the tool for the given time and returns the number of finds.
fn run() -> io::Result<usize> {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [seconds, tgm, seeds, artifacts] = &arguments[..] else {
        return Err(io::Error::other("usage: tool SECONDS TGM SEEDS ARTIFACTS"));
    };
    let seconds = seconds.to_str().and_then(|text| text.parse().ok()).ok_or_else(|| io::Error::other("no seconds"))?;
    let mut files = Vec::new();
    for kind in ["arrays", "grib2", "tgm", "zio"] {
        files.extend(
            fs::read_dir(seeds.join(kind))?
                .map(|entry| entry.map(|entry| entry.path()))
                .collect::<Result<Vec<_>, _>>()?,
        );
    }
    files.sort();
    fs::create_dir_all(artifacts)?;
    let folder = tempfile::tempdir()?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ u64::from(std::process::id()));
    let (end, mut executions, mut finds) = (Instant::now() + Duration::from_secs(seconds), 0_u64, 0);
    while Instant::now() < end {
        let bytes = damaged(&files, &mut random)?;
        let input = folder.path().join("in.tgm");
        fs::write(&input, &bytes)?;
        // A few commands for each file.
        for _ in 0..4 {
            let line = COMMANDS[random.below(COMMANDS.len())];
            executions += 1;
            if let Some(what) = trial(tgm, line, folder.path(), &input)? {
                finds += 1;
                let name = artifacts.join(format!("{:016x}", tgm_core::hash::digest(&bytes)));
                fs::write(&name, &bytes)?;
                fs::write(name.with_extension("txt"), format!("tgm {line}\n{what}\n"))?;
                println!("FOUND tool: tgm {line}: {what}: {}", name.display());
            }
        }
    }
    println!("tool {executions:>23} executions");
    Ok(finds)
}

/// Runs the tool once and returns what is wrong, if anything is.
fn trial(tgm: &Path, line: &str, folder: &Path, input: &Path) -> io::Result<Option<String>> {
    let path = |word: &str| match word {
        "IN" => input.to_path_buf(),
        word if word.starts_with("OUT") => folder.join(word.replace("OUT", "out")),
        word => word.into(),
    };
    let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
    let mut child = Command::new(tgm)
        .args(line.split(' ').map(path))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(fs::File::create(&stdout)?)
        .stderr(fs::File::create(&stderr)?)
        .spawn()?;
    let end = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > end {
            child.kill()?;
            child.wait()?;
            return Ok(Some("takes longer than ten seconds".into()));
        }
        std::thread::sleep(Duration::from_micros(300));
    };
    let (stdout, stderr) = (fs::read(stdout)?, String::from_utf8_lossy(&fs::read(stderr)?).into_owned());
    if !matches!(status.code(), Some(0..=2)) {
        return Ok(Some(format!("{status}: {stderr}")));
    }
    if stderr.contains("panicked") {
        return Ok(Some(stderr));
    }
    if status.code() == Some(2) {
        return Ok(Some(format!("the command line is refused: {stderr}")));
    }
    if status.code() == Some(1) && stderr.is_empty() && stdout.is_empty() {
        return Ok(Some("exit code 1 without output".into()));
    }
    if line.contains("--json")
        && let Err(error) = serde_json::from_slice::<serde_json::Value>(&stdout)
    {
        return Ok(Some(format!("standard output is not JSON: {error}")));
    }
    Ok(None)
}

/// One to three seeds in a row, with some bytes changed.
fn damaged(files: &[PathBuf], random: &mut Random) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for _ in 0..=random.below(3) {
        bytes.extend(fs::read(&files[random.below(files.len())])?);
    }
    for _ in 0..random.below(6) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..(at + 1 + random.below(64)).min(bytes.len()))),
            4 => {
                let piece = bytes[at..(at + 1 + random.below(64)).min(bytes.len())].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => {
                let word = random.next().to_be_bytes();
                let end = (at + 8).min(bytes.len());
                bytes[at..end].copy_from_slice(&word[..end - at]);
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    Ok(bytes)
}

/// Numbers that look random (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`; 0 if `end` is 0.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 11).unwrap_or(0).checked_rem(end).unwrap_or(0)
    }
}
