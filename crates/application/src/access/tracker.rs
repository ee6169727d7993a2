//! Access to the issues, labels, milestones and boards of a project.

use hexforge_domain::issue::Issue;
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::note::Note;
use hexforge_domain::policy::project::{ProjectAbility, ProjectFacts, ProjectRole};
use hexforge_domain::policy::tracker::{
    IssueAbility, IssueFacts, NoteAbility, NoteFacts, NoteSubject, TrackerAbility, TrackerFacts,
};
use hexforge_domain::policy::{Actor, Denied, Protected, authorize};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::query::ListAudience;
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::user::User;

use super::{Requester, find_project, lock_project};
use crate::error::{Entity, Error};

/// A project that the actor may see, with the facts that decide what the actor may do with its issues.
#[derive(Clone)]
pub struct Tracker {
    /// The project.
    pub project: Project,
    /// The actor who makes the request, with the date.
    pub requester: Requester,
    pub(super) facts: TrackerFacts,
}

impl Requester {
    /// Returns the tracker of the named project if the actor sees the project.
    pub fn tracker(self, tx: &mut dyn Tx, named: &ProjectRef) -> Result<Tracker, Error> {
        let project = find_project(tx, named)?;
        self.tracker_of(tx, project)
    }

    /// Like [`Self::tracker`]; the row of the project stays locked until the transaction ends.
    pub fn locked_tracker(self, tx: &mut dyn Tx, named: &ProjectRef) -> Result<Tracker, Error> {
        let project = lock_project(tx, named)?;
        self.tracker_of(tx, project)
    }

    /// Like [`Self::tracker`], for a project that is already loaded.
    pub fn tracker_of(self, tx: &mut dyn Tx, project: Project) -> Result<Tracker, Error> {
        let facts = self.tracker_facts(tx, &project)?;
        let tracker = Tracker { project, requester: self, facts };
        tracker.require(TrackerAbility::SeeProject)?;
        Ok(tracker)
    }

    /// Loads the facts for decisions about the issues and merge requests of a project.
    pub(super) fn tracker_facts(
        self,
        tx: &mut dyn Tx,
        project: &Project,
    ) -> Result<TrackerFacts, StoreError> {
        Ok(TrackerFacts {
            project: self.project_facts(tx, project)?,
            issues: project.features.issues,
            merge_requests: project.features.merge_requests,
        })
    }
}

impl Tracker {
    fn actor(&self) -> Actor {
        self.requester.actor
    }

    /// Returns whether the actor has this ability.
    pub fn allows(&self, ability: TrackerAbility) -> bool {
        self.facts.allows(self.actor(), ability)
    }

    /// Returns an error unless the actor has this ability.
    pub fn require(&self, ability: TrackerAbility) -> Result<(), Error> {
        self.requester.authorize(ability, &self.facts, Entity::Project)
    }

    /// Checks that the actor has this ability on an issue of the project.
    pub fn authorize(&self, ability: IssueAbility, issue: &Issue) -> Result<(), Denied> {
        authorize(self.actor(), ability, &self.issue_facts(issue))
    }

    /// Returns an error unless the actor has this ability on a note. `on` describes the issue, merge request or snippet
    /// of the project that the note is on.
    pub fn require_for_note(
        &self,
        ability: NoteAbility,
        on: NoteSubject,
        note: &Note,
    ) -> Result<(), Error> {
        let facts = NoteFacts {
            on,
            written_by_actor: self.actor().user() == Some(note.author),
            system: note.system,
        };
        self.requester.authorize(ability, &facts, Entity::Note)
    }

    /// Returns the facts for decisions about an issue of the project.
    pub fn issue_facts(&self, issue: &Issue) -> IssueFacts {
        IssueFacts {
            tracker: self.facts,
            confidential: issue.confidential,
            concerns_actor: self.actor().user().is_some_and(|user| issue.concerns(user)),
        }
    }

    /// Returns whether the actor may see an issue of the project.
    pub fn sees(&self, issue: &Issue) -> bool {
        self.authorize(IssueAbility::Read, issue).is_ok()
    }

    /// Returns whether the actor may read the code of the project.
    pub fn reads_code(&self) -> bool {
        self.facts.project.allows(self.actor(), ProjectAbility::DownloadCode)
    }

