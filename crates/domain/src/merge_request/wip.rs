//! Work in progress: titles that begin with `WIP:`, `[WIP]` or `WIP` and a blank mark requests that must not be merged.

/// Returns whether a title begins with a mark for work in progress.
pub fn is_work_in_progress(title: &str) -> bool {
    without_mark(title.trim_start()).is_some()
}

/// Returns a title without the marks at its beginning.
pub fn without_marks(title: &str) -> &str {
    let mut rest = title.trim_start();
    let mut found = false;
    while let Some(after) = without_mark(rest) {
        (rest, found) = (after, true);
    }
    if found { rest } else { title }
}

/// Returns the opposite of a title: without its marks, or with a mark before it.
pub fn toggled(title: &str) -> String {
    if is_work_in_progress(title) {
        without_marks(title).to_owned()
    } else {
        format!("WIP: {title}")
    }
}

/// Removes one mark and the blanks after it from the beginning of a title.
fn without_mark(title: &str) -> Option<&str> {
    let strip = |mark: &str| {
        let start = title.get(..mark.len())?;
        start.eq_ignore_ascii_case(mark).then(|| &title[mark.len()..])
    };
    if let Some(rest) = strip("[WIP]").or_else(|| strip("WIP:")) {
        return Some(rest.trim_start());
    }
    let rest = strip("WIP")?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference section 2.4.
    #[test]
    fn marks_stand_at_the_beginning_in_any_case() {
        for (title, rest) in [
            ("WIP: x", Some("x")),
            ("WIP:x", Some("x")),
            ("wip x", Some("x")),
            ("[Wip]x", Some("x")),
            ("[WIP] WIP: x", Some("x")),
            ("  WIP  wip:[wip] x y", Some("x y")),
            ("WIP:", Some("")),
            ("WIPE x", None),
            ("Wipwap", None),
            ("WIP", None),
            ("x WIP", None),
            ("[WIP x", None),
            ("Ünder", None),
            ("", None),
        ] {
            assert_eq!(is_work_in_progress(title), rest.is_some(), "{title}");
            assert_eq!(without_marks(title), rest.unwrap_or(title), "{title}");
        }
    }

    #[test]
    fn the_command_toggles_the_mark() {
        for (title, toggled_title) in [("x", "WIP: x"), ("wip [WIP] x", "x"), ("WIPE", "WIP: WIPE")]
        {
            assert_eq!(toggled(title), toggled_title);
        }
    }
}
