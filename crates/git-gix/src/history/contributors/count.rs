//! Counts the commits up to a tip, starting at the stored count.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use gix::objs::Kind;
use gix::{ObjectId, ThreadSafeRepository};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::Contributors;

use super::header::Header;
use super::lines::Lines;
use super::new_commits::{NewCommits, find_new_commits};
use super::read;
use super::stored::{StoredCount, UnfinishedCount};
use super::totals::{Author, Totals};
use super::trees::TreeCounter;
use super::walk::{Walk, reaches};

/// The number of threads that compare files.
const THREADS: usize = 2;
/// The number of commits per chunk of work. Consecutive commits share most of their files.
const CHUNK: usize = 32;
/// The number of chunks queued per thread.
const QUEUED_CHUNKS: usize = 2;
/// The size of the object cache of each thread, in bytes.
const OBJECT_CACHE: usize = 16 << 20;
/// The interval of progress reports.
const REPORT_INTERVAL: Duration = Duration::from_millis(250);
/// The interval at which the progress is stored.
const STORE_INTERVAL: Duration = Duration::from_secs(5);

/// The observer of a running count.
pub(crate) trait CountObserver {
    /// Receives the intermediate result.
    fn report(&self, so_far: Contributors);

    /// Returns whether to pause the count. `running` is the time since it began.
    fn pause(&self, running: Duration) -> bool;
}

/// The outcome of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountOutcome {
    /// Everything is counted.
    Complete,
    /// The count was paused and its progress is stored.
    Paused,
}

/// Updates the stored count of a repository to a tip. The progress is stored in any case.
pub(crate) fn count_up_to(
    repository: &ThreadSafeRepository,
    tip: ObjectId,
    observer: &dyn CountObserver,
) -> Result<(CountOutcome, StoredCount), GitError> {
    let repo = open_for_thread(repository);
    let mut stored = StoredCount::read(repository.path());
    while stored.tip != Some(tip) {
        // A paused count is finished first if its tip is an ancestor of this one.
        stored.unfinished = match stored.unfinished.take() {
            Some(unfinished) if unfinished.tip == tip => Some(unfinished),
            Some(unfinished) if unfinished.done > 0 && reaches(&repo, tip, unfinished.tip)? => {
                Some(unfinished)
            }
            _ => Some(UnfinishedCount::new(tip)),
        };
        if count_unfinished(repository, &repo, &mut stored, observer)? == CountOutcome::Paused {
            return Ok((CountOutcome::Paused, stored));
        }
    }
    Ok((CountOutcome::Complete, stored))
}

/// Creates a handle to the repository for one thread.
fn open_for_thread(repository: &ThreadSafeRepository) -> gix::Repository {
    let mut repo = repository.to_thread_local();
    repo.object_cache_size_if_unset(OBJECT_CACHE);
    repo
}

fn count_unfinished(
    repository: &ThreadSafeRepository,
    repo: &gix::Repository,
    stored: &mut StoredCount,
    observer: &dyn CountObserver,
) -> Result<CountOutcome, GitError> {
    let Some(mut unfinished) = stored.unfinished.take() else { return Ok(CountOutcome::Complete) };
    let new = match stored.tip {
        Some(old) => match find_new_commits(repo, unfinished.tip, old, stored.skew)? {
            Some(new) => Some(new),
            None => {
                // The history was rewritten: the counted commits may no longer be part of it.
                *stored = StoredCount::default();
                unfinished = UnfinishedCount::new(unfinished.tip);
                None
            }
        },
        None => None,
    };
    let mut count =
        Count { new, base: stored, unfinished, skew: 0, began: Instant::now(), observer };
    let result = count.run(repository, repo);
    let Count { new, unfinished, skew, .. } = count;
    if let Ok(CountOutcome::Complete) = result {
        let mut totals = new.map(|new| new.first_authors).unwrap_or_default();
        totals.add_all(&unfinished.totals);
        totals.add_all(&stored.totals);
        let skew = stored.skew.saturating_add(skew);
        *stored = StoredCount { tip: Some(unfinished.tip), skew, totals, unfinished: None };
    } else {
        stored.unfinished = Some(unfinished);
    }
    store(repository.path(), stored);
    result
}

/// Stores the count. An error is only logged, because a lost count can be made again.
fn store(repository: &Path, stored: &StoredCount) {
    if let Err(error) = stored.write(repository) {
        let path = repository.display();
        tracing::warn!(%path, %error, "the count of contributors could not be stored");
    }
}

/// One count, from the stored tip to the next.
struct Count<'a> {
    /// The new commits; `None` to count the whole history.
    new: Option<NewCommits>,
    base: &'a StoredCount,
    unfinished: UnfinishedCount,
    /// In seconds, see [`StoredCount::skew`].
    skew: u64,
    began: Instant,
    observer: &'a dyn CountObserver,
}

