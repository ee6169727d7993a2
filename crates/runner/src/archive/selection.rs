//! The files of a project folder that belong to an archive.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{MAX_FILES, require_time_left};
use crate::error::Error;
use crate::plan::Selection;

/// The maximum depth of nested folders.
const MAX_DEPTH: usize = 200;

/// Finds the files that belong to a selection, relative to the project folder. `tracked` are the files and submodules
/// that git checked out; all others are untracked. Without it, no file counts as untracked.
/// # Errors
/// A folder cannot be read, there are too many files, or `goes_on` is false.
pub fn select(
    project: &Path,
    chosen: &Selection,
    tracked: Option<&BTreeSet<PathBuf>>,
    goes_on: &dyn Fn() -> bool,
) -> Result<BTreeSet<PathBuf>, Error> {
    let mut found = BTreeSet::new();
    let tracked = tracked.filter(|_| chosen.untracked);
    // The files of a tracked submodule are tracked.
    let is_untracked = |path: &Path| {
        tracked.is_some_and(|tracked| !path.ancestors().any(|above| tracked.contains(above)))
    };
    if !chosen.patterns.is_empty() || tracked.is_some() {
        walk(project, &mut Vec::new(), &mut |parts| {
            require_time_left(goes_on)?;
            let path: PathBuf = parts.iter().collect();
            let matches = chosen.patterns.iter().any(|pattern| pattern.matches(parts));
            if matches || is_untracked(&path) {
                found.insert(path);
            }
            Ok(found.len() <= MAX_FILES)
        })?;
    }
    if found.len() > MAX_FILES {
        return Err(Error::step(format!("more than {MAX_FILES} files match")));
    }
    Ok(found)
}

/// Visits all files and links below the folder, except the repository itself, until `visit` returns false.
fn walk(
    folder: &Path,
    parts: &mut Vec<String>,
    visit: &mut dyn FnMut(&[&str]) -> Result<bool, Error>,
) -> Result<bool, Error> {
    if parts.len() > MAX_DEPTH {
        return Err(Error::step(format!("more than {MAX_DEPTH} folders are in one another")));
    }
    let here: PathBuf = folder.join(parts.iter().collect::<PathBuf>());
    for entry in fs::read_dir(&here).map_err(Error::at(&here))? {
        let entry = entry.map_err(Error::at(&here))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if parts.is_empty() && name == ".git" {
            continue;
        }
        let kind = entry.file_type().map_err(Error::at(&here))?;
        parts.push(name);
        let goes_on = if kind.is_dir() {
            walk(folder, parts, visit)?
        } else if kind.is_file() || kind.is_symlink() {
            visit(&parts.iter().map(String::as_str).collect::<Vec<_>>())?
        } else {
            // Sockets, pipes and devices.
            true
        };
        parts.pop();
        if !goes_on {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::testing::{chosen, project};

    #[test]
    fn what_git_did_not_check_out_is_untracked() {
        let from = project();
        let wanted = Selection { untracked: true, ..Selection::default() };
        let tracked = BTreeSet::from(["README", "bin/lib", "gone"].map(PathBuf::from));
        let files = select(from.path(), &wanted, Some(&tracked), &|| true).expect("readable");
        assert_eq!(files, BTreeSet::from(["bin/app", "bin/link", "etc"].map(PathBuf::from)));
        let found = select(from.path(), &wanted, None, &|| true);
        assert_eq!(found.expect("readable"), BTreeSet::new());
        let found = select(from.path(), &chosen(&["bin"]), None, &|| false);
        assert!(found.is_err_and(|error| error.to_string().contains("took too long")));
    }
}
