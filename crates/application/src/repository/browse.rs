//! Reads parts of the history that pages show beside files and folders. Every user who
//! may read the code may read them.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::repository::{Blame, Comparison, Divergence, FilePaths};

use super::Revision;
use super::commits::too_large;
use crate::error::{Entity, Error};

/// The last commits of the entries of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderCommits {
    /// The last commit that changed an entry, by the path of the entry from the root of the repository. Entries whose
    /// commit is not known yet are missing.
    pub by_path: HashMap<String, Arc<Commit>>,
    /// Whether the commits of all entries are known. If not, another call finds more.
    pub is_complete: bool,
}

/// Returns the last commits that changed the entries of a folder, as far as they are found in a short time.
pub fn last_commits(at: &Revision, folder: &str) -> Result<FolderCommits, Error> {
    let found = at.repository.last_commits(at.commit, folder)?;
    let commits = commits(at, found.entries.iter().map(|(_, commit)| *commit))?;
    let by_path = found.entries.into_iter().filter_map(|(path, commit)| {
        let commit = commits.get(&commit)?;
        Some((path, Arc::clone(commit)))
    });
    Ok(FolderCommits { by_path: by_path.collect(), is_complete: found.is_complete })
}

/// The commits that wrote the lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlameView {
    /// The runs of lines.
    pub blame: Arc<Blame>,
    /// The commits of the runs.
    pub commits: HashMap<ObjectId, Arc<Commit>>,
}

/// Returns the commits that wrote some lines of a file, which are counted from 1, at most
/// [`BLAME_LINES`](hexforge_domain::repository::BLAME_LINES) of them. May take long.
pub fn blame(at: &Revision, path: &str, lines: RangeInclusive<u32>) -> Result<BlameView, Error> {
    let path = path.trim_start_matches('/');
    let blame = at.repository.blame(at.commit, path, lines).map_err(too_large)?;
    let blame = blame.ok_or(Error::NotFound(Entity::File))?;
    let commits = commits(at, blame.runs.iter().map(|run| run.commit))?;
    Ok(BlameView { blame, commits })
}

/// Counts the commits of a revision that another one does not have, and the other way round. Returns `None` when that
/// takes too long.
pub fn divergence(base: &Revision, tip: &Revision) -> Result<Option<Divergence>, Error> {
    Ok(tip.repository.divergence(base.commit, tip.commit)?)
}

/// Counts like [`divergence`], for several commits of the repository, such as the tips of its branches.
pub fn divergences(base: &Revision, tips: &[ObjectId]) -> Result<Vec<Option<Divergence>>, Error> {
    tips.iter().map(|tip| Ok(base.repository.divergence(base.commit, *tip)?)).collect()
}

/// Compares the files of two revisions themselves, as `git diff` does, and not those since their merge base.
pub fn changes_between(from: &Revision, to: &Revision) -> Result<Arc<Comparison>, Error> {
    Ok(to.repository.tree_changes(Some(from.commit), to.commit)?)
}

/// Returns whether two revisions have a common ancestor.
pub fn are_related(one: &Revision, two: &Revision) -> Result<bool, Error> {
    Ok(two.repository.merge_base(one.commit, two.commit)?.is_some())
}

/// The branches and tags that contain a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainingRefs {
    /// The names of branches.
    pub branches: Vec<String>,
    /// The names of tags.
    pub tags: Vec<String>,
    /// Whether only a part of the branches and tags was searched.
    pub is_cut: bool,
}

/// The number of branches and of tags that are searched for a commit.
const SEARCHED_REFS: usize = 1_000;

/// Returns bytes that change with the branches and tags among which [`refs_containing`] searches.
pub fn refs_state(at: &Revision) -> Vec<u8> {
    let refs = at.repository.refs();
    let mut state = Vec::new();
    for kind in ["refs/heads/", "refs/tags/"] {
        for one in refs.range(refs.folder(kind)).take(SEARCHED_REFS + 1) {
            state.extend_from_slice(one.name.as_bytes());
            state.push(0);
            state.extend_from_slice(one.peeled.unwrap_or(one.target).as_bytes());
        }
    }
    state
}

/// Finds the branches and tags that contain a revision. Returns `None` when that takes too long.
pub fn refs_containing(at: &Revision) -> Result<Option<ContainingRefs>, Error> {
    let refs = at.repository.refs();
    let (mut names, mut tips, mut is_cut) = (Vec::new(), Vec::new(), false);
    for kind in ["refs/heads/", "refs/tags/"] {
        let places = refs.folder(kind);
        is_cut |= places.len() > SEARCHED_REFS;
        for one in refs.range(places).take(SEARCHED_REFS) {
            names.push(one.name.as_str());
            tips.push(one.peeled.unwrap_or(one.target));
        }
    }
    let Some(containing) = at.repository.tips_containing(at.commit, &tips)? else {
        return Ok(None);
    };
    let mut found = ContainingRefs { is_cut, ..ContainingRefs::default() };
    for (name, _) in names.into_iter().zip(containing).filter(|(_, contains)| *contains) {
        if let Some(branch) = name.strip_prefix("refs/heads/") {
            found.branches.push(branch.to_owned());
        } else if let Some(tag) = name.strip_prefix("refs/tags/") {
            found.tags.push(tag.to_owned());
        }
    }
    Ok(Some(found))
}

/// Lists the paths of all files of a revision, for a search by name.
pub fn file_paths(at: &Revision) -> Result<FilePaths, Error> {
    Ok(at.repository.file_paths(at.commit)?)
}

/// Reads commits, each once.
fn commits(
    at: &Revision,
    ids: impl Iterator<Item = ObjectId>,
) -> Result<HashMap<ObjectId, Arc<Commit>>, Error> {
    let mut commits = HashMap::new();
    for id in ids {
        if !commits.contains_key(&id)
            && let Some(commit) = at.repository.commit(id)?
        {
            commits.insert(id, Arc::new(commit));
        }
    }
    Ok(commits)
}
