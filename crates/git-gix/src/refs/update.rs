//! Changing refs: all or none, only from what they were expected to be, and on disk before it is answered.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gix::prelude::ReferenceExt as _;
use gix::refs::FullName;
use hexforge_domain::branch::BranchName;
use hexforge_domain::commit::{ObjectId, Signature};
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::{ChangeKey, GitError, RefChange};
use hexforge_domain::tag::TagName;

use super::write;
use crate::commit::{from_gix, to_gix};
use crate::durable::{replace_file, sync_file, sync_folder};
use crate::error::{failed, io};
use crate::repository::Bound;
use crate::store::{OpenRepository, Shared};

/// What a ref holds now; a name that git does not allow names nothing.
pub(crate) fn current(repo: &gix::Repository, name: &str) -> Result<Option<ObjectId>, GitError> {
    let Ok(name) = FullName::try_from(name) else { return Ok(None) };
    let found = (1..ATTEMPTS).find_map(|_| find(repo, &name).ok());
    let found = found.map_or_else(|| find(repo, &name), Ok)?;
    let Some(mut reference) = found else { return Ok(None) };
    // A name is looked for in several places; only the very one counts.
    if reference.name() != name.as_ref() {
        return Ok(None);
    }
    match reference.target().try_id() {
        Some(id) => Ok(Some(from_gix(id))),
        None => Ok(reference.follow_to_object().ok().map(|id| from_gix(&id))),
    }
}

/// How often a ref is looked for while another program removes its folder.
const ATTEMPTS: usize = 5;

/// Looks for a ref. Gix reads packed refs first, and keeps them as long as their time stays the same: a ref that is
/// packed before its own file is read would be in neither. What is not found is looked for in packed refs read anew.
fn find<'repo>(
    repo: &'repo gix::Repository,
    name: &FullName,
) -> Result<Option<gix::Reference<'repo>>, GitError> {
    if let Some(found) = repo.try_find_reference(name).map_err(failed)? {
        return Ok(Some(found));
    }
    let packed = repo.refs.open_packed_buffer().map_err(failed)?;
    let found = repo.refs.try_find_packed(name.as_ref(), packed.as_ref()).map_err(failed)?;
    Ok(found.map(|found| found.attach(repo)))
}

/// Makes all changes or none.
pub(crate) fn update(
    shared: &Arc<Shared>,
    project: ProjectId,
    changes: &[RefChange],
    note: &str,
) -> Result<ChangeKey, GitError> {
    let open = shared.open_or_create(project)?;
    // One writer at a time for each repository, in all processes.
    let _turn = Turn::take(open.git_dir())?;
    let repo = open.handle();
    let names = Names::of(changes);
    for change in changes {
        check(&repo, change, &names)?;
    }
    let key = make(shared, &open, &repo, project, changes, note)?;
    open.put_back(repo);
    Ok(key)
}

/// What became of changes that do not depend on each other.
pub(crate) struct Possible {
    /// Those that were made.
    pub(crate) made: Option<(ChangeKey, Vec<RefChange>)>,
    /// The names of those that could not be.
    pub(crate) refused: Vec<String>,
}

/// Makes all changes that can be made, in one step.
pub(crate) fn update_possible(
    shared: &Arc<Shared>,
    project: ProjectId,
    mut changes: Vec<RefChange>,
    note: &str,
) -> Result<Possible, GitError> {
    let open = shared.open_or_create(project)?;
    let _turn = Turn::take(open.git_dir())?;
    let repo = open.handle();
    let mut refused = Vec::new();
    // A change that falls away may have made room for another.
    loop {
        let names = Names::of(&changes);
        let mut wrong = std::collections::HashSet::new();
        for change in &changes {
            match check(&repo, change, &names) {
                Ok(()) => (),
                Err(GitError::Conflict(_) | GitError::Missing) => {
                    wrong.insert(change.name.clone());
                }
                Err(error) => return Err(error),
            }
        }
        if wrong.is_empty() {
            break;
        }
        changes.retain(|change| !wrong.contains(&change.name));
        refused.extend(wrong);
    }
    if changes.is_empty() {
        return Ok(Possible { made: None, refused });
    }
    let key = make(shared, &open, &repo, project, &changes, note)?;
    open.put_back(repo);
    Ok(Possible { made: Some((key, changes)), refused })
}

