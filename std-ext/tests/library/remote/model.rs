//! The program of `doc/MODEL.md`, word for word.

use tgm_std::{Archive, Compress, DecodeOptions, MessageBuilder, ObjectBuilder, Picks, Writer};

use super::loopback::{Blob, Server};

fn program(address: &str, path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let archive = Archive::open(address)?;
    let found = archive.query(&"mars.param = 2t and mars.step = 24".parse()?)?;
    let field = found.first().ok_or("no such field")?;

    let picks = "40:60, 0:30".parse::<Picks>()?.resolve(field.shape().iter().copied())?;
    let checked = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
    let mut values = vec![0.0_f32; 20 * 30];
    field.read().select(&picks).options(&checked).values_into(&mut values)?;

    let mut writer = Writer::create(path)?;
    let object = ObjectBuilder::new(&[20, 30], &values)?.metadata("mars.param", "2t");
    writer.object(object.compress(Compress::Within(0.01))?)?;
    writer.finish()?;
    Ok(())
}

#[test]
fn the_program_of_the_page_is_this_one_and_runs() {
    let page = include_str!("../../../doc/MODEL.md").replace("\"https://example.org/forecast.tgm\"", "address");
    let page = page.replace("\"box.tgm\"", "path");
    let source = include_str!("model.rs");
    let body = source.split("std::error::Error>> {\n").nth(1).unwrap().split("    Ok(())").next().unwrap();
    assert!(body.lines().all(|line| page.lines().any(|other| other == line.trim_start())), "{body}");

    let steps = [0_u16, 24].map(|step| {
        let values: Vec<f32> = (0..100 * 60_u16).map(|n| 250.0 + f32::from(step) + f32::from(n) / 100.0).collect();
        let object = ObjectBuilder::new(&[100, 60], &values).unwrap();
        let object = object.metadata("mars.param", "2t").metadata("mars.step", step);
        MessageBuilder::new().object(object).encode().unwrap()
    });
    let server = Server::with("/forecast.tgm", Blob::new(steps.concat()));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("box.tgm");
    program(&server.url("/forecast.tgm"), path.to_str().unwrap()).unwrap();
    let written = Archive::open(&path).unwrap();
    let object = written.object(0, 0).unwrap();
    assert_eq!(object.descriptor().unwrap().encoding, "simple_packing");
    let values: Vec<f32> = object.read().values().unwrap();
    for (at, value) in values.iter().enumerate() {
        let place = u16::try_from((40 + at / 30) * 60 + at % 30).unwrap();
        assert!((value - (274.0 + f32::from(place) / 100.0)).abs() <= 0.0101, "{at}: {value}");
    }
}
