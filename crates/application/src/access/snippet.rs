//! Access to the snippets of a project.

use hexforge_domain::policy::Protected;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::policy::snippet::{
    SnippetAbility, SnippetFacts, SnippetsAbility, SnippetsFacts,
};
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::snippet::Snippet;
use hexforge_domain::visibility::Visibility;

use super::{Requester, find_project, lock_project};
use crate::error::{Entity, Error};

/// A project that the actor may see, with the facts that decide what the actor may do with its snippets.
pub struct ProjectSnippets {
    /// The project.
    pub project: Project,
    /// The actor who makes the request, with the date.
    pub requester: Requester,
    facts: SnippetsFacts,
}

impl Requester {
    /// Returns the snippets of the named project if the actor sees the project.
    pub fn snippets(self, tx: &mut dyn Tx, named: &ProjectRef) -> Result<ProjectSnippets, Error> {
        let project = find_project(tx, named)?;
        self.snippets_of(tx, project)
    }

    /// Like [`Self::snippets`]; the row of the project stays locked until the transaction ends.
    pub fn locked_snippets(
        self,
        tx: &mut dyn Tx,
        named: &ProjectRef,
    ) -> Result<ProjectSnippets, Error> {
        let project = lock_project(tx, named)?;
        self.snippets_of(tx, project)
    }

    /// Like [`Self::snippets`], for a project that is already loaded.
    pub fn snippets_of(self, tx: &mut dyn Tx, project: Project) -> Result<ProjectSnippets, Error> {
        let facts = SnippetsFacts {
            project: self.project_facts(tx, &project)?,
            enabled: project.features.snippets,
        };
        self.authorize(SnippetsAbility::SeeProject, &facts, Entity::Project)?;
        Ok(ProjectSnippets { project, requester: self, facts })
    }
}

impl ProjectSnippets {
    /// Returns an error unless the actor may create snippets.
    pub fn require_create(&self) -> Result<(), Error> {
        self.requester.authorize(SnippetsAbility::Create, &self.facts, Entity::Project)
    }

    /// Returns the lowest level whose snippets the actor sees; `None` if the actor sees no snippets.
    pub fn lowest_visible(&self) -> Option<Visibility> {
        self.facts.lowest_visible(self.requester.actor)
    }

    /// Returns whether the actor owns the project.
    pub fn is_owned(&self) -> bool {
        self.facts.project.allows(self.requester.actor, ProjectAbility::Own)
    }

    /// Returns whether the actor has this ability on a snippet of the project.
    pub fn allows(&self, ability: SnippetAbility, snippet: &Snippet) -> bool {
        self.snippet_facts(snippet).allows(self.requester.actor, ability)
    }

    /// Returns an error unless the actor has this ability. A hidden snippet is reported as a missing `thing`.
    pub fn require(
        &self,
        ability: SnippetAbility,
        snippet: &Snippet,
        thing: Entity,
    ) -> Result<(), Error> {
        self.requester.authorize(ability, &self.snippet_facts(snippet), thing)
    }

    /// Returns the facts for decisions about a snippet of the project.
    pub fn snippet_facts(&self, snippet: &Snippet) -> SnippetFacts {
        SnippetFacts {
            snippets: self.facts,
            visibility: snippet.visibility,
            written_by_actor: self.requester.actor.user() == Some(snippet.author),
        }
    }
}
