//! Task lists in descriptions: lines such as `- [ ] paint the wall` and `- [x] paint the wall`.

/// The maximum number of changed tasks that are reported at once.
const MAX_CHANGES: usize = 100;

/// An item of a task list that was ticked or unticked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskChange<'a> {
    /// The text of the item.
    pub text: &'a str,
    /// Whether the item is ticked now.
    pub complete: bool,
}

/// Returns the items that have the same position and text in both descriptions and were ticked or unticked.
pub fn changed_tasks<'a>(before: &str, after: &'a str) -> Vec<TaskChange<'a>> {
    let changed = tasks(before).zip(tasks(after)).filter_map(|(old, new)| {
        (old.text == new.text && old.complete != new.complete).then_some(new)
    });
    changed.take(MAX_CHANGES).collect()
}

/// The items of the task lists of a text.
fn tasks(text: &str) -> impl Iterator<Item = TaskChange<'_>> {
    text.lines().filter_map(|line| {
        let rest = item_text(line.trim_start())?;
        let (complete, text) = match rest.strip_prefix("[ ]") {
            Some(text) => (false, text),
            None => (true, rest.strip_prefix("[x]").or_else(|| rest.strip_prefix("[X]"))?),
        };
        let text = text.strip_prefix(char::is_whitespace)?.trim();
        Some(TaskChange { text, complete })
    })
}

/// Returns the text of a list item: the line behind `-`, `+`, `*` or a number with a dot.
fn item_text(line: &str) -> Option<&str> {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = match digits {
        0 => line.strip_prefix(['-', '+', '*'])?,
        digits => line[digits..].strip_prefix('.')?,
    };
    rest.starts_with(char::is_whitespace).then(|| rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticked_and_unticked_items_are_found_by_position() {
        for (before, after, expected) in [
            ("- [ ] a\n- [x] b", "- [x] a\n- [ ] b", vec![("a", true), ("b", false)]),
            ("* [ ] a", "+ [X] a", vec![("a", true)]),
            ("text\n1. [ ] a", "other text\n 12. [x]  a ", vec![("a", true)]),
            ("- [ ] a", "- [x] b", vec![]),
            ("- [ ] a", "- [ ] a", vec![]),
            ("", "- [x] a", vec![]),
            ("- [ ]a\n[ ] b\n-[ ] c", "- [x]a\n[x] b\n-[x] c", vec![]),
            ("- [ ] ", "- [x] ", vec![("", true)]),
        ] {
            let found = changed_tasks(before, after).into_iter();
            let found: Vec<_> = found.map(|change| (change.text, change.complete)).collect();
            assert_eq!(found, expected, "{before:?} {after:?}");
        }
        let (many, ticked) = ("- [ ] a\n".repeat(500), "- [x] a\n".repeat(500));
        assert_eq!(changed_tasks(&many, &ticked).len(), MAX_CHANGES);
    }
}
