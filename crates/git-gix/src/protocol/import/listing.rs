//! The branches and tags that another server advertises.

use std::collections::HashSet;
use std::path::Path;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::imports::ImportError;
use hexforge_domain::refs::Ref;

use super::invalid_answer;
use crate::content::peel::Peeler;
use crate::protocol::ref_names::is_valid_ref_name;
use crate::storage::open::open_folder;

/// The advertised branches and tags.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Sorted by name after [`Listing::checked`], without duplicates.
    pub(crate) refs: Vec<(BString, ObjectId)>,
    head: Option<ObjectId>,
    head_target: Option<BString>,
    most: usize,
}

impl Listing {
    /// Creates a listing with at most this number of refs.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// Adds an advertised ref. Refs that are neither branches nor tags are ignored.
    pub(crate) fn add(&mut self, id: ObjectId, name: &[u8]) -> Result<(), ImportError> {
        if name == b"HEAD" {
            self.head = Some(id);
            return Ok(());
        }
        // A line with the object that an annotated tag peels to.
        let is_peeled = name.ends_with(b"^{}");
        if !(name.starts_with(b"refs/heads/") || name.starts_with(b"refs/tags/")) || is_peeled {
            return Ok(());
        }
        if self.refs.len() == self.most {
            return Err(ImportError::Refused(
                "the repository has too many branches and tags".into(),
            ));
        }
        self.refs.push((name.into(), id));
        Ok(())
    }

    /// Sets the ref that HEAD points to.
    pub(crate) fn set_head_target(&mut self, name: &[u8]) {
        self.head_target = Some(name.into());
    }

    /// Sorts the listing, and checks that its names are valid and can exist together.
    pub(crate) fn checked(mut self) -> Result<Self, ImportError> {
        self.refs.sort();
        let mut names: HashSet<&BStr> = HashSet::with_capacity(self.refs.len());
        for (name, _) in &self.refs {
            if !is_valid_ref_name(name, false) {
                return Err(invalid_answer(&format!(
                    "`{}` is not a valid ref name",
                    printable(name)
                )));
            }
            if !names.insert(name.as_bstr()) {
                return Err(invalid_answer(&format!("`{}` is listed twice", printable(name))));
            }
        }
        for (name, _) in &self.refs {
            let folders = name.find_iter("/").map(|end| name[..end].as_bstr());
            if let Some(folder) = folders.into_iter().find(|folder| names.contains(folder)) {
                let (name, folder) = (printable(name), printable(folder));
                return Err(invalid_answer(&format!(
                    "`{folder}` and `{name}` cannot exist together"
                )));
            }
        }
        Ok(self)
    }

    /// Returns the imported refs and the branch of HEAD. The objects must be in the repository.
    pub(crate) fn resolve(
        &self,
        repository: &Path,
    ) -> Result<(Vec<Ref>, Option<String>), GitError> {
        let repo = open_folder(repository)?.to_thread_local();
        let mut refs = Vec::with_capacity(self.refs.len());
        let mut peeler = Peeler::new(&repo);
        for (name, id) in &self.refs {
            refs.push(peeler.read_ref(name.to_string(), *id)?);
        }
        Ok((refs, self.head().map(ToString::to_string)))
    }

    /// The branch that HEAD points to. Old servers only send the commit of HEAD, which several branches may have.
    pub(crate) fn head(&self) -> Option<&BStr> {
        let is_branch = |name: &BStr| {
            let found = self.refs.binary_search_by(|(known, _)| known.as_bstr().cmp(name));
            name.starts_with(b"refs/heads/") && found.is_ok()
        };
        if let Some(target) = &self.head_target {
            return Some(target.as_bstr()).filter(|name| is_branch(name));
        }
        let head = self.head?;
        let mut fitting = self
            .refs
            .iter()
            .filter(|(name, id)| *id == head && name.starts_with(b"refs/heads/"))
            .map(|(name, _)| name.as_bstr());
        let first = fitting.clone().next();
        let usual = |name: &&BStr| *name == "refs/heads/master" || *name == "refs/heads/main";
        fitting.find(usual).or(first)
    }

    /// The ids of all objects to request, without duplicates.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = ObjectId> {
        let mut seen = HashSet::new();
        self.refs.iter().map(|(_, id)| *id).filter(move |id| seen.insert(*id))
    }
}