/// Makes changes that were checked.
fn make(
    shared: &Arc<Shared>,
    open: &OpenRepository,
    repo: &gix::Repository,
    project: ProjectId,
    changes: &[RefChange],
    note: &str,
) -> Result<ChangeKey, GitError> {
    let key = shared.journal.note(project, changes, note)?;
    if let Err(error) = write::write(repo, changes) {
        if made(repo, changes, Unreadable::Fails).is_ok_and(|made| made.is_empty()) {
            // Nothing is to be told of what did not happen.
            shared.journal.settle(&key)?;
        } else {
            // Whoever changes the repository next has told what did.
            shared.journal.leave(&key);
        }
        return Err(error);
    }
    if let Some(tip) = new_tip_of_head(repo, changes) {
        shared.contributors.warm(open.shared(), to_gix(tip));
    }
    Ok(key)
}

/// Those of the changes that took place.
fn made(
    repo: &gix::Repository,
    changes: &[RefChange],
    unreadable: Unreadable,
) -> Result<Vec<RefChange>, GitError> {
    let mut made = Vec::new();
    for change in changes {
        match (current(repo, &change.name), unreadable) {
            (Ok(current), _) if current == change.new => made.push(change.clone()),
            (Ok(_), _) | (Err(_), Unreadable::IsPassedOver) => (),
            (Err(error), Unreadable::Fails) => return Err(error),
        }
    }
    Ok(made)
}

/// Those of the changes that a process which is gone made: nobody changes a ref before what was left behind is
/// settled. What it was in the middle of is ended.
pub(crate) fn made_in(
    open: &OpenRepository,
    changes: &[RefChange],
    unreadable: Unreadable,
) -> Result<Vec<RefChange>, GitError> {
    let _turn = Turn::take(open.git_dir())?;
    let repo = open.handle();
    let ended = write::complete(&repo, changes);
    let made = match (ended, unreadable) {
        (Err(error), Unreadable::Fails) => Err(error),
        (Ok(()), _) | (Err(_), Unreadable::IsPassedOver) => made(&repo, changes, unreadable),
    };
    open.put_back(repo);
    made
}

/// What a ref that cannot be read means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    Fails,
    IsPassedOver,
}

/// The names of the refs that changes make and remove.
struct Names<'a> {
    come: BTreeSet<&'a str>,
    go: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    fn of(changes: &'a [RefChange]) -> Self {
        let (come, go): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.new.is_some());
        let names = |changes: Vec<&'a RefChange>| changes.iter().map(|c| c.name.as_str()).collect();
        Self { come: names(come), go: names(go) }
    }

    /// Whether anything is made in a folder, which ends with a slash.
    fn come_below(&self, folder: &str) -> bool {
        self.come.range(folder..).next().is_some_and(|name| name.starts_with(folder))
    }
}

/// Where the branch that HEAD names is now, if it was moved.
fn new_tip_of_head(repo: &gix::Repository, changes: &[RefChange]) -> Option<ObjectId> {
    let head = repo.head_name().ok()??;
    changes.iter().find(|change| head.as_bstr() == change.name.as_str())?.new
}

/// Whether the change can be made to what is there.
fn check(repo: &gix::Repository, change: &RefChange, all: &Names<'_>) -> Result<(), GitError> {
    let conflict = || GitError::Conflict(change.name.clone());
    if FullName::try_from(change.name.as_str()).is_err() {
        return Err(conflict());
    }
    let now = current(repo, &change.name)?;
    if now != change.old {
        return Err(conflict());
    }
    let Some(new) = change.new else {
        return if now.is_some() { Ok(()) } else { Err(conflict()) };
    };
    let header = repo.try_find_header(to_gix(new)).map_err(failed)?.ok_or(GitError::Missing)?;
    let is_branch = change.name.starts_with(BranchName::FOLDER);
    if is_branch && header.kind() != gix::object::Kind::Commit {
        return Err(GitError::Missing);
    }
    if now.is_none() && collides(repo, &change.name, all)? {
        return Err(conflict());
    }
    Ok(())
}

