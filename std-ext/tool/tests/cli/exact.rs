//! Integers that a float would round are exact on each way into and out of the tool, or an error.

use serde_json::{Value as Json, json};

use crate::edits::Folder;
use crate::tool::{Run, tgm};

/// The greatest integer of 64 bits.
const MOST: &str = "18446744073709551615";
/// No float of 64 bits is equal to this.
const ODD: &str = "9007199254740993";
/// The values of the object.
const VALUES: [u64; 3] = [9_007_199_254_740_993, 9_007_199_254_740_995, u64::MAX];

/// A message of three integers, with the integers in its metadata.
fn sample(folder: &Folder) -> String {
    let raw = folder.file("values.raw", &VALUES.map(u64::to_le_bytes).concat());
    let path = folder.path("sample.tgm");
    let set = format!("name=v,most={MOST},list=[{ODD},1],extra.odd=-{ODD}");
    tgm(["create", "--raw", "u64,3,little", &raw, "-o", &path, "-s", &set]).good();
    path
}

fn shown(path: &str) -> Json {
    tgm(["get", "--json", "-p", "most,list,extra.odd", path]).good().json()["messages"][0]["values"].clone()
}

fn expected() -> Json {
    json!({"most": u64::MAX, "list": [9_007_199_254_740_993_u64, 1], "extra.odd": -9_007_199_254_740_993_i64})
}

fn digest(path: &str) -> Json {
    tgm(["digest", "--json", path]).good().json()["messages"][0]["objects"][0]["sha256"].clone()
}

#[test]
fn json_and_settings_become_exact_metadata() {
    let folder = Folder::in_memory();
    let sample = sample(&folder);
    assert_eq!(shown(&sample), expected());
    let out = folder.path("out.tgm");
    let raw = folder.path("values.raw");
    let described = format!("{{\"base\": {{\"most\": {MOST}, \"list\": [{ODD}, 1]}}, \"extra\": {{\"odd\": -{ODD}}}}}");
    let described = folder.file("described.json", described.as_bytes());
    tgm(["create", "--raw", "u64,3,little", &raw, "-o", &out, "--metadata", &described]).good();
    assert_eq!(shown(&out), expected());
    let set = format!("most={MOST},list=[{ODD}, 1],extra.odd=-{ODD}");
    for flags in [&["set", "-s"][..], &["set", "--json-values", "-s"]] {
        let bare = folder.path("bare.tgm");
        tgm(["create", "--raw", "u64,3,little", &raw, "-o", &bare]).good();
        tgm(flags.iter().copied().chain([&*set, &bare, &out])).good();
        assert_eq!(shown(&out), expected(), "{flags:?}");
    }
    // What is printed for the least integer of CBOR is read again.
    tgm(["set", "-s", "least=-18446744073709551616,same={\"$int\":\"-18446744073709551616\"}", &sample, &out]).good();
    let values = tgm(["get", "--json", "-p", "least,same", &out]).good().json()["messages"][0]["values"].clone();
    let least = json!({"$int": "-18446744073709551616"});
    assert_eq!(values, json!({"least": least, "same": least}));
}

#[test]
fn integers_beyond_64_bits_are_errors_that_name_them() {
    let folder = Folder::in_memory();
    let (sample, out, raw) = (sample(&folder), folder.path("out.tgm"), folder.path("values.raw"));
    let large = "18446744073709551616";
    let described = folder.file("large.json", format!("{{\"base\": {{\"a\": [{large}]}}}}").as_bytes());
    let set = format!("a={large}");
    let runs: [&[&str]; 4] = [
        &["set", "-s", &set, &sample, &out],
        &["set", "--json-values", "-s", &set, &sample, &out],
        &["create", "--raw", "u64,3,little", &raw, "-o", &out, "-s", &set],
        &["create", "--raw", "u64,3,little", &raw, "-o", &out, "--metadata", &described],
    ];
    for args in runs {
        let run = tgm(args);
        assert!(run.code != Some(0) && run.stderr.contains(large) && run.stderr.contains("64 bits"), "{}", run.stderr);
        assert!(!folder.names().contains(&"out.tgm".to_string()), "{args:?}");
    }
}

