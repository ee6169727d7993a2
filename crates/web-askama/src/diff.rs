//! Diffs as tables, for all pages that show changes: commits, comparisons and merge requests.
//!
//! A page reads [`DiffOptions`] from its address, makes a [`DiffView`] of the changed files and renders it, all in the
//! lane for comparisons, and inserts the [`DiffHtml`] into its template.

mod expand;
mod notes;
mod patch;
mod rows;
mod words;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use askama::filters::HtmlSafe;
use askama::{FastWritable, Template};
use hexforge_application::error::Error;
use hexforge_domain::repository::{CommitStats, Comparison, FileDiff};

use crate::address;
use crate::moment::count;
use crate::visible;
use crate::visit::Visit;

use expand::Numbers;
pub(crate) use notes::{LineNote, LinePlace, find_line};
pub(crate) use patch::{plain_diff, write_email};
use rows::{Expansion, Line, Pair, Row};

/// A file with more changed lines than this is folded.
const MAX_CHANGED: usize = 400;

/// Files on a page.
const MAX_FILES: usize = 100;

/// The files after those that the page links.
const MAX_OTHERS: usize = 1_000;

/// The lines of all files on a page. Files after that are folded.
const MAX_LINES: usize = 3_000;

/// The lines of a file that is shown by itself.
const MAX_LINES_OF_FILE: usize = 20_000;

/// The part of a file in which lines between its hunks are found, in bytes.
const MAX_CONTENT: usize = 1024 * 1024;

/// The time in which changed words are found. Lines after that have no marked words.
const TIME_FOR_WORDS: Duration = Duration::from_millis(100);

/// How a diff is shown, as the address of the page says.
#[derive(Clone, Debug, Default)]
pub(crate) struct DiffOptions {
    /// The layout that the visitor prefers. It applies without the parameter `view`.
    preferred: Layout,
    layout: Layout,
    ignores_white_space: bool,
    /// The path of the only file that is shown.
    file: Option<String>,
    /// The lines between the hunks that are shown of this file.
    between: Vec<Numbers>,
    /// Whether lines between the hunks can be shown, and the new text of the only file.
    expands: bool,
    content: Option<Arc<str>>,
    wraps: bool,
    /// The address of the page without its query.
    path: String,
    /// The other parameters in its query.
    others: Vec<(String, String)>,
    /// The start of the addresses of files after the change: `/namespace/project/blob/COMMIT`.
    blobs: Option<String>,
    /// The address of the form for a comment on a line.
    comments: Option<String>,
    /// Whether only added and removed lines have comments.
    comments_on_changed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Layout {
    #[default]
    Unified,
    SideBySide,
}

impl Layout {
    /// Both, with the words of the parameter `view` and the names that a visitor sees.
    pub(crate) const ALL: [(Layout, &str, &str); 2] =
        [(Layout::Unified, "inline", "Unified"), (Layout::SideBySide, "parallel", "Side by side")];

    /// The word of the layout in addresses and cookies.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Layout::Unified => "inline",
            Layout::SideBySide => "parallel",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known, _)| *known == word).map(|(layout, _, _)| layout)
    }
}

impl DiffOptions {
    /// Reads the options: `view=parallel`, `w=1`, `wrap=1`, `file=PATH` and, for this file, `lines=11-30`.
    pub(crate) fn of(visit: &Visit) -> Self {
        let is_option = |name: &str| matches!(name, "view" | "w" | "file" | "lines" | "wrap");
        let others = visit.query_pairs().filter(|(name, _)| !is_option(name));
        Self {
            layout: visit.query("view").and_then(Layout::parse).unwrap_or(visit.layout()),
            preferred: visit.layout(),
            ignores_white_space: visit.query("w") == Some("1"),
            file: visit.query("file").map(str::to_owned),
            between: expand::ranges(visit.query_all("lines")),
            expands: false,
            content: None,
            wraps: visit.query("wrap") == Some("1"),
            path: visit.request().uri().path().to_owned(),
            others: others.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            blobs: None,
            comments: None,
            comments_on_changed: false,
        }
    }

    /// Links each file to its page at a commit of a project.
    #[must_use]
    pub(crate) fn with_files_at(self, base: &str, commit: impl fmt::Display) -> Self {
        Self { blobs: Some(format!("{base}/blob/{commit}")), ..self }
    }

    /// Links each line to a form for a comment on it. The form gets `path`, `old` and `new` in its query: the path of
    /// the file, and the numbers of the line. A removed line has the number of the next line of the new file in `next`.
    #[must_use]
    pub(crate) fn with_comments_at(self, address: String) -> Self {
        Self { comments: Some(address), ..self }
    }