/// Whether a new name needs a folder where another ref is, or would be a file where other refs are.
fn collides(repo: &gix::Repository, name: &str, all: &Names<'_>) -> Result<bool, GitError> {
    for (at, _) in name.match_indices('/').skip(1) {
        let above = &name[..at];
        if all.come.contains(above) || (current(repo, above)?.is_some() && !all.go.contains(above))
        {
            return Ok(true);
        }
    }
    let below = format!("{name}/");
    if all.come_below(&below) {
        return Ok(true);
    }
    // Iterating over both at once would refuse names that mean something else on Windows.
    if let Some(packed) = repo.refs.cached_packed_buffer().map_err(failed)? {
        for reference in packed.iter_prefixed(below.as_str().into()).map_err(failed)? {
            let reference = reference.map_err(failed)?;
            if !all.go.contains(reference.name.as_bstr().to_string().as_str()) {
                return Ok(true);
            }
        }
    }
    stays_below(&repo.git_dir().join(name), name, all)
}

/// Whether a ref with a file of its own stays in a folder.
fn stays_below(folder: &Path, name: &str, all: &Names<'_>) -> Result<bool, GitError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(false);
        }
        Err(error) => return Err(io(error)),
    };
    for entry in entries {
        let entry = entry.map_err(io)?;
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        let stays = if entry.file_type().map_err(io)?.is_dir() {
            stays_below(&entry.path(), &name, all)?
        } else {
            !name.ends_with(".lock") && !all.go.contains(name.as_str())
        };
        if stays {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Points HEAD to a branch.
pub(crate) fn set_head(bound: &Bound, branch: &BranchName) -> Result<(), GitError> {
    let repo = bound.repo();
    let _turn = Turn::take(repo.git_dir())?;
    let head = repo.git_dir().join("HEAD");
    replace_file(&head, format!("ref: {}\n", branch.full()).as_bytes())?;
    sync_folder(repo.git_dir())
}

/// Stores an annotated tag.
pub(crate) fn write_tag(
    bound: &Bound,
    name: &TagName,
    commit: gix::ObjectId,
    tagger: &Signature,
    message: &str,
) -> Result<ObjectId, GitError> {
    let tag = gix::objs::Tag {
        target: commit,
        target_kind: gix::object::Kind::Commit,
        name: name.as_str().into(),
        tagger: Some(gix::actor::Signature {
            name: one_line(&tagger.name).into(),
            email: one_line(&tagger.email).into(),
            time: gix::date::Time {
                seconds: tagger.at.timestamp(),
                offset: tagger.at.offset().local_minus_utc(),
            },
        }),
        message: format!("{}\n", message.replace('\0', "")).into(),
        signature: None,
    };
    let id = bound.repo().write_object(&tag).map_err(failed)?.detach();
    let file = loose(bound.repo().git_dir(), &id);
    sync_file(&file)?;
    // The folder may be new.
    for folder in file.ancestors().skip(1).take(2).filter(|folder| folder.is_dir()) {
        sync_folder(folder)?;
    }
    Ok(from_gix(&id))
}

/// A name as git can keep it: without what ends it.
fn one_line(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '<' | '>') && !c.is_control()).collect()
}

/// Where an object is that is in no pack.
pub(crate) fn loose(git_dir: &Path, id: &gix::oid) -> PathBuf {
    let hex = id.to_string();
    git_dir.join("objects").join(&hex[..2]).join(&hex[2..])
}

/// The right to change a repository, until it is dropped.
pub(crate) struct Turn(#[expect(dead_code, reason = "the lock ends when the file is closed")] File);

impl Turn {
    pub(crate) fn take(git_dir: &Path) -> Result<Self, GitError> {
        let file = fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(git_dir.join("hexforge.lock"))
            .map_err(io)?;
        file.lock().map_err(io)?;
        Ok(Self(file))
    }
}
