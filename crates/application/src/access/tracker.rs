//! The way to the issues, labels, milestones and boards of a project.

use chrono::NaiveDate;
use hexforge_domain::issue::Issue;
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::note::Note;
use hexforge_domain::policy::tracker::{
    IssueAbility, IssueFacts, NoteAbility, NoteFacts, TrackerAbility, TrackerFacts,
};
use hexforge_domain::policy::{Actor, Denied, Protected, authorize};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::query::Audience;
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::user::User;

use super::project_facts;
use crate::error::{Error, Thing};

/// A project that the actor sees, and what the actor may do with its issues.
#[derive(Clone)]
pub struct Tracker {
    /// The project.
    pub project: Project,
    actor: Actor,
    facts: TrackerFacts,
}

/// The project that is named, if the actor sees it.
pub fn tracker(
    tx: &mut dyn Tx,
    actor: Actor,
    named: &ProjectRef,
    today: NaiveDate,
) -> Result<Tracker, Error> {
    let project = tx.projects().find(named)?.ok_or(Error::NotFound(Thing::Project))?;
    of(tx, actor, project, today)
}

/// Like [`tracker`]; until the transaction ends nobody else changes the project or what hangs on it.
pub fn locked(
    tx: &mut dyn Tx,
    actor: Actor,
    named: &ProjectRef,
    today: NaiveDate,
) -> Result<Tracker, Error> {
    let found = tx.projects().gate(named)?.ok_or(Error::NotFound(Thing::Project))?;
    let project = tx.projects().lock(found.id)?.ok_or(Error::NotFound(Thing::Project))?;
    of(tx, actor, project, today)
}

/// The same for a project that is already loaded.
pub fn of(
    tx: &mut dyn Tx,
    actor: Actor,
    project: Project,
    today: NaiveDate,
) -> Result<Tracker, Error> {
    let facts = tracker_facts(tx, actor, &project, today)?;
    let tracker = Tracker { project, actor, facts };
    tracker.require(TrackerAbility::SeeProject)?;
    Ok(tracker)
}

fn tracker_facts(
    tx: &mut dyn Tx,
    actor: Actor,
    project: &Project,
    today: NaiveDate,
) -> Result<TrackerFacts, StoreError> {
    Ok(TrackerFacts {
        project: project_facts(tx, actor, project, today)?,
        issues: project.features.issues,
        merge_requests: project.features.merge_requests,
    })
}

impl Tracker {
    /// Whether the actor may do this.
    pub fn allows(&self, ability: TrackerAbility) -> bool {
        self.facts.allows(self.actor, ability)
    }

    /// Refuses the actor who may not do this.
    pub fn require(&self, ability: TrackerAbility) -> Result<(), Error> {
        authorize(self.actor, ability, &self.facts)
            .map_err(|denied| Error::denied(denied, Thing::Project))
    }

    /// Whether the actor may do this with an issue of the project, and how it is refused otherwise.
    pub fn authorize(&self, ability: IssueAbility, issue: &Issue) -> Result<(), Denied> {
        authorize(self.actor, ability, &self.issue_facts(issue))
    }

    /// Refuses the actor who may not do this with a note on an issue that it sees.
    pub fn require_for_note(
        &self,
        ability: NoteAbility,
        issue: &Issue,
        note: &Note,
    ) -> Result<(), Error> {
        let facts = NoteFacts {
            issue: self.issue_facts(issue),
            written_by_actor: self.actor.user() == Some(note.author),
            system: note.system,
        };
        authorize(self.actor, ability, &facts).map_err(|denied| Error::denied(denied, Thing::Note))
    }

    fn issue_facts(&self, issue: &Issue) -> IssueFacts {
        IssueFacts {
            tracker: self.facts,
            confidential: issue.confidential,
            concerns_actor: self.actor.user().is_some_and(|user| issue.concerns(user)),
        }
    }

    /// Whether the actor sees an issue of the project.
    pub fn sees(&self, issue: &Issue) -> bool {
        self.authorize(IssueAbility::Read, issue).is_ok()
    }

    /// For whom lists are made that show the actor what it sees.
    /// # Errors
    /// [`Error::Unauthenticated`] when it is nobody.
    pub fn audience(&self) -> Result<Audience, Error> {
        super::audience(self.actor)
    }

    /// Which confidential issues of the project the actor sees.
    pub fn clearance(&self) -> Clearance {
        match self.actor.user() {
            Some(user) if !self.allows(TrackerAbility::AdministerIssues) => Clearance::Own(user),
            Some(_) => Clearance::All,
            None => Clearance::Nothing,
        }
    }

    /// Whether a user would see an issue of the project that it is to do.
    pub fn may_be_assigned(
        &self,
        tx: &mut dyn Tx,
        user: &User,
        confidential: bool,
        today: NaiveDate,
    ) -> Result<bool, StoreError> {
        let actor = Actor::of(user.id, &user.privileges);
        let tracker = tracker_facts(tx, actor, &self.project, today)?;
        let facts = IssueFacts { tracker, confidential, concerns_actor: true };
        Ok(facts.allows(actor, IssueAbility::Read))
    }
}

/// Which confidential issues of all projects the actor sees.
pub fn clearance(actor: Actor) -> Clearance {
    match actor {
        Actor::User { id, .. } => Clearance::ByStanding(id),
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
    fn nobody_has_no_audience_and_no_clearance() {
        let (user, admin) = (UserId(1), UserId(2));
        let viewer = Audience::Viewer(Viewer { user, external: true });
        for (actor, expected, cleared) in [
            (Actor::Anonymous, None, Clearance::Nothing),
            (Actor::User { id: user, external: true }, Some(viewer), Clearance::ByStanding(user)),
            (Actor::Admin { id: admin }, Some(Audience::Unrestricted), Clearance::All),
        ] {
            assert_eq!(audience(actor).ok(), expected, "{actor:?}");
            assert_eq!(clearance(actor), cleared, "{actor:?}");
        }
        assert!(matches!(audience(Actor::Anonymous), Err(Error::Unauthenticated)));
    }

    #[test]
    fn nobody_is_shown_nothing_of_a_public_project_but_what_is_open() {
        let fake = FakeStore::default();
        let store: &dyn Store = &fake;
        let ada = a_user("ada").stored_in(store).id;
        let team = a_group("team").owner(ada).stored_in(store).id;
        let project = a_project("site", team, ada).public().stored_in(store);
        let facts = TrackerFacts {
            project: store
                .read(|tx| project_facts(tx, Actor::Anonymous, &project, a_day()))
                .expect("the fake can be read"),
            issues: true,
            merge_requests: true,
        };
        let tracker = Tracker { project, actor: Actor::Anonymous, facts };
        assert_eq!(tracker.clearance(), Clearance::Nothing);
        assert!(matches!(tracker.audience(), Err(Error::Unauthenticated)));
    }
}
