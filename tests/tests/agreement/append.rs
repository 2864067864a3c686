//! Appending: what readers see, what crashes leave behind, and concurrent writers (FORMAT §5.7).

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use tgm_core::wire::END_MAGIC;
use tgm_std::file::GroupAppender;
use tgm_std::{
    AppendOptions, ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, GlobalMetadata, MessageLayout,
    ScanOptions, StreamingEncoder, TensogramError, TensogramFile, TornTail, decode, encode,
};
use tgm_tests::Rng;

const FILE: &str = "TGM_APPEND_FILE";
const WRITER: &str = "TGM_APPEND_WRITER";
const REPAIRING: AppendOptions = AppendOptions { sync: false, torn_tail: TornTail::Remove };

fn descriptor(len: usize) -> DataObjectDescriptor {
    DataObjectDescriptor {
        obj_type: "ntensor".into(),
        ndim: 1,
        shape: vec![len as u64],
        strides: vec![1],
        dtype: Dtype::Uint8,
        byte_order: ByteOrder::Little,
        encoding: "none".into(),
        filter: "none".into(),
        compression: "none".into(),
        masks: None,
        params: std::collections::BTreeMap::default(),
    }
}

fn message(data: &[u8]) -> Vec<u8> {
    let descriptor = descriptor(data.len());
    encode(&GlobalMetadata::default(), &[(&descriptor, data)], &EncodeOptions::default()).unwrap()
}

/// Data that names its writer and the number of its message.
fn data(writer: u8, number: u64) -> Vec<u8> {
    let len = 40 + number.wrapping_mul(2_654_435_761) % 3000;
    let mut data = vec![number.to_le_bytes()[0] ^ writer; usize::try_from(len).unwrap()];
    data[0] = writer;
    data[1..9].copy_from_slice(&number.to_le_bytes());
    data
}

/// Writer and number of every message of a file, each of which must be whole.
fn contents(path: &Path) -> Vec<(u8, u64)> {
    let file = TensogramFile::open(path).unwrap();
    let verifying = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
    let read = |index| {
        let (_, objects) = file.decode_message(index, &verifying).unwrap();
        let values = &objects[0].1;
        let (writer, number) = (values[0], u64::from_le_bytes(values[1..9].try_into().unwrap()));
        assert_eq!(*values, data(writer, number));
        (writer, number)
    };
    (0..file.message_count().unwrap()).map(read).collect()
}

#[test]
fn appended_messages_are_read_and_the_table_grows_with_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b/file.tgm");
    let mut file = TensogramFile::create(&path).unwrap();
    assert_eq!(file.message_count().unwrap(), 0);
    for number in 0..5 {
        let data = data(1, number);
        let descriptor = descriptor(data.len());
        file.append(&GlobalMetadata::default(), &[(&descriptor, &data)], &EncodeOptions::default()).unwrap();
        assert_eq!(file.message_count().unwrap() as u64, number + 1);
    }
    // Another writer appends: this reader keeps its view until it writes again.
    let mut other = TensogramFile::open(&path).unwrap();
    other.append_message(&message(&data(2, 5)), &AppendOptions { sync: true, ..AppendOptions::default() }).unwrap();
    assert_eq!(file.message_count().unwrap(), 5);
    let layout = file.append_message(&message(&data(1, 6)), &AppendOptions::default()).unwrap();
    assert_eq!(file.message_layouts().unwrap().last(), Some(&layout));
    assert_eq!(contents(&path).iter().map(|(_, number)| *number).collect::<Vec<_>>(), (0..7).collect::<Vec<_>>());
    assert_eq!(TensogramFile::create(&path).unwrap().message_count().unwrap(), 0);
}

