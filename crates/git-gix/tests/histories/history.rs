//! Builds a history from a list of operations: in memory, and as a stream for `git fast-import`.

use std::collections::BTreeMap;
use std::fmt::Write;

use gix::ObjectId;
use gix::object::Kind;

use crate::files::{Files, SUBMODULE};
use crate::objects::{Ids, Objects};
use crate::operation::{Action, Clock, Operation};

/// Ref names and their targets.
pub type Refs = BTreeMap<String, ObjectId>;

pub const MAIN_BRANCH: &str = "refs/heads/master";

const PERSON: &str = "Ada <ada@example.com>";
/// Authors of commits. One of them has two names.
const AUTHORS: [&str; 4] =
    [PERSON, "Grace <grace@example.com>", "Ada L. <ada@example.com>", "Alan <alan@example.com>"];
const FIRST_DATE: i64 = 1_400_000_000;
const HOUR: i64 = 60 * 60;
const YEAR: i64 = 365 * 24 * HOUR;

/// A commit and its files.
pub struct Commit {
    pub id: ObjectId,
    pub parents: Vec<usize>,
    pub files: Files,
    pub is_revert: bool,
}

/// The result of the operations.
#[derive(Default)]
pub struct History {
    pub objects: Objects,
    pub commits: Vec<Commit>,
    /// The commit of each branch, by position in `commits`.
    pub branches: BTreeMap<String, usize>,
    pub tags: Refs,
    /// The refs at each [`Action::Push`].
    pub pushed: Vec<Refs>,
    /// The dates of all commits.
    pub dates: Vec<i64>,
    stream: String,
    marks: BTreeMap<ObjectId, usize>,
    now: i64,
    made: usize,
}

impl History {
    pub fn of(operations: &[Operation]) -> Self {
        let mut history = Self { now: FIRST_DATE, ..Self::default() };
        for operation in operations {
            history.apply(operation);
        }
        history
    }

    /// Returns the input of `git fast-import` that creates all objects, and only the refs of annotated tags.
    pub fn stream(&self) -> String {
        let end = match self.commits.is_empty() {
            true => "",
            false => "reset refs/heads/import\nfrom 0000000000000000000000000000000000000000\n\n",
        };
        format!("{}{end}done\n", self.stream)
    }

    pub fn refs(&self) -> Refs {
        let branches = self.branches.iter().map(|(name, &at)| (name.clone(), self.commits[at].id));
        branches.chain(self.tags.clone()).collect()
    }

    /// Returns a number that was not used before.
    pub fn next_number(&mut self) -> usize {
        self.made += 1;
        self.made
    }

    /// Returns the branch of an operation.
    pub fn branch_of(&self, operation: &Operation) -> String {
        let names: Vec<&String> = self.branches.keys().collect();
        match names.len() {
            0 => MAIN_BRANCH.to_owned(),
            length => names[operation.branch % length].clone(),
        }
    }

    /// Commits on a branch. A branch that does not exist yet gets a commit without parents.
    pub fn commit(
        &mut self,
        branch: &str,
        others: &[usize],
        files: Files,
        operation: &Operation,
    ) -> usize {
        let mut parents: Vec<usize> = self.branches.get(branch).copied().into_iter().collect();
        for &other in others {
            if !parents.contains(&other) {
                parents.push(other);
            }
        }
        let date = self.date(operation);
        let tree = files.write(&mut self.objects);
        let number = self.next_number();
        let message = format!("commit {number}\n");
        let parent_ids: Vec<ObjectId> = parents.iter().map(|&at| self.commits[at].id).collect();
        let mut data = format!("tree {tree}\n");
        for id in &parent_ids {
            data.push_str(&format!("parent {id}\n"));
        }
        let author = AUTHORS[number % AUTHORS.len()];
        let people = format!("author {author} {date} +0000\ncommitter {PERSON} {date} +0000\n");
        data.push_str(&format!("{people}\n{message}"));
        let id = self.objects.add(Kind::Commit, data.into_bytes(), vec![tree], parent_ids);
        self.write_commit(id, &parents, &files, &people, &message);
        let is_revert = matches!(operation.action, Action::Revert | Action::RevertRevert);
        self.commits.push(Commit { id, parents, files, is_revert });
        self.dates.push(date);
        let at = self.commits.len() - 1;
        self.branches.insert(branch.to_owned(), at);
        at
    }

