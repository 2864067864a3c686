//! Standard streams: pipes that close, colours, and what must not reach a terminal.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::corpus::data;
use crate::tool::{command, tgm};

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let path = data("realistic/surface-181x360.tgm");
    // Much more than a pipe holds.
    let paths = vec![path.clone(); 400];
    for arguments in [vec!["ls"], vec!["dump"], vec!["dump", "--json"], vec!["frames"], vec!["verify"]] {
        let mut child = command(arguments.iter().map(ToString::to_string).chain(paths.clone()))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{arguments:?}");
        assert!(!line.is_empty());
    }
    let mut child = command(["extract", &data("codecs/zstd-high-ratio.tgm")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn messages_come_from_standard_input_too() {
    let path = data("multi/three.tgm");
    let mut child = command(["digest", "--json", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(&path).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, tgm(["digest", "--json", &path]).good().stdout);
}

/// A child's standard output, piece by piece as it comes.
fn pieces(child: &mut Child) -> mpsc::Receiver<String> {
    let (told, tell) = mpsc::channel();
    let mut output = child.stdout.take().unwrap();
    thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = output.read(&mut piece) {
            told.send(String::from_utf8_lossy(&piece[..count]).into_owned()).unwrap();
        }
    });
    tell
}

#[test]
fn rows_appear_while_the_input_is_open() {
    let messages =
        [data("dtypes/float32-big.tgm"), data("dtypes/float64-little.tgm")].map(|path| fs::read(path).unwrap());
    let calls = [
        (vec!["ls", "-"], "float32", "float64"),
        (vec!["ls", "--json", "-"], "float32", "float64"),
        (vec!["get", "-p", "version", "-"], "3", "3"),
        (vec!["dump", "-"], "float32", "float64"),
        (vec!["verify", "-"], "ok", "ok"),
        (vec!["scan", "-"], "message  ", "message  "),
    ];
    for (arguments, first, second) in calls {
        let mut child = command(&arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut sink, pieces) = (child.stdin.take().unwrap(), pieces(&mut child));
        for (message, sign) in messages.iter().zip([first, second]) {
            sink.write_all(message).unwrap();
            let mut text = String::new();
            while !text.contains(sign) {
                let piece = pieces.recv_timeout(Duration::from_secs(20));
                text += &piece.unwrap_or_else(|_| panic!("{arguments:?}: no {sign} while the input is open: {text}"));
            }
            while pieces.recv_timeout(Duration::from_millis(100)).is_ok() {}
        }
        drop(sink);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{arguments:?}");
    }
}

/// Runs the tool with the bytes on standard input.
fn piped(arguments: &[&str], bytes: &[u8]) -> (Option<i32>, String, String) {
    let mut child = command(arguments);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The tool may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(bytes);
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn copies_appear_while_the_input_is_open() {
    let message = fs::read(data("dtypes/float32-big.tgm")).unwrap();
    let mut child = command(["copy", "-", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut sink, mut copy) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for _ in 0..2 {
        sink.write_all(&message).unwrap();
        let mut copied = vec![0; message.len()];
        copy.read_exact(&mut copied).unwrap();
        assert!(copied == message);
    }
    drop(sink);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_stream_is_copied_like_a_file() {
    let good = fs::read(data("multi/three.tgm")).unwrap();
    let hash = fs::read(data("malformed/hash/single-payload-bitflip.tgm")).unwrap();
    let streams = [good.clone(), [b"junk", &good[..]].concat(), [&hash[..], &good].concat(), hash, Vec::new()];
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    for (i, bytes) in streams.iter().enumerate() {
        fs::write(path("file"), bytes).unwrap();
        for flags in [&[][..], &["-m", "1"], &["-m", "9"], &["--at", "1"], &["-w", "none=1"], &["-w", "version=3"]] {
            let run = tgm([&["copy"][..], flags, &[&path("file"), &path("from file")]].concat());
            let (code, _, errors) = piped(&[&["copy"][..], flags, &["-", &path("from stream")]].concat(), bytes);
            let named = run.stderr.replace(&path("file"), "-").replace("from file", "from stream");
            assert_eq!((code, errors), (run.code, named), "{i} {flags:?}");
            assert_eq!(fs::read(path("from stream")).ok(), fs::read(path("from file")).ok(), "{i} {flags:?}");
            for name in ["from file", "from stream"] {
                let _ = fs::remove_file(path(name));
            }
        }
    }
}

#[test]
fn a_stream_is_reported_like_a_file() {
    let good = fs::read(data("multi/three.tgm")).unwrap();
    let streams = [
        good.clone(),
        Vec::new(),
        b"nothing that looks like a message".to_vec(),
        good[..300].to_vec(),
        [&good[..568], &[7; 37], &good[568..]].concat(),
        [b"junk", &good[..], b"junk"].concat(),
        good[..good.len() - 100].to_vec(),
        fs::read(data("v2/0.14.0-f32.tgm")).unwrap_or_default(),
        fs::read(data("multi/corrupt-middle.tgm")).unwrap(),
        fs::read(data("malformed/hash/single-payload-bitflip.tgm")).unwrap(),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (i, bytes) in streams.iter().enumerate() {
        let path = folder.path().join("file");
        fs::write(&path, bytes).unwrap();
        let path = path.to_str().unwrap();
        for arguments in [
            &["ls"][..],
            &["ls", "--json"],
            &["ls", "-m", "1"],
            &["ls", "-m", "7"],
            &["ls", "--at", "568"],
            &["ls", "--at", "570"],
            &["get", "-p", "version"],
            &["get", "--json", "-p", "version"],
            &["dump"],
            &["verify"],
            &["verify", "--json"],
            &["scan"],
            &["scan", "--json"],
            &["validate"],
            &["validate", "--json"],
        ] {
            let of_file = tgm(arguments.iter().copied().chain([path]));
            let (code, out, errors) = piped(&[arguments, &["-"]].concat(), bytes);
            let named = |text: &str| text.replace(path, "-");
            // A stream reports in the order of its bytes, a file its lost bytes first.
            let sorted = |text: &str| {
                let mut lines: Vec<_> = text.lines().map(str::to_string).collect();
                lines.sort();
                lines
            };
            assert_eq!(code, of_file.code, "{i} {arguments:?}: {errors}");
            assert_eq!(out, named(of_file.text()), "{i} {arguments:?}");
            assert_eq!(sorted(&errors), sorted(&named(&of_file.stderr)), "{i} {arguments:?}");
        }
    }
}

#[test]
fn pipes_get_no_colours() {
    for path in [data("multi/corrupt-middle.tgm"), data("malformed/hash/single-payload-bitflip.tgm")] {
        for name in ["ls", "frames", "dump", "verify", "digest"] {
            let run = tgm([name, &path]);
            assert!(!run.stdout.contains(&0x1b) && !run.stderr.contains('\u{1b}'), "{name}");
        }
    }
}

/// The tool's output on a terminal, which `script` provides. `None` if there is no such program.
fn on_terminal(arguments: &str, no_color: Option<&str>) -> Option<String> {
    let tool = env!("CARGO_BIN_EXE_tgm");
    let mut script = Command::new("script");
    script.args(["-qec", &format!("'{tool}' {arguments}"), "/dev/null"]).stdin(Stdio::null()).env_remove("NO_COLOR");
    if let Some(value) = no_color {
        script.env("NO_COLOR", value);
    }
    let output = script.output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn terminals_get_colours_unless_no_color_is_set() {
    let arguments = format!("verify '{}'", data("malformed/hash/single-payload-bitflip.tgm"));
    let Some(coloured) = on_terminal(&arguments, None) else { return };
    assert!(coloured.contains("mismatch") && coloured.contains("\x1b[31m"), "{coloured:?}");
    let plain = on_terminal(&arguments, Some("1")).unwrap();
    assert!(plain.contains("mismatch") && !plain.contains('\u{1b}'), "{plain:?}");
    assert!(on_terminal(&arguments, Some("")).unwrap().contains("\x1b[31m"));
}

#[test]
fn values_are_not_written_to_a_terminal() {
    let arguments = format!("extract '{}'", data("dtypes/float32-little.tgm"));
    let Some(text) = on_terminal(&arguments, None) else { return };
    assert!(text.contains("not written to a terminal"), "{text:?}");
}

#[test]
fn control_characters_of_files_are_escaped() {
    let mut bytes = fs::read(data("realistic/surface-181x360.tgm")).unwrap();
    let place = bytes.windows(9).position(|window| window == b"synthetic").unwrap();
    // Escape, bell, C1 control sequence introducer, line feed, delete; right-to-left override would be longer.
    bytes[place..place + 9].copy_from_slice(b"\x1b[1m\x07\xc2\x9b\n\x7f");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("evil\u{1b}[2J.tgm");
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    let keys = ["-p", "source"];
    let runs = [
        vec!["dump", path],
        vec!["get", path],
        vec!["ls", path, path],
        vec!["info", path],
        vec!["verify", path],
        vec!["frames", path],
    ];
    for mut arguments in runs {
        let name = arguments[0];
        if matches!(name, "get" | "ls") {
            arguments.extend(keys);
        }
        if matches!(name, "dump" | "get" | "ls") {
            arguments.push("--ignore-hash");
        }
        for json in [None, Some("--json")] {
            let run = tgm(arguments.iter().copied().chain(json));
            let text = format!("{}{}", run.text(), run.stderr);
            let unsafe_ones: Vec<_> = text.chars().filter(|&c| c.is_control() && c != '\n').collect();
            assert!(unsafe_ones.is_empty(), "{name} {json:?}: {unsafe_ones:?}");
        }
    }
    let run = tgm(["get", "--ignore-hash", "-p", "source", path]).good();
    assert_eq!(run.text(), "\\u{1b}[1m\\u{7}\\u{9b}\\n\\u{7f}\n");
    let run = tgm(["get", "--ignore-hash", "--json", "-p", "source", path]).good();
    assert_eq!(run.json()["messages"][0]["values"]["source"], "\u{1b}[1m\u{7}\u{9b}\n\u{7f}");
}