    /// Like [`with_comments_at`](Self::with_comments_at), for added and removed lines only.
    #[must_use]
    pub(crate) fn with_comments_on_changed_lines_at(self, address: String) -> Self {
        Self { comments: Some(address), comments_on_changed: true, ..self }
    }

    /// Links hunks to the lines around them. `read` returns the first bytes of a file after the change; it is called
    /// for the only file that is shown.
    pub(crate) fn with_content(
        self,
        read: impl FnOnce(&str, usize) -> Result<Option<Vec<u8>>, Error>,
    ) -> Result<Self, Error> {
        let content = match &self.file {
            Some(path) => read(path, MAX_CONTENT)?,
            None => None,
        };
        let content = content.map(|mut bytes| {
            if bytes.len() == MAX_CONTENT {
                // The last line may be incomplete.
                let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
                bytes.truncate(end);
            }
            Arc::from(String::from_utf8_lossy(&bytes))
        });
        Ok(Self { expands: true, content, ..self })
    }

    /// The address of the same page with more lines between the hunks of a file.
    fn address_with_lines(&self, file: &str, lines: &Numbers) -> String {
        let is_same = self.file.as_deref() == Some(file);
        let between = self.between.iter().filter(|_| is_same).chain([lines]).cloned().collect();
        let options = Self { between, file: Some(file.to_owned()), ..self.clone() };
        options.address(self.layout, self.ignores_white_space, Some(file))
    }

    /// The address of the same page with other options.
    fn address(&self, layout: Layout, ignores_white_space: bool, file: Option<&str>) -> String {
        let of_file =
            self.between.iter().filter(|_| file.is_some() && self.file.as_deref() == file);
        let of_file: Vec<String> =
            of_file.map(|lines| format!("{}-{}", lines.start(), lines.end())).collect();
        let of_file = of_file.iter().map(|lines| ("lines", lines.as_str()));
        let others = self.others.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let options = [
            (layout != self.preferred).then_some(("view", layout.word())),
            ignores_white_space.then_some(("w", "1")),
            self.wraps.then_some(("wrap", "1")),
            file.map(|file| ("file", file)),
        ];
        let query = address::query(others.chain(options.into_iter().flatten()).chain(of_file));
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{}{mark}{query}", self.path)
    }
}

/// The changes of one file.
struct FileChange {
    /// The heading: the path, or both paths of a renamed file.
    name: String,
    /// The path after the change, as it is shown and as it is.
    path: String,
    raw_path: String,
    /// Whether it has characters that change the direction of text.
    has_hidden: bool,
    note: Option<String>,
    rows: Vec<Row>,
    pairs: Vec<Pair>,
    /// The address that shows a folded file.
    unfold: Option<String>,
    /// The number of comments on lines of a folded file.
    folded_notes: Option<String>,
    /// The page of the file after the change.
    file: Option<String>,
    /// Links to lines after the last hunk.
    more_lines: Vec<Expansion>,
    /// The number of lines that are shown, if there are more.
    cut_at: Option<usize>,
    additions: usize,
    deletions: usize,
}

/// A file for which the page has no place.
struct OtherFile {
    name: String,
    address: String,
}

/// A diff that is ready to be rendered.
#[derive(Template)]
#[template(path = "diff.html")]
pub(crate) struct DiffView {
    summary: String,
    /// The files of the navigation.
    files: Vec<FileChange>,
    /// The files that are not shown here, with the addresses that show them.
    others: Vec<OtherFile>,
    shown_of_more: Option<usize>,
    is_incomplete: bool,
    is_side_by_side: bool,
    /// Whether a column has the links for comments.
    has_comments: bool,
    /// The number of columns.
    columns: usize,
    ignores_white_space: bool,
    other_layout: String,
    other_white_space: String,
    /// The address of the page with all files, if it shows a single one.
    all_files: Option<String>,
    wraps: bool,
    other_wrapping: String,
}

/// The HTML of a diff.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiffHtml(String);

impl HtmlSafe for DiffHtml {}

impl fmt::Display for DiffHtml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FastWritable for DiffHtml {
    fn write_into(&self, dest: &mut dyn fmt::Write, _: &dyn askama::Values) -> askama::Result<()> {
        Ok(dest.write_str(&self.0)?)
    }
}

