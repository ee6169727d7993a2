//! Changes of refs. Each change is a compare-and-swap. No ref name may be a folder of another ref
//! name: `refs/heads/a` and `refs/heads/a/b` cannot both exist.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Ref;
use super::ref_change::RefChange;
use crate::commit::ObjectId;
use crate::id::ProjectId;
use crate::ports::store::Tx;
use crate::ports::store_error::StoreError;

/// The atomicity of several changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomicity {
    /// All changes are made, or none.
    AllOrNone,
    /// Each change is made independently of the others.
    Independent,
}

/// Maps tag objects to the objects at the end of their tag chains.
pub type Peeled = HashMap<ObjectId, ObjectId>;

/// The result of [`change`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedRefs {
    /// The names of the changed refs, in the order of the request.
    pub done: Vec<String>,
    /// The names of the refs that could not be changed, in the same order: the ref points to
    /// another object than expected, or the name collides with another ref as a folder. Under
    /// [`Atomicity::AllOrNone`] a change may be in neither list.
    pub refused: Vec<String>,
}

/// Changes refs of a repository. Each name may occur once.
///
/// Under [`Atomicity::AllOrNone`] a refusal ends the call. Refs may already be deleted in the
/// transaction by then, so the caller must roll it back.
pub fn change(
    tx: &mut dyn Tx,
    project: ProjectId,
    changes: &[RefChange],
    peeled: &Peeled,
    atomicity: Atomicity,
) -> Result<ChangedRefs, StoreError> {
    tx.refs().lock(project)?;
    let names: Vec<&str> = changes.iter().map(|change| change.name.as_str()).collect();
    let found = tx.refs().find(project, &names)?;
    let targets: HashMap<&str, ObjectId> =
        found.iter().map(|stored| (stored.name.as_str(), stored.target)).collect();
    let is_expected = |change: &&RefChange| {
        let current = targets.get(change.name.as_str()).copied();
        current == change.old && (current.is_some() || change.new.is_some())
    };
    let (mut possible, stale): (Vec<&RefChange>, Vec<&RefChange>) =
        changes.iter().partition(is_expected);
    if atomicity == Atomicity::AllOrNone && !stale.is_empty() {
        return Ok(ChangedRefs { done: vec![], refused: names_of(&stale) });
    }
    // The names of deleted refs are free for new refs.
    let removed: Vec<&str> =
        possible.iter().filter(|change| change.new.is_none()).map(|c| c.name.as_str()).collect();
    if !removed.is_empty() {
        tx.refs().remove(project, &removed)?;
    }
    let created: Vec<&str> =
        possible.iter().filter(|change| change.old.is_none()).map(|c| c.name.as_str()).collect();
    let colliding = colliding_names(tx, project, &created)?;
    let collides = |change: &&RefChange| colliding.contains(change.name.as_str());
    if atomicity == Atomicity::AllOrNone && !colliding.is_empty() {
        let colliding: Vec<&RefChange> = possible.into_iter().filter(collides).collect();
        return Ok(ChangedRefs { done: vec![], refused: names_of(&colliding) });
    }
    possible.retain(|change| !collides(change));
    let written = possible.iter().filter_map(|change| {
        let (name, target) = (change.name.clone(), change.new?);
        Some(Ref { name, target, peeled: peeled.get(&target).copied() })
    });
    let written: Vec<Ref> = written.collect();
    if !written.is_empty() {
        tx.refs().put(project, &written)?;
    }
    let done: HashSet<&str> = possible.iter().map(|change| change.name.as_str()).collect();
    let names = changes.iter().map(|change| change.name.clone());
    let (done, refused) = names.partition(|name| done.contains(name.as_str()));
    Ok(ChangedRefs { done, refused })
}

fn names_of(changes: &[&RefChange]) -> Vec<String> {
    changes.iter().map(|change| change.name.clone()).collect()
}

/// Returns the new names that collide with an existing or new ref. Git stores refs as files, so a ref
/// name must not be a folder of another ref name.
fn colliding_names(
    tx: &mut dyn Tx,
    project: ProjectId,
    created: &[&str],
) -> Result<HashSet<String>, StoreError> {
    if created.is_empty() {
        return Ok(HashSet::new());
    }
    let new: BTreeSet<&str> = created.iter().copied().collect();
    let above: BTreeSet<&str> = created.iter().flat_map(|name| folders(name)).collect();
    let above: Vec<&str> = above.into_iter().collect();
    let mut taken: HashSet<String> =
        tx.refs().find(project, &above)?.into_iter().map(|stored| stored.name).collect();
    taken.extend(created.iter().map(|name| (*name).to_owned()));
    let is_inside = |name: &&&str| folders(name).any(|folder| taken.contains(folder));
    let mut colliding: HashSet<String> =
        created.iter().filter(is_inside).map(|name| (*name).to_owned()).collect();
    colliding.extend(tx.refs().folders_among(project, created)?);
    let is_folder = |name: &&&str| {
        let folder = format!("{name}/");
        new.range(folder.as_str()..).next().is_some_and(|next| next.starts_with(&folder))
    };
    colliding.extend(created.iter().filter(is_folder).map(|name| (*name).to_owned()));
    Ok(colliding)
}

/// The parent folders of a ref name below `refs/heads` or `refs/tags`, outermost first.
fn folders(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').skip(2).map(|(at, _)| &name[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_a_name_begin_below_heads_and_tags() {
        for (name, expected) in [
            ("refs/heads/a", vec![]),
            ("refs/heads/a/b", vec!["refs/heads/a"]),
            ("refs/tags/a/b/c", vec!["refs/tags/a", "refs/tags/a/b"]),
        ] {
            assert_eq!(folders(name).collect::<Vec<_>>(), expected, "{name}");
        }
    }
}
