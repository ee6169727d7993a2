//! Tests of changes that are too large to be shown.

use hexforge_domain::repository::compare::LONGEST_FILE_DIFF;

use super::{Scratch, compare, only_diff};

#[test]
fn a_change_that_reaches_the_limit_is_left_out() {
    for (length, shown) in [(LONGEST_FILE_DIFF - 1, true), (LONGEST_FILE_DIFF, false)] {
        let scratch = Scratch::new();
        let from = scratch.commit("Empty");
        // Lines of 64 bytes; the last line fills up to the wanted length.
        let mut content = format!("{}\n", "x".repeat(63)).repeat(length / 64);
        content.push_str(&"y".repeat(length % 64));
        assert_eq!(content.len(), length);
        scratch.write("x", &content);
        let to = scratch.commit("Added");
        let diff = only_diff(&scratch, &from, &to);
        assert_eq!(!diff.text.is_empty(), shown);
        assert_eq!(diff.new_mode, Some(0o100_644));
    }
}

#[test]
fn context_and_removed_lines_count_too() {
    // One changed line of 20,000 bytes, with three context lines on each side.
    for (context, shown) in [(7_000, true), (15_000, false)] {
        let scratch = Scratch::new();
        let around = format!("{}\n", "c".repeat(context)).repeat(3);
        let text = |middle: &str| format!("{around}{}\n{around}", middle.repeat(20_000));
        scratch.write("x", text("a"));
        let from = scratch.commit("Before");
        scratch.write("x", text("b"));
        let to = scratch.commit("After");
        assert_eq!(!only_diff(&scratch, &from, &to).text.is_empty(), shown);
    }
}

#[test]
fn big_files_are_not_read() {
    let scratch = Scratch::new();
    let big = vec![b'\n'; (32 << 20) + 1];
    scratch.write("big", &big);
    let from = scratch.commit("Big");
    scratch.write("big", &big[..32 << 20]);
    scratch.write("new", &big);
    let to = scratch.commit("Not as big");
    let texts: Vec<String> =
        compare(&scratch, &from, &to).diffs.into_iter().map(|diff| diff.text).collect();
    assert_eq!(
        texts,
        ["Binary files a/big and b/big differ\n", "Binary files /dev/null and b/new differ\n"]
    );
}
