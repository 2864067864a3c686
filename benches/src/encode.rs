//! Encoding of messages: buffered, streamed, small, packed.

use std::hint::black_box;
use std::io;

use twox_hash::XxHash3_64;
use zerocopy::IntoBytes;

use crate::Bench;
use crate::data;
use crate::harness::{Bound, Case};
use crate::libraries::{Dtype, Spec, encode_into, first, ours, reference};
use crate::szip::parameters;

pub fn run(bench: &mut Bench) {
    plain(bench);
    small(bench);
    let field = data::field(bench.size(16 << 20, 1 << 18));
    for bits in [8, 12, 16, 24] {
        packed(
            bench,
            &Spec::packed(field.len(), bits),
            &format!("{bits} bits"),
            field.as_bytes(),
            (bits == 16).then_some(12.0),
        );
    }
    for bits in [16, 24] {
        let spec = Spec::packed(field.len(), bits).szip();
        packed(bench, &spec, &format!("{bits} bits, szip"), field.as_bytes(), Some(4.0));
    }
}

/// 64 MiB of float32 without encoding or compression.
fn plain(bench: &mut Bench) {
    let values = data::field_f32(bench.size(16 << 20, 1 << 18));
    let bytes = values.as_bytes();
    let spec = Spec::new(Dtype::Float32, values.len());
    assert!(ours::object(&reference::encode_one(&spec, bytes), 0) == bytes);
    assert!(reference::object(&ours::encode_one(&spec, bytes), 0) == bytes);

    let mut warm = vec![1_u8; bytes.len()];
    let (mut kept, options) = (Vec::new(), ours::EncodeOptions::default());
    let name = format!("float32, {} MiB", bytes.len() >> 20);
    let case = Case::new(format!("{name}, buffered"))
        .bytes(bytes.len())
        .row("us", || ours::encode_one(&spec, black_box(bytes)))
        .row("us, into a warm buffer", || encode_into(&spec, black_box(bytes), &options, &mut kept))
        .row("reference", || reference::encode_one(&spec, black_box(bytes)))
        .row("limit: memcpy, fresh, and xxh3", || (bytes.to_vec(), XxHash3_64::oneshot(black_box(bytes))))
        .row("limit: memcpy, warm, and xxh3", || {
            warm.copy_from_slice(black_box(bytes));
            XxHash3_64::oneshot(&warm)
        });
    bench.run(case);

    let finite = || black_box(&values).iter().fold(true, |all, value| all & value.is_finite());
    let case = Case::new(format!("{name}, streamed to a sink"))
        .bytes(bytes.len())
        .row("us", || {
            let options = ours::EncodeOptions::default();
            let mut encoder =
                ours::StreamingEncoder::new(io::sink(), &ours::GlobalMetadata::default(), &options).expect("begins");
            encoder.write_object(&ours::descriptor(&spec), black_box(bytes)).expect("writes");
            encoder.finish().expect("ends")
        })
        .row("reference", || {
            let options = reference::EncodeOptions::default();
            let metadata = reference::GlobalMetadata::default();
            let mut encoder = reference::StreamingEncoder::new(io::sink(), &metadata, &options).expect("begins");
            encoder.write_object(&reference::descriptor(&spec), black_box(bytes)).expect("writes");
            encoder.finish().expect("ends")
        })
        .row("limit: finite, and xxh3", || (finite(), XxHash3_64::oneshot(black_box(bytes))))
        .goal("P13", "us", Bound::Faster("limit: finite, and xxh3", 0.9))
        .goal("P13", "us", Bound::Peak(1 << 20));
    bench.run(case);
}

fn small(bench: &mut Bench) {
    let values = data::field_f32(256);
    let spec = Spec::new(Dtype::Float32, values.len());
    let provenance = Some(ours::Provenance::now());
    let given = ours::EncodeOptions { provenance, ..Default::default() };
    let (mut kept, options) = (Vec::new(), ours::EncodeOptions::default());
    let (descriptor, metadata) = (ours::descriptor(&spec), ours::GlobalMetadata::default());
    let case = Case::new("message of 1 KiB of float32")
        .row("us", || ours::encode_one(&spec, black_box(values.as_bytes())))
        .row("us, into a warm buffer", || encode_into(&spec, black_box(values.as_bytes()), &options, &mut kept))
        .row("us, descriptor at hand", || {
            ours::encode(&metadata, &[(&descriptor, black_box(values.as_bytes()))], &options).expect("encodes")
        })
        .row("us, builders", || {
            let object = ours::ObjectBuilder::new(&[values.len() as u64], black_box(&values)).expect("a shape");
            ours::MessageBuilder::new().object(object).encode().expect("encodes")
        })
        .row("us, time and uuid given", || ours::encode_with(&spec, black_box(values.as_bytes()), &given))
        .row("reference", || reference::encode_one(&spec, black_box(values.as_bytes())))
        .goal("P13", "us", Bound::Faster("reference", 10.0))
        .goal("P24", "us, descriptor at hand", Bound::Allocations(6));
    bench.run(case);
}

fn packed(bench: &mut Bench, spec: &Spec, name: &str, bytes: &[u8], factor: Option<f64>) {
    let message = ours::encode_one(spec, bytes);
    assert!(ours::object(&message, 0) == reference::object(&reference::encode_one(spec, bytes), 0));
    let room = message.len() as u64 + (1 << 20);
    let undigested = (
        ours::EncodeOptions { hashing: false, ..Default::default() },
        reference::EncodeOptions { hashing: false, ..Default::default() },
    );
    let coded = (spec.compression == "szip").then(|| {
        let object = first(&message);
        let (params, aec) = parameters(&object, spec.packed.expect("packed"));
        let mut samples = vec![0; spec.count * params.container_size()];
        aec.decode(object.payload(), &mut samples);
        (aec, samples)
    });
    let (mut kept, options) = (Vec::new(), ours::EncodeOptions::default());
    let (mut warm, mut room_for_aec) = (vec![1_u8; bytes.len()], vec![1_u8; bytes.len()]);
    let mut case = Case::new(format!("float64, {} MiB, {name}", bytes.len() >> 20))
        .bytes(bytes.len())
        .row("us", || ours::encode_one(spec, black_box(bytes)))
        .row("us, into a warm buffer", || encode_into(spec, black_box(bytes), &options, &mut kept))
        .row("us, no digest", || ours::encode_with(spec, black_box(bytes), &undigested.0))
        .row("reference", || reference::encode_one(spec, black_box(bytes)))
        .row("reference, no digest", || reference::encode_with(spec, black_box(bytes), &undigested.1))
        .row("limit: memcpy of the values", || warm.copy_from_slice(black_box(bytes)));
    if let Some((aec, samples)) = &coded {
        case = case.row("libaec alone, of packed samples", || aec.encode(black_box(samples), &mut room_for_aec));
    }
    if let Some(factor) = factor {
        case = case.goal("P12", "us", Bound::Faster("reference", factor)).goal("P12", "us", Bound::Peak(room));
    }
    bench.run(case);
}