    /// Returns the audience of lists that the actor requests.
    /// # Errors
    /// [`Error::Unauthenticated`] for an anonymous actor.
    pub fn audience(&self) -> Result<ListAudience, Error> {
        super::audience(self.actor())
    }

    /// Returns which confidential issues of the project the actor may see.
    pub fn clearance(&self) -> Clearance {
        match self.actor().user() {
            Some(user) if !self.allows(TrackerAbility::AdministerIssues) => Clearance::Own(user),
            Some(_) => Clearance::All,
            None => Clearance::Nothing,
        }
    }

    /// Returns whether another user with these rights may see an issue of the project.
    pub fn is_issue_seen_by(&self, issue: &Issue, user: &User, role: ProjectRole) -> bool {
        let facts = IssueFacts {
            tracker: self.facts_with(role),
            confidential: issue.confidential,
            concerns_actor: issue.concerns(user.id),
        };
        facts.allows(Actor::of(user.id, &user.privileges), IssueAbility::Read)
    }

    /// Returns whether another user with these rights may see the code of the project.
    pub fn is_code_seen_by(&self, user: &User, role: ProjectRole) -> bool {
        let actor = Actor::of(user.id, &user.privileges);
        self.facts_with(role).project.allows(actor, ProjectAbility::DownloadCode)
    }

    /// Returns the facts for another user with these rights in the project.
    pub(super) fn facts_with(&self, role: ProjectRole) -> TrackerFacts {
        TrackerFacts { project: ProjectFacts { role, ..self.facts.project }, ..self.facts }
    }

    /// Returns whether a user could see an issue of the project if it were assigned to that user.
    pub fn may_be_assigned(
        &self,
        tx: &mut dyn Tx,
        user: &User,
        confidential: bool,
    ) -> Result<bool, StoreError> {
        let actor = Actor::of(user.id, &user.privileges);
        let assignee = Requester { actor, ..self.requester };
        let tracker = assignee.tracker_facts(tx, &self.project)?;
        let facts = IssueFacts { tracker, confidential, concerns_actor: true };
        Ok(facts.allows(actor, IssueAbility::Read))
    }
}

/// Returns which confidential issues of all projects the actor may see.
pub fn clearance(actor: Actor) -> Clearance {
    match actor {
        Actor::User { id, .. } => Clearance::ByRole(id),
        Actor::Admin { .. } => Clearance::All,
        Actor::Anonymous => Clearance::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use hexforge_domain::id::UserId;
    use hexforge_domain::ports::store::Store;
    use hexforge_domain::project::query::Viewer;
    use hexforge_domain_testing::builders::{a_day, a_group, a_project, a_user};
    use hexforge_domain_testing::fakes::FakeStore;

    use super::*;
    use crate::access::audience;

    #[test]
    fn each_kind_of_actor_has_its_audience_and_clearance() {
        let (user, admin) = (UserId(1), UserId(2));
        let viewer = ListAudience::Viewer(Viewer { user, external: true });
        for (actor, expected, cleared) in [
            (Actor::Anonymous, None, Clearance::Nothing),
            (Actor::User { id: user, external: true }, Some(viewer), Clearance::ByRole(user)),
            (Actor::Admin { id: admin }, Some(ListAudience::Unrestricted), Clearance::All),
        ] {
            assert_eq!(audience(actor).ok(), expected, "{actor:?}");
            assert_eq!(clearance(actor), cleared, "{actor:?}");
        }
        assert!(matches!(audience(Actor::Anonymous), Err(Error::Unauthenticated)));
    }

    #[test]
    fn an_anonymous_actor_has_no_clearance_in_a_public_project() {
        let fake = FakeStore::default();
        let store: &dyn Store = &fake;
        let ada = a_user("ada").stored_in(store).id;
        let team = a_group("team").owner(ada).stored_in(store).id;
        let project = a_project("site", team, ada).public().stored_in(store);
        let requester = Requester { actor: Actor::Anonymous, today: a_day() };
        let facts =
            store.read(|tx| requester.tracker_facts(tx, &project)).expect("the fake can be read");
        let tracker = Tracker { project, requester, facts };
        assert_eq!(tracker.clearance(), Clearance::Nothing);
        assert!(matches!(tracker.audience(), Err(Error::Unauthenticated)));
    }
}
