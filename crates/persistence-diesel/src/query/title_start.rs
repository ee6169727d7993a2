//! Where a title begins: what indexes hold of texts that may have any length. It is computed by the
//! database as `title_start`.

/// How many characters that is; the migrations say the same. A row of an index of PostgreSQL has room for
/// them at four bytes each.
const START: usize = 250;

/// The beginning of a title, as the databases compute it.
pub(crate) fn of(title: &str) -> &str {
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
            assert_eq!(of(title), &title[..start]);
        }
    }
}
