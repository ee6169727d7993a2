//! Test repositories made by git, and the contributors that git counts in them.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use gix::{ObjectId, ThreadSafeRepository};
use hexforge_domain::repository::{Contributor, Contributors};
use tempfile::TempDir;

use crate::text;

/// A generator of pseudo-random numbers, the same in every run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    pub(super) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// Files by path, with mode and content.
pub(super) type Files = BTreeMap<Vec<u8>, (&'static str, Vec<u8>)>;

/// A commit to create.
#[derive(Clone, Default)]
pub(super) struct Commit {
    pub(super) author: Vec<u8>,
    pub(super) date: u64,
    /// The indices of the parent commits, from 0.
    pub(super) parents: Vec<usize>,
    pub(super) files: Files,
}

/// A bare repository.
pub(super) struct Fixture {
    pub(super) folder: TempDir,
    /// The ids of the commits, by index.
    pub(super) commits: Vec<ObjectId>,
}

impl Fixture {
    pub(super) fn new() -> Self {
        let fixture = Self { folder: tempfile::tempdir().unwrap(), commits: Vec::new() };
        fixture.git(&["init", "-q", "--bare", "."], &[]);
        fixture
    }

    pub(super) fn of(commits: &[Commit]) -> Self {
        let mut fixture = Self::new();
        fixture.add(commits);
        fixture
    }

    /// Adds commits to the existing ones.
    pub(super) fn add(&mut self, commits: &[Commit]) {
        let mut stream = Vec::new();
        for (index, commit) in commits.iter().enumerate() {
            write_commit(&mut stream, self.commits.len() + index, commit, &self.commits);
        }
        let marks = self.folder.path().join("marks");
        let export = format!("--export-marks={}", marks.display());
        self.git(&["fast-import", "--quiet", "--force", &export], &stream);
        let mut named: Vec<(usize, ObjectId)> = std::fs::read_to_string(&marks)
            .unwrap()
            .lines()
            .map(|line| {
                let (mark, id) = line.strip_prefix(':').unwrap().split_once(' ').unwrap();
                (mark.parse::<usize>().unwrap(), id.parse().unwrap())
            })
            .collect();
        named.sort_unstable();
        self.commits.extend(named.into_iter().map(|(_, id)| id));
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn open(&self) -> ThreadSafeRepository {
        let options = gix::open::Options::isolated().open_path_as_is(true);
        ThreadSafeRepository::open_opts(self.path(), options).unwrap()
    }

    pub(super) fn tip(&self) -> ObjectId {
        *self.commits.last().unwrap()
    }

    pub(super) fn git(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut child = Command::new("git")
            .args(arguments)
            .current_dir(self.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(input).unwrap());
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{arguments:?}");
            output.stdout
        })
    }

    /// Counts the contributors up to a tip with `git log`.
    pub(super) fn by_git(&self, tip: ObjectId) -> Contributors {
        let log = self.git(
            &[
                "log",
                "--no-merges",
                "--numstat",
                "--no-renames",
                "--format=%x01%an%x00%ae%x00",
                &tip.to_string(),
            ],
            &[],
        );
        let mut authors: Vec<(Vec<u8>, Contributor)> = Vec::new();
        for commit in log.split(|byte| *byte == 1).skip(1) {
            let mut parts = commit.splitn(3, |byte| *byte == 0);
            let (name, email) = (parts.next().unwrap(), parts.next().unwrap());
            let index = authors.iter().position(|(known, _)| known == email).unwrap_or_else(|| {
                let author = Contributor {
                    name: String::new(),
                    email: text::decode(email),
                    commits: 0,
                    additions: 0,
                    deletions: 0,
                };
                authors.push((email.to_vec(), author));
                authors.len() - 1
            });
            let author = &mut authors[index].1;
            if author.name.is_empty() {
                author.name = text::decode(name);
            }
            author.commits += 1;
            let numbers = String::from_utf8_lossy(parts.next().unwrap());
            for line in numbers.lines().filter(|line| !line.is_empty()) {
                let mut columns = line.split('\t').map(|number| number.parse().unwrap_or(0));
                author.additions += columns.next().unwrap();
                author.deletions += columns.next().unwrap();
            }
        }
        Contributors {
            authors: authors.into_iter().map(|(_, author)| author).collect(),
            complete: true,
        }
    }
}

fn write_commit(out: &mut Vec<u8>, number: usize, commit: &Commit, known: &[ObjectId]) {
    let name = |parent: usize| match known.get(parent) {
        Some(id) => id.to_string(),
        None => format!(":{}", parent + 1),
    };
    let date = commit.date;
    write!(out, "reset refs/heads/work\n\ncommit refs/heads/work\nmark :{}\nauthor ", number + 1)
        .unwrap();
    out.extend_from_slice(&commit.author);
    write!(out, " 7 +0000\ncommitter C <c@example.com> {date} +0000\ndata 0\n").unwrap();
    for (index, parent) in commit.parents.iter().enumerate() {
        let word = if index == 0 { "from" } else { "merge" };
        writeln!(out, "{word} {}", name(*parent)).unwrap();
    }
    writeln!(out, "deleteall").unwrap();
    for (path, (mode, content)) in &commit.files {
        let path = path.iter().map(|byte| format!("\\{byte:03o}")).collect::<String>();
        if *mode == "160000" {
            writeln!(out, "M {mode} {} \"{path}\"", String::from_utf8_lossy(content)).unwrap();
        } else {
            write!(out, "M {mode} inline \"{path}\"\ndata {}\n", content.len()).unwrap();
            out.extend_from_slice(content);
            out.push(b'\n');
        }
    }
}
