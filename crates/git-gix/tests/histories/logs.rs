//! Checks the log and the diffs of commits, and what merge requests read.

use gix::ObjectId;
use hexforge_domain::repository::{CommitStats, LogQuery, ShownDiffs};

use crate::commits::EMPTY_TREE;
use crate::oracle::Failure;
use crate::readings::{Reader, to_domain};
use crate::support::Random;

impl Reader<'_> {
    /// Compares the diff of a commit and the number of its changed lines.
    pub fn check_commit_diff(&self, commit: ObjectId) -> Result<(), Failure> {
        let parent = self.history.objects.get(commit).parents.first();
        let parent = parent.map_or_else(|| EMPTY_TREE.to_owned(), ToString::to_string);
        let mut shown = ShownDiffs::default();
        let _ = self.diffs_by_git(&parent, commit).into_iter().all(|diff| shown.push(diff));
        let answer = self.repository.commit_diff(to_domain(commit));
        self.check(&format!("commit_diff {commit}"), answer, &shown.into_diffs())?;
        let mut stats = CommitStats { complete: true, ..CommitStats::default() };
        let id = commit.to_string();
        for line in self.git_lines(&["diff-tree", "-r", "-M50%", "--numstat", &parent, &id]) {
            let mut numbers = line.split('\t').map(|number| number.parse().unwrap_or(0));
            stats.additions += numbers.next().unwrap_or(0);
            stats.deletions += numbers.next().unwrap_or(0);
        }
        let answer = self.repository.commit_stats(to_domain(commit));
        self.check(&format!("commit_stats {commit}"), answer, &stats)
    }

    /// Compares the log of a commit, of the whole tree and of a path.
    pub fn check_log(&self, commit: ObjectId, random: &mut Random) -> Result<(), Failure> {
        let id = commit.to_string();
        let paths = self.git_lines(&["ls-tree", "-r", "-t", "-z", "--name-only", &id]).concat();
        let mut paths: Vec<&str> = paths.split('\0').filter(|path| !path.is_empty()).collect();
        paths.push("missing");
        let path = (*random.pick(&paths)).to_owned();
        for path in [None, Some(path)] {
            let (skip, limit) = (random.below(4) as u64, 1 + random.below(30));
            let query =
                LogQuery { path: path.clone(), skip, limit, ..LogQuery::all(to_domain(commit)) };
            let (skip, limit) = (format!("--skip={skip}"), format!("--max-count={limit}"));
            let mut arguments = vec!["--literal-pathspecs", "log", "--format=%H", &skip, &limit];
            arguments.extend([&id, "--"]);
            arguments.extend(path.as_deref());
            let expected = self.git_lines(&arguments);
            let question = format!("{query:?}");
            let found = self.answer(&question, self.repository.log(&query))?;
            let found: Vec<String> = found.iter().map(|commit| commit.id.to_string()).collect();
            self.check(&question, Ok(found), &expected)?;
            if let Some(path) = path {
                let question = format!("last_commit {commit} {path}");
                let last = self.git_lines(&[
                    "--literal-pathspecs",
                    "log",
                    "-1",
                    "--format=%H",
                    &id,
                    "--",
                    &path,
                ]);
                let found =
                    self.answer(&question, self.repository.last_commit(to_domain(commit), &path))?;
                let found: Vec<String> = found.iter().map(ToString::to_string).collect();
                self.check(&question, Ok(found), &last)?;
            }
        }
        Ok(())
    }

    /// Compares the merge base and the commits of a merge request.
    pub fn check_request(
        &self,
        start: ObjectId,
        head: ObjectId,
        all: &[ObjectId],
    ) -> Result<(), Failure> {
        let question = format!("merge_base {start} {head}");
        let answer = self.repository.merge_base(to_domain(start), to_domain(head));
        let base = self.answer(&question, answer)?;
        let base = base.map_or_else(|| EMPTY_TREE.to_owned(), |base| base.to_string());
        let expected = self.newest_bases(start, head);
        if !expected.contains(&base) {
            return Err(self.fail(&question, &format!("{base} is none of {expected:?}")));
        }
        let question = format!("commits_not_in {start} {head}");
        let answer = self.repository.commits_not_in(to_domain(start), to_domain(head), 10_000);
        let mut commits = self.answer(&question, answer)?;
        commits.reverse();
        self.check_list(&question, &[start], head, &commits)?;
        let question = format!("commits_among {start} {head}");
        let wanted: Vec<_> = all.iter().map(|id| to_domain(*id)).collect();
        let answer = self.repository.commits_among(&wanted, to_domain(start), to_domain(head));
        let found = self.answer(&question, answer)?;
        let listed = |id: &&hexforge_domain::commit::ObjectId| {
            commits.iter().any(|commit| commit.id == **id)
        };
        let expected: Vec<_> = wanted.iter().filter(listed).copied().collect();
        self.check(&question, Ok(found), &expected)
    }
}
