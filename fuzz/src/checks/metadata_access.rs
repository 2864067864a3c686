//! Metadata by dotted path: the borrowed view and the owned form find the same, and typed access never contradicts
//! itself.

use tgm_core::Message;
use tgm_std::{MetaType, MetaValue, decode_descriptors};

/// Looks up paths that the metadata of the message `bytes` has, and some that it does not have.
pub fn check(bytes: &[u8]) {
    let Ok(message) = Message::parse(bytes) else { return };
    let (view, owned) = (message.metadata(), decode_descriptors(bytes));
    let (Ok(view), Ok((owned, _))) = (view, owned) else { return };
    assert_eq!(view.object_count(), owned.num_objects());
    let mut paths: Vec<String> =
        ["", ".", "_extra_", "extra.", "_reserved_.tensor", "mars.param"].map(String::from).into();
    for entries in owned.base.iter().chain([&owned.extra]).take(4) {
        for (key, value) in entries.iter().take(8) {
            paths.push(key.clone());
            paths.push(format!("extra.{key}"));
            let inner = value.as_map().into_iter().flatten().filter_map(|(key, _)| key.as_text()).take(4);
            paths.extend(inner.map(|inner| format!("{key}.{inner}")));
        }
    }
    for path in &paths {
        let (found, kept) = (view.get(path).expect("read before"), owned.get(path));
        assert_eq!(found.is_some(), kept.is_some(), "{path:?}");
        assert_eq!(owned.contains(path), kept.is_some());
        kept.into_iter().for_each(|value| one(&value, 0));
        for index in 0..owned.num_objects().min(4) {
            let (found, kept) = (view.get_at(index, path).expect("read before"), owned.get_at(index, path));
            assert_eq!(found.is_some(), kept.is_some(), "{path:?} of {index}");
            assert_eq!(owned.contains_at(index, path), kept.is_some());
        }
        assert!(owned.get_at(owned.num_objects(), path).is_none());
    }
    [owned.extra_view(), owned.reserved_view()].iter().for_each(|section| one(section, 0));
    (0..owned.num_objects().min(4)).filter_map(|index| owned.object(index)).for_each(|section| one(&section, 0));
}

/// Asserts that the type of a value and its typed getters agree.
fn one(value: &MetaValue<'_>, depth: usize) {
    let kind = value.value_type();
    assert_eq!(value.is_null(), kind == MetaType::Null);
    assert_eq!(value.as_bool().is_some(), kind == MetaType::Bool);
    assert_eq!(value.as_str().is_some(), kind == MetaType::String);
    assert_eq!(value.as_bytes().is_some(), kind == MetaType::Bytes);
    assert!(value.as_i64().is_none() || kind == MetaType::Int);
    assert!(value.as_u64().is_none() || kind == MetaType::Int);
    assert!(value.as_f64().is_none() || matches!(kind, MetaType::Int | MetaType::Float));
    assert!(value.is_empty() == (value.len() == 0) || !matches!(kind, MetaType::Array | MetaType::Map));
    let len = value.len();
    assert!(value.get_index(len).is_none() || kind != MetaType::Array);
    assert!(value.key_at(len).is_none() && value.value_at(len).is_none());
    if depth > 3 {
        return;
    }
    for index in 0..len.min(4) {
        match kind {
            MetaType::Array => one(&value.get_index(index).expect("in the array"), depth + 1),
            MetaType::Map => {
                one(&value.value_at(index).expect("in the map"), depth + 1);
                if let Some(key) = value.key_at(index) {
                    assert!(value.contains_key(key) && value.get_key(key).is_some());
                }
            }
            _ => {}
        }
    }
}
