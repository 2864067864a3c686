//! Views over plain payloads give the values that decoding gives, by every method.

use tgm_core::Message;
use tgm_core::descriptor::ByteOrder;
use tgm_core::object::DataObject;
use tgm_core::tensor::{AnyView, BitView, Element, TensorView};
use zerocopy::IntoBytes;

/// The number of elements that are checked one by one.
const SOME: usize = 300;

/// Checks the objects of the message at the start of `bytes`.
pub fn check(bytes: &[u8]) {
    let Ok(message) = Message::parse(bytes) else { return };
    for object in message.objects().map_while(Result::ok).take(8) {
        let Ok(view) = object.view_any() else { continue };
        assert_eq!(view.as_bytes(), object.payload());
        assert_eq!(view.len() as u64, object.descriptor().element_count());
        assert_eq!(view.as_bytes().len() as u64, object.descriptor().decoded_len().expect("there is a view"));
        macro_rules! scalars {
            ($($name:ident)*) => {
                match view {
                    $(AnyView::$name(view) => tensor(&object, &view),)*
                    AnyView::Bitmask(view) => bits(&object, &view),
                }
            };
        }
        scalars!(Float16 Bfloat16 Float32 Float64 Complex64 Complex128 Int8 Int16 Int32 Int64 Uint8 Uint16 Uint32 Uint64);
    }
}

fn tensor<T: Element>(object: &DataObject<'_>, view: &TensorView<'_, T>) {
    let count = object.descriptor().element_count();
    let mut native = vec![0; view.as_bytes().len()];
    object.decode_into(0..count, ByteOrder::NATIVE, &mut native).expect("there is a view");
    let width = size_of::<T>();
    // Compared as bytes, where NaN is equal to itself.
    let same = |at: usize, value: Option<T>| {
        assert_eq!(value.as_ref().map(IntoBytes::as_bytes), native.chunks_exact(width).nth(at));
    };
    assert_eq!(view.iter().len(), view.len());
    view.iter().take(SOME).enumerate().for_each(|(at, value)| same(at, Some(value)));
    (0..view.len().min(SOME)).for_each(|at| same(at, view.get(at)));
    assert_eq!(view.get(view.len()).map(drop), None);
    let back: Vec<T> = view.iter().rev().take(SOME).collect();
    back.into_iter().enumerate().for_each(|(at, value)| same(view.len() - 1 - at, Some(value)));
    let mut copied = vec![T::read_from_bytes(&vec![0; width]).expect("any bits are a value"); view.len()];
    view.copy_into(&mut copied).expect("as many as there are");
    assert_eq!(copied.as_bytes(), native);
    if let Some(lent) = view.as_slice() {
        assert_eq!(lent.as_bytes(), native);
    }
    if view.shape().rank() > 0 {
        assert_eq!(
            view.rows().take(SOME).flat_map(|row| row.iter().collect::<Vec<_>>()).count().min(SOME),
            view.len().min(SOME)
        );
        if let Ok(first) = view.row(0) {
            first.iter().take(SOME).enumerate().for_each(|(at, value)| same(at, Some(value)));
        }
    }
}

fn bits(object: &DataObject<'_>, view: &BitView<'_>) {
    let payload = object.payload();
    let bit = |at: usize| payload.get(at / 8).map(|byte| byte >> (7 - at % 8) & 1 == 1);
    assert!(view.iter().take(SOME).enumerate().all(|(at, value)| Some(value) == bit(at)));
    assert!((0..view.len().min(SOME)).all(|at| view.get(at) == bit(at)));
    assert_eq!(view.get(view.len()), None);
    assert_eq!(view.count_ones(), (0..view.len()).filter(|&at| bit(at) == Some(true)).count());
    let half = view.len() / 2;
    let parts = [0..half, half..view.len()].map(|part| view.bits(part).expect("inside").count_ones());
    assert_eq!(parts.iter().sum::<usize>(), view.count_ones());
}