#[test]
fn a_file_cut_anywhere_keeps_its_messages_and_the_next_append_refuses_or_repairs() {
    let dir = tempfile::tempdir().unwrap();
    let (first, last) = (message(&data(1, 0)), message(&[7; 30]));
    let whole = [&*first, &*last].concat();
    for cut in first.len()..whole.len() {
        let path = dir.path().join("cut.tgm");
        fs::write(&path, &whole[..cut]).unwrap();
        let mut file = TensogramFile::open(&path).unwrap();
        assert_eq!(file.message_count().unwrap(), 1, "cut at {cut}");
        let torn = file.torn_tail().unwrap();
        assert_eq!(
            torn.map(|tail| (tail.offset, tail.length)),
            (cut > first.len()).then(|| { (first.len() as u64, (cut - first.len()) as u64) })
        );
        if torn.is_some() {
            let error = file.append_message(&last, &AppendOptions::default()).unwrap_err();
            assert!(matches!(&error, TensogramError::Framing(reason) if reason.contains("torn tail")), "{error}");
            assert_eq!(fs::read(&path).unwrap(), &whole[..cut], "a refusal changes nothing");
        }
        file.append_message(&last, &REPAIRING).unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole, "cut at {cut}");
        assert_eq!(file.message_count().unwrap(), 2);
        assert_eq!(file.torn_tail().unwrap(), None);
    }
}

#[test]
fn only_one_whole_message_is_appended() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.tgm");
    let mut file = TensogramFile::create(&path).unwrap();
    let good = message(&[1, 2, 3]);
    for bad in [&[][..], &good[1..], &good[..good.len() - 1], &[&*good, &*good].concat()] {
        assert!(file.append_message(bad, &AppendOptions::default()).is_err());
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    let mut mapped = TensogramFile::open_mmap(&path).unwrap();
    let error = mapped.append_message(&good, &AppendOptions::default()).unwrap_err();
    assert!(error.to_string().contains("cannot append to a memory-mapped file"), "{error}");
}

/// Messages that hold messages in a payload: one alone, one among other bytes, or two in a row; buffered, and streamed
/// without a length.
fn embedding(one: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let two = [one, &*message(&[4; 20])].concat();
    let among = [&[9; 100][..], one, &[9; 60]].concat();
    let streamed = |payload: &[u8]| {
        let mut encoder =
            StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &EncodeOptions::default()).unwrap();
        encoder.write_object(&descriptor(payload.len()), payload).unwrap();
        encoder.write_object(&descriptor(3), &[1, 2, 3]).unwrap();
        encoder.finish().unwrap()
    };
    vec![
        ("buffered", message(one)),
        ("buffered, among other bytes", message(&among)),
        ("buffered, a row", message(&two)),
        ("streamed", streamed(one)),
        ("streamed, among other bytes", streamed(&among)),
        ("streamed, a row", streamed(&two)),
        ("streamed within streamed", streamed(&streamed(&[1, 2, 3]))),
    ]
}

/// The messages that each way of scanning finds: the ways for slices, and with `of_files` also the ways for files.
fn found(path: &Path, bytes: &[u8], of_files: bool) -> Vec<(&'static str, Vec<MessageLayout>)> {
    let options = |bidirectional| ScanOptions { bidirectional, ..ScanOptions::default() };
    let layouts = |extents: Vec<(usize, usize)>| {
        extents.into_iter().map(|(at, len)| MessageLayout { offset: at as u64, length: len as u64 }).collect()
    };
    let core = tgm_core::scan::scan(bytes).filter(tgm_core::scan::Segment::is_message);
    let mut routes = vec![
        ("core", core.map(|m| MessageLayout { offset: m.offset(), length: m.length() }).collect()),
        ("slice", layouts(tgm_std::scan_with_options(bytes, &options(false)))),
        ("slice from both ends", layouts(tgm_std::scan_with_options(bytes, &options(true)))),
    ];
    if !of_files {
        return routes;
    }
    fs::write(path, bytes).unwrap();
    routes.extend([
        ("file", layouts(tgm_std::scan_file(&mut fs::File::open(path).unwrap()).unwrap())),
        ("TensogramFile", TensogramFile::open(path).unwrap().message_layouts().unwrap()),
        ("MappedFile", crate::mapped::map(path).unwrap().message_layouts().to_vec()),
    ]);
    routes
}

