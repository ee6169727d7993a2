//! Finds the commits that wrote the lines of a file, with the rules of `git blame`.
//!
//! Each line waits at a commit and a path. If a parent has the same file there, all lines go on to the first such
//! parent. Otherwise each line goes on to the first parent whose version has the line, and a line that no parent has was
//! written by the commit. Where a parent has no file at the path, the file may have been renamed.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;
use std::time::Duration;

use gix::ObjectId;
use gix::bstr::BString;
use gix::diff::blob::{Algorithm, InternedInput, diff_with_slider_heuristics};
use gix::objs::tree::EntryKind;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::{Blame, BlameRun};

use crate::content::commit::from_gix;
use crate::history::compare::content::{self, Entry};
use crate::history::compare::distance::differ_too_much;
use crate::history::compare::{Effort, Limits, rename_source, with_object_cache};
use crate::history::contributors::lines;
use crate::history::log::{Header, PathHistory, read};
use crate::text;

/// The maximum size of the file in bytes.
const LARGEST_FILE: u64 = 5 << 20;

/// The limits of one blame.
pub(super) const LIMITS: Limits =
    Limits { time: Duration::from_secs(10), reading: 256 << 20, showing: 0, changes: 200_000 };

/// Finds the commits of some lines of a file, counted from 0. Returns `None` when there is no file at the path.
/// # Errors
/// [`GitError::TooLarge`] when the file is too large or a limit of the effort is reached.
pub(super) fn blame(
    repo: &gix::Repository,
    commit: ObjectId,
    path: &str,
    range: Range<u32>,
    effort: &Effort,
) -> Result<Option<Blame>, GitError> {
    let repo = &with_object_cache(repo);
    let header = read(repo, commit)?.ok_or(GitError::Missing)?;
    let mut search = Search::new(repo, effort);
    let path = search.intern(text::bytes_of(path).into_owned().into());
    let Some(file) = search.file_at(&header, path)? else { return Ok(None) };
    if content::size(repo, &file)? > LARGEST_FILE {
        return Err(GitError::TooLarge);
    }
    let text = content::bytes(repo, &file)?.ok_or(GitError::TooLarge)?;
    let count = u32::try_from(lines::count(&text)).map_err(|_| GitError::TooLarge)?;
    let range = range.start.min(count)..range.end.min(count);
    if !range.is_empty() {
        let whole =
            Span { wanted: range.start, start: range.start, count: range.end - range.start };
        search.wait(header, path, vec![whole]);
        search.run()?;
    }
    Ok(Some(Blame { lines: count, runs: search.into_runs() }))
}

/// Lines of the blamed file that are also in an older version, in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    /// The first line in the blamed file.
    wanted: u32,
    /// The first line in the older version.
    start: u32,
    count: u32,
}

impl Span {
    /// The part in these lines of the older version, which must be a part of the span.
    fn part(self, lines: Range<u32>) -> Option<Span> {
        let wanted = self.wanted + (lines.start - self.start);
        let part = Span { wanted, start: lines.start, count: lines.end - lines.start };
        (part.count > 0).then_some(part)
    }
}

/// A commit and the index of a path.
type Version = (ObjectId, usize);

/// Spans that one commit wrote.
struct Written {
    span: Span,
    version: Version,
    previous: Option<Version>,
}

struct Search<'r> {
    repo: &'r gix::Repository,
    effort: &'r Effort,
    /// All paths of the file, with a reader for each.
    paths: Vec<(BString, PathHistory<'r>)>,
    /// The versions at which spans wait: those of the newest commits first.
    queue: BinaryHeap<(i64, Reverse<u64>, Version)>,
    queued: u64,
    waiting: HashMap<Version, (Header, Vec<Span>)>,
    written: Vec<Written>,
}

/// The version of the file in a parent.
struct Source {
    commit: Header,
    path: usize,
    file: Entry,
}

impl<'r> Search<'r> {
    fn new(repo: &'r gix::Repository, effort: &'r Effort) -> Self {
        Self {
            repo,
            effort,
            paths: Vec::new(),
            queue: BinaryHeap::new(),
            queued: 0,
            waiting: HashMap::new(),
            written: Vec::new(),
        }
    }

    /// The index of a path.
    fn intern(&mut self, path: BString) -> usize {
        if let Some(at) = self.paths.iter().position(|(known, _)| *known == path) {
            return at;
        }
        let reader = PathHistory::new(self.repo, &path);
        self.paths.push((path, reader));
        self.paths.len() - 1
    }