impl DiffView {
    /// The view of changed files.
    pub(crate) fn new(diffs: &[FileDiff], options: &DiffOptions) -> Self {
        let totals = diffs.iter().map(|diff| rows::count(&diff.text));
        let (additions, deletions) = totals.fold((0, 0), |(a, d), (x, y)| (a + x, d + y));
        let is_wanted =
            |diff: &&FileDiff| options.file.as_ref().is_none_or(|path| diff.new_path == *path);
        let wanted: Vec<&FileDiff> = diffs.iter().filter(is_wanted).collect();
        let mut left = if options.file.is_some() { MAX_LINES_OF_FILE } else { MAX_LINES };
        let deadline = Instant::now() + TIME_FOR_WORDS;
        let files = wanted.iter().take(MAX_FILES).map(|diff| {
            let change = FileChange::new(diff, options, left, deadline);
            left = left.saturating_sub(change.rows.len() + change.pairs.len());
            change
        });
        let mut files: Vec<FileChange> = files.collect();
        name_comments(&mut files);
        let (layout, ignores) = (options.layout, options.ignores_white_space);
        let others = wanted.iter().skip(files.len()).take(MAX_OTHERS).map(|diff| OtherFile {
            name: shown_name(diff),
            address: options.address(layout, ignores, Some(&diff.new_path)),
        });
        let (other, file) = (layout.other(), options.file.as_deref());
        let has_comments = options.comments.is_some();
        let columns = match layout {
            Layout::Unified => 4 + usize::from(has_comments),
            Layout::SideBySide => 6 + 2 * usize::from(has_comments),
        };
        Self {
            summary: summary(diffs.len(), additions as u64, deletions as u64),
            shown_of_more: (wanted.len() > files.len()).then_some(files.len()),
            others: others.collect(),
            files,
            is_incomplete: false,
            is_side_by_side: layout == Layout::SideBySide,
            has_comments,
            columns,
            ignores_white_space: ignores,
            other_layout: options.address(other, ignores, file),
            other_white_space: options.address(layout, !ignores, file),
            all_files: file.map(|_| options.address(layout, ignores, None)),
            wraps: options.wraps,
            other_wrapping: DiffOptions { wraps: !options.wraps, ..options.clone() }
                .address(layout, ignores, file),
        }
    }

    /// The view of a comparison. It says so if some changes of a large comparison are left out.
    pub(crate) fn of_comparison(comparison: &Comparison, options: &DiffOptions) -> Self {
        let is_incomplete =
            comparison.overflow && comparison.diffs.iter().any(|diff| diff.too_large);
        Self { is_incomplete, ..Self::new(&comparison.diffs, options) }
    }

    /// Counts lines as git does for the whole commit. The texts of very long diffs are missing, so their lines cannot
    /// be counted here.
    #[must_use]
    pub(crate) fn with_stats(self, files: usize, stats: &CommitStats) -> Self {
        Self { summary: summary(files, stats.additions, stats.deletions), ..self }
    }

    /// Renders the diff. It may be long, so this belongs into the lane for comparisons.
    pub(crate) fn to_html(&self) -> Result<DiffHtml, Error> {
        let html = self.render().map_err(|error| Error::Internal(error.to_string()))?;
        Ok(DiffHtml(html))
    }
}

impl Layout {
    fn other(self) -> Self {
        match self {
            Layout::Unified => Layout::SideBySide,
            Layout::SideBySide => Layout::Unified,
        }
    }
}