#[test]
fn a_writer_killed_at_any_byte_leaves_only_acknowledged_messages() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("killed.tgm");
    let (first, next) = (message(&data(1, 0)), message(&[7; 30]));
    let acknowledged = [MessageLayout { offset: 0, length: first.len() as u64 }];
    let one = message(&[5; 20]);
    for (name, torn) in embedding(&one) {
        // Other writers begin with the start magic; this library writes it last.
        for magic_last in [false, true] {
            let mut torn = torn.clone();
            if magic_last {
                torn[..8].fill(0);
            }
            let whole = torn.len() - usize::from(!magic_last);
            for cut in (1..whole).chain([whole]) {
                let torn = &torn[..cut];
                // A message that ends with the file and does not begin where the payload does may come from a writer
                // that appended without looking at the torn message before it: it is kept.
                if name.contains("among") && torn.ends_with(&one) {
                    continue;
                }
                // Files are slow: a part of the cuts, and every cut that ends with a message.
                let of_files = cut % 7 == 0 || torn.ends_with(END_MAGIC);
                for (route, layouts) in found(&path, &[&*first, torn].concat(), of_files) {
                    assert_eq!(layouts, acknowledged, "{name}, magic last {magic_last}, cut at {cut}: {route}");
                }
                if !of_files {
                    continue;
                }
                let mut file = TensogramFile::open(&path).unwrap();
                assert!(file.append_message(&next, &AppendOptions::default()).is_err(), "{name}, {cut}");
                file.append_message(&next, &REPAIRING).unwrap();
                assert_eq!(fs::read(&path).unwrap(), [&*first, &*next].concat(), "{name}, cut at {cut}");
            }
        }
    }
}

/// A writer may append after a torn message without looking at it. Its messages are found and not cut off, also when
/// it was killed in its turn.
#[test]
fn messages_behind_a_torn_one_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("behind.tgm");
    let behind = [message(&data(2, 0)), message(&data(2, 1))];
    let large = message(&vec![3; 50_000]);
    for last in [&[][..], &large[..30], &large[..1000]] {
        for cut in [8, 100, 300, 700, 5000, 20_000] {
            let torn = &large[..cut];
            let bytes = [torn, &behind[0], &behind[1], last].concat();
            let end = bytes.len() - last.len();
            let second = MessageLayout { offset: (end - behind[1].len()) as u64, length: behind[1].len() as u64 };
            for (route, layouts) in found(&path, &bytes, true) {
                assert_eq!((layouts.len(), layouts.last()), (2, Some(&second)), "cut at {cut}: {route}");
            }
            let next = message(&[7; 30]);
            let mut file = TensogramFile::open(&path).unwrap();
            file.append_message(&next, &REPAIRING).unwrap();
            assert_eq!(fs::read(&path).unwrap(), [&bytes[..end], &next].concat(), "cut at {cut}");
        }
    }
}

/// The end magic of the message before it is where a damaged frame's header has its length: the appended message
/// begins where that frame's body would.
#[test]
fn a_message_appended_behind_an_end_magic_that_looks_like_a_length_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.tgm");
    let damaged =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/finds/append-magic-as-length.tgm")).unwrap();
    fs::write(&path, damaged).unwrap();
    let mut file = TensogramFile::open(&path).unwrap();
    let before = file.message_layouts().unwrap();
    let how = AppendOptions { torn_tail: TornTail::Remove, ..AppendOptions::default() };
    let appended = file.append_message(&message(&[1, 2, 3]), &how).unwrap();
    for found in [file.message_layouts().unwrap(), TensogramFile::open(&path).unwrap().message_layouts().unwrap()] {
        assert_eq!(found, [before.as_slice(), &[appended]].concat());
    }
}

#[test]
fn a_damaged_frame_length_does_not_hide_the_messages_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("damaged.tgm");
    let behind = message(&data(2, 0));
    for (name, message) in embedding(&message(&[5; 20])) {
        let frames: Vec<_> = tgm_core::Message::parse(&message).unwrap().frames().map(Result::unwrap).collect();
        for frame in frames {
            let at = usize::try_from(frame.offset()).unwrap() + 8;
            for byte in at..at + 7 {
                for last in [&[][..], b"rubbish", &behind[..200]] {
                    let mut damaged = message.clone();
                    damaged[byte] ^= 0x40;
                    let bytes = [&damaged[..], &behind, last].concat();
                    let expected = MessageLayout { offset: message.len() as u64, length: behind.len() as u64 };
                    for (route, layouts) in found(&path, &bytes, byte == at) {
                        assert!(layouts.contains(&expected), "{name}, byte {byte}, {} after: {route}", last.len());
                    }
                }
            }
        }
    }
}

