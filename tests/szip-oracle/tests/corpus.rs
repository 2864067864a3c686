//! Payloads of messages that the reference wrote decode to the values whose digests are recorded.

use std::fs;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};
use tgm_core::szip::{Formula, Params, RsiOffsets, Start, decode_into, decode_packed_with, flags};
use tgm_szip_oracle::{Config, decode};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../data");

/// The sidecars below `dir`, by name.
fn sidecars(dir: &Path, found: &mut Vec<Value>) {
    let mut paths: Vec<_> =
        fs::read_dir(dir).expect("the corpus").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            sidecars(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            let sidecar: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            if (sidecar["class"] == "valid" || sidecar["class"] == "quirk") && path.with_extension("tgm").exists() {
                let mut sidecar = sidecar;
                sidecar["path"] = path.with_extension("tgm").to_str().unwrap().into();
                found.push(sidecar);
            }
        }
    }
}

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().expect("an integer")).expect("a small one")
}

/// Bytes of an element, by the name of its type.
fn width(dtype: &str) -> usize {
    match dtype {
        "int8" | "uint8" => 1,
        "float16" | "bfloat16" | "int16" | "uint16" => 2,
        "float32" | "int32" | "uint32" => 4,
        "float64" | "complex64" | "int64" | "uint64" => 8,
        "complex128" => 16,
        "bitmask" => 0,
        other => panic!("{other}"),
    }
}

/// Undoes a shuffle of N elements: byte k of element i is at index k · N + i.
fn unshuffle(shuffled: &[u8], size: usize) -> Vec<u8> {
    let elements = shuffled.len() / size;
    (0..shuffled.len()).map(|at| shuffled[at % size * elements + at / size]).collect()
}

/// The payload of the data object frame `frame`, `None` if the descriptor is before it.
fn payload(frame: &[u8]) -> Option<&[u8]> {
    let end = frame.len();
    let cbor_offset = u64::from_be_bytes(frame[end - 20..end - 12].try_into().unwrap());
    (cbor_offset > 16).then(|| &frame[16..usize::try_from(cbor_offset).unwrap()])
}

/// Checks one object; returns whether its stored offsets are the true ones.
fn check(payload: &[u8], object: &Value, note: &str) -> bool {
    let descriptor = &object["descriptor"];
    let of = |key: &str| &descriptor["params"][key];
    let dtype = descriptor["dtype"].as_str().unwrap();
    let count: usize = descriptor["shape"].as_array().unwrap().iter().map(|n| number(n) as usize).product();
    let is_packed = descriptor["encoding"] == "simple_packing";
    let is_shuffled = descriptor["filter"] == "shuffle";
    let (bits, implied) = match (is_packed, is_shuffled) {
        (true, _) => (number(of("sp_bits_per_value")), flags::MSB),
        (false, true) => (8, 0),
        (false, false) => (8 * width(dtype) as u32, 0),
    };
    let flags = number(of("szip_flags")) | implied;
    let params = Params::new(bits, number(of("szip_block_size")), number(of("szip_rsi")), flags).expect(note);
    let len = match (is_packed, dtype) {
        (true, _) => (count * bits as usize).div_ceil(8),
        (false, "bitmask") => count.div_ceil(8),
        (false, _) => count * width(dtype),
    };
    let mut bytes = vec![0; len];
    if is_packed && bits % 8 != 0 {
        // The reference codes a dense stream as if it were samples, which loses bits: compare with libaec's bytes
        // alone.
        let config = Config { bits, block_size: params.block_size(), rsi: params.rsi(), flags };
        let mut theirs = vec![0; len];
        assert_eq!(decode(config, payload, &mut theirs), (0, len), "{note}");
        println!("{note}: {:?}, same {}", decode_into(payload, &params, &mut bytes), bytes == theirs);
        return true;
    }
    decode_into(payload, &params, &mut bytes).unwrap_or_else(|error| panic!("{note}: {error}"));

    let decoded = if is_packed {
        let power = |base: f64, key| base.powi(of(key).as_i64().unwrap() as i32);
        let scale = power(2.0, "sp_binary_scale_factor") * (1.0 / power(10.0, "sp_decimal_scale_factor"));
        let formula = Formula { reference: of("sp_reference_value").as_f64().unwrap(), scale };
        let mut values = vec![[0; 8]; count];
        decode_packed_with(payload, &params, Start::default(), formula, &mut values, f64::to_le_bytes).unwrap();
        let from_bytes: Vec<u8> = bytes
            .chunks(params.container_size())
            .map(|bytes| bytes.iter().fold(0, |all, &byte| all << 8 | u32::from(byte)))
            .flat_map(|q| formula.value(q).to_le_bytes())
            .collect();
        assert!(values.as_flattened() == from_bytes, "{note}");
        from_bytes
    } else {
        let unit = if dtype.starts_with("complex") { width(dtype) / 2 } else { width(dtype) };
        let element_size = of("shuffle_element_size").as_u64().unwrap_or(1) as usize;
        let mut bytes = if is_shuffled { unshuffle(&bytes, element_size) } else { bytes };
        if descriptor["byte_order"] == "big" {
            bytes.chunks_mut(unit.max(1)).for_each(<[u8]>::reverse);
        }
        bytes
    };
    let digest: String = Sha256::digest(&decoded).iter().map(|byte| format!("{byte:02x}")).collect();
    let decoded_of = |object: &Value| object["decoded"]["sha256"].as_str().map(str::to_owned);
    assert_eq!(Some(digest), decoded_of(object), "{note}");

    let samples = (len / params.container_size()) as u64;
    let offsets: Vec<u64> = RsiOffsets::new(payload, &params, samples).map(Result::unwrap).collect();
    let stored =
        of("szip_block_offsets").as_array().map(|all| all.iter().filter_map(Value::as_u64).collect::<Vec<_>>());
    stored.is_none_or(|stored| stored == offsets)
}

#[test]
fn payloads_of_the_reference_decode_to_their_values() {
    let mut all = Vec::new();
    sidecars(Path::new(DATA), &mut all);
    let (mut objects, mut wrong_offsets) = (0, Vec::new());
    for sidecar in &all {
        let bytes = fs::read(sidecar["path"].as_str().unwrap()).unwrap();
        for message in sidecar["messages"].as_array().into_iter().flatten() {
            let start = message["offset"].as_u64().unwrap_or_default() as usize;
            let frames = message["wire"]["frames"].as_array().into_iter().flatten().filter(|frame| frame["type"] == 9);
            let described = message["objects"].as_array().into_iter().flatten();
            for (frame, object) in frames.zip(described) {
                let has_masks = object["masks_cbor"].is_object();
                if object["descriptor"]["compression"] != "szip" || has_masks || object["decoded"].is_null() {
                    continue;
                }
                let at = start + frame["offset"].as_u64().unwrap() as usize;
                let frame = &bytes[at..at + frame["length"].as_u64().unwrap() as usize];
                let note = sidecar["file"].as_str().unwrap();
                let Some(payload) = payload(frame) else { continue };
                if !check(payload, object, note) {
                    wrong_offsets.push(note);
                }
                objects += 1;
            }
        }
    }
    println!("{objects} objects; stored offsets wrong in {wrong_offsets:?}");
    assert!(objects > 40, "{objects}");
}
