//! Facts about every command that writes a file or a stream. `writers.txt` lists the commands; a test in the tool
//! compares it with the command line.

use std::fs;
use std::path::Path;

use crate::corpus::data;
use crate::edits::Folder;
use crate::npy::npy;
use crate::tool::{Run, command, tgm};

/// The behaviour of a command whose output is the file that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    /// The file is replaced by the output.
    Replaced,
    /// Nothing is written, because the output is not a new version of the file.
    Refused,
}

/// A command, with `IN` and `OUT` where its files stand.
struct Writer {
    name: &'static str,
    arguments: &'static str,
    #[cfg_attr(not(unix), allow(dead_code, reason = "tests of unix look at it"))]
    own: Own,
}

const fn writer(name: &'static str, arguments: &'static str, own: Own) -> Writer {
    Writer { name, arguments, own }
}

const WRITERS: [Writer; 14] = [
    writer("catalog", "IN -o OUT", Own::Refused),
    writer("convert", "IN -o OUT --from npy", Own::Refused),
    writer("copy", "IN OUT", Own::Replaced),
    writer("create", "IN -o OUT", Own::Refused),
    writer("extract", "IN -O OUT", Own::Refused),
    writer("merge", "IN -o OUT", Own::Replaced),
    writer("repack", "IN -o OUT --compression lz4", Own::Replaced),
    writer("reshuffle", "IN -o OUT", Own::Replaced),
    writer("salvage", "IN -o OUT", Own::Refused),
    writer("set", "-s a=b IN OUT", Own::Replaced),
    writer("split", "IN -o OUT", Own::Refused),
    writer("upgrade", "IN -o OUT", Own::Replaced),
    writer("zio from-tgm", "IN -O OUT", Own::Refused),
    writer("zio to-tgm", "IN -O OUT", Own::Refused),
];

fn writers() -> impl Iterator<Item = &'static Writer> {
    let is_in = |name: &str| cfg!(feature = "zio") || !name.starts_with("zio ");
    WRITERS.iter().filter(move |writer| is_in(writer.name))
}

impl Writer {
    fn arguments(&self, input: &str, output: &str) -> Vec<String> {
        let place = |word: &str| word.replace("IN", input).replace("OUT", output);
        self.name.split(' ').chain(self.arguments.split(' ')).map(place).collect()
    }

    /// A file that the command can read.
    fn source(&self, folder: &Folder) -> Vec<u8> {
        match self.name {
            "convert" | "create" => npy(1, "'<f8'", false, "(2,)", &[0; 16]),
            "zio to-tgm" => {
                let path = folder.path("source.zio");
                tgm(["zio", "from-tgm", &data("dtypes/float32-little.tgm"), "-O", &path]);
                fs::read(path).unwrap()
            }
            _ => fs::read(data("dtypes/float32-little.tgm")).unwrap(),
        }
    }
}

#[test]
fn all_commands_that_write_are_tried() {
    let names: Vec<_> = WRITERS.iter().map(|writer| writer.name).collect();
    assert_eq!(names.join("\n"), include_str!("writers.txt").trim_end());
}

/// Length of the output. Uuid and time differ from run to run, lengths do not.
fn length(path: impl AsRef<Path>) -> u64 {
    fs::metadata(path).unwrap().len()
}

#[cfg(unix)]
#[test]
fn a_file_that_is_read_is_replaced_rightly_or_left_alone() {
    use std::os::unix::fs::symlink;
    for writer in writers() {
        let folder = Folder::new();
        let source = writer.source(&folder);
        let elsewhere = folder.path("elsewhere");
        tgm(writer.arguments(&folder.file("copy", &source), &elsewhere)).good_enough();
        for name in ["in", "./in", "symbolic", "hard"] {
            let input = folder.file("in", &source);
            for link in ["symbolic", "hard"] {
                let _ = fs::remove_file(folder.path(link));
            }
            symlink("in", folder.path("symbolic")).unwrap();
            fs::hard_link(&input, folder.path("hard")).unwrap();
            let output = match writer.name {
                // The first file is number 0.
                "split" => {
                    let first = folder.path("x_0000");
                    let _ = fs::remove_file(&first);
                    match name {
                        "symbolic" => symlink("in", first).unwrap(),
                        _ => fs::hard_link(&input, first).unwrap(),
                    }
                    folder.path("x")
                }
                _ => folder.path(name),
            };
            let run = tgm(writer.arguments(&input, &output));
            let is_link = fs::symlink_metadata(folder.path("symbolic")).unwrap().is_symlink();
            assert!(is_link, "{} {name}", writer.name);
            if writer.own == Own::Refused {
                assert_eq!(run.code, Some(1), "{} {name}", writer.name);
                assert!(run.stderr.contains("file that is read"), "{}: {}", writer.name, run.stderr);
                assert!(fs::read(&input).unwrap() == source, "{} {name}", writer.name);
            } else {
                run.good_enough();
                assert_eq!(length(&output), length(&elsewhere), "{} {name}", writer.name);
                // The other name of a hard link keeps what was there.
                assert!(name != "hard" || fs::read(&input).unwrap() == source);
            }
            assert!(!folder.names().iter().any(|name| name.starts_with('.')), "{:?}", folder.names());
        }
    }
}