#[test]
fn an_appender_writes_small_messages_together_and_large_ones_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.tgm");
    for sync in [false, true] {
        let how = AppendOptions { sync, ..AppendOptions::default() };
        let mut messages: Vec<_> = (0..300).map(|number| message(&data(1, number))).collect();
        messages.insert(7, message(&vec![9; 300_000]));
        messages.insert(9, message(&messages[..3].concat()));
        let mut file = TensogramFile::create(&path).unwrap();
        let mut appender = file.appender(&how).unwrap();
        let mut layouts = Vec::new();
        for message in &messages {
            layouts.push(appender.append_message(message).unwrap());
        }
        let written = fs::metadata(&path).unwrap().len();
        assert!(written > 300_000 && written < messages.concat().len() as u64, "the last messages wait");
        appender.flush().unwrap();
        assert_eq!(fs::read(&path).unwrap(), messages.concat());
        let dropped = appender.append_message(&messages[0]).unwrap();
        drop(appender);
        layouts.push(dropped);
        assert_eq!(file.message_layouts().unwrap(), layouts);
        assert_eq!(TensogramFile::open(&path).unwrap().message_layouts().unwrap(), layouts);
        let more = file.append_all(&messages, &how).unwrap();
        assert_eq!(file.message_layouts().unwrap(), [layouts, more].concat());
        assert_eq!(TensogramFile::open(&path).unwrap().message_count().unwrap(), 2 * messages.len() + 1);
    }
}

#[test]
fn an_append_goes_to_the_file_that_is_at_the_path_now() {
    let dir = tempfile::tempdir().unwrap();
    let (path, new) = (dir.path().join("file.tgm"), dir.path().join("new.tgm"));
    let (one, two) = (message(&[1; 20]), message(&[2; 30]));
    let mut file = TensogramFile::create(&path).unwrap();
    file.append_message(&one, &AppendOptions::default()).unwrap();
    fs::write(&new, &two).unwrap();
    fs::rename(&new, &path).unwrap();
    file.append_message(&one, &AppendOptions::default()).unwrap();
    assert_eq!(fs::read(&path).unwrap(), [&*two, &*one].concat());
    // Another program shortens the file, and leaves a torn message of the same length.
    fs::write(&path, [&*two, &one[..40]].concat()).unwrap();
    assert!(file.append_message(&one, &AppendOptions::default()).is_err());
    file.append_message(&one, &REPAIRING).unwrap();
    assert_eq!(fs::read(&path).unwrap(), [&*two, &*one].concat());
    fs::remove_file(&path).unwrap();
    assert!(file.append_message(&one, &AppendOptions::default()).is_err());
}

#[test]
fn threads_and_handles_append_in_groups_and_each_message_is_there_when_its_call_returns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.tgm");
    for sync in [false, true] {
        TensogramFile::create(&path).unwrap();
        let how = AppendOptions { sync, ..AppendOptions::default() };
        let shared = GroupAppender::open(&path, &how).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..6_u8 {
                let (path, how, shared) = (&path, &how, &shared);
                scope.spawn(move || {
                    // Two of the threads have handles of their own.
                    let apart = (writer < 2).then(|| GroupAppender::open(path, how).unwrap());
                    let appender = apart.unwrap_or_else(|| shared.clone());
                    for number in 0..40 {
                        // A message by itself among those in groups.
                        if writer == 0 && number % 10 == 0 {
                            appender.append_message(&message(&message(&[3; 30]))).unwrap();
                        }
                        let message = message(&data(writer, number));
                        let layout = appender.append_message(&message).unwrap();
                        let mut there = vec![0; message.len()];
                        TensogramFile::open(path).unwrap().read_at(layout.offset, &mut there).unwrap();
                        assert!(there == message);
                    }
                });
            }
        });
        let file = TensogramFile::open(&path).unwrap();
        assert_eq!((file.message_count().unwrap(), file.torn_tail().unwrap()), (6 * 40 + 4, None));
        // An error reaches the call, and the next one works.
        let appender = GroupAppender::open(&path, &how).unwrap();
        assert!(appender.append_message(b"no message").is_err());
        let whole = fs::read(&path).unwrap();
        fs::write(&path, [&*whole, b"torn"].concat()).unwrap();
        let error = appender.append_message(&message(&[1])).unwrap_err();
        assert!(matches!(&error, TensogramError::Framing(reason) if reason.contains("torn tail")), "{error}");
        fs::write(&path, whole).unwrap();
        appender.append_message(&message(&[1])).unwrap();
    }
}