impl FileChange {
    fn new(diff: &FileDiff, options: &DiffOptions, left: usize, deadline: Instant) -> Self {
        let (additions, deletions) = rows::count(&diff.text);
        let is_alone = options.file.is_some();
        let is_long = additions + deletions > MAX_CHANGED || diff.text.lines().count() > left;
        let is_folded = !is_alone && (is_long || is_generated(&diff.new_path)) && has_rows(diff);
        let unfold =
            || options.address(options.layout, options.ignores_white_space, Some(&diff.new_path));
        let mut lines = match is_folded {
            true => Vec::new(),
            false => Line::parse(&diff.text, options.ignores_white_space),
        };
        // Removed files and submodules have no page, and nothing around their hunks.
        let is_file = diff.new_mode.is_some_and(|mode| matches!(mode >> 12, 0o10 | 0o12));
        let mut more_lines = Vec::new();
        let more = |lines: &Numbers| options.address_with_lines(&diff.new_path, lines);
        if options.expands && is_file && !lines.is_empty() {
            let content = options.content.as_deref().filter(|_| is_alone);
            let expanded = expand::expand(lines, content, &options.between, left);
            lines = expanded.lines;
            more_lines = expanded.end.map_or(vec![], |end| Expansion::all(&end, more));
        }
        let cut_at = (lines.len() > left).then_some(left);
        lines.truncate(left);
        words::mark(&mut lines, deadline);
        let (mut rows, mut pairs): (Vec<Row>, _) = match options.layout {
            Layout::Unified => (lines.into_iter().map(Row::from).collect(), vec![]),
            Layout::SideBySide => (vec![], Pair::side_by_side(lines)),
        };
        if let Some(form) = &options.comments {
            // A line that stays is on both sides, and has its link on the right one.
            let sides = pairs.iter_mut().flat_map(|Pair { left, right, .. }| {
                left.iter_mut().filter(|row| row.kind == "removed").chain(right)
            });
            let rows = rows.iter_mut().chain(sides);
            let is_linked = |row: &&mut Row| match row.kind {
                "added" | "removed" => true,
                _ => !options.comments_on_changed,
            };
            rows.filter(is_linked).for_each(|row| row.link_comment(form, &diff.new_path));
        }
        let headers = pairs.iter_mut().filter_map(|pair| pair.left.as_mut());
        rows.iter_mut().chain(headers).for_each(|row| row.link_expansions(more));
        let blobs = options.blobs.as_ref().filter(|_| is_file);
        Self {
            name: shown_name(diff),
            has_hidden: visible::has_hidden(&diff.text) || visible::has_hidden(&diff.new_path),
            path: visible::name(&diff.new_path),
            raw_path: diff.new_path.clone(),
            note: note(diff),
            unfold: is_folded.then(unfold),
            folded_notes: None,
            file: blobs.map(|blobs| format!("{blobs}/{}", address::path(&diff.new_path))),
            rows,
            pairs,
            more_lines: if cut_at.is_some() { vec![] } else { more_lines },
            cut_at,
            additions,
            deletions,
        }
    }
}

/// Names the links for comments of all files.
fn name_comments(files: &mut [FileChange]) {
    let mut names = HashSet::new();
    for FileChange { path, rows, pairs, .. } in files {
        let sides =
            pairs.iter_mut().flat_map(|Pair { left, right, .. }| left.iter_mut().chain(right));
        let linked = rows.iter_mut().chain(sides).filter(|row| row.comment.is_some());
        linked.for_each(|row| row.name_comment(path, &mut names));
    }
}

/// The path, or both paths of a renamed file.
fn shown_name(diff: &FileDiff) -> String {
    match diff.renamed {
        true => visible::name(&format!("{} → {}", diff.old_path, diff.new_path)),
        false => visible::name(&diff.new_path),
    }
}

fn has_rows(diff: &FileDiff) -> bool {
    diff.text.starts_with("---")
}

/// What is said of a file besides its lines.
fn note(diff: &FileDiff) -> Option<String> {
    let mode = |mode: Option<u32>| mode.filter(|mode| *mode != 0);
    let (old, new) = (mode(diff.old_mode), mode(diff.new_mode));
    let is_binary = diff.text.starts_with("Binary files");
    let text = match (old, new) {
        _ if diff.too_large => "This diff is too large to show.".to_owned(),
        (None, _) if is_binary => "Binary file added.".to_owned(),
        (_, None) if is_binary => "Binary file removed.".to_owned(),
        _ if is_binary => "Binary file changed.".to_owned(),
        (None, _) if diff.text.is_empty() => "Empty file added.".to_owned(),
        (_, None) if diff.text.is_empty() => "Empty file removed.".to_owned(),
        (Some(old), Some(new)) if old != new => {
            format!("The mode changed from {old:o} to {new:o}.")
        }
        _ if diff.renamed && diff.text.is_empty() => "File renamed without changes.".to_owned(),
        _ => return None,
    };
    Some(text)
}

/// Whether programs write this file, so that people rarely read its diff.
fn is_generated(path: &str) -> bool {
    const NAMES: [&str; 10] = [
        "Cargo.lock",
        "Gemfile.lock",
        "Pipfile.lock",
        "composer.lock",
        "flake.lock",
        "go.sum",
        "package-lock.json",
        "pnpm-lock.yaml",
        "poetry.lock",
        "yarn.lock",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    NAMES.contains(&name)
        || [".min.js", ".min.css", ".map"].iter().any(|ending| name.ends_with(ending))
        || path.split('/').any(|folder| folder == "node_modules")
}

/// `2 changed files with 3 additions and 1 deletion`.
fn summary(files: usize, additions: u64, deletions: u64) -> String {
    format!(
        "{} with {} and {}",
        count(files as u64, "changed file"),
        count(additions, "addition"),
        count(deletions, "deletion")
    )
}

#[cfg(test)]
mod tests;