    /// The file or link at a path of a commit.
    fn file_at(&mut self, commit: &Header, path: usize) -> Result<Option<Entry>, GitError> {
        Ok(self.entry_at(commit, path)?.filter(|entry| entry.kind != EntryKind::Commit))
    }

    /// The entry at a path of a commit, if it is not a folder.
    fn entry_at(&mut self, commit: &Header, path: usize) -> Result<Option<Entry>, GitError> {
        let (path, reader) = &mut self.paths[path];
        let found = reader.entry(0, commit.tree)?;
        let found = found.filter(|(kind, _)| *kind != EntryKind::Tree);
        Ok(found.map(|(kind, id)| Entry { path: path.clone(), kind, id }))
    }

    /// Lets spans wait at a version.
    fn wait(&mut self, commit: Header, path: usize, spans: Vec<Span>) {
        if spans.is_empty() {
            return;
        }
        let version = (commit.id, path);
        if let Some((_, waiting)) = self.waiting.get_mut(&version) {
            waiting.extend(spans);
            return;
        }
        self.queue.push((commit.time, Reverse(self.queued), version));
        self.queued += 1;
        self.waiting.insert(version, (commit, spans));
    }

    fn run(&mut self) -> Result<(), GitError> {
        while let Some((_, _, version)) = self.queue.pop() {
            let Some((commit, spans)) = self.waiting.remove(&version) else { continue };
            self.require_time()?;
            self.visit(commit, version.1, spans)?;
        }
        Ok(())
    }

    fn require_time(&self) -> Result<(), GitError> {
        if self.effort.has_time() { Ok(()) } else { Err(GitError::TooLarge) }
    }

    /// Passes the spans that wait at a version on to the parents.
    fn visit(&mut self, commit: Header, path: usize, mut spans: Vec<Span>) -> Result<(), GitError> {
        let version = (commit.id, path);
        let file = self.entry_at(&commit, path)?.ok_or(GitError::Missing)?;
        let sources = match self.sources(&commit, path, &file)? {
            Sources::Same(source) => {
                self.wait(source.commit, source.path, spans);
                return Ok(());
            }
            Sources::Different(sources) => sources,
        };
        let previous = sources.first().map(|source| (source.commit.id, source.path));
        let mut text = None;
        for Source { commit: parent, path, file: older } in sources {
            self.require_time()?;
            let text = match &text {
                Some(text) => text,
                None => text.insert(content::bytes(self.repo, &file)?.unwrap_or_default()),
            };
            // A version that is too large to be compared has no line in common.
            let older = content::bytes(self.repo, &older)?.unwrap_or_default();
            let (passed, kept) = split(spans, &changes(&older, text));
            self.wait(parent, path, passed);
            spans = kept;
            if spans.is_empty() {
                break;
            }
        }
        self.written.extend(spans.into_iter().map(|span| Written { span, version, previous }));
        Ok(())
    }

    /// Finds the file in the parents of a commit: first at the same path in all parents, then renamed.
    fn sources(&mut self, commit: &Header, path: usize, file: &Entry) -> Result<Sources, GitError> {
        let mut sources: Vec<(usize, Source)> = Vec::new();
        let mut without = Vec::new();
        for (place, parent) in commit.parents.iter().enumerate() {
            self.require_time()?;
            // A missing parent ends the history.
            let Some(parent) = read(self.repo, *parent)? else { continue };
            match self.entry_at(&parent, path)? {
                None => without.push((place, parent)),
                Some(found) if found.is_same_type(file) => {
                    let source = Source { commit: parent, path, file: found };
                    if source.file.id == file.id {
                        return Ok(Sources::Same(source));
                    }
                    add(&mut sources, place, source);
                }
                // A change of type is not followed.
                Some(_) => (),
            }
        }
        for (place, parent) in without {
            // Without a result because of a limit on sizes, the file counts as new.
            let renamed_to = file.path.as_ref();
            let found = rename_source(self.repo, parent.id, commit.id, renamed_to, self.effort)?;
            self.require_time()?;
            let Some(found) = found else { continue };
            let path = self.intern(found.path.clone());
            let source = Source { commit: parent, path, file: found };
            if source.file.id == file.id {
                return Ok(Sources::Same(source));
            }
            add(&mut sources, place, source);
        }
        sources.sort_by_key(|(place, _)| *place);
        Ok(Sources::Different(sources.into_iter().map(|(_, source)| source).collect()))
    }

