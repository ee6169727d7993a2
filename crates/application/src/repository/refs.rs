//! Searches and lists the names of refs.

use hexforge_domain::refs::Snapshot;

const BRANCHES: &str = "refs/heads/";

/// The maximum number of branches that a form offers.
const MAX_BRANCHES: usize = 2_000;

/// Returns the names of the branches that a form offers.
pub(crate) fn branch_names(refs: &Snapshot) -> Vec<String> {
    let names = refs.range(refs.folder(BRANCHES)).take(MAX_BRANCHES);
    names.filter_map(|one| one.name.strip_prefix(BRANCHES)).map(str::to_owned).collect()
}

/// Returns the names of the refs in a folder that contain a text, ignoring case, without the folder.
pub(crate) fn names_containing(refs: &Snapshot, folder: &str, text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let names = refs.range(refs.folder(folder)).filter_map(|one| one.name.strip_prefix(folder));
    names.filter(|name| name.to_lowercase().contains(&text)).map(str::to_owned).collect()
}
