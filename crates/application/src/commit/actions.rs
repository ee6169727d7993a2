//! The actions of a commit: their checks in the order of the reference, and the file changes that they make.

use std::collections::HashSet;

use hexforge_domain::repository::{ChangeError, FileChange, PathEntry};
use hexforge_domain::text::limit;

use super::target::Target;
use crate::error::{ActionRefusal, Error, Refusal};

/// One action of a commit, as a request names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Action {
    /// The name of the action: `create`, `update`, `move` or `delete`.
    pub action: String,
    /// The path of the file.
    pub path: Option<String>,
    /// The path from which the file is moved.
    pub previous_path: Option<String>,
    /// The content.
    pub content: Option<Vec<u8>>,
}

/// The actions of a commit and their changes. They have the same order.
pub(super) struct Plan {
    steps: Vec<Step>,
    changes: Vec<FileChange>,
}

/// An action without its content.
struct Step {
    action: String,
    kind: Option<Kind>,
    path: String,
    previous: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Create,
    Update,
    Move,
    Delete,
}

impl Plan {
    /// Plans the actions without any check. The content of each file is moved, not copied.
    pub(super) fn new(actions: Vec<Action>) -> Self {
        let (mut steps, mut changes) = (Vec::new(), Vec::new());
        for Action { action, path, previous_path, content } in actions {
            let kind = Kind::parse(&action);
            let path = without_slash(path.unwrap_or_default());
            let previous = previous_path.map(without_slash).filter(|path| !path.trim().is_empty());
            changes.extend(kind.map(|kind| kind.change(&path, previous.as_deref(), content)));
            steps.push(Step { action, kind, path, previous });
        }
        Self { steps, changes }
    }

    /// The changes, one for each action if [`check`](Self::check) passed.
    pub(super) fn changes(&self) -> &[FileChange] {
        &self.changes
    }

    /// Checks each action against the branch before the commit. A file that an earlier action removed cannot be used
    /// again.
    pub(super) fn check(&self, target: &Target) -> Result<(), Error> {
        let mut removed = HashSet::new();
        for step in &self.steps {
            step.check(target)?;
            if removed.contains(step.source()) {
                return Err(step.not_found());
            }
            if matches!(step.kind, Some(Kind::Delete | Kind::Move)) {
                removed.insert(step.source());
            }
        }
        Ok(())
    }

    /// The error for a change that an earlier action of the same commit makes impossible.
    pub(super) fn impossible(&self, change: usize, why: ChangeError) -> Error {
        let Some(step) = self.steps.get(change) else { return refused(ActionRefusal::NoPath) };
        match why {
            ChangeError::NotFound => step.not_found(),
            ChangeError::Taken => step.taken(),
            ChangeError::InvalidPath => refused(ActionRefusal::PathCharacters(step.path.clone())),
            ChangeError::InvalidContent => Error::Refused(Refusal::FileContent(step.path.clone())),
        }
    }
}

impl Step {
    fn check(&self, target: &Target) -> Result<(), Error> {
        let Self { action, kind, path, previous } = self;
        if path.trim().is_empty() {
            return Err(refused(ActionRefusal::NoPath));
        }
        check_path(path)?;
        previous.as_deref().map_or(Ok(()), check_path)?;
        if target.tip.is_none() && *kind != Some(Kind::Create) {
            return Err(refused(ActionRefusal::EmptyRepository(action.clone())));
        }
        match kind {
            Some(Kind::Create) => self.check_free(target),
            Some(Kind::Update) => match target.entry(path)? {
                PathEntry::File { .. } => Ok(()),
                _ => Err(self.not_found()),
            },
            Some(Kind::Delete) => self.check_exists(target),
            Some(Kind::Move) => self.check_move(target),
            None => {
                self.check_exists(target)?;
                Err(refused(ActionRefusal::UnknownAction(action.clone())))
            }
        }
    }

    fn check_move(&self, target: &Target) -> Result<(), Error> {
        let Some(previous) = &self.previous else {
            return Err(refused(ActionRefusal::NoPreviousPath(self.path.clone())));
        };
        match target.entry(previous)? {
            PathEntry::File { .. } => self.check_free(target),
            _ => Err(self.not_found()),
        }
    }

    /// Checks that a file, a symbolic link or a submodule is at the path.
    fn check_exists(&self, target: &Target) -> Result<(), Error> {
        match target.entry(&self.path)? {
            PathEntry::File { .. } | PathEntry::Submodule(_) => Ok(()),
            PathEntry::Missing | PathEntry::BehindFile | PathEntry::Folder => Err(self.not_found()),
        }
    }

    /// Checks that the tree has no entry at the path, and no file as a parent folder of it.
    fn check_free(&self, target: &Target) -> Result<(), Error> {
        match target.entry(&self.path)? {
            PathEntry::Missing => Ok(()),
            _ => Err(self.taken()),
        }
    }

    /// The path of the file that the action needs.
    fn source(&self) -> &str {
        match (self.kind, &self.previous) {
            (Some(Kind::Move), Some(previous)) => previous,
            _ => &self.path,
        }
    }

    fn not_found(&self) -> Error {
        let (action, path) = (self.action.clone(), self.source().to_owned());
        refused(ActionRefusal::NotFound { action, path })
    }

    fn taken(&self) -> Error {
        refused(match self.kind {
            Some(Kind::Move) => ActionRefusal::DestinationExists(self.path.clone()),
            _ => ActionRefusal::Exists(self.path.clone()),
        })
    }
}

impl Kind {
    fn parse(action: &str) -> Option<Self> {
        match action {
            "create" => Some(Kind::Create),
            "update" => Some(Kind::Update),
            "move" => Some(Kind::Move),
            "delete" => Some(Kind::Delete),
            _ => None,
        }
    }

    fn change(self, path: &str, previous: Option<&str>, content: Option<Vec<u8>>) -> FileChange {
        let path = path.to_owned();
        match self {
            Kind::Create | Kind::Update => {
                FileChange::Write { path, content: content.unwrap_or_default(), mode: None }
            }
            Kind::Move => {
                let from = previous.unwrap_or_default().to_owned();
                FileChange::Move { from, to: path, content }
            }
            Kind::Delete => FileChange::Remove { path },
        }
    }
}

/// Checks the characters and the components of a path.
fn check_path(path: &str) -> Result<(), Error> {
    if path.contains("..") {
        return Err(refused(ActionRefusal::Traversal(path.to_owned())));
    }
    let is_odd = |part: &str| matches!(part, "" | ".") || part.eq_ignore_ascii_case(".git");
    if !has_only_letters(path) || path.len() > limit::LOOKUP || path.split('/').any(is_odd) {
        return Err(refused(ActionRefusal::PathCharacters(path.to_owned())));
    }
    Ok(())
}

/// Whether a path has only the characters that new files may have in their names.
pub(crate) fn has_only_letters(path: &str) -> bool {
    path.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./@".contains(&b))
}

fn refused(refusal: ActionRefusal) -> Error {
    Error::Refused(Refusal::Action(refusal))
}

/// Removes one leading slash.
fn without_slash(path: String) -> String {
    match path.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None => path,
    }
}