/// Splits a line into the object id at its start and the rest.
pub(crate) fn split_id(line: &[u8]) -> Result<(ObjectId, &[u8]), ImportError> {
    let parts = line.split_once_str(" ");
    let id = parts.and_then(|(id, rest)| Some((ObjectId::from_hex(id).ok()?, rest)));
    id.ok_or_else(|| invalid_answer("a ref has no object id"))
}

fn printable(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    text.chars().filter(|c| !c.is_control()).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> ObjectId {
        let hex: String = std::iter::repeat_n(digit, 40).collect();
        ObjectId::from_hex(hex.as_bytes()).expect("a name")
    }

    fn listing(names: &[(&str, char)]) -> Result<Listing, ImportError> {
        let mut listing = Listing::new(10);
        for (name, digit) in names {
            listing.add(id(*digit), name.as_bytes())?;
        }
        listing.checked()
    }

    #[test]
    fn only_branches_and_tags_are_taken() {
        let listing = listing(&[
            ("HEAD", '1'),
            ("refs/tags/v1", '2'),
            ("refs/tags/v1^{}", '3'),
            ("refs/heads/main", '1'),
            ("refs/pull/1/head", '4'),
            ("refs/notes/commits", '5'),
            ("capabilities^{}", '0'),
        ])
        .expect("a good listing");
        let names: Vec<_> = listing.refs.iter().map(|(name, _)| name.to_string()).collect();
        assert_eq!(names, ["refs/heads/main", "refs/tags/v1"]);
        assert_eq!(listing.head(), Some("refs/heads/main".into()));
        assert_eq!(listing.wanted().collect::<Vec<_>>(), [id('1'), id('2')]);
    }

    #[test]
    fn refs_that_no_repository_has_are_refused() {
        let long = format!("refs/heads/{}", "a".repeat(251));
        for (names, what) in [
            (&["refs/heads/../../x"][..], "`refs/heads/../../x` is not a valid ref name"),
            (&["refs/heads/a b"], "`refs/heads/a b` is not a valid ref name"),
            (&["refs/heads/a.lock"], "`refs/heads/a.lock` is not a valid ref name"),
            (&["refs/heads/"], "`refs/heads/` is not a valid ref name"),
            (&["refs/heads/a\nb"], "`refs/heads/ab` is not a valid ref name"),
            (&["refs/tags/a\0b"], "`refs/tags/ab` is not a valid ref name"),
            (&[&long], &format!("`{}` is not a valid ref name", &long[..100])),
            (&["refs/heads/a", "refs/heads/a"], "`refs/heads/a` is listed twice"),
            (
                &["refs/heads/a", "refs/heads/a-b", "refs/heads/a/b"],
                "`refs/heads/a` and `refs/heads/a/b` cannot exist together",
            ),
        ] {
            let names: Vec<_> = names.iter().map(|name| (*name, '1')).collect();
            assert_eq!(listing(&names).err(), Some(invalid_answer(what)));
        }
        let mut bytes = Listing::new(1);
        bytes.add(id('1'), b"refs/heads/\xff").expect("checked later");
        assert!(bytes.checked().is_err(), "not UTF-8");
    }

    #[test]
    fn the_head_is_told_or_guessed() {
        let refs = [("refs/heads/a", '1'), ("refs/heads/main", '1'), ("refs/heads/z", '2')];
        for (head, target, expected) in [
            (None, None, None),
            (Some('1'), None, Some("refs/heads/main")),
            (Some('2'), None, Some("refs/heads/z")),
            (Some('3'), None, None),
            (Some('1'), Some("refs/heads/z"), Some("refs/heads/z")),
            (None, Some("refs/heads/unborn"), None),
            (Some('1'), Some("refs/tags/a"), None),
        ] {
            let mut listing = listing(&refs).expect("a good listing");
            listing.head = head.map(id);
            listing.head_target = target.map(BString::from);
            let expected = expected.map(BStr::new);
            assert_eq!(listing.head(), expected, "{head:?} {target:?}");
        }
    }

    #[test]
    fn objects_have_whole_names() {
        for line in ["", "1234 refs/heads/a", "zz", &"g".repeat(41), &"1".repeat(40)] {
            assert!(split_id(line.as_bytes()).is_err(), "{line}");
        }
        let line = format!("{} x y", "1".repeat(40));
        assert_eq!(split_id(line.as_bytes()), Ok((id('1'), &b"x y"[..])));
    }
}
