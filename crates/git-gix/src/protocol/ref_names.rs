//! The names that pushes and imports may give to refs.

use gix::refs::FullName;
use hexforge_domain::branch::BranchName;
use hexforge_domain::tag::TagName;

/// The longest ref name, and the longest path component in one, that every file system can store.
const LONGEST: usize = 1000;
const LONGEST_PART: usize = 250;

/// Returns whether a ref may have this name. The rules for new refs are stricter than those for refs that exist
/// already, which may be deleted and imported.
pub(crate) fn is_valid_ref_name(name: &[u8], is_new: bool) -> bool {
    let Ok(name) = std::str::from_utf8(name) else { return false };
    if !name.starts_with("refs/") || name.len() > LONGEST {
        return false;
    }
    if name.split('/').count() < 3 || name.split('/').any(|part| part.len() > LONGEST_PART) {
        return false;
    }
    // A replace ref makes git show another object in place of the original one.
    if is_new && name.starts_with("refs/replace/") {
        return false;
    }
    // Permission rules apply to branches and tags, so every ref below their prefixes must have a
    // valid branch or tag name.
    let fits = match (name.strip_prefix(BranchName::FOLDER), name.strip_prefix(TagName::FOLDER)) {
        (Some(branch), _) if is_new => BranchName::parse_new(branch).is_ok(),
        (Some(branch), _) => BranchName::parse(branch).is_ok(),
        (_, Some(tag)) if is_new => TagName::parse_new(tag).is_ok(),
        (_, Some(tag)) => TagName::parse(tag).is_ok(),
        (None, None) => true,
    };
    fits && FullName::try_from(name).is_ok()
}
