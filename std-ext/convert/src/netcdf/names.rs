//! Names of variables, dimensions and attributes.

/// The longest name in bytes. NetCDF allows 256.
const MAX: usize = 250;

/// A name that NetCDF has: without control characters, slashes and spaces at its end, and begun by a letter, a digit or an
/// underscore.
pub(super) fn safe(name: &str) -> String {
    let replaced = |char: char| if char.is_control() || char == '/' { '_' } else { char };
    let mut text: String = name.trim_end().chars().map(replaced).collect();
    let is_start = |char: char| char.is_ascii_alphanumeric() || char == '_' || !char.is_ascii();
    if !text.starts_with(is_start) {
        text.insert(0, '_');
    }
    text.truncate(text.floor_char_boundary(MAX));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_netcdf() {
        for (name, taken) in [("2t", "2t"), ("", "_"), ("a/b ", "a_b"), ("-x", "_-x"), ("é\n", "é"), ("a\nb", "a_b")]
        {
            assert_eq!(safe(name), taken);
        }
        assert_eq!(safe(&"é".repeat(200)).len(), MAX);
    }
}
