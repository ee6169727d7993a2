//! Tests of diffs.

use super::*;

fn diff(path: &str, text: &str) -> FileDiff {
    FileDiff {
        old_path: path.to_owned(),
        new_path: path.to_owned(),
        old_mode: Some(0o100_644),
        new_mode: Some(0o100_644),
        renamed: false,
        text: text.to_owned(),
        too_large: false,
    }
}

#[test]
fn lines_are_numbered_on_both_sides() {
    let text =
        "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+++ c\n d\n\\ No newline at end of file\n";
    let shown: Vec<_> = Line::parse(text, false)
        .into_iter()
        .map(Row::from)
        .map(|row| (row.kind, row.old, row.new, row.parts.concat_text()))
        .collect();
    let line = |kind, old, new, text: &str| (kind, old, new, text.to_owned());
    assert_eq!(
        shown,
        [
            line("hunk", None, None, "@@ -1,3 +1,3 @@"),
            line("same", Some(1), Some(1), "a"),
            line("removed", Some(2), None, "b"),
            line("added", None, Some(2), "++ c"),
            line("same", Some(3), Some(3), "d"),
        ]
    );
}

trait ConcatText {
    fn concat_text(&self) -> String;
}

impl ConcatText for Vec<rows::Part> {
    fn concat_text(&self) -> String {
        self.iter().map(|part| part.text.as_str()).collect()
    }
}

#[test]
fn white_space_can_be_ignored() {
    let text = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-if a {\n-b\n-}\n+if  a {\n+  b\n+c\n+}\n\
                @@ -9 +10 @@\n-x\n+ x\n";
    let kinds = |ignores| -> Vec<&'static str> {
        Line::parse(text, ignores).into_iter().map(|line| Row::from(line).kind).collect()
    };
    assert_eq!(kinds(true), ["hunk", "same", "same", "added", "same"]);
    assert_eq!(kinds(false).len(), 11);
}

#[test]
fn removed_lines_stand_beside_added_ones() {
    let text = "--- a/x\n+++ b/x\n@@ -1,3 +1,2 @@\n a\n-b\n-c\n+d\n";
    let pairs = Pair::side_by_side(Line::parse(text, false));
    let shown: Vec<_> = pairs
        .iter()
        .map(|pair| {
            let text = |row: &Option<Row>| row.as_ref().map(|row| row.parts.concat_text());
            (pair.kind, text(&pair.left), text(&pair.right))
        })
        .collect();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        shown,
        [
            ("hunk", text("@@ -1,3 +1,2 @@"), None),
            ("same", text("a"), text("a")),
            ("added", text("b"), text("d")),
            ("removed", text("c"), None),
        ]
    );
}

#[test]
fn changed_lines_of_both_sides_are_linked_to_comments() {
    let text = "--- a/x\n+++ b/x\n@@ -1,3 +1,2 @@\n a\n-b\n-c\n+d\n";
    let links = |options: DiffOptions| -> Vec<String> {
        let view = DiffView::new(&[diff("x", text)], &options);
        let rows = view.files[0].rows.iter();
        let pairs = view.files[0].pairs.iter();
        let sides = pairs.flat_map(|pair| pair.left.iter().chain(&pair.right));
        rows.chain(sides).filter_map(|row| row.comment.clone()).collect()
    };
    let changed = || DiffOptions::default().with_comments_on_changed_lines_at("/c".into());
    let removed = ["/c?path=x&old=2&next=2", "/c?path=x&old=3&next=2"];
    assert_eq!(links(changed()), [removed[0], removed[1], "/c?path=x&new=2"]);
    let side_by_side = DiffOptions { layout: Layout::SideBySide, ..changed() };
    assert_eq!(links(side_by_side.clone()), [removed[0], "/c?path=x&new=2", removed[1]]);
    let all = DiffOptions { comments_on_changed: false, ..side_by_side };
    assert_eq!(links(all)[0], "/c?path=x&old=1&new=1");
}

#[test]
fn names_of_comment_links_are_unique() {
    let text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
    for layout in [Layout::Unified, Layout::SideBySide] {
        let options = DiffOptions { layout, ..DiffOptions::default() };
        let options = options.with_comments_at("/c".into());
        let view = DiffView::new(&[diff("x", text), diff("y", text)], &options);
        let names = view.files.iter().flat_map(|file| {
            let pairs = file.pairs.iter().flat_map(|pair| pair.left.iter().chain(&pair.right));
            file.rows.iter().chain(pairs).filter(|row| row.comment.is_some())
        });
        let names: Vec<&str> = names.map(|row| row.comment_name.as_str()).collect();
        let expected = [
            "Comment on line 1",
            "Comment on removed line 2",
            "Comment on line 2",
            "Comment on line 1 of y",
            "Comment on removed line 2 of y",
            "Comment on line 2 of y",
        ];
        assert_eq!(names, expected, "{layout:?}");
    }
}

#[test]
fn long_and_generated_files_are_folded_until_they_are_asked_for() {
    let long = format!("--- a/x\n+++ b/x\n@@ -0,0 +1,500 @@\n{}", "+x\n".repeat(500));
    let short = "--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+x\n";
    let diffs = [diff("long", &long), diff("short", short), diff("a/Cargo.lock", short)];
    let options = DiffOptions { path: "/p".into(), ..DiffOptions::default() };
    let view = DiffView::new(&diffs, &options);
    let unfold: Vec<_> = view.files.iter().map(|file| file.unfold.as_deref()).collect();
    assert_eq!(unfold, [Some("/p?file=long"), None, Some("/p?file=a%2FCargo.lock")]);
    assert_eq!(view.summary, "3 changed files with 502 additions and 0 deletions");
    let alone = DiffView::new(&diffs, &DiffOptions { file: Some("long".into()), ..options });
    assert_eq!((alone.files.len(), alone.files[0].rows.len()), (1, 501));
    assert_eq!(alone.all_files.as_deref(), Some("/p"));
}

#[test]
fn a_page_has_a_bounded_number_of_lines() {
    let text = format!("--- a/x\n+++ b/x\n@@ -0,0 +1,300 @@\n{}", "+x\n".repeat(300));
    let diffs: Vec<FileDiff> = (0..200).map(|at| diff(&at.to_string(), &text)).collect();
    let view = DiffView::new(&diffs, &DiffOptions::default());
    assert_eq!((view.files.len(), view.shown_of_more), (100, Some(100)));
    let lines: usize = view.files.iter().map(|file| file.rows.len()).sum();
    assert!(lines <= MAX_LINES, "{lines}");
    let html = view.to_html().expect("it is rendered").to_string();
    assert!(html.contains("Only the first 100 files are shown."));
}

#[test]
fn patches_have_the_headers_of_git() {
    let added = FileDiff { old_mode: None, ..diff("ü \"x\"", "--- /dev/null\n+++ b/x\n") };
    let text = plain_diff(&[added]);
    assert!(text.starts_with(
        "diff --git \"a/\\303\\274 \\\"x\\\"\" \"b/\\303\\274 \\\"x\\\"\"\nnew file mode 100644\n---"
    ));
}
