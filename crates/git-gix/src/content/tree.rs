//! Lists trees and looks up paths.

pub(crate) mod entries;

use std::ops::ControlFlow;

use gix::ObjectId;
use gix::bstr::BString;
use gix::object::tree::{EntryKind as GixKind, EntryMode};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::{EntryKind, FILE_PATHS, FilePaths, TreeEntry};

use crate::content::commit::from_gix;
use crate::error::failed;
use crate::text;

/// The maximum number of listed entries, and of bytes in their paths: trees that share subtrees can expand a small
/// repository into more entries than fit into memory.
const MOST_ENTRIES: usize = if cfg!(test) { 5000 } else { 1_000_000 };
const MOST_BYTES: usize = 128 << 20;

/// The maximum number of bytes in a list of paths.
const MOST_PATH_BYTES: usize = 8 << 20;

/// Returns the tree entry at a path. Path components are matched literally, so `.`, `..` and empty components match
/// nothing. A name that is not UTF-8 is also found as it is shown, with replacement characters; the first one if several
/// names look the same.
pub(crate) fn entry_at(
    repo: &gix::Repository,
    root: gix::Tree<'_>,
    path: &str,
) -> Result<Option<(EntryMode, ObjectId)>, GitError> {
    let mut tree = root;
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        let (mut found, mut similar) = (None, None);
        let may_be_shown = part.contains(char::REPLACEMENT_CHARACTER);
        let bytes = text::bytes_of(part);
        for entry in tree.iter() {
            let entry = entry.map_err(failed)?;
            if *entry.filename() == *bytes {
                found = Some((entry.mode(), entry.object_id()));
                break;
            }
            if may_be_shown && similar.is_none() && text::path(entry.filename()) == part {
                similar = Some((entry.mode(), entry.object_id()));
            }
        }
        match found.or(similar) {
            found if parts.peek().is_none() => return Ok(found),
            // Only trees are read: a blob may be large, and a submodule commit is in another repository.
            Some((mode, id)) if mode.is_tree() => tree = repo.find_tree(id).map_err(failed)?,
            Some(_) | None => return Ok(None),
        }
    }
    Ok(None)
}

/// Lists the entries of a tree.
pub(crate) fn list(tree: &gix::Tree<'_>, folder: &str) -> Result<Vec<TreeEntry>, GitError> {
    let mut listed = Listed::default();
    for entry in tree.iter() {
        let entry = entry.map_err(failed)?;
        listed.add(entry.mode(), entry.oid(), join_path(folder, entry.filename()))?;
    }
    Ok(listed.into_entries())
}

