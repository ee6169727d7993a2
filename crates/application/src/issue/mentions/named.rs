//! Finds the issues, merge requests and commits that texts name.

use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::id::ProjectId;
use hexforge_domain::issue::commit_reference::{CommitReference, commit_references};
use hexforge_domain::issue::reference::{MAX_REFERENCES, Reference, references};
use hexforge_domain::limiter::Caller;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::unique::sorted_unique;

use crate::app::App;
use crate::error::Error;
use crate::repository::{self, open, sight};

/// The issues, merge requests and commits that texts name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NamedObjects {
    /// The issues and merge requests. They need not exist.
    pub(super) references: Vec<Reference>,
    /// The commits that exist and that the actor may see.
    pub(super) commits: Vec<NamedCommit>,
}

/// An existing commit that a text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedCommit {
    /// The path of the project in the text; `None` for the project that the text belongs to.
    pub path: Option<String>,
    /// The project in which the commit was found.
    pub project: ProjectId,
    /// The commit.
    pub id: ObjectId,
}

impl NamedObjects {
    /// Finds the issues, merge requests and commits that texts of the `home` project reference. Call it before the
    /// transaction begins: its duration grows with the length of the texts, and it reads commits from repositories.
    /// Commits that no repository has are left out.
    pub(crate) fn find(
        app: &App,
        actor: Actor,
        home: &ProjectRef,
        texts: &[Option<&str>],
    ) -> Result<Self, Error> {
        let (address, texts) = (&app.settings.external_url, texts.iter().flatten());
        let found = texts.clone().flat_map(|text| references(text, address)).collect();
        let mut named = sorted_unique(texts.flat_map(|text| commit_references(text, address)));
        named.truncate(MAX_REFERENCES);
        let mut commits = Vec::new();
        for of_project in named.chunk_by(|one, next| one.project == next.project) {
            commits.extend(find_commits(app, actor, home, of_project)?);
        }
        Ok(Self { references: found, commits })
    }

    /// The commits, each with the path of the project in the text.
    pub(crate) fn into_commits(self) -> Vec<(Option<String>, ObjectId)> {
        self.commits.into_iter().map(|commit| (commit.path, commit.id)).collect()
    }

    /// Returns whether any commit is named.
    pub(crate) fn has_commits(&self) -> bool {
        !self.commits.is_empty()
    }

    /// Leaves out these commits.
    pub(crate) fn without(mut self, commits: &[Commit]) -> Self {
        self.commits.retain(|named| commits.iter().all(|commit| commit.id != named.id));
        self
    }

    /// Leaves out all commits.
    pub(crate) fn without_commits(self) -> Self {
        Self { commits: vec![], ..self }
    }

    /// The paths of other projects in the texts.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        let of_references = self.references.iter().filter_map(|one| one.project.as_deref());
        of_references.chain(self.commits.iter().filter_map(|one| one.path.as_deref()))
    }
}

/// Looks up commits of one project. Finds none if the actor may not read the code.
fn find_commits(
    app: &App,
    actor: Actor,
    home: &ProjectRef,
    named: &[CommitReference],
) -> Result<Vec<NamedCommit>, Error> {
    let path = named.first().and_then(|one| one.project.as_deref()).map(ProjectRef::parse);
    let header = match repository::authorize(app, actor, path.as_ref().unwrap_or(home)) {
        Ok(header) => header,
        Err(Error::Store(error)) => return Err(error.into()),
        Err(_) => return Ok(vec![]),
    };
    let repository = open::open_by_header(app, &header, Caller::new(actor, None))?;
    let mut found = Vec::new();
    for CommitReference { project, id: digits } in named {
        match sight::resolve(app, actor, header.id, repository.as_ref(), digits) {
            // The name of a branch may consist of such digits too.
            Ok(Some(id)) if id.to_string().starts_with(digits) => {
                found.push(NamedCommit { path: project.clone(), project: header.id, id });
            }
            Ok(_) => (),
            // The search for a ref that contains the commit takes too long, and so would the next ones.
            Err(Error::Git(_)) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}