    fn date(&mut self, operation: &Operation) -> i64 {
        let pick = operation.picks[2] as i64;
        match operation.clock {
            Clock::Later => {
                self.now += 60 + pick * 20;
                self.now
            }
            Clock::Equal => self.now,
            Clock::HoursBack => self.now - HOUR * (1 + pick % 72),
            Clock::YearsBack => self.now - YEAR * (1 + pick % 20),
            Clock::Zero => 0,
        }
    }

    fn write_commit(
        &mut self,
        id: ObjectId,
        parents: &[usize],
        files: &Files,
        people: &str,
        message: &str,
    ) {
        let mut listing = String::from("deleteall\n");
        for (path, file) in &files.0 {
            let target = match file.mode {
                SUBMODULE => file.id().to_string(),
                _ => format!(":{}", self.mark_blob(file.id())),
            };
            listing.push_str(&format!("M {:06o} {target} {path}\n", file.mode));
        }
        // A commit without parents needs a branch without commits.
        if parents.is_empty() {
            self.stream.push_str("reset refs/heads/import\n\n");
        }
        let mark = self.mark(id);
        self.write(&format!("commit refs/heads/import\nmark :{mark}\n{people}"));
        self.write_data(message);
        for (number, &parent) in parents.iter().enumerate() {
            let word = if number == 0 { "from" } else { "merge" };
            let mark = self.marks[&self.commits[parent].id];
            self.write(&format!("{word} :{mark}\n"));
        }
        self.write(&format!("{listing}\n"));
    }

    /// Creates an annotated tag and its ref.
    pub fn tag(&mut self, target: ObjectId) {
        let number = self.next_number();
        let name = format!("v{number}");
        let kind = self.objects.get(target).kind;
        let (message, when) = (format!("tag {number}\n"), format!("{PERSON} {} +0000", self.now));
        let data = format!("object {target}\ntype {kind}\ntag {name}\ntagger {when}\n\n{message}");
        let id = self.objects.add(Kind::Tag, data.into_bytes(), vec![target], Vec::new());
        let from = match kind {
            Kind::Tree => target.to_string(),
            Kind::Blob => format!(":{}", self.mark_blob(target)),
            Kind::Commit | Kind::Tag => format!(":{}", self.marks[&target]),
        };
        let mark = self.mark(id);
        self.write(&format!("tag {name}\nmark :{mark}\nfrom {from}\ntagger {when}\n"));
        self.write_data(&message);
        self.tags.insert(format!("refs/tags/{name}"), id);
    }

    /// Creates a lightweight tag of any object.
    pub fn point_at(&mut self, target: ObjectId) {
        let number = self.next_number();
        self.tags.insert(format!("refs/tags/light{number}"), target);
    }

    fn mark(&mut self, id: ObjectId) -> usize {
        let next = self.marks.len() + 1;
        *self.marks.entry(id).or_insert(next)
    }

    /// Returns the mark of a blob, and writes the blob at the first call.
    fn mark_blob(&mut self, id: ObjectId) -> usize {
        if let Some(&mark) = self.marks.get(&id) {
            return mark;
        }
        let mark = self.mark(id);
        let text = String::from_utf8(self.objects.get(id).data.clone()).expect("blobs are texts");
        self.write(&format!("blob\nmark :{mark}\n"));
        self.write_data(&text);
        mark
    }

    fn write_data(&mut self, text: &str) {
        writeln!(self.stream, "data {}\n{text}", text.len()).expect("a string takes everything");
    }

    fn write(&mut self, text: &str) {
        self.stream.push_str(text);
    }

    /// Returns the commit and then its ancestors, in no particular order.
    pub fn ancestors(&self, from: usize) -> Vec<usize> {
        let mut found = vec![from];
        let mut next = 0;
        while let Some(&at) = found.get(next) {
            for &parent in &self.commits[at].parents {
                if !found.contains(&parent) {
                    found.push(parent);
                }
            }
            next += 1;
        }
        found
    }

    /// Returns all objects that are reachable from these refs.
    pub fn reachable(&self, refs: &Refs) -> Ids {
        self.objects.closure(refs.values().copied(), &Ids::new())
    }
}
