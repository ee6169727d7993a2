//! Searches in the files and commits of one revision. They are bounded by time and number.

use std::time::{Duration, Instant};

use hexforge_domain::commit::Commit;

use crate::error::Error;
use crate::repository::Revision;
use crate::repository::browse;
use crate::repository::commits::{self, CommitFilter};

/// The limits of a search.
const TIME: Duration = Duration::from_secs(2);
const MAX_HITS: usize = 200;

/// The largest file that is searched, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The maximum number of characters of a line that is shown.
const MAX_LINE: usize = 300;

/// The number of commits that are read at a time, and the number that are looked through.
const COMMITS_READ: usize = 500;
const COMMITS_SEARCHED: u64 = 20_000;

/// The beginning of a file in which a zero byte marks it as binary.
const BINARY_CHECKED: usize = 8000;

/// A line that contains the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeHit {
    /// The path of the file.
    pub path: String,
    /// The number of the line, from 1.
    pub line: usize,
    /// The line, shortened.
    pub text: String,
}

/// The hits of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hits<T> {
    /// The hits.
    pub items: Vec<T>,
    /// Whether everything was searched. If not, there may be more hits.
    pub is_complete: bool,
}

/// Finds lines that contain a text, ignoring the case of ASCII letters.
pub fn find_lines(at: &Revision, text: &str) -> Result<Hits<CodeHit>, Error> {
    let (started, wanted) = (Instant::now(), text.to_ascii_lowercase());
    let paths = browse::file_paths(at)?;
    let (mut items, mut is_complete) = (Vec::new(), !paths.is_cut);
    for path in &paths.paths {
        if started.elapsed() >= TIME || items.len() >= MAX_HITS {
            is_complete = false;
            break;
        }
        let repository = at.repository();
        let Some(blob) = repository.blob_at(at.commit(), path)? else { continue };
        if blob.size > MAX_FILE {
            continue;
        }
        let mut bytes = Vec::new();
        repository.write_blob(blob.id, &mut bytes)?;
        if !bytes[..bytes.len().min(BINARY_CHECKED)].contains(&0) {
            add_lines(&mut items, path, &bytes, &wanted);
        }
    }
    if items.len() > MAX_HITS {
        items.truncate(MAX_HITS);
        is_complete = false;
    }
    Ok(Hits { items, is_complete })
}

fn add_lines(items: &mut Vec<CodeHit>, path: &str, bytes: &[u8], wanted: &str) {
    let content = String::from_utf8_lossy(bytes);
    for (at, line) in content.lines().enumerate() {
        if line.to_ascii_lowercase().contains(wanted) {
            let text = line.chars().take(MAX_LINE).collect();
            items.push(CodeHit { path: path.to_owned(), line: at + 1, text });
            if items.len() > MAX_HITS {
                return;
            }
        }
    }
}

/// Finds commits whose message contains a text, ignoring the case of ASCII letters, newest first.
pub fn find_commits(at: &Revision, text: &str) -> Result<Hits<Commit>, Error> {
    let (started, wanted) = (Instant::now(), text.to_ascii_lowercase());
    let (mut items, mut skip) = (Vec::new(), 0);
    loop {
        let filter = CommitFilter { skip, limit: COMMITS_READ, ..CommitFilter::default() };
        let read = commits::list(at, filter)?;
        let is_end = read.len() < COMMITS_READ;
        skip += COMMITS_READ as u64;
        let is_found = |commit: &Commit| commit.message.to_ascii_lowercase().contains(&wanted);
        items.extend(read.into_iter().filter(is_found));
        if is_end && items.len() <= MAX_HITS {
            return Ok(Hits { items, is_complete: true });
        }
        if items.len() >= MAX_HITS || skip >= COMMITS_SEARCHED || started.elapsed() >= TIME {
            items.truncate(MAX_HITS);
            return Ok(Hits { items, is_complete: false });
        }
    }
}
