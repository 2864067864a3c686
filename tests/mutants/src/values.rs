//! Values that a function returns in place of what it should compute, found from its return type.

use syn::{GenericArgument, PathArguments, PathSegment, ReturnType, Type};

/// The most values for one type, as tuples would have all combinations.
const MOST: usize = 6;

/// What a function may return, as expressions. Some do not compile, for a type need not have a default.
pub fn values_of(output: &ReturnType) -> Vec<String> {
    match output {
        ReturnType::Default => vec!["()".to_owned()],
        ReturnType::Type(_, kind) => values(kind),
    }
}

fn values(kind: &Type) -> Vec<String> {
    match kind {
        Type::Paren(inner) => values(&inner.elem),
        Type::Tuple(tuple) => tuples(tuple.elems.iter()),
        Type::Array(array) => values(&array.elem).iter().map(|value| format!("[{value}; _]")).collect(),
        Type::Reference(reference) => match (&*reference.elem, &reference.mutability) {
            (Type::Slice(_), None) => owned(&["&[]"]),
            (Type::Slice(_), Some(_)) => owned(&["&mut []"]),
            (Type::Path(path), None) if path.path.is_ident("str") => owned(&["\"\"", "\"xyzzy\""]),
            (inner, None) => values(inner).iter().map(|value| format!("&{value}")).collect(),
            _ => Vec::new(),
        },
        Type::Path(path) => path.path.segments.last().map_or_else(Vec::new, of_name),
        _ => Vec::new(),
    }
}

/// The values of a type that has a name.
fn of_name(segment: &PathSegment) -> Vec<String> {
    let inner = |open: &str, close: &str| {
        let kind = first_argument(segment);
        let values = kind.map_or_else(|| owned(&["()"]), values);
        values.iter().map(|value| format!("{open}{value}{close}")).collect::<Vec<_>>()
    };
    match segment.ident.to_string().as_str() {
        "bool" => owned(&["true", "false"]),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => owned(&["0", "1"]),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => owned(&["0", "1", "-1"]),
        "f32" | "f64" => owned(&["0.0", "1.0", "-1.0"]),
        "Ordering" => ["Less", "Equal", "Greater"].map(|name| format!("::core::cmp::Ordering::{name}")).to_vec(),
        "Option" => [owned(&["None"]), inner("Some(", ")")].concat(),
        "Result" => inner("Ok(", ")"),
        _ => owned(&["Default::default()"]),
    }
}

fn first_argument(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(kind) => Some(kind),
        _ => None,
    })
}

/// All combinations of the values of each type, up to [`MOST`].
fn tuples<'a>(kinds: impl Iterator<Item = &'a Type>) -> Vec<String> {
    let mut heads = owned(&[""]);
    for kind in kinds {
        let values = values(kind);
        let longer = heads.iter().flat_map(|head| values.iter().map(move |value| format!("{head}{value}, ")));
        heads = longer.take(MOST).collect();
    }
    heads.iter().map(|head| format!("({})", head.trim_end())).collect()
}

fn owned(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}