impl Run {
    /// The run, which must have succeeded. It may have text on standard error.
    fn good_enough(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }
}

#[test]
fn one_of_several_inputs_counts_too() {
    let folder = Folder::new();
    let source = fs::read(data("dtypes/float32-little.tgm")).unwrap();
    let (one, two) = (folder.file("one", &source), folder.file("two", &source));
    for arguments in [["merge", "-o"], ["repack", "-o"], ["upgrade", "-o"]] {
        fs::write(&two, &source).unwrap();
        tgm([arguments[0], &one, &two, arguments[1], &two]).good_enough();
        let objects = tgm(["digest", "--json", &two]).good().text().matches("\"sha256\"").count();
        assert_eq!(objects, 2, "{arguments:?}");
    }
    #[cfg(feature = "zio")]
    {
        fs::write(&two, &source).unwrap();
        tgm(["zio", "from-tgm", &one, &two, "-O", &two]).failed("file that is read");
        assert!(fs::read(&two).unwrap() == source);
    }
    let metadata = folder.file("m.json", b"{}");
    let values = folder.file("v.npy", &npy(1, "'<f8'", false, "(2,)", &[0; 16]));
    tgm(["create", &values, "--metadata", &metadata, "-o", &metadata]).failed("file that is read");
    tgm(["create", &values, "--append", "-o", &values]).failed("file that is read");
    assert_eq!(fs::read(&metadata).unwrap(), b"{}");
}

#[test]
fn messages_are_not_appended_to_the_file_that_they_come_from() {
    let folder = Folder::new();
    let source = fs::read(data("multi/three.tgm")).unwrap();
    let input = folder.file("f3", &source);
    tgm(["copy", &input, &folder.path("f[version]")]).failed("nothing was written");
    assert!(fs::read(&input).unwrap() == source);
    // The messages before the one with the bad name are not written either.
    let steps = tgm(["get", "-p", "step", &input]).good();
    let last = steps.text().lines().last().unwrap();
    let input = folder.file(&format!("step{last}"), &source);
    let before = folder.names();
    tgm(["copy", &input, &folder.path("step[step]")]).failed("nothing was written");
    assert_eq!(folder.names(), before);
    let path = folder.path("in.tgm");
    tgm(["set", "-s", "extra.name=-", &input, &path]).good();
    tgm(["copy", &path, "[name]"]).failed("standard output");
}

/// Standard output that is the input file would be written in place, and unread messages would be lost.
#[cfg(unix)]
#[test]
fn standard_output_that_is_the_input_is_refused() {
    let folder = Folder::new();
    for writer in writers().filter(|writer| writer.name != "split") {
        let source = writer.source(&folder);
        let input = folder.file("in", &source);
        let stdout = fs::OpenOptions::new().append(true).open(&input).unwrap();
        let mut run = command(writer.arguments(&input, "-"));
        let output = run.stdout(stdout).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", writer.name);
        assert!(fs::read(&input).unwrap() == source, "{}", writer.name);
        // A file that is also standard input is refused too.
        let stdin = fs::File::open(&input).unwrap();
        let output = command(writer.arguments("-", &input)).stdin(stdin).output().unwrap();
        if writer.own == Own::Refused {
            assert_eq!(output.status.code(), Some(1), "{}", writer.name);
            assert!(fs::read(&input).unwrap() == source, "{}", writer.name);
        }
    }
}

