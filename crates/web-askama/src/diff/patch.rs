//! Diffs as text, for `git apply` and `git am`.

use std::fmt::Write as _;

use hexforge_domain::commit::Commit;
use hexforge_domain::repository::FileDiff;

/// The changes as `git diff` writes them. A diff that is too long to be kept is named in a line that git skips.
pub(crate) fn plain_diff(diffs: &[FileDiff]) -> String {
    let mut text = String::new();
    for diff in diffs {
        write_file(&mut text, diff);
    }
    text
}

/// A commit as `git format-patch` writes it.
pub(crate) fn write_email(commit: &Commit, diffs: &[FileDiff]) -> String {
    let mut text = String::new();
    let subject = commit.message.lines().next().unwrap_or_default();
    let body = commit.message.split_once('\n').map_or("", |(_, body)| body).trim();
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "From {} Mon Sep 17 00:00:00 2001\nFrom: {} <{}>\nDate: {}\nSubject: [PATCH] {}\n\n",
        commit.id,
        header(&commit.author.name),
        header(&commit.author.email),
        commit.author.at.format("%a, %-d %b %Y %H:%M:%S %z"),
        header(subject),
    );
    if !body.is_empty() {
        // A line `---` would end the message.
        let body = body.lines().map(|line| if line.trim_end() == "---" { " ---" } else { line });
        let _ = write!(text, "{}\n\n", body.collect::<Vec<_>>().join("\n"));
    }
    text.push_str("---\n\n");
    text.push_str(&plain_diff(diffs));
    text.push_str("-- \nhexforge\n");
    text
}

/// The value of a header: on one line, with other characters than ASCII encoded.
fn header(text: &str) -> String {
    let line: String = text.chars().filter(|c| !c.is_control()).collect();
    if line.is_ascii() {
        return line;
    }
    let mut encoded = String::from("=?UTF-8?q?");
    for byte in line.bytes() {
        match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'.' | b',' | b'!' => {
                encoded.push(char::from(byte));
            }
            _ => {
                let _ = write!(encoded, "={byte:02X}");
            }
        }
    }
    encoded + "?="
}

fn write_file(text: &mut String, diff: &FileDiff) {
    let (old, new) = (quoted("a/", &diff.old_path), quoted("b/", &diff.new_path));
    let mode = |mode: Option<u32>| mode.filter(|mode| *mode != 0);
    let _ = writeln!(text, "diff --git {old} {new}");
    match (mode(diff.old_mode), mode(diff.new_mode)) {
        (None, Some(mode)) => {
            let _ = writeln!(text, "new file mode {mode:06o}");
        }
        (Some(mode), None) => {
            let _ = writeln!(text, "deleted file mode {mode:06o}");
        }
        (Some(old), Some(new)) if old != new => {
            let _ = writeln!(text, "old mode {old:06o}\nnew mode {new:06o}");
        }
        _ => (),
    }
    if diff.renamed {
        let (from, to) = (quoted("", &diff.old_path), quoted("", &diff.new_path));
        let _ = writeln!(text, "rename from {from}\nrename to {to}");
    }
    if diff.too_large {
        text.push_str("# The diff of this file is too large and was left out.\n");
    }
    text.push_str(&diff.text);
}

/// Quotes a path as git does.
fn quoted(prefix: &str, path: &str) -> String {
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b'"' && byte != b'\\';
    if path.bytes().all(is_plain) {
        return format!("{prefix}{path}");
    }
    let mut text = format!("\"{prefix}");
    for byte in path.bytes() {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            byte if is_plain(byte) => text.push(char::from(byte)),
            byte => {
                let _ = write!(text, "\\{byte:03o}");
            }
        }
    }
    text + "\""
}