/// Commands and formats through which a message goes and comes back.
#[test]
fn values_and_metadata_are_exact_behind_every_command_that_writes() {
    let folder = Folder::in_memory();
    let sample = sample(&folder);
    let path = |name: &str| folder.path(name);
    let out = path("out.tgm");
    for args in [
        &["copy", &sample, "-o", &out][..],
        &["merge", &sample, "-o", &out],
        &["reshuffle", &sample, "-o", &out],
        &["repack", "--compression", "none", &sample, "-o", &out],
        &["set", "-s", "x=1", &sample, &out],
        &["split", &sample, "-o", &path("[index].tgm")],
    ] {
        tgm(args).good();
        let written = if args.contains(&"split") { path("0000.tgm") } else { out.clone() };
        let written = if std::fs::exists(&written).unwrap() { written } else { path("0.tgm") };
        assert_eq!((shown(&written), digest(&written)), (expected(), digest(&sample)), "{args:?}");
    }
    // Formats, with what they keep of the metadata.
    let mut formats = vec![("a.npy", false), ("a.csv", false)];
    for (is_in, name, keeps) in [
        (cfg!(feature = "npz"), "a.npz", false),
        (cfg!(feature = "safetensors"), "a.safetensors", false),
        (cfg!(feature = "zarr"), "a.zarr", true),
        (cfg!(feature = "netcdf"), "a.nc", true),
    ] {
        if is_in {
            formats.push((name, keeps));
        }
    }
    for (name, keeps) in formats {
        let (there, back) = (path(name), path(&format!("{name}.tgm")));
        tgm(["convert", &sample, "-o", &there]);
        tgm(["convert", &there, "-o", &back]).good();
        assert_eq!(digest(&back), digest(&sample), "{name}");
        if keeps {
            let dump = tgm(["dump", "--json", &back]).good();
            assert!(dump.text().contains(MOST) && dump.text().contains(&format!("[{ODD},1]")), "{name}");
        }
    }
}

#[test]
fn what_is_printed_and_compared_is_exact() {
    let folder = Folder::in_memory();
    let sample = sample(&folder);
    let texts: [(&[&str], &[&str]); 6] = [
        (&["cat"], &[ODD, MOST]),
        (&["cat", "--csv"], &[ODD, MOST]),
        (&["cat", "--format", "%.1f"], &["9007199254740993.0", "18446744073709551615.0"]),
        (&["stats"], &[ODD, "9007199254740995", MOST]),
        (&["get", "-p", "most,list,extra.odd"], &[ODD, MOST]),
        (&["dump"], &[ODD, MOST]),
    ];
    for (args, texts) in texts {
        let run = tgm(args.iter().copied().chain([&*sample])).good();
        for text in texts {
            assert!(run.text().contains(text), "{args:?}: {}", run.text());
        }
    }
    let stats = tgm(["stats", "--json", &sample]).good().json();
    let of_object = &stats["messages"][0]["objects"][0];
    for found in [of_object, &stats["all"]] {
        assert_eq!((&found["min"], &found["max"]), (&json!(VALUES[0]), &json!(VALUES[2])));
    }
    assert_eq!(of_object["quantiles"][0]["value"], json!(VALUES[1]));

    let other = folder.path("other.tgm");
    let raw = folder.file("other.raw", &[VALUES[0] - 1, VALUES[1], VALUES[2]].map(u64::to_le_bytes).concat());
    let set = format!("name=v,most={MOST},list=[{ODD},1],step=9007199254740992");
    tgm(["create", "--raw", "u64,3,little", &raw, "-o", &other, "-s", &set]).good();
    tgm(["set", "-s", &format!("step={ODD}"), &sample, &sample]).good();
    let run = tgm(["compare", "--json", "--tolerance", "step=0.5", &sample, &other]);
    let found: Vec<_> = run.json()["differences"].as_array().unwrap().clone();
    let of = |key: &str, value: &str| found.iter().find(|entry| entry[key] == value).cloned().unwrap_or_default();
    assert_eq!(of("key", "step")["a"], json!(VALUES[0]));
    let values = of("kind", "values");
    assert_eq!((&values["a"], &values["b"]), (&json!(VALUES[0]), &json!(VALUES[0] - 1)));
    assert!(tgm(["compare", &sample, &other]).text().contains("9007199254740993 and 9007199254740992"));

    let both = [&*sample, &*other];
    let ls = |more: &[&str]| -> Run { tgm(["ls", "--json"].iter().chain(more).copied().chain(both)).good() };
    let files = |run: &Run| -> Vec<bool> {
        let listed = run.json()["messages"].as_array().unwrap().clone();
        listed.iter().map(|message| message["file"] == *sample).collect()
    };
    assert_eq!(files(&ls(&["-w", "step>9007199254740992"])), [true]);
    assert_eq!(files(&ls(&["-w", "step=9007199254740992.0"])), [false]);
    assert_eq!(files(&ls(&["-B", "step"])), [false, true]);
    assert_eq!(files(&ls(&["-B", "step:desc"])), [true, false]);
    let catalog = folder.path("c.catalog");
    tgm(["catalog", &sample, "-k", "step", "-o", &catalog]).good();
    tgm(["ls", "-w", &format!("step={ODD}"), "--catalog", &catalog, &sample]).good();
}
