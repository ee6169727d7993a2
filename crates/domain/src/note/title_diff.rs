//! Marks the difference between two titles.

/// Marks the middle part in which two titles differ: `{-old-}` in the first, `{+new+}` in the second. What is equal at
/// both ends stays unmarked, and so does a title without a part of its own.
pub(super) fn mark_changes(from: &str, to: &str) -> (String, String) {
    let prefix: usize = from
        .chars()
        .zip(to.chars())
        .take_while(|(one, other)| one == other)
        .map(|(c, _)| c.len_utf8())
        .sum();
    let (old, new) = (&from[prefix..], &to[prefix..]);
    let suffix: usize = old
        .chars()
        .rev()
        .zip(new.chars().rev())
        .take_while(|(one, other)| one == other)
        .map(|(c, _)| c.len_utf8())
        .sum();
    let mark = |title: &str, sign: char| {
        let (middle, end) = (prefix..title.len() - suffix, title.len() - suffix);
        if middle.is_empty() {
            return title.to_owned();
        }
        format!("{}{{{sign}{}{sign}}}{}", &title[..prefix], &title[middle], &title[end..])
    };
    (mark(from, '-'), mark(to, '+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_differing_middle_is_marked() {
        for (from, to, old, new) in [
            ("Old title", "New title", "{-Old-} title", "{+New+} title"),
            ("a", "b", "{-a-}", "{+b+}"),
            ("title", "title 2", "title", "title{+ 2+}"),
            ("a x b", "a b", "a {-x -}b", "a b"),
            ("aa", "aaa", "aa", "aa{+a+}"),
            ("für", "fur", "f{-ü-}r", "f{+u+}r"),
            ("ä", "ö", "{-ä-}", "{+ö+}"),
            ("same", "same", "same", "same"),
        ] {
            assert_eq!(mark_changes(from, to), (old.to_owned(), new.to_owned()), "{from} {to}");
        }
    }
}
