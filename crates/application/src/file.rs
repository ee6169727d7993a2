//! Creates, changes and removes single files, each with one commit.

use hexforge_domain::commit::ObjectId;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::repository::{
    ChangeError, CommitOutcome, CommitText, FileChange, MAX_FOLDERS, PathEntry,
};
use hexforge_domain::text::limit;

use crate::app::App;
use crate::branch;
use crate::commit::target::{self, Target};
use crate::commit::{AuthorFields, has_only_letters, people};
use crate::error::{Error, FileRefusal, Refusal};

/// The commit that changes a file.
pub struct FileCommit {
    /// The path of the file, without leading slashes.
    pub path: String,
    /// The name of the branch.
    pub branch: String,
    /// The branch from which a missing branch starts. Without it, the branch has to exist.
    pub start_branch: Option<String>,
    /// The message of the commit.
    pub message: String,
    /// The author of the commit.
    pub author: AuthorFields,
    /// The blob that the author of the change has seen. The change is refused if the branch has another one.
    pub based_on: Option<ObjectId>,
}

/// The change of the file.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Creates the file with this content.
    Create(Vec<u8>),
    /// Writes this content, also if there is no file yet.
    Update(Vec<u8>),
    /// Removes the file.
    Delete,
}

/// Returns the project if the actor may push to it. Calls check this before they read the parameters.
pub fn authorize(app: &App, actor: Actor, named: &ProjectRef) -> Result<Project, Error> {
    branch::project_to_push(app, actor, named)
}

/// A file that was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Whether the commit created its branch from another one.
    pub created_branch: bool,
}

/// Changes a file with one commit.
pub fn commit(
    app: &App,
    actor: Actor,
    project: &Project,
    new: &FileCommit,
    edit: Edit,
) -> Result<ChangedFile, Error> {
    people::check_lengths(&new.message, &new.author)?;
    let (rule, path) = (Rule::of(&edit), tidy(&new.path));
    let changes = [match edit {
        Edit::Create(content) | Edit::Update(content) => {
            FileChange::Write { path: path.clone(), content: with_line_feeds(content), mode: None }
        }
        Edit::Delete => FileChange::Remove { path: path.clone() },
    }];
    let start = new.start_branch.as_deref();
    let published = target::commit_to(app, actor, project, &new.branch, start, |target| {
        rule.check(target, &new.path, &path)?;
        if let Some(seen) = new.based_on {
            require_unchanged(target, &path, seen)?;
        }
        let (author, committer) = people::signatures(app, actor, &new.author)?;
        let text = CommitText { message: new.message.clone(), author, committer };
        match target.repository.write_commit(target.tip, &changes, &text)? {
            CommitOutcome::Written(written) => Ok((written, text)),
            CommitOutcome::Impossible { why, .. } => Err(rule.impossible(why, &path)),
        }
    })?;
    Ok(ChangedFile { created_branch: published.created_branch })
}

/// Checks that the branch still has this blob at a path.
fn require_unchanged(target: &Target, path: &str, seen: ObjectId) -> Result<(), Error> {
    match target.entry(path)? {
        PathEntry::File { id, .. } if id == seen => Ok(()),
        _ => Err(refused(FileRefusal::Changed)),
    }
}

/// The rules that the calls have for paths.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    Create,
    Update,
    Delete,
}

impl Rule {
    fn of(edit: &Edit) -> Self {
        match edit {
            Edit::Create(_) => Rule::Create,
            Edit::Update(_) => Rule::Update,
            Edit::Delete => Rule::Delete,
        }
    }

    /// Checks the path as it is given, and what the branch has at the tidy path.
    fn check(self, target: &Target, given: &str, path: &str) -> Result<(), Error> {
        self.check_path(given, path)?;
        match (self, target.entry(path)?) {
            (Rule::Create | Rule::Update, PathEntry::Missing)
            | (Rule::Update, PathEntry::File { .. }) => Ok(()),
            (Rule::Create | Rule::Update, _) => Err(refused(FileRefusal::Exists)),
            // A path that is not tidy names no file. Whether there is a file is decided by its removal, which also
            // knows all spellings of `.git`.
            (Rule::Delete, _) if given == path => Ok(()),
            (Rule::Delete, _) => Err(refused(FileRefusal::NotFound)),
        }
    }

    fn check_path(self, given: &str, path: &str) -> Result<(), Error> {
        let is_git = |part: &str| part.eq_ignore_ascii_case(".git");
        let is_odd = path.is_empty()
            || given.len() > limit::LOOKUP
            || path.split('/').count() > MAX_FOLDERS + 1
            || path.split('/').any(is_git);
        let refusal = match self {
            Rule::Create if given.contains("..") => FileRefusal::Traversal,
            Rule::Create if is_odd || !has_only_letters(given) => FileRefusal::PathCharacters,
            Rule::Create => return Ok(()),
            Rule::Update | Rule::Delete => {
                let leads_out = path.split('/').any(|part| part == "..");
                if !is_odd && !leads_out && !given.contains('\0') {
                    return Ok(());
                }
                FileRefusal::InvalidPath
            }
        };
        Err(refused(refusal))
    }

    /// The error for a change that git refuses.
    fn impossible(self, why: ChangeError, path: &str) -> Error {
        refused(match (why, self) {
            (ChangeError::NotFound, _) | (ChangeError::Taken, Rule::Delete) => {
                FileRefusal::NotFound
            }
            (ChangeError::Taken, Rule::Create | Rule::Update) => FileRefusal::Exists,
            (ChangeError::InvalidPath, Rule::Create) => FileRefusal::PathCharacters,
            (ChangeError::InvalidPath, Rule::Update | Rule::Delete) => FileRefusal::InvalidPath,
            (ChangeError::InvalidContent, _) => {
                return Error::Refused(Refusal::FileContent(path.to_owned()));
            }
        })
    }
}

fn refused(refusal: FileRefusal) -> Error {
    Error::Refused(Refusal::File(refusal))
}

/// Removes empty components and `.` from a path.
fn tidy(path: &str) -> String {
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    parts.collect::<Vec<_>>().join("/")
}

/// Replaces CRLF by LF, unless the content is binary.
fn with_line_feeds(mut content: Vec<u8>) -> Vec<u8> {
    if content.contains(&0) || !content.contains(&b'\r') {
        return content;
    }
    let (mut kept, length) = (0, content.len());
    for at in 0..length {
        let byte = content[at];
        if byte == b'\r' && content.get(at + 1) == Some(&b'\n') {
            continue;
        }
        content[kept] = byte;
        kept += 1;
    }
    content.truncate(kept);
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_gets_line_feeds_and_binary_content_stays() {
        for (given, expected) in [
            (&b"a\r\nb\r\n"[..], &b"a\nb\n"[..]),
            (b"a\rb\r\r\n\r", b"a\rb\r\n\r"),
            (b"a\r\n\0", b"a\r\n\0"),
            (b"\n", b"\n"),
        ] {
            assert_eq!(with_line_feeds(given.to_vec()), expected);
        }
    }

    #[test]
    fn paths_are_tidied() {
        for (given, expected) in [("a//b", "a/b"), ("./a/b", "a/b"), ("a/", "a"), (".", "")] {
            assert_eq!(tidy(given), expected);
        }
    }
}