/// Not a test: the tests below run this in child processes. It does nothing without their environment variables.
#[test]
fn writer() {
    let (Some(path), Some(writer)) = (env::var_os(FILE), env::var_os(WRITER)) else { return };
    let writer: u8 = writer.to_str().unwrap().parse().unwrap();
    let mut file = TensogramFile::open(path).unwrap();
    let mut out = std::io::stdout().lock();
    for number in 0_u64.. {
        file.append_message(&message(&data(writer, number)), &REPAIRING).unwrap();
        if writeln!(out, "written {number}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

fn start(path: &Path, writer: u8) -> std::process::Child {
    Command::new(env::current_exe().unwrap())
        .args(["append::writer", "--exact", "--nocapture"])
        .env(FILE, path)
        .env(WRITER, writer.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The number in the next acknowledgement.
fn acknowledged(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> Option<u64> {
    let number = |line: String| line.rsplit_once("written ").and_then(|(_, number)| number.parse().ok());
    lines.find_map(|line| line.ok().and_then(number))
}

#[test]
fn acknowledged_messages_survive_a_killed_writer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.tgm");
    let mut rng = Rng(1);
    let mut expected = 0;
    TensogramFile::create(&path).unwrap();
    for round in 0..25 {
        let mut child = start(&path, round);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let wanted = rng.below(40);
        let mut last = None;
        for _ in 0..=wanted {
            last = acknowledged(&mut lines);
        }
        std::thread::sleep(std::time::Duration::from_micros(rng.below(400)));
        child.kill().unwrap();
        child.wait().unwrap();
        // Some more may have been acknowledged before the end.
        while let Some(number) = acknowledged(&mut lines) {
            last = Some(number);
        }
        let last = last.expect("the writer wrote");
        let contents = contents(&path);
        let of_this_round = contents.iter().filter(|(writer, _)| *writer == round).count() as u64;
        assert!(of_this_round > last, "round {round}: {last} acknowledged, {of_this_round} found");
        assert!(of_this_round <= last + 2, "at most one message more than acknowledged");
        expected += of_this_round;
        assert_eq!(contents.len() as u64, expected, "earlier rounds are still there");
    }
}

#[test]
fn two_writers_do_not_interleave() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.tgm");
    TensogramFile::create(&path).unwrap();
    let mut children = [start(&path, 1), start(&path, 2)];
    for child in &mut children {
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        while acknowledged(&mut lines).is_some_and(|number| number < 150) {}
    }
    for child in &mut children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let contents = contents(&path);
    for writer in [1, 2] {
        let numbers: Vec<u64> = contents.iter().filter(|(of, _)| *of == writer).map(|(_, number)| *number).collect();
        assert!(numbers.len() > 150);
        assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "each writer's messages are there in order");
    }
}

/// The bytes that a file has at the call. Bytes appended while it is read are left out: otherwise the copy could hold a
/// message after one that was still incomplete when it was read.
fn snapshot(path: &Path) -> Vec<u8> {
    let file = fs::File::open(path).unwrap();
    let len = file.metadata().unwrap().len();
    let mut bytes = Vec::new();
    file.take(len).read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_reader_sees_only_whole_messages_while_another_process_writes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.tgm");
    TensogramFile::create(&path).unwrap();
    let mut child = start(&path, 3);
    let mut seen = 0;
    while seen < 200 {
        let bytes = snapshot(&path);
        let messages = tgm_std::scan(&bytes);
        for (number, (offset, len)) in messages.iter().enumerate() {
            let verifying = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
            let (_, objects) = decode(&bytes[*offset..offset + len], &verifying).unwrap();
            assert!(objects[0].1 == data(3, number as u64), "message {number} is the next one");
        }
        assert!(messages.len() >= seen, "messages do not go away");
        // This opens the file after the snapshot was taken, so it holds at least the same messages.
        let contents = contents(&path);
        assert!(contents.iter().map(|(_, number)| *number).eq(0..contents.len() as u64), "no message is left out");
        assert!(contents.len() >= messages.len());
        seen = contents.len();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
