//! A catalogue of a file on a server: which version of the file it is of.

use std::fs;
use std::time::{Duration, SystemTime};

use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::edits::Folder;
use crate::loopback::{Blob, Server};
use crate::tool::{Run, tgm};

/// Messages with these names.
fn messages(names: &[&str]) -> Vec<u8> {
    let message = |name: &&str| {
        let values = vec![1.5_f32; 20_000];
        let object = ObjectBuilder::new(&[values.len() as u64], &values).unwrap().metadata("name", *name);
        MessageBuilder::new().object(object).encode().unwrap()
    };
    names.iter().flat_map(message).collect()
}

/// How a server names the version of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Naming {
    Strong,
    Weak,
    BeyondAscii,
    Time,
    /// The tag is longer than a catalogue takes in.
    Long,
    Nothing,
}

impl Naming {
    const ALL: [Self; 6] = [Self::Strong, Self::Weak, Self::BeyondAscii, Self::Time, Self::Long, Self::Nothing];

    /// Whether a catalogue can know the version again.
    fn tells(self) -> bool {
        !matches!(self, Self::Long | Self::Nothing)
    }

    fn blob(self, bytes: &[u8], version: u8) -> Blob {
        let blob = Blob::new(bytes);
        match self {
            Self::Strong => blob.etag(&format!("\"{version}\"")),
            Self::Weak => blob.etag(&format!("W/\"{version}\"")),
            Self::BeyondAscii => blob.etag(&format!("\"é{version}\"")),
            Self::Time => blob.last_modified(&format!("Fri, 27 Nov 2020 03:00:0{version} GMT")),
            Self::Long => blob.etag(&format!("\"{version}{}\"", "a".repeat(300))),
            Self::Nothing => blob,
        }
    }
}

/// What `ls -w name=b` lists with the catalogue: the numbers of messages, and what was said of the catalogue.
fn listed(address: &str, catalog: &str) -> (Vec<u64>, String) {
    let Run { stdout, stderr, .. } = tgm(["ls", "--json", "-w", "name=b", "--catalog", catalog, address]);
    let listed: serde_json::Value = serde_json::from_slice(&stdout).unwrap();
    let numbers = listed["messages"].as_array().unwrap().iter().map(|message| message["message"].as_u64().unwrap());
    (numbers.collect(), stderr)
}

fn checked(address: &str, catalog: &str) -> String {
    tgm(["catalog", "--check", address, "--catalog", catalog]).text().to_string()
}

#[test]
fn a_catalogue_of_an_address_is_fresh_stale_or_said_not_to_be_checked() {
    let folder = Folder::new();
    let [one, two, three, four, five] = ["a", "b", "a", "a", "b"].map(|name| messages(&[name]));
    let before = [&one[..], &two, &three, &four].concat();
    let edited = [&one[..], &three, &two, &four].concat();
    let grown = [&before[..], &five].concat();
    assert_eq!(before.len(), edited.len());
    for naming in Naming::ALL {
        let server = Server::with("/f.tgm", naming.blob(&before, 1));
        let (address, catalog) = (server.url("/f.tgm"), folder.path("f.catalog"));
        tgm(["catalog", "-k", "name", &address, "-o", &catalog]).good();
        assert!(!fs::read(&catalog).unwrap().windows(9).any(|part| part == b"127.0.0.1"), "no address is in it");

        let is_said = |said: &str| if naming.tells() { said.is_empty() } else { said.contains("not checked") };
        server.take_log();
        let (numbers, said) = listed(&address, &catalog);
        assert!(numbers == [1] && is_said(&said), "{naming:?} {said}");
        let requests = server.take_log().len();
        assert!(requests <= 2 || !naming.tells(), "{naming:?}: {requests} requests");
        assert!(checked(&address, &catalog).contains(": fresh; "), "{naming:?}");
        assert!(tgm(["catalog", "--update", &address, "--catalog", &catalog]).good().text().contains("0 new"));

        // The same bytes were put there anew.
        server.put("/f.tgm", naming.blob(&before, 2));
        let (numbers, said) = listed(&address, &catalog);
        assert!(numbers == [1] && is_said(&said), "{naming:?} {said}");

        // An edit of the middle that keeps the length and the ends.
        server.put("/f.tgm", naming.blob(&edited, 3));
        let (numbers, said) = listed(&address, &catalog);
        if naming.tells() {
            assert!(numbers == [2] && said.contains("stale"), "{naming:?} {numbers:?} {said}");
        } else {
            assert!(said.contains("not checked"), "{naming:?} {said}");
        }
        assert!(checked(&address, &catalog).contains("stale"), "{naming:?}");

        server.put("/f.tgm", naming.blob(&grown, 4));
        let (numbers, said) = listed(&address, &catalog);
        assert!(numbers == [1, 4] && is_said(&said), "{naming:?} {numbers:?} {said}");
        assert!(checked(&address, &catalog).contains("grown"), "{naming:?}");
        let updated = tgm(["catalog", "--update", &address, "--catalog", &catalog]).good();
        assert!(updated.text().contains("1 new"), "{naming:?} {}", updated.text());
        let (numbers, said) = listed(&address, &catalog);
        assert!(numbers == [1, 4] && is_said(&said), "{naming:?} {numbers:?} {said}");
    }
}

