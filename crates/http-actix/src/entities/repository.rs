//! Content of repositories.

use std::borrow::Cow;

use hexforge_application::repository::ComparisonView;
use hexforge_domain::repository::{Contributor, EntryKind, FileDiff, TreeEntry, path};
use serde::Serialize;
use utoipa::ToSchema;

use super::commit::CommitJson;

/// An entry of a folder.
#[derive(Serialize, ToSchema)]
pub struct TreeEntryJson<'a> {
    id: String,
    name: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: &'static str,
    path: Cow<'a, str>,
    mode: Cow<'static, str>,
}

impl<'a> From<&'a TreeEntry> for TreeEntryJson<'a> {
    fn from(entry: &'a TreeEntry) -> Self {
        Self {
            id: entry.id.to_string(),
            name: path::shown(entry.name()),
            kind: match entry.kind {
                EntryKind::Tree => "tree",
                EntryKind::Blob => "blob",
                EntryKind::Commit => "commit",
            },
            path: path::shown(&entry.path),
            mode: match entry.mode {
                0o040_000 => Cow::Borrowed("040000"),
                0o100_644 => Cow::Borrowed("100644"),
                mode => Cow::Owned(format!("{mode:06o}")),
            },
        }
    }
}

/// The comparison of two revisions.
#[derive(Serialize, ToSchema)]
pub struct ComparisonJson<'a> {
    commit: Option<CommitJson>,
    commits: Vec<CommitJson>,
    diffs: Vec<FileDiffJson<'a>>,
    compare_timeout: bool,
    compare_same_ref: bool,
}

impl<'a> From<&'a ComparisonView> for ComparisonJson<'a> {
    fn from(view: &'a ComparisonView) -> Self {
        let comparison = &view.comparison;
        Self {
            commit: comparison.commits.last().map(CommitJson::from),
            commits: comparison.commits.iter().map(CommitJson::from).collect(),
            diffs: comparison.diffs.iter().map(FileDiffJson::from).collect(),
            compare_timeout: comparison.overflow,
            compare_same_ref: view.same,
        }
    }
}

/// The diff of one file.
#[derive(Serialize, ToSchema)]
pub struct FileDiffJson<'a> {
    old_path: &'a str,
    new_path: &'a str,
    a_mode: String,
    b_mode: String,
    diff: &'a str,
    new_file: bool,
    renamed_file: bool,
    deleted_file: bool,
}

impl<'a> From<&'a FileDiff> for FileDiffJson<'a> {
    fn from(diff: &'a FileDiff) -> Self {
        let mode =
            |mode: Option<u32>| mode.map_or_else(|| "0".to_owned(), |mode| format!("{mode:o}"));
        Self {
            old_path: &diff.old_path,
            new_path: &diff.new_path,
            a_mode: mode(diff.old_mode),
            b_mode: mode(diff.new_mode),
            diff: &diff.text,
            new_file: diff.old_mode.is_none(),
            renamed_file: diff.renamed,
            deleted_file: diff.new_mode.is_none(),
        }
    }
}

/// The diff of one file of a commit.
#[derive(Serialize, ToSchema)]
pub struct CommitDiffJson<'a> {
    diff: &'a str,
    new_path: &'a str,
    old_path: &'a str,
    a_mode: String,
    b_mode: String,
    new_file: bool,
    renamed_file: bool,
    deleted_file: bool,
    /// True or null, never false.
    too_large: Option<bool>,
}

impl<'a> From<&'a FileDiff> for CommitDiffJson<'a> {
    fn from(file: &'a FileDiff) -> Self {
        let shown = FileDiffJson::from(file);
        Self {
            diff: shown.diff,
            new_path: shown.new_path,
            old_path: shown.old_path,
            a_mode: shown.a_mode,
            b_mode: shown.b_mode,
            new_file: shown.new_file,
            renamed_file: shown.renamed_file,
            deleted_file: shown.deleted_file,
            too_large: file.too_large.then_some(true),
        }
    }
}

/// An author with the number of commits and changed lines.
#[derive(Serialize, ToSchema)]
pub struct ContributorJson {
    name: String,
    email: String,
    commits: u64,
    additions: u64,
    deletions: u64,
}

impl From<Contributor> for ContributorJson {
    fn from(contributor: Contributor) -> Self {
        Self {
            name: contributor.name,
            email: contributor.email,
            commits: contributor.commits,
            additions: contributor.additions,
            deletions: contributor.deletions,
        }
    }
}
