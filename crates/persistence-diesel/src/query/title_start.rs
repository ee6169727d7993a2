//! The beginning of a title, for indexes on texts of any length. The databases compute it as `title_start`.

/// The length in characters, the same as in the migrations. It fits an index row of PostgreSQL at four bytes per
/// character.
const START: usize = 250;

/// Returns the beginning of a title, as the databases compute it.
pub(crate) fn prefix(title: &str) -> &str {
    match title.char_indices().nth(START) {
        Some((end, _)) => &title[..end],
        None => title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_count() {
        for (title, start) in
            [("", 0), ("bug", 3), (&*"ü".repeat(250), 500), (&*"€".repeat(251), 750)]
        {
            assert_eq!(prefix(title), &title[..start]);
        }
    }
}
