//! The text form of `tgm dump`.

use std::io::{self, Write};

use serde_json::{Map, Value as Json};

use crate::commands::dump_contents::{Contents, Object};
use crate::read::entry::Entry;
use crate::show::output::{Out, Style};
use crate::show::text::escape;
use crate::show::tree::tree;

/// Descriptor fields that are shown before the parameters, in this order.
const FIELDS: [&str; 10] =
    ["type", "dtype", "ndim", "shape", "strides", "byte_order", "encoding", "filter", "compression", "masks"];

/// Writes all of a message.
pub(crate) fn print(out: &mut Out, entry: &Entry<'_>, contents: &Contents) -> io::Result<()> {
    title(out, entry)?;
    section(out, "preamble", 2)?;
    tree(out, &with_flags_spelt_out(&contents.preamble), 4)?;
    if let Some(frames) = &contents.frames {
        section(out, "frames", 2)?;
        frames.print(out, "    ")?;
    }
    for (name, value) in
        [("annotations (_extra_)", &contents.extra), ("written by the library (_reserved_)", &contents.reserved)]
    {
        if let Some(Json::Object(map)) = value.as_ref().filter(|value| !is_empty(value)) {
            section(out, name, 2)?;
            tree(out, map, 4)?;
        }
    }
    for (index, object) in contents.shown() {
        print_object(out, index, object)?;
    }
    if let Some(postamble) = &contents.postamble {
        section(out, "postamble", 2)?;
        tree(out, postamble, 4)?;
    }
    writeln!(out)
}

/// Writes the values of keys.
pub(crate) fn print_keys(out: &mut Out, entry: &Entry<'_>, values: &Map<String, Json>) -> io::Result<()> {
    title(out, entry)?;
    tree(out, values, 2)?;
    writeln!(out)
}

/// Writes that a message cannot be opened.
pub(crate) fn print_unreadable(out: &mut Out, entry: &Entry<'_>) -> io::Result<()> {
    title(out, entry)?;
    out.styled(Style::Bad, "  (unreadable)")?;
    writeln!(out, "\n")
}

fn title(out: &mut Out, entry: &Entry<'_>) -> io::Result<()> {
    let title = format!("=== {}: {} bytes at {} ===", entry.place(), entry.length(), entry.offset);
    out.styled(Style::Heading, &escape(&title))?;
    writeln!(out)
}

fn section(out: &mut Out, name: &str, indent: usize) -> io::Result<()> {
    out.blanks(indent)?;
    out.styled(Style::Heading, name)?;
    writeln!(out)
}

fn with_flags_spelt_out(preamble: &Map<String, Json>) -> Map<String, Json> {
    let mut shown = preamble.clone();
    let names = shown.shift_remove("flag_names").unwrap_or_default();
    let names: Vec<_> = names.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    if let Some(flags) = shown.get_mut("flags")
        && let Some(bits) = flags.as_u64()
    {
        *flags = format!("0x{bits:04x} {}", names.join(" ")).trim_end().into();
    }
    shown
}

fn print_object(out: &mut Out, index: usize, object: &Object) -> io::Result<()> {
    section(out, &format!("object {index}"), 2)?;
    let Some(Json::Object(descriptor)) = &object.descriptor else {
        out.styled(Style::Bad, "    (unreadable)")?;
        return writeln!(out);
    };
    let field = |name: &&str| descriptor.get(*name).map(|value| ((*name).to_string(), value.clone()));
    let is_field = |name: &String| FIELDS.contains(&name.as_str());
    // Masks are shown with the layout.
    let mut shown: Map<String, Json> = FIELDS.iter().filter(|name| **name != "masks").filter_map(field).collect();
    shown.extend(
        descriptor.iter().filter(|(name, _)| !is_field(name)).map(|(name, value)| (name.clone(), value.clone())),
    );
    tree(out, &shown, 4)?;
    print_layout(out, &object.layout)?;
    match &object.metadata {
        Some(Json::Object(metadata)) if !metadata.is_empty() => {
            section(out, "metadata", 4)?;
            tree(out, metadata, 6)
        }
        _ => Ok(()),
    }
}

fn print_layout(out: &mut Out, layout: &Map<String, Json>) -> io::Result<()> {
    let mut layout = layout.clone();
    let masks = layout.shift_remove("masks").unwrap_or_default();
    section(out, "layout", 4)?;
    tree(out, &layout, 6)?;
    for mask in masks.as_array().into_iter().flatten() {
        let text =
            |name: &str| mask.get(name).map(crate::read::select::text).map_or(String::new(), |text| escape(&text));
        let [kind, method, offset, length] = ["kind", "method", "offset", "length"].map(text);
        writeln!(out, "      mask {kind:4}  {method}, {length} bytes at {offset}")?;
    }
    Ok(())
}

fn is_empty(value: &Json) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}
