//! What is noted on disk of a change before it is made, so that it can be recorded after a crash.

use std::fmt;

use hexforge_domain::id::UserId;
use hexforge_domain::ports::git::RefChange;
use hexforge_domain::push::RefKind;
use hexforge_domain::tag::Release;

use super::Way;

const TAG_REMOVAL: &str = "removes a tag";
const PUBLISHING: &str = "publishes ";

/// Who changes something, how, and what comes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) user: UserId,
    pub(super) way: Way,
    /// What is published about the tag that is made.
    pub(super) release: Option<Release>,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.user)?;
        match (self.way, &self.release) {
            (Way::TagRemoval, _) => write!(f, " {TAG_REMOVAL}"),
            (Way::Push, Some(release)) => write!(f, " {PUBLISHING}{}", release.description),
            (Way::Push, None) => Ok(()),
        }
    }
}

impl Note {
    /// The opposite of writing it. Who cannot be read is nobody.
    pub(super) fn read(text: &str, changes: &[RefChange]) -> Self {
        let (user, rest) = text.split_once(' ').unwrap_or((text, ""));
        let way = if rest == TAG_REMOVAL { Way::TagRemoval } else { Way::Push };
        let tag = changes.iter().find_map(|change| match RefKind::of(&change.name) {
            RefKind::Tag(tag) => change.new.map(|_| tag),
            RefKind::Branch(_) | RefKind::Other => None,
        });
        let release = match (rest.strip_prefix(PUBLISHING), tag) {
            (Some(text), Some(tag)) => Some(Release { tag, description: text.to_owned() }),
            (Some(_), None) | (None, _) => None,
        };
        Self { user: UserId(user.parse().unwrap_or(0)), way, release }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexforge_domain::commit::ObjectId;
    use hexforge_domain::tag::TagName;

    #[test]
    fn notes_are_read_as_they_were_written() {
        let change = |new| RefChange { name: "refs/tags/v1".into(), old: None, new };
        let made = [change(Some(ObjectId::ZERO))];
        let description = "a\n\nb removes a tag\nwhole\n".to_owned();
        let release = Release { tag: TagName::of_stored("v1".into()), description };
        for (way, release) in
            [(Way::Push, None), (Way::TagRemoval, None), (Way::Push, Some(release.clone()))]
        {
            let note = Note { user: UserId(7), way, release };
            assert_eq!(Note::read(&note.to_string(), &made), note);
        }
        let note = Note { user: UserId(7), way: Way::Push, release: Some(release) };
        assert_eq!(Note::read(&note.to_string(), &[]).release, None, "it did not happen");
        for strange in ["", "x", "7 does what nobody knows"] {
            let read = Note::read(strange, &made);
            assert_eq!((read.way, read.release), (Way::Push, None), "{strange}");
        }
    }
}