#[test]
fn a_dash_is_standard_output_and_no_file() {
    for writer in writers() {
        let folder = Folder::new();
        let input = folder.file("in", &writer.source(&folder));
        let before = folder.names();
        let output = command(writer.arguments("in", "-")).current_dir(Path::new(&input).parent().unwrap()).output();
        let output = output.unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(folder.names(), before, "{}", writer.name);
        if writer.name == "split" {
            assert_eq!(output.status.code(), Some(2), "{stderr}");
            assert!(stderr.contains("several files"), "{stderr}");
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{}: {stderr}", writer.name);
        let target = folder.path("out");
        tgm(writer.arguments(&input, &target)).good_enough();
        assert_eq!(output.stdout.len() as u64, length(&target), "{}: {stderr}", writer.name);
    }
    // One stream cannot hold two outputs.
    let path = data("dtypes/float32-little.tgm");
    for name in ["salvage", "upgrade"] {
        assert_eq!(tgm([name, "--json", &path, "-o", "-"]).code, Some(2));
    }
}

#[test]
fn what_matches_nothing_leaves_files_as_they_were() {
    let folder = Folder::new();
    let out = folder.file("out.tgm", b"what was here before");
    let empty = folder.file("empty", b"");
    let path = data("multi/three.tgm");
    tgm(["copy", "-w", "no.such=key", &path, &out]).failed("no message matches");
    tgm(["copy", "-w", "no.such=key", &path, &path]).failed("no message matches");
    tgm(["copy", "-w", "no.such=key", &path, &folder.path("[version]")]).failed("no message matches");
    for writer in writers().filter(|writer| writer.name != "create") {
        let target = match writer.name {
            "split" => folder.path("out[index]"),
            // It does not write what is called so.
            "extract" => folder.path("out.raw"),
            _ => out.clone(),
        };
        let run = tgm(writer.arguments(&empty, &target));
        assert_eq!(run.code, Some(1), "{}", writer.name);
        assert!(run.stderr.contains("no message") || run.stderr.contains("not written"), "{}", run.stderr);
    }
    assert_eq!(fs::read(&out).unwrap(), b"what was here before");
    assert_eq!(folder.names(), ["empty", "out.tgm"]);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::process::Command;

    use super::*;

    #[test]
    fn a_link_to_nothing_is_followed() {
        let folder = Folder::new();
        fs::create_dir(folder.path("d")).unwrap();
        symlink("d/second", folder.path("first")).unwrap();
        symlink("target", folder.path("d/second")).unwrap();
        tgm(["copy", &data("multi/three.tgm"), &folder.path("first")]).good();
        assert!(fs::symlink_metadata(folder.path("first")).unwrap().is_symlink());
        assert!(fs::symlink_metadata(folder.path("d/second")).unwrap().is_symlink());
        assert_eq!(length(folder.path("d/target")), length(data("multi/three.tgm")));
        symlink("round", folder.path("round")).unwrap();
        tgm(["copy", &data("multi/three.tgm"), &folder.path("round")]).failed("cannot write");
    }

    #[test]
    fn files_keep_their_mode_and_new_ones_have_that_of_the_umask() {
        let folder = Folder::new();
        let run = |out: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", "umask 027; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_tgm"), "copy"]);
            assert!(shell.args([&data("multi/three.tgm"), out]).status().unwrap().success());
            fs::metadata(out).unwrap().permissions().mode() & 0o777
        };
        assert_eq!(run(&folder.path("new")), 0o640);
        for mode in [0o600, 0o664, 0o444] {
            let out = folder.file("out", b"");
            fs::set_permissions(&out, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(run(&out), mode);
            fs::remove_file(out).unwrap();
        }
    }
}

/// Runs that are interrupted while they write.
#[cfg(all(unix, feature = "zio"))]
mod interrupted {
    use std::fs::Permissions;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Child, Command, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use super::*;

    /// A run that has begun to write into `folder` and waits for more input.
    fn waiting(folder: &Folder, out: &str, trap: &str) -> Child {
        // The first message is written. The rest of the input never comes.
        let fifo = folder.path("fifo");
        if !Path::new(&fifo).exists() {
            assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        }
        let script = format!("{trap} exec \"$@\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_tgm"), "zio", "to-tgm"]);
        shell.args([&folder.path("source.zio"), &fifo, "-O", out]).stdin(Stdio::null());
        let child = shell.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        // When this returns, the tool has opened the pipe, and before it the output.
        let mut pipe = fs::OpenOptions::new().write(true).open(fifo).unwrap();
        pipe.write_all(b"x").unwrap();
        // Closing it would end the input.
        std::mem::forget(pipe);
        child
    }

    /// The replacement of a private file is private while it is written.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_private_file_is_never_readable_by_others() {
        let folder = Folder::new();
        let path = folder.path("source.zio");
        tgm(["zio", "from-tgm", &data("dtypes/float32-little.tgm"), "-O", &path]).good_enough();
        let out = folder.file("out", b"secret");
        fs::set_permissions(&out, Permissions::from_mode(0o600)).unwrap();
        let mut child = waiting(&folder, &out, "umask 000;");
        let open = fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap().map(|entry| entry.unwrap().path());
        let mut modes = Vec::new();
        for file in open.filter(|file| fs::read_link(file).is_ok_and(|to| to.starts_with(folder.path("")))) {
            let metadata = fs::metadata(file).unwrap();
            modes.extend(metadata.is_file().then(|| metadata.permissions().mode() & 0o777));
        }
        assert_eq!(modes, [0o600]);
        send(&child, 15);
        child.wait().unwrap();
    }

    fn send(child: &Child, signal: i32) {
        assert!(Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap().success());
    }

    #[test]
    fn signals_leave_nothing_behind_and_are_what_the_program_dies_of() {
        let folder = Folder::new();
        let path = folder.path("source.zio");
        tgm(["zio", "from-tgm", &data("dtypes/float32-little.tgm"), "-O", &path]).good_enough();
        let out = folder.file("out", b"what was here before");
        // What this process ignores its children ignore too: SIGHUP under `nohup`, SIGINT and SIGQUIT after a script's `&`.
        let ignored = ignored_signals();
        for signal in [1, 2, 3, 15, 24].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0) {
            let mut child = waiting(&folder, &out, "ulimit -c 0;");
            send(&child, signal);
            assert_eq!(child.wait().unwrap().signal(), Some(signal));
            assert_eq!(fs::read(&out).unwrap(), b"what was here before");
            assert_eq!(folder.names(), ["fifo", "out", "source.zio"]);
        }
        // An ignored signal stays ignored, as `nohup` requires.
        let mut child = waiting(&folder, &out, "trap '' HUP;");
        send(&child, 1);
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(300) {
            assert!(child.try_wait().unwrap().is_none());
            sleep(Duration::from_millis(20));
        }
        send(&child, 15);
        assert_eq!(child.wait().unwrap().signal(), Some(15));
    }

    /// A store of Zarr is a folder that appears when it is complete. Until then only its owner may look into it.
    #[cfg(feature = "zarr")]
    #[test]
    fn a_store_that_is_not_complete_is_private_and_goes_with_a_signal() {
        let folder = Folder::new();
        let values = vec![0.5_f64; 200_000];
        let message = |number: i32| {
            let object =
                tgm_std::ObjectBuilder::new(&[200_000], &values).unwrap().metadata("name", format!("v{number}"));
            tgm_std::MessageBuilder::new().object(object).encode().unwrap()
        };
        let path = folder.file("many.tgm", &(0..60).flat_map(message).collect::<Vec<_>>());
        let out = folder.path("out.zarr");
        let hidden = || folder.names().into_iter().find(|name| name.starts_with(".tgm."));
        let mut seen = 0;
        for _ in 0..8 {
            let mut child = command(["convert", &path, "-o", &out]).spawn().unwrap();
            let begun = Instant::now();
            let found = loop {
                if let Some(found) = hidden() {
                    break Some(found);
                }
                if child.try_wait().unwrap().is_some() || begun.elapsed() > Duration::from_mins(1) {
                    break None;
                }
            };
            if let Some(metadata) = found.and_then(|found| fs::metadata(folder.path(&found)).ok()) {
                assert_eq!(metadata.permissions().mode() & 0o777, 0o700);
                seen += 1;
            }
            sleep(Duration::from_millis(10));
            if child.try_wait().unwrap().is_none() {
                send(&child, 15);
            }
            child.wait().unwrap();
            assert_eq!(hidden(), None);
            let _ = fs::remove_dir_all(&out);
        }
        assert!(seen > 0);
        tgm(["convert", &path, "-o", &out]).good();
        let mode = |path: &str| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        fs::create_dir(folder.path("usual")).unwrap();
        assert_eq!(mode(&out), mode(&folder.path("usual")));
    }

    /// The signals that this process ignores: bit 0 is signal 1. Other systems than Linux do not tell.
    fn ignored_signals() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        bits.map_or(0, |bits| u64::from_str_radix(bits.trim(), 16).unwrap())
    }

    /// On file systems with unnamed files, a kill leaves nothing behind.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_kill_without_warning_leaves_nothing_behind_where_files_need_no_name() {
        let folder = Folder::new();
        if !has_unnamed_files(&folder) {
            return;
        }
        let path = folder.path("source.zio");
        tgm(["zio", "from-tgm", &data("dtypes/float32-little.tgm"), "-O", &path]).good_enough();
        let out = folder.path("out");
        let mut child = waiting(&folder, &out, "");
        send(&child, 9);
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        assert_eq!(folder.names(), ["fifo", "source.zio"]);
    }

    /// Whether the folder's file system has unnamed files.
    #[cfg(target_os = "linux")]
    fn has_unnamed_files(folder: &Folder) -> bool {
        use std::os::unix::fs::OpenOptionsExt as _;
        const O_TMPFILE: i32 = 0o20_200_000;
        fs::OpenOptions::new().write(true).custom_flags(O_TMPFILE).open(folder.path("")).is_ok()
    }
}
