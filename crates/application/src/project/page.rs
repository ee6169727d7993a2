//! The project of a web page: what its frame shows, and what the actor may do.

use hexforge_domain::policy::ci::{CiAbility, CiFacts};
use hexforge_domain::policy::merge_request::{RequestsAbility, RequestsFacts};
use hexforge_domain::policy::project::{ProjectAbility, ProjectFacts};
use hexforge_domain::policy::system::{Service, ServiceAbility};
use hexforge_domain::policy::tracker::{TrackerAbility, TrackerFacts};
use hexforge_domain::policy::{Actor, Protected};
use hexforge_domain::project::star::Starred;
use hexforge_domain::project::{ProjectRef, ProjectWithNamespace};

use crate::app::App;
use crate::error::Error;
use crate::view::project as view;

/// A project as its pages show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectPage {
    /// The project and its namespace.
    pub placed: ProjectWithNamespace,
    /// Whether the actor starred it.
    pub starred: bool,
    actor: Actor,
    facts: ProjectFacts,
}

impl ProjectPage {
    /// Returns whether the actor may do this.
    pub fn may(&self, ability: ProjectAbility) -> bool {
        self.facts.allows(self.actor, ability)
    }

    /// Returns whether the actor may do this with the issues, labels, milestones and boards.
    pub fn may_track(&self, ability: TrackerAbility) -> bool {
        self.tracker_facts().allows(self.actor, ability)
    }

    /// Returns whether the actor may do this with the merge requests.
    pub fn may_request(&self, ability: RequestsAbility) -> bool {
        RequestsFacts(self.tracker_facts()).allows(self.actor, ability)
    }

    /// Returns whether the actor may do this with the pipelines and builds.
    pub fn may_build(&self, ability: CiAbility) -> bool {
        self.ci_facts().allows(self.actor, ability)
    }

    /// Returns whether the actor may fork it.
    pub fn may_fork(&self) -> bool {
        self.may(ProjectAbility::DownloadCode) && Service.allows(self.actor, ServiceAbility::Use)
    }

    /// Returns whether the actor may comment on its commits.
    pub fn may_comment_on_commits(&self) -> bool {
        self.may(ProjectAbility::DownloadCode) && Service.allows(self.actor, ServiceAbility::Use)
    }

    /// Returns whether the actor may move it into a group.
    pub fn may_transfer(&self) -> bool {
        Service.allows(self.actor, ServiceAbility::Administer)
    }

    /// Returns whether the actor may make it a fork of another project.
    pub fn may_link_forks(&self) -> bool {
        self.may(ProjectAbility::Own) && Service.allows(self.actor, ServiceAbility::Administer)
    }

    /// Returns whether badges show the actor the state of the pipelines.
    pub fn shows_badges(&self) -> bool {
        self.ci_facts().shows_badges(self.actor)
    }

    fn ci_facts(&self) -> CiFacts {
        let features = &self.placed.project.features;
        let (builds, public_builds) = (features.builds, features.public_builds);
        CiFacts { project: self.facts, builds, public_builds }
    }

    fn tracker_facts(&self) -> TrackerFacts {
        let features = &self.placed.project.features;
        let (issues, merge_requests) = (features.issues, features.merge_requests);
        TrackerFacts { project: self.facts, issues, merge_requests }
    }

    /// Returns `namespace/project`.
    pub fn path(&self) -> String {
        self.placed.place.path_of(&self.placed.project)
    }
}

/// Returns the path of the project from which this one was forked, if the actor may see that project.
pub fn fork_source(app: &App, page: &ProjectPage) -> Result<Option<String>, Error> {
    let Some(source) = page.placed.project.forked_from else { return Ok(None) };
    app.store.read_autocommit(|tx| {
        let sources = tx.projects().find_all(&[source])?;
        let mut readable = app.requester(page.actor).readable(tx, sources)?;
        let Some(source) = readable.pop() else { return Ok(None) };
        let placed = view::with_namespace(tx, source)?;
        Ok(Some(placed.place.path_of(&placed.project)))
    })
}

/// Returns the project of a page.
pub fn get(app: &App, actor: Actor, named: &ProjectRef) -> Result<ProjectPage, Error> {
    app.store.read_autocommit(|tx| {
        let requester = app.requester(actor);
        let (placed, starred, facts) =
            requester.project_with_namespace(tx, ProjectAbility::Read, named)?;
        Ok(ProjectPage { placed, starred: starred == Starred::Yes, actor, facts })
    })
}