    /// Joins adjacent spans of the same version into runs.
    fn into_runs(mut self) -> Vec<BlameRun> {
        self.written.sort_unstable_by_key(|written| written.span.wanted);
        let path = |at: usize| text::exact_path(&self.paths[at].0);
        let mut runs: Vec<BlameRun> = Vec::new();
        let mut last: Option<Version> = None;
        for Written { span, version, previous } in &self.written {
            if let Some(run) = runs.last_mut().filter(|_| last == Some(*version))
                && run.original + run.count == span.start + 1
                && run.first + run.count == span.wanted + 1
            {
                run.count += span.count;
                continue;
            }
            last = Some(*version);
            runs.push(BlameRun {
                first: span.wanted + 1,
                count: span.count,
                commit: from_gix(&version.0),
                path: path(version.1),
                original: span.start + 1,
                previous: previous.map(|(commit, at)| (from_gix(&commit), path(at))),
            });
        }
        runs
    }
}

/// The file in the parents of a commit.
enum Sources {
    /// A parent has the same file.
    Same(Source),
    /// The different versions of the parents, in their order.
    Different(Vec<Source>),
}

/// Adds a source unless an earlier parent has the same content.
fn add(sources: &mut Vec<(usize, Source)>, place: usize, source: Source) {
    let is_known =
        |(earlier, known): &(usize, Source)| *earlier < place && known.file.id == source.file.id;
    if !sources.iter().any(is_known) {
        sources.push((place, source));
    }
}

/// A changed part of two texts, as ranges of lines.
struct Changed {
    before: Range<u32>,
    after: Range<u32>,
}

/// Compares two versions of a file. Long texts with too little in common count as replaced.
fn changes(before: &[u8], after: &[u8]) -> Vec<Changed> {
    let (before, after) = without_common_end(before, after);
    let input = InternedInput::new(before, after);
    if differ_too_much(&input.before, &input.after) {
        let length = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
        let (before, after) = (0..length(input.before.len()), 0..length(input.after.len()));
        return vec![Changed { before, after }];
    }
    let diff = diff_with_slider_heuristics(Algorithm::Myers, &input);
    diff.hunks().map(|hunk| Changed { before: hunk.before, after: hunk.after }).collect()
}

/// The size of the blocks that are compared at the end of texts.
const BLOCK: usize = 1024;

/// Cuts off equal blocks at the end of both texts, but no part of a line. Git does so before it compares texts without
/// context, and the rest alone decides which of several possible diffs it chooses.
fn without_common_end<'a>(before: &'a [u8], after: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let (old, new) = (before.rchunks_exact(BLOCK), after.rchunks_exact(BLOCK));
    let equal = old.zip(new).take_while(|(old, new)| old == new).count() * BLOCK;
    let tail = &before[before.len() - equal..];
    // The line at the start of the equal part stays.
    let kept = tail.iter().position(|byte| *byte == b'\n').map_or(equal, |at| at + 1);
    let cut = equal - kept;
    (&before[..before.len() - cut], &after[..after.len() - cut])
}

/// Splits spans into those that the older version has too, with their lines there, and those that were changed.
fn split(spans: Vec<Span>, changes: &[Changed]) -> (Vec<Span>, Vec<Span>) {
    let (mut passed, mut kept) = (Vec::new(), Vec::new());
    for span in spans {
        let end = span.start + span.count;
        let first = changes.partition_point(|change| change.after.end <= span.start);
        let mut at = span.start;
        for change in &changes[first..] {
            if change.after.start >= end {
                break;
            }
            let changed = change.after.start.max(at)..change.after.end.min(end);
            pass(&mut passed, span, at..changed.start, changes);
            kept.extend(span.part(changed.clone()));
            at = changed.end;
        }
        pass(&mut passed, span, at..end, changes);
    }
    (passed, kept)
}

/// Adds unchanged lines of a span with their places in the older version.
fn pass(passed: &mut Vec<Span>, span: Span, lines: Range<u32>, changes: &[Changed]) {
    let Some(part) = span.part(lines.clone()) else { return };
    // Removed lines move the lines after them, so a change without new lines counts from its place on.
    let before = changes.partition_point(|change| change.after.end <= lines.start);
    let start = match before.checked_sub(1).and_then(|at| changes.get(at)) {
        Some(change) => lines.start - change.after.end + change.before.end,
        None => lines.start,
    };
    passed.push(Span { start, ..part });
}
