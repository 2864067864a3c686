//! `tgm convert`: GRIB files to Tensogram files and back.

use std::fs;

use crate::corpus::data;
use crate::edits::Folder;
use crate::tool::{Run, tgm};

fn sample(name: &str) -> Vec<u8> {
    fs::read(data(&format!("../data-grib/{name}.grib2"))).unwrap()
}

fn convert(input: &str, output: &str, more: &[&str]) -> Run {
    tgm(["convert", input, "-o", output].iter().chain(more))
}

/// The samples in one file, converted.
fn converted(folder: &Folder, names: &[&str]) -> (String, Vec<u8>) {
    let bytes = names.iter().map(|name| sample(name)).collect::<Vec<_>>().concat();
    let (grib, tensogram) = (folder.file("in.grib2", &bytes), folder.path("out.tgm"));
    convert(&grib, &tensogram, &[]).good();
    (tensogram, bytes)
}

const NAMES: [&str; 5] = ["simple-12", "ccsds-16", "bitmap-ccsds-12", "fields-bitmap", "two-messages"];

#[test]
fn files_return_to_the_byte_and_formats_are_found_by_content_and_name() {
    let folder = Folder::new();
    let (tensogram, original) = converted(&folder, &NAMES);
    for (more, name) in [(&[][..], "back"), (&["--to", "grib2"], "back.any"), (&["--from", "tgm"], "back.grb")] {
        let back = folder.path(name);
        convert(&tensogram, &back, more).good();
        assert!(fs::read(&back).unwrap() == original, "{name}");
    }
    let run = convert(&tensogram, &folder.path("x"), &["--to", "tgm"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("has the wanted format already"), "{}", run.stderr);
    let run = convert(&folder.file("none", b"none"), &folder.path("x"), &[]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("--from"), "{}", run.stderr);
}

#[test]
fn other_commands_in_between_keep_the_way_back() {
    let folder = Folder::new();
    let (tensogram, original) = converted(&folder, &NAMES);
    let (again, back) = (folder.path("again.tgm"), folder.path("back.grib2"));
    tgm(["copy", &tensogram, &again]).good();
    convert(&again, &back, &[]).good();
    assert!(fs::read(&back).unwrap() == original);
}

#[test]
fn stages_apply_to_grib_and_lossless_ones_keep_the_way_back() {
    let folder = Folder::new();
    let grib = folder.file("in.grib2", &NAMES.iter().flat_map(|name| sample(name)).collect::<Vec<_>>());
    let (made, back) = (folder.path("out.tgm"), folder.path("back.grib2"));
    let routes: [&[&str]; 4] = [
        &["--compression", "szip"],
        &["--filter", "shuffle", "--compression", "zstd"],
        &["--encoding", "none", "--compression", "lz4"],
        &["--best"],
    ];
    for flags in routes {
        convert(&grib, &made, flags).good();
        convert(&made, &back, &[]).good();
        assert!(fs::read(&back).unwrap() == fs::read(&grib).unwrap(), "{flags:?}");
    }
    let run = convert(&grib, &made, &["--bits", "8", "--decimal-scale", "3"]).good();
    assert!(run.stderr.contains(" objects: the greatest error is "), "{}", run.stderr);
    let run = convert(&made, &back, &[]);
    assert!(run.code == Some(1) && run.stderr.contains("GRIB section 5 cannot give its values"), "{}", run.stderr);
}

#[test]
fn converted_fields_are_found_by_their_parameter() {
    let folder = Folder::new();
    let (tensogram, _) = converted(&folder, &["simple-12", "mercator"]);
    let found = |condition: &str| {
        let run = tgm(["ls", "--json", "-w", condition, "-p", "mars.param", &tensogram]).good();
        String::from_utf8(run.stdout).unwrap().matches("\"mars.param\":\"t\"").count()
    };
    assert_eq!((found("mars.param=t"), found("mars.param=u")), (2, 0));
}

#[cfg(feature = "codecs")]
#[test]
fn other_compression_in_between_keeps_the_way_back() {
    let folder = Folder::new();
    let (tensogram, original) = converted(&folder, &NAMES);
    let (again, back) = (folder.path("again.tgm"), folder.path("back.grib2"));
    let run = tgm(["repack", &tensogram, "-o", &again, "--compression", "lz4"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    convert(&again, &back, &[]).good();
    assert!(fs::read(&back).unwrap() == original);
}

#[test]
fn bytes_between_messages_and_refused_messages_are_reported_and_the_others_converted() {
    let folder = Folder::new();
    let mut refused = sample("simple-12");
    // The reference value of section 5, which begins at 143, becomes NaN.
    refused[154..158].fill(0xff);
    let parts = [&b"heading\r\n"[..], &sample("simple-8"), &refused, b"\0\0\0", &sample("constant")];
    let (grib, tensogram, back) =
        (folder.file("in", &parts.concat()), folder.path("out.tgm"), folder.path("back.grib2"));
    let run = convert(&grib, &tensogram, &[]);
    assert_eq!(run.code, Some(1));
    for text in
        ["9 bytes at offset 0 belong to no GRIB message", "GRIB message 1 at 684", "reference value", "3 bytes at"]
    {
        assert!(run.stderr.contains(text), "{text}: {}", run.stderr);
    }
    convert(&tensogram, &back, &[]).good();
    assert!(fs::read(&back).unwrap() == [sample("simple-8"), sample("constant")].concat());
}

#[test]
fn messages_are_chosen_by_their_keys_and_added_to_a_file() {
    let folder = Folder::new();
    let (member, old) = (sample("ensemble-rotated"), sample("edition-1-era5"));
    let grib = folder.file("in.grib", &[sample("simple-8"), member.clone(), old.clone()].concat());
    let (tensogram, back) = (folder.path("out.tgm"), folder.path("back.grib"));
    let written = || {
        convert(&tensogram, &back, &[]).good();
        fs::read(&back).unwrap()
    };
    convert(&grib, &tensogram, &["-w", "grib.perturbationNumber=7"]).good();
    assert!(written() == member);
    let run = convert(&grib, &tensogram, &["-w", "grib.perturbationNumber=8"]);
    assert!(run.code == Some(1) && written() == member, "{}", run.stderr);
    convert(&folder.file("old.grib", &old), &tensogram, &["--append"]).good();
    assert!(written() == [member.clone(), old.clone()].concat());
    convert(&grib, &tensogram, &["--append", "-w", "grib.perturbationNumber=7"]).good();
    assert!(written() == [member.clone(), old, member].concat());
    // To other formats too, but of arrays there is nothing to choose from.
    let run = convert(&tensogram, &folder.path("x.npz"), &["-w", "grib.perturbationNumber=7"]);
    assert!(run.code == Some(0) && !run.stderr.contains("message 1"), "{}", run.stderr);
    let array = folder.file("x.csv", b"a,b\n1,2\n");
    for (input, output, more) in
        [(&array, "y.tgm", "--where=a=1"), (&grib, "y.kerchunk", "-wa=1"), (&tensogram, "y.grib2", "--append")]
    {
        let more = if output == "y.kerchunk" { vec![more, "--to", "kerchunk"] } else { vec![more] };
        assert_eq!(convert(input, &folder.path(output), &more).code, Some(2), "{output}");
    }
}

#[test]
fn lost_and_damaged_messages_are_reported_on_the_way_back() {
    let folder = Folder::new();
    let (tensogram, bytes) = converted(&folder, &["simple-8", "simple-12", "constant"]);
    // Then a payload has the bytes of GRIB.
    convert(&folder.file("kept.grib2", &bytes), &tensogram, &["--keep-stages"]).good();
    let good = fs::read(&tensogram).unwrap();
    let junk = folder.file("junk.tgm", &[&[7; 37], &good[..]].concat());
    let back = folder.path("back.grib2");
    let run = convert(&junk, &back, &["--from", "tgm"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("37 bytes at offset 0 belong to no message"), "{}", run.stderr);
    assert!(fs::read(&back).unwrap() == [sample("simple-8"), sample("simple-12"), sample("constant")].concat());

    let payload = sample("simple-12");
    let payload = &payload[payload.len() - 400..payload.len() - 100];
    let mut damaged = good.clone();
    let place = damaged.windows(payload.len()).position(|window| window == payload).unwrap();
    damaged[place] ^= 1;
    let damaged = folder.file("damaged.tgm", &damaged);
    let run = convert(&damaged, &back, &[]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("message 1: hash mismatch"), "{}", run.stderr);
    assert!(fs::read(&back).unwrap() == [sample("simple-8"), sample("constant")].concat());
    convert(&damaged, &back, &["--ignore-hash"]).good();
    assert_eq!(fs::metadata(&back).unwrap().len(), 675 + 923 + 179);
}

#[test]
fn a_decimal_scale_and_added_metadata_are_told() {
    let folder = Folder::new();
    let (grib, tensogram, back) =
        (folder.file("in.grib2", &sample("decimal-2")), folder.path("out.tgm"), folder.path("back.grib2"));
    let run = convert(&grib, &tensogram, &[]);
    let told = "1 fields have a decimal scale: values may differ by rounding, at most";
    assert!(run.stderr.starts_with(told), "{}", run.stderr);
    let noted = folder.path("noted.tgm");
    tgm(["set", "-s", "extra.run=7", &tensogram, &noted]).good();
    let run = convert(&noted, &back, &[]);
    assert!(run.code == Some(0) && run.stderr.contains("message 0: not kept: extra.run"), "{}", run.stderr);
    assert!(fs::read(&back).unwrap() == sample("decimal-2"));
}

#[cfg(feature = "grib")]
#[test]
fn pictures_are_kept_unless_told_otherwise() {
    let folder = Folder::new();
    let (tensogram, original) = converted(&folder, &["png", "groups-2", "simple-12"]);
    let back = folder.path("back.grib2");
    convert(&tensogram, &back, &[]).good();
    assert!(fs::read(&back).unwrap() == original);
    let (grib, smaller) = (folder.file("in.grib2", &original), folder.path("smaller.tgm"));
    let run = convert(&grib, &smaller, &["--drop-original"]);
    let told = "1 fields were pictures: back in GRIB they have simple packing of the same values";
    assert!(run.code == Some(0) && run.stderr.contains(told), "{}", run.stderr);
    let sum =
        |file: &str| tgm(["digest", "--json", file]).good().text().split("\"messages\"").last().map(str::to_string);
    convert(&smaller, &back, &[]).good();
    let again = folder.path("again.tgm");
    convert(&back, &again, &[]).good();
    assert_eq!(sum(&again), sum(&smaller));
}

/// What comes from GRIB lies where its grid says.
#[test]
fn values_of_grids_without_columns_have_places() {
    let folder = Folder::new();
    let (tensogram, _) = converted(&folder, &["reduced_gg_pl_32"]);
    let text = tgm(["cat", "--csv", &tensogram]).good().text().to_string();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("dim0,latitude,longitude,value"));
    assert!(lines.next().unwrap().starts_with("0,87.863798839"), "{text}");
    assert_eq!(lines.count(), 6113);
    let run = tgm(["cat", "--nearest", "-87.9,341", &tensogram]).good();
    assert!(run.text().lines().nth(1).unwrap().starts_with("6113,-87.8637"), "{}", run.text());
    let plain = tgm(["stats", "--json", &tensogram]).good().json();
    let weighed = tgm(["stats", "--json", "--weigh-latitudes", &tensogram]).good().json();
    let mean = |run: &serde_json::Value| run["messages"][0]["objects"][0]["mean"].as_f64().unwrap();
    let difference = (mean(&plain) - mean(&weighed)).abs();
    assert!((1e-6..10.0).contains(&difference), "{difference}");
    // The values of a row share its band, which goes to the middle between two rows.
    let rows = text.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse::<f64>().unwrap()).collect());
    let rows: Vec<Vec<f64>> = rows.collect();
    let means = rows.chunk_by(|one, other| one[1].to_bits() == other[1].to_bits()).map(|row| {
        let count = f64::from(u32::try_from(row.len()).unwrap());
        (row[0][1], row.iter().map(|cells| cells[3]).sum::<f64>() / count)
    });
    let means: Vec<(f64, f64)> = means.collect();
    let ends = |one: f64, other: f64| f64::midpoint(one, other).to_radians().sin();
    let (first, last) = (means[0].0, means[63].0);
    let mut bounds = vec![ends(first, 2.0 * first - means[1].0)];
    bounds.extend(means.windows(2).map(|pair| ends(pair[0].0, pair[1].0)));
    bounds.push(ends(last, 2.0 * last - means[62].0));
    let means: Vec<(f64, f64)> =
        means.iter().zip(bounds.windows(2)).map(|((_, mean), band)| (band[0] - band[1], *mean)).collect();
    let weight: f64 = means.iter().map(|(weight, _)| weight).sum();
    let expected = means.iter().map(|(weight, mean)| weight * mean).sum::<f64>() / weight;
    assert!(means.len() == 64 && (mean(&weighed) - expected).abs() < 1e-9 * expected.abs(), "{expected} {weighed}");
    let (lambert, _) = converted(&folder, &["lambert"]);
    let run = tgm(["cat", "--nearest", "41.61,-72.44", &lambert]).good();
    assert!(run.text().lines().nth(1).unwrap().starts_with("0,0,41.6129"), "{}", run.text());
    assert_eq!(tgm(["cat", "--nearest", "0,0", &lambert]).code, Some(1));
}
