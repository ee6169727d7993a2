//! Checks the commits between two commits, the branches that contain a commit, and contributors.
//!
//! Git walks by date and stops early, so it lists too many commits in some histories with wrong dates. The model of the
//! history has the exact answer. The server may list as much as git, and no more.

use std::collections::BTreeSet;

use gix::ObjectId;
use hexforge_domain::commit::Commit;
use hexforge_domain::push::ChangedPaths;
use hexforge_domain::repository::{Comparison, Contributor, Contributors, FileDiff};

use crate::depth::{date, has_wrong_dates};
use crate::objects::Ids;
use crate::oracle::Failure;
use crate::process::parse_id;
use crate::readings::{Reader, to_domain};
use crate::support::Random;

pub const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// How often the same question is asked: later answers come from a cache.
const TIMES: usize = 4;

impl Reader<'_> {
    pub fn check_commits(
        &self,
        from: ObjectId,
        to: ObjectId,
        all: &[ObjectId],
        random: &mut Random,
    ) -> Result<(), Failure> {
        self.check_comparison(from, to)?;
        self.check_comparison(to, from)?;
        let mut hidden = vec![from];
        for _ in 0..random.below(3) {
            hidden.push(*random.pick(all));
        }
        self.check_between(&hidden, to, 1 + random.below(20))?;
        self.check_between(&[], to, 1000)?;
        for (from, to) in [(from, to), (to, from)] {
            let question = format!("is_ancestor {from} {to}");
            let is_ancestor = self.ancestors(to).contains(&from);
            let answer = self.repository.is_ancestor(to_domain(from), to_domain(to));
            self.check(&question, answer, &is_ancestor)?;
        }
        self.check_changed_paths(to)?;
        self.check_commit_diff(to)?;
        self.check_log(to, random)?;
        self.check_request(from, to, all)?;
        self.check_branches(from, to)
    }

    /// Returns the commit and its ancestors.
    pub fn ancestors(&self, of: ObjectId) -> Ids {
        let objects = &self.history.objects;
        let all = objects.closure([of], &Ids::new());
        all.into_iter().filter(|&id| objects.is_commit(id)).collect()
    }

    pub fn between(&self, hidden: &[ObjectId], to: ObjectId) -> Ids {
        let mut found = self.ancestors(to);
        for &hidden in hidden {
            found = &found - &self.ancestors(hidden);
        }
        found
    }

    fn check_between(
        &self,
        hidden: &[ObjectId],
        to: ObjectId,
        limit: usize,
    ) -> Result<(), Failure> {
        let excluded: Vec<String> = hidden.iter().map(|id| format!("^{id}")).collect();
        let question = format!("between {to} {}", excluded.join(" "));
        let hidden_ids: Vec<_> = hidden.iter().copied().map(to_domain).collect();
        let to_id = to_domain(to);
        for _ in 0..TIMES {
            let answer = self.repository.commits_between(&hidden_ids, to_id, usize::MAX);
            let (count, commits) = self.answer(&question, answer)?;
            self.check_list(&question, hidden, to, &commits)?;
            let answer = self.repository.commits_between(&hidden_ids, to_id, limit);
            let newest = commits[commits.len().saturating_sub(limit)..].to_vec();
            self.check(&question, answer, &(count, newest))?;
            self.check(&format!("{question}, their number"), Ok(count), &(commits.len() as u64))?;
        }
        Ok(())
    }

    /// Checks commits that are listed oldest first.
    pub fn check_list(
        &self,
        question: &str,
        hidden: &[ObjectId],
        to: ObjectId,
        commits: &[Commit],
    ) -> Result<(), Failure> {
        let ids: Vec<ObjectId> =
            commits.iter().map(|commit| parse_id(&commit.id.to_string())).collect();
        let found: Ids = ids.iter().copied().collect();
        let expected = self.between(hidden, to);
        let to = to.to_string();
        let excluded: Vec<String> = hidden.iter().map(|id| format!("^{id}")).collect();
        let mut arguments = vec!["rev-list", "--date-order", "--reverse", &to];
        arguments.extend(excluded.iter().map(String::as_str));
        let listed: Vec<ObjectId> =
            self.git_lines(&arguments).iter().map(|line| parse_id(line)).collect();
        let by_git: Ids = listed.iter().copied().collect();
        let is_git_exact = by_git == expected;
        assert!(is_git_exact || has_wrong_dates(self.history), "git knows what the model knows");
        // Where git stops too early, the server may list the same commits as git.
        let (extra, missing) = (&(&found - &expected) - &by_git, &expected - &found);
        if !extra.is_empty() || !missing.is_empty() || found.len() != ids.len() {
            let difference = format!("extra commits {extra:?}, missing commits {missing:?}");
            return Err(self.fail(question, &difference));
        }
        // Commits with equal dates may come in any order, but parents come before their children.
        let dates: BTreeSet<i64> = ids.iter().map(|&id| date(self.history, id)).collect();
        let place = |id: &ObjectId| ids.iter().position(|other| other == id);
        let is_early = |id: &ObjectId| {
            let parents = &self.history.objects.get(*id).parents;
            parents.iter().any(|parent| place(parent) > place(id))
        };
        if (dates.len() == ids.len() && found == by_git && listed != ids)
            || ids.iter().any(is_early)
        {
            return Err(self.fail(question, &format!("the order is {ids:?}, git's is {listed:?}")));
        }
        Ok(())
    }

    fn check_comparison(&self, from: ObjectId, to: ObjectId) -> Result<(), Failure> {
        let question = format!("compare {from}...{to}");
        let answer = self.repository.compare(to_domain(from), to_domain(to));
        let comparison = self.answer(&question, answer)?;
        self.check_list(&question, &[from], to, &comparison.commits)?;
        // Without commits there are no diffs either.
        if comparison.commits.is_empty() {
            return self.check(&question, Ok((*comparison).clone()), &Comparison::default());
        }
        let mut expected = Vec::new();
        for base in self.newest_bases(from, to) {
            expected = self.diffs_by_git(&base, to);
            if comparison.diffs == expected {
                let overflow = Comparison::new(Vec::new(), expected).overflow;
                return self.check(&question, Ok(comparison.overflow), &overflow);
            }
        }
        let differs = |(at, diff): &(usize, &FileDiff)| expected.get(*at) != Some(*diff);
        let first = comparison.diffs.iter().enumerate().find(differs);
        let by_git = first.map_or(expected.last(), |(at, _)| expected.get(at));
        Err(self.fail(&question, &format!("the file {first:#?} differs from git's {by_git:#?}")))
    }

    /// Returns the newest merge bases. If several have the same date, each of them is right.
    pub fn newest_bases(&self, from: ObjectId, to: ObjectId) -> Vec<String> {
        let common = &self.ancestors(from) & &self.ancestors(to);
        let parents = |id: &ObjectId| self.history.objects.get(*id).parents.clone();
        let older = self.history.objects.closure(common.iter().flat_map(parents), &Ids::new());
        let mut best = &common - &older;
        let newest = best.iter().map(|&id| date(self.history, id)).max();
        best.retain(|&id| Some(date(self.history, id)) == newest);
        match best.is_empty() {
            true => vec![EMPTY_TREE.to_owned()],
            false => best.iter().map(ToString::to_string).collect(),
        }
    }

    /// The entries of `git diff`, each with its text from the `---` line on.
    pub fn diffs_by_git(&self, base: &str, to: ObjectId) -> Vec<FileDiff> {
        let to = to.to_string();
        let arguments = ["diff", "-M50%", "--raw", "--patch", "--no-abbrev", base, &to];
        let mut diffs = Vec::new();
        let mut texts: Vec<String> = Vec::new();
        for line in self.git_lines(&arguments) {
            if line.starts_with(':') && texts.is_empty() {
                add_raw(&line, &mut diffs);
            } else if line.starts_with("diff --git ") {
                texts.push(String::new());
            } else if let Some(text) = texts.last_mut()
                && (!text.is_empty() || line.starts_with("---"))
            {
                text.push_str(&line);
                text.push('\n');
            }
        }
        assert_eq!(diffs.len(), texts.len(), "each entry has a text");
        diffs.iter_mut().zip(texts).for_each(|(diff, text)| diff.text = text);
        diffs
    }

    /// A renamed file counts as added, and a file that became a link as modified.
    fn check_changed_paths(&self, commit: ObjectId) -> Result<(), Failure> {
        let question = format!("changed_paths {commit}");
        let parent = self.history.objects.get(commit).parents.first();
        let parent = parent.map_or_else(|| EMPTY_TREE.to_owned(), ToString::to_string);
        let id = commit.to_string();
        let mut expected = ChangedPaths::default();
        for line in self.git_lines(&["diff-tree", "-r", "-M50%", "--name-status", &parent, &id]) {
            let path = line.rsplit('\t').next().unwrap_or_default().to_owned();
            match line.as_bytes()[0] {
                b'A' | b'R' => expected.added.push(path),
                b'D' => expected.removed.push(path),
                _ => expected.modified.push(path),
            }
        }
        let answer = self.repository.changed_paths(to_domain(commit));
        self.check(&question, answer, &expected)
    }

    fn check_branches(&self, commit: ObjectId, tip: ObjectId) -> Result<(), Failure> {
        let branches: Vec<(&str, ObjectId)> = self
            .server
            .refs
            .iter()
            .filter_map(|(name, &id)| Some((name.strip_prefix("refs/heads/")?, id)))
            .collect();
        let has_it = |id: ObjectId| self.ancestors(id).contains(&commit);
        let with: Vec<&str> =
            branches.iter().filter(|(_, id)| has_it(*id)).map(|(name, _)| *name).collect();
        let question = format!("first_branch_containing {commit}");
        let answer =
            self.answer(&question, self.repository.first_branch_containing(to_domain(commit)))?;
        let answer = answer.as_ref().map(ToString::to_string);
        if answer.as_deref() != with.first().copied() {
            return Err(self.fail(&question, &format!("{answer:?}, the branches are {with:?}")));
        }
        let behind = self.ancestors(tip);
        let merged: Vec<String> = branches
            .iter()
            .filter(|(_, id)| *id != tip && behind.contains(id))
            .map(|(name, _)| (*name).to_owned())
            .collect();
        let answer = self.repository.branches_merged_into(to_domain(tip)).map(|merged| {
            let mut names: Vec<String> = merged.iter().map(|(name, _)| name.to_string()).collect();
            names.sort();
            names
        });
        self.check(&format!("branches_merged_into {tip}"), answer, &merged)
    }

    /// Checks the contributors: in the order of `git log`, each with the name in the newest commit.
    pub fn check_contributors(&self, tip: ObjectId) -> Result<(), Failure> {
        let format = "--format=author %ae %an";
        let id = tip.to_string();
        let arguments = ["log", "--no-merges", "--numstat", "--no-renames", format, &id];
        let mut authors: Vec<Contributor> = Vec::new();
        let mut current = 0;
        for line in self.git_lines(&arguments) {
            if let Some(author) = line.strip_prefix("author ") {
                let (email, name) = author.split_once(' ').expect("git prints both");
                let known = authors.iter().position(|author| author.email == email);
                current = known.unwrap_or_else(|| {
                    let (name, email) = (name.to_owned(), email.to_owned());
                    authors.push(Contributor {
                        name,
                        email,
                        commits: 0,
                        additions: 0,
                        deletions: 0,
                    });
                    authors.len() - 1
                });
                authors[current].commits += 1;
            } else if !line.is_empty() {
                let mut numbers = line.split('\t').map(|number| number.parse().unwrap_or(0));
                authors[current].additions += numbers.next().unwrap_or(0);
                authors[current].deletions += numbers.next().unwrap_or(0);
            }
        }
        let expected = Contributors { authors, complete: true };
        let answer = self.repository.contributors(to_domain(tip));
        self.check(&format!("contributors {tip}"), answer, &expected)
    }
}

/// Adds a line of `git diff --raw`. A file that became a link counts as a deletion and an addition.
fn add_raw(line: &str, diffs: &mut Vec<FileDiff>) {
    let mut fields = line.trim_start_matches(':').split('\t');
    let header: Vec<&str> = fields.next().unwrap_or_default().split(' ').collect();
    let old_path = fields.next().expect("a path").to_owned();
    let new_path = fields.next().map_or_else(|| old_path.clone(), str::to_owned);
    let mode = |digits| u32::from_str_radix(digits, 8).ok().filter(|&mode| mode != 0);
    let (old, new, renamed) = (mode(header[0]), mode(header[1]), header[4].starts_with('R'));
    let diff = |old_mode, new_mode| FileDiff {
        old_path: old_path.clone(),
        new_path: new_path.clone(),
        old_mode,
        new_mode,
        renamed,
        text: String::new(),
        too_large: false,
    };
    match header[4] {
        "T" => diffs.extend([diff(old, None), diff(None, new)]),
        _ => diffs.push(diff(old, new)),
    }
}