/// A server may weaken the tag of the same version, and a file may have been catalogued before it was put on a server.
#[test]
fn a_weakened_tag_is_of_the_same_version_and_a_catalogue_of_the_local_file_is_not_checked() {
    let folder = Folder::new();
    let bytes = messages(&["a", "b", "a"]);
    let server = Server::with("/f.tgm", Naming::Strong.blob(&bytes, 1));
    let (address, catalog) = (server.url("/f.tgm"), folder.path("f.catalog"));
    tgm(["catalog", "-k", "name", &address, "-o", &catalog]).good();
    server.put("/f.tgm", Naming::Weak.blob(&bytes, 1));
    assert_eq!(listed(&address, &catalog), (vec![1], String::new()));

    let local = folder.file("f.tgm", &bytes);
    set_age(&local, 10);
    tgm(["catalog", "-k", "name", &local]).good();
    let (numbers, said) = listed(&address, &folder.path("f.tgm.catalog"));
    assert!(numbers == [1] && said.contains("not checked"), "{said}");
    // With its time of change it is known, by what three servers tell. An edit of the middle with another time is not.
    let changed = fs::metadata(&local).unwrap().modified().unwrap();
    let changed = changed.duration_since(std::time::UNIX_EPOCH).unwrap();
    let (seconds, size) = (changed.as_secs(), bytes.len());
    for (tag, is_known) in [
        (format!("\"{seconds:x}-{size:x}\""), true),
        (format!("W/\"{seconds:x}-{size:x}\""), true),
        (format!("\"{size:x}-{:x}\"", changed.as_micros()), true),
        (format!("\"{:x}-{size:x}\"", seconds + 1), false),
    ] {
        server.put("/f.tgm", Blob::new(&bytes[..]).etag(&tag));
        server.take_log();
        let (numbers, said) = listed(&address, &folder.path("f.tgm.catalog"));
        assert_eq!((numbers, said.is_empty()), (vec![1], is_known), "{tag} {said}");
        assert!(!is_known || server.take_log().len() <= 2, "{tag}");
    }
    // A copy of the file on a server, which was catalogued there.
    assert_eq!(listed(&local, &catalog), (vec![1], String::new()));
}

/// Sets the time of change of a file to so many seconds before now.
fn set_age(path: &str, seconds: u64) {
    let changed = SystemTime::now() - Duration::from_secs(seconds);
    fs::File::options().write(true).open(path).unwrap().set_modified(changed).unwrap();
}

/// A second since 1970 as servers write it.
fn date(second: u64) -> String {
    let (days, clock) = (second / 86_400, second % 86_400);
    let mut left = i64::try_from(days).unwrap();
    let length = |year: i64| if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) { 366 } else { 365 };
    let mut year = 1970;
    while left >= length(year) {
        left -= length(year);
        year += 1;
    }
    let february = length(year) - 337;
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut month = 0;
    while left >= months[month] {
        left -= months[month];
        month += 1;
    }
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][usize::try_from(days % 7).unwrap()];
    let (name, hour, minute) = (names[month], clock / 3600, clock / 60 % 60);
    format!("{weekday}, {:02} {name} {year} {hour:02}:{minute:02}:{:02} GMT", left + 1, clock % 60)
}

/// Servers tell times in whole seconds: what is edited twice within one looks the same.
#[test]
fn an_edit_within_the_second_of_the_catalogue_does_not_pass_as_fresh() {
    let folder = Folder::new();
    let [one, two] = ["a", "b"].map(|name| messages(&[name]));
    let (before, edited) = ([&one[..], &two, &one, &one].concat(), [&one[..], &one, &two, &one].concat());
    let (local, size) = (folder.file("f.tgm", &before), before.len());
    for (age, is_known) in [(0, false), (100, true)] {
        for of_server in [false, true] {
            for is_tag in [false, true] {
                // Each time anew: a machine under load may take a second for what follows.
                set_age(&local, age);
                let changed = fs::metadata(&local).unwrap().modified().unwrap();
                let second = changed.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
                let tag = format!("\"{second:x}-{size:x}\"");
                let blob = |bytes: &[u8]| {
                    if is_tag { Blob::new(bytes).etag(&tag) } else { Blob::new(bytes).last_modified(&date(second)) }
                };
                let server = Server::with("/f.tgm", blob(&before));
                let (address, catalog) = (server.url("/f.tgm"), folder.path("g.catalog"));
                tgm(["catalog", "-k", "name", if of_server { &address } else { &local }, "-o", &catalog]).good();
                let case = format!("{age} {of_server} {is_tag}");
                let (numbers, said) = listed(&address, &catalog);
                assert_eq!((numbers, said.is_empty()), (vec![1], is_known), "{case}: {said}");
                if !is_known {
                    server.put("/f.tgm", blob(&edited));
                    assert!(listed(&address, &catalog).1.contains("not checked"), "{case}");
                    assert!(checked(&address, &catalog).contains("stale"), "{case}");
                    let updated = tgm(["catalog", "--update", &address, "--catalog", &catalog]);
                    assert!(updated.code != Some(0) && updated.stderr.contains("build it anew"), "{case}");
                }
            }
        }
    }
}
