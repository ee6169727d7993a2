//! Variables in texts of a configuration: `$X`, `${X}` and `%X%`.

use std::collections::HashMap;

/// Replaces the variables in a text by their values; an unknown one by nothing. Returns `None` when the result would
/// have more than `max` bytes, because values may be long and a text may name them often.
pub fn expand(text: &str, variables: &HashMap<&str, &str>, max: usize) -> Option<String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(['$', '%']) {
        let (before, from_sign) = rest.split_at(start);
        expanded.push_str(before);
        match parse_reference(from_sign) {
            Some((name, length)) => {
                expanded.push_str(variables.get(name).copied().unwrap_or_default());
                rest = &from_sign[length..];
            }
            None => {
                expanded.push_str(&from_sign[..1]);
                rest = &from_sign[1..];
            }
        }
        if expanded.len() > max {
            return None;
        }
    }
    expanded.push_str(rest);
    (expanded.len() <= max).then_some(expanded)
}

/// Parses a reference to a variable at the beginning of a text. Returns the name and the length of the reference.
fn parse_reference(text: &str) -> Option<(&str, usize)> {
    let (opening, closing) = match text.as_bytes() {
        [b'$', b'{', ..] => ("${", "}"),
        [b'$', ..] => ("$", ""),
        _ => ("%", "%"),
    };
    let rest = text.strip_prefix(opening)?;
    let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let name = &rest[..rest.find(|char| !is_name(char)).unwrap_or(rest.len())];
    let is_valid = name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && rest[name.len()..].starts_with(closing);
    is_valid.then_some((name, opening.len() + name.len() + closing.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_in_three_notations() {
        let variables = HashMap::from([("A", "1"), ("B_2", "two"), ("_c", "$A")]);
        for (text, expected) in [
            ("", ""),
            ("plain", "plain"),
            ("$A", "1"),
            ("${A}", "1"),
            ("%A%", "1"),
            ("review/$A-${B_2}.%_c%", "review/1-two.$A"),
            ("$AB", ""),
            ("${A}B", "1B"),
            ("x$none y", "x y"),
            ("${none}", ""),
            ("$", "$"),
            ("$1", "$1"),
            ("${A", "${A"),
            ("${}", "${}"),
            ("%A", "%A"),
            ("100%", "100%"),
            ("%%A%", "%1"),
            ("$$A", "$1"),
            ("ä$A€", "ä1€"),
        ] {
            assert_eq!(expand(text, &variables, 100).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn long_results_are_refused_early() {
        let value = "x".repeat(60_000);
        let variables = HashMap::from([("A", value.as_str()), ("B", "12345")]);
        assert_eq!(expand(&"$A".repeat(1_000_000), &variables, 1_000), None);
        assert_eq!(expand("$B$B", &variables, 10).as_deref(), Some("1234512345"));
        assert_eq!(expand("$B${B}x", &variables, 10), None);
        assert_eq!(expand(&"x".repeat(11), &variables, 10), None);
    }
}