impl Count<'_> {
    fn run(
        &mut self,
        repository: &ThreadSafeRepository,
        repo: &gix::Repository,
    ) -> Result<CountOutcome, GitError> {
        let mut left = self.new.as_ref().map(|new| new.commits.len());
        let mut walk = Walk::new(repo, self.unfinished.tip)?;
        let mut skip = self.unfinished.done;
        thread::scope(|scope| {
            let threads: [ComparingThread; THREADS] = std::array::from_fn(|_| {
                let (thread, chunks, results) = ComparingThread::new();
                scope.spawn(move || compare_chunks(repository, &chunks, &results));
                thread
            });
            let (mut sent, mut received) = (0, 0);
            let (mut reported, mut saved) = (Instant::now(), Instant::now());
            self.began = Instant::now();
            let mut at_end = false;
            loop {
                while !at_end && sent - received < THREADS * QUEUED_CHUNKS {
                    let chunk = self.next_chunk(&mut walk, &mut skip, &mut left)?;
                    at_end = chunk.len() < CHUNK;
                    if !chunk.is_empty() {
                        threads[sent % THREADS].send(chunk)?;
                        sent += 1;
                    }
                }
                if sent == received {
                    return Ok(CountOutcome::Complete);
                }
                self.add_counted(threads[received % THREADS].receive()?);
                received += 1;
                if at_end && sent == received {
                    continue;
                }
                if reported.elapsed() > REPORT_INTERVAL {
                    self.observer.report(self.so_far());
                    reported = Instant::now();
                }
                if self.observer.pause(self.began.elapsed()) {
                    self.observer.report(self.so_far());
                    return Ok(CountOutcome::Paused);
                }
                if saved.elapsed() > STORE_INTERVAL {
                    let stored = StoredCount {
                        unfinished: Some(self.unfinished.clone()),
                        ..self.base.clone()
                    };
                    store(repository.path(), &stored);
                    saved = Instant::now();
                }
            }
        })
    }

    /// The next commits to compare with their parents. Fewer than [`CHUNK`] at the end.
    fn next_chunk(
        &mut self,
        walk: &mut Walk<'_>,
        skip: &mut u64,
        left: &mut Option<usize>,
    ) -> Result<Vec<CommitToCompare>, GitError> {
        let mut chunk = Vec::with_capacity(CHUNK);
        while chunk.len() < CHUNK && *left != Some(0) {
            let Some(step) = walk.step()? else { break };
            if let Some(new) = &self.new {
                if !new.commits.contains(&step.id) {
                    continue;
                }
                *left = left.map(|left| left - 1);
            }
            self.skew = self.skew.saturating_add(step.skew);
            if step.header.is_merge() {
                continue;
            }
            if *skip > 0 {
                *skip -= 1;
                continue;
            }
            let Header { tree, parents, email, name, .. } = step.header;
            let parent = match (step.parent_tree, parents.first()) {
                (Some(tree), _) => Parent::Tree(tree),
                (None, Some(commit)) => Parent::Commit(*commit),
                (None, None) => Parent::None,
            };
            let author = Author { email, name, commits: 1, lines: Lines::default() };
            chunk.push(CommitToCompare { author, tree, parent });
        }
        Ok(chunk)
    }

    fn add_counted(&mut self, counted: Vec<Author>) {
        self.unfinished.done += counted.len() as u64;
        for author in counted {
            self.unfinished.totals.add(author);
        }
    }

    fn so_far(&self) -> Contributors {
        let first_authors = self.new.as_ref().map(|new| new.first_authors.clone());
        let mut totals: Totals = first_authors.unwrap_or_default();
        totals.add_all(&self.unfinished.totals);
        totals.add_all(&self.base.totals);
        totals.contributors(false)
    }
}

/// A commit to compare with its first parent.
struct CommitToCompare {
    author: Author,
    tree: ObjectId,
    parent: Parent,
}

enum Parent {
    None,
    Tree(ObjectId),
    Commit(ObjectId),
}

/// A thread that compares chunks in order. The results come in the order of the chunks.
struct ComparingThread {
    chunks: Sender<Vec<CommitToCompare>>,
    results: Receiver<Compared>,
}

type Compared = Result<Vec<Author>, GitError>;

impl ComparingThread {
    fn new() -> (Self, Receiver<Vec<CommitToCompare>>, Sender<Compared>) {
        let (chunks, work) = channel();
        let (done, results) = channel();
        (Self { chunks, results }, work, done)
    }

    fn send(&self, chunk: Vec<CommitToCompare>) -> Result<(), GitError> {
        self.chunks.send(chunk).map_err(|_| thread_ended())
    }

    fn receive(&self) -> Compared {
        self.results.recv().map_err(|_| thread_ended())?
    }
}

fn thread_ended() -> GitError {
    GitError::Failed("a thread that compares files ended early".to_owned())
}

fn compare_chunks(
    repository: &ThreadSafeRepository,
    chunks: &Receiver<Vec<CommitToCompare>>,
    results: &Sender<Compared>,
) {
    let repo = open_for_thread(repository);
    let mut trees = TreeCounter::new(&repo);
    for chunk in chunks {
        let compared = chunk.into_iter().map(|work| compare(&repo, &mut trees, work)).collect();
        if results.send(compared).is_err() {
            return;
        }
    }
}

fn compare(
    repo: &gix::Repository,
    trees: &mut TreeCounter<'_>,
    work: CommitToCompare,
) -> Result<Author, GitError> {
    let parent = match work.parent {
        Parent::None => None,
        Parent::Tree(tree) => Some(tree),
        Parent::Commit(id) => {
            let mut buffer = Vec::new();
            let header = Header::parse(read::object(repo, id, Kind::Commit, &mut buffer)?);
            let tree = header.map(|header| header.tree);
            Some(tree.ok_or_else(|| GitError::Corrupt(format!("the commit {id} cannot be read")))?)
        }
    };
    Ok(Author { lines: trees.count(parent, work.tree)?, ..work.author })
}
