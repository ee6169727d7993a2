//! Parses the output of git into the form of our comparisons.

use gix::bstr::{ByteSlice, ByteVec};
use hexforge_domain::repository::FileDiff;

use super::{Scratch, decode, text};

const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// The entries of `git diff -M50% from...to`, each with its text from the `---` or `Binary` line on.
pub(super) fn diffs(scratch: &Scratch, from: &str, to: &str) -> Vec<FileDiff> {
    let (_, bases, _) = scratch.try_git(&["merge-base", from, to], b"");
    let base = String::from_utf8(bases).expect("names of commits");
    let base = base.lines().next().unwrap_or(EMPTY_TREE);
    let git = |format: &[&str]| {
        let mut args = vec!["diff", "-M50%", "--no-color", "--no-ext-diff"];
        args.extend_from_slice(format);
        args.extend([base, to]);
        scratch.git_bytes(&args, b"")
    };
    let mut diffs = raw(&git(&["--raw", "-z", "--no-abbrev"]));
    let texts = texts(&git(&["--patch"]));
    assert_eq!(diffs.len(), texts.len());
    for (diff, text) in diffs.iter_mut().zip(texts) {
        diff.text = text;
    }
    diffs
}

/// The entries without their diffs.
fn raw(output: &[u8]) -> Vec<FileDiff> {
    let mut fields = output.split(|&byte| byte == 0);
    let mut diffs = Vec::new();
    while let Some(header) = fields.next().filter(|field| !field.is_empty()) {
        let header = header.to_str().expect("modes, names and a letter");
        let parts: Vec<&str> = header.trim_start_matches(':').split(' ').collect();
        let mode = |digits| u32::from_str_radix(digits, 8).ok().filter(|&mode| mode != 0);
        let mut path = || text::path(fields.next().expect("a path"));
        let old_path = path();
        let renamed = parts[4].starts_with('R');
        let new_path = if renamed { path() } else { old_path.clone() };
        let diff = |old_mode, new_mode| FileDiff {
            old_path: old_path.clone(),
            new_path: new_path.clone(),
            old_mode,
            new_mode,
            renamed,
            text: String::new(),
            too_large: false,
        };
        let (old, new) = (mode(parts[0]), mode(parts[1]));
        if parts[4] == "T" {
            diffs.extend([diff(old, None), diff(None, new)]);
        } else {
            diffs.push(diff(old, new));
        }
    }
    diffs
}

/// The diffs of a patch, one for each `diff --git` line.
fn texts(patch: &[u8]) -> Vec<String> {
    let mut texts: Vec<Option<Vec<u8>>> = Vec::new();
    for line in patch.lines_with_terminator() {
        if line.starts_with(b"diff --git ") {
            texts.push(None);
            continue;
        }
        let text = texts.last_mut().expect("the patch begins with a header");
        match text {
            Some(text) => text.push_str(line),
            None if line.starts_with(b"---") || line.starts_with(b"Binary") => {
                *text = Some(line.to_vec());
            }
            None => {}
        }
    }
    texts.into_iter().map(|text| decode(&text.unwrap_or_default())).collect()
}