/// Lists the entries of a tree and of all its subtrees.
pub(crate) fn list_all(
    repo: &gix::Repository,
    tree: &gix::Tree<'_>,
    folder: &str,
) -> Result<Vec<TreeEntry>, GitError> {
    let mut listed = Listed::default();
    each_below(repo, tree, folder, |mode, id, path| {
        listed.add(mode, id, path)?;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(listed.into_entries())
}

/// Lists the paths of the files, links and submodules of a tree and of all its subtrees.
pub(crate) fn file_paths(
    repo: &gix::Repository,
    tree: &gix::Tree<'_>,
) -> Result<FilePaths, GitError> {
    let mut found = FilePaths::default();
    // Folders without files count too: a few trees can expand into very many.
    let (mut entries, mut bytes) = (0, 0);
    each_below(repo, tree, "", |mode, _, path| {
        entries += 1;
        bytes += path.len();
        found.is_cut =
            found.paths.len() >= FILE_PATHS || entries > 4 * FILE_PATHS || bytes > MOST_PATH_BYTES;
        if found.is_cut {
            return Ok(ControlFlow::Break(()));
        }
        if !mode.is_tree() {
            found.paths.push(path);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Calls `each` with the mode, id and path of all entries of a tree and its subtrees, until it breaks off.
fn each_below(
    repo: &gix::Repository,
    tree: &gix::Tree<'_>,
    folder: &str,
    mut each: impl FnMut(EntryMode, &gix::oid, String) -> Result<ControlFlow<()>, GitError>,
) -> Result<(), GitError> {
    // An explicit stack: deeply nested trees would overflow the call stack.
    let mut open = vec![(folder.to_owned(), children(tree)?.into_iter())];
    while let Some((folder, rest)) = open.last_mut() {
        let Some((mode, id, name)) = rest.next() else {
            open.pop();
            continue;
        };
        let path = join_path(folder, &name);
        if mode.is_tree() {
            let tree = repo.find_tree(id).map_err(failed)?;
            open.push((path.clone(), children(&tree)?.into_iter()));
        }
        if each(mode, &id, path)?.is_break() {
            break;
        }
    }
    Ok(())
}

type Child = (EntryMode, ObjectId, BString);

fn children(tree: &gix::Tree<'_>) -> Result<Vec<Child>, GitError> {
    let child = |entry: gix::object::tree::EntryRef<'_, '_>| {
        (entry.mode(), entry.object_id(), entry.filename().to_owned())
    };
    tree.iter().map(|entry| entry.map(child).map_err(failed)).collect()
}

/// Entries grouped by kind, in their original order.
#[derive(Default)]
struct Listed {
    trees: Vec<TreeEntry>,
    blobs: Vec<TreeEntry>,
    commits: Vec<TreeEntry>,
    bytes: usize,
}

impl Listed {
    fn add(&mut self, mode: EntryMode, id: &gix::oid, path: String) -> Result<(), GitError> {
        self.bytes += path.len();
        let entries = self.trees.len() + self.blobs.len() + self.commits.len();
        if entries >= MOST_ENTRIES || self.bytes > MOST_BYTES {
            return Err(GitError::TooLarge);
        }
        let (kind, list) = match mode.kind() {
            GixKind::Tree => (EntryKind::Tree, &mut self.trees),
            GixKind::Blob | GixKind::BlobExecutable | GixKind::Link => {
                (EntryKind::Blob, &mut self.blobs)
            }
            GixKind::Commit => (EntryKind::Commit, &mut self.commits),
        };
        list.push(TreeEntry { id: from_gix(id), kind, mode: u32::from(mode.value()), path });
        Ok(())
    }

    fn into_entries(self) -> Vec<TreeEntry> {
        let Self { trees: mut all, blobs, commits, .. } = self;
        all.extend(blobs);
        all.extend(commits);
        all
    }
}

fn join_path(folder: &str, name: &[u8]) -> String {
    let name = text::exact_path(name);
    if folder.is_empty() { name } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::Scratch;

    fn listed(scratch: &Scratch, tree: &str) -> Result<Vec<TreeEntry>, GitError> {
        let repo = gix::open(scratch.git_dir()).expect("git made a repository");
        let id = ObjectId::from_hex(tree.as_bytes()).expect("git names objects so");
        list_all(&repo, &repo.find_tree(id).expect("git made it"), "")
    }

    #[test]
    fn few_bytes_that_unfold_into_many_entries_are_refused() {
        let scratch = Scratch::new();
        scratch.write("x", "x");
        let line = format!("100644 blob {}", scratch.git(&["hash-object", "-w", "x"]));
        for (level, entries) in [(1, Some(10)), (2, Some(110)), (3, Some(1110)), (9, None)] {
            let mut tree = line.clone();
            for _ in 0..level {
                let input: String = (0..10).map(|at| format!("{tree}\t{at}\n")).collect();
                let made = scratch.git_bytes(&["mktree"], input.as_bytes());
                let made = String::from_utf8(made).expect("names are text");
                tree = format!("040000 tree {}", made.trim());
            }
            let found = listed(&scratch, tree.rsplit(' ').next().expect("a name"));
            match entries {
                Some(entries) => assert_eq!(found.map(|found| found.len()).ok(), Some(entries)),
                None => assert!(matches!(found, Err(GitError::TooLarge)), "{level}"),
            }
        }
    }

    #[test]
    fn folders_lie_deep_in_each_other() {
        let scratch = Scratch::new();
        scratch.write("x", "x");
        let blob = scratch.git(&["hash-object", "-w", "x"]);
        let path = format!("{}x", "a/".repeat(1500));
        let entry = format!("100644,{blob},{path}");
        scratch.git(&["update-index", "--add", "--cacheinfo", &entry]);
        let found = listed(&scratch, &scratch.git(&["write-tree"])).expect("it can be read");
        assert_eq!(found.len(), 1501);
        assert_eq!(found.last().map(|entry| entry.path.as_str()), Some(path.as_str()));
        assert_eq!((found[0].path.as_str(), found[1].path.as_str()), ("a", "a/a"));
    }

    #[test]
    fn names_that_are_not_text_are_found_as_they_are_shown() {
        let scratch = Scratch::new();
        scratch.write("x", "x");
        let blob = scratch.git(&["hash-object", "-w", "x"]);
        let tree = |lines: &[u8]| {
            let made = scratch.git_bytes(&["mktree", "-z"], lines);
            String::from_utf8(made).expect("names are text").trim().to_owned()
        };
        let mut lines = format!("100644 blob {blob}\tname-").into_bytes();
        lines.extend_from_slice(b"\xff\0");
        let inner = tree(&lines);
        let mut lines = format!("040000 tree {inner}\tfolder-").into_bytes();
        lines.extend_from_slice(b"\xfe\0");
        let repo = gix::open(scratch.git_dir()).expect("git made a repository");
        let id = ObjectId::from_hex(tree(&lines).as_bytes()).expect("git names objects so");
        let found = |path: &str| {
            let root = repo.find_tree(id).expect("git made it");
            entry_at(&repo, root, path).expect("it can be read").map(|(_, id)| id.to_string())
        };
        assert_eq!(found("folder-\u{fffd}/name-\u{fffd}"), Some(blob));
        assert_eq!(found("folder-\u{fffd}"), Some(inner));
        assert_eq!(found("folder-"), None);
        let root = repo.find_tree(id).expect("git made it");
        let listed = list_all(&repo, &root, "").expect("it can be read");
        let exact = text::exact_path(b"folder-\xfe/name-\xff");
        assert_eq!(listed[1].path, exact);
        assert!(found(&exact).is_some());
        assert_eq!(found(&text::exact_path(b"folder-\xff/name-\xff")), None);
    }
}
