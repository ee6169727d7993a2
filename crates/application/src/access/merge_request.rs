//! Access to the merge requests of a project.

use hexforge_domain::id::{MergeRequestId, UserId};
use hexforge_domain::merge_request::MergeRequest;
use hexforge_domain::policy::merge_request::{
    MergeRequestAbility, MergeRequestFacts, RequestsAbility, RequestsFacts,
};
use hexforge_domain::policy::project::ProjectRole;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::policy::{Actor, Protected};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::user::User;

use super::Requester;
use super::tracker::Tracker;
use crate::error::{Entity, Error};

/// The merge requests of a project that an actor may count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestCounts {
    /// All merge requests.
    All,
    /// Only the merge requests that the user wrote or is assigned to.
    Own(UserId),
    /// No merge requests.
    None,
}

impl Tracker {
    /// Returns which merge requests of the project the actor may count.
    pub fn request_counts(&self) -> RequestCounts {
        let facts = RequestsFacts(self.facts);
        match self.requester.actor.user() {
            Some(_) if facts.allows(self.requester.actor, RequestsAbility::List) => {
                RequestCounts::All
            }
            Some(user) if self.project.features.merge_requests => RequestCounts::Own(user),
            Some(_) | None => RequestCounts::None,
        }
    }

    /// Returns an error unless the actor has this ability on the merge requests of the project.
    pub fn require_requests(&self, ability: RequestsAbility) -> Result<(), Error> {
        self.requester.authorize(ability, &RequestsFacts(self.facts), Entity::Project)
    }

    /// Returns whether the actor has this ability on a merge request of the project.
    pub fn allows_on(&self, ability: MergeRequestAbility, request: &MergeRequest) -> bool {
        self.request_facts(request).allows(self.requester.actor, ability)
    }

    /// Returns an error unless the actor has this ability on a merge request of the project.
    pub fn require_on(
        &self,
        ability: MergeRequestAbility,
        request: &MergeRequest,
    ) -> Result<(), Error> {
        self.requester.authorize(ability, &self.request_facts(request), Entity::Record)
    }

    /// Returns the merge request with this id, if the actor has this ability on it.
    pub fn merge_request(
        &self,
        tx: &mut dyn Tx,
        ability: MergeRequestAbility,
        id: MergeRequestId,
    ) -> Result<MergeRequest, Error> {
        let request = tx.merge_requests().find(self.project.id, id)?;
        let request = request.ok_or(Error::NotFound(Entity::Record))?;
        self.require_on(ability, &request)?;
        Ok(request)
    }

    /// Returns whether the actor has this ability on a merge request that the actor is about to create.
    pub fn allows_new(&self, ability: MergeRequestAbility) -> bool {
        let requests = RequestsFacts(self.facts);
        MergeRequestFacts { requests, concerns_actor: true }.allows(self.requester.actor, ability)
    }

    /// Returns the facts for decisions about a merge request of the project.
    pub fn request_facts(&self, request: &MergeRequest) -> MergeRequestFacts {
        let user = self.requester.actor.user();
        MergeRequestFacts {
            requests: RequestsFacts(self.facts),
            concerns_actor: user.is_some_and(|user| request.concerns(user)),
        }
    }

    /// Returns whether another user with these rights may see a merge request of the project.
    pub fn is_request_seen_by(
        &self,
        request: &MergeRequest,
        user: &User,
        role: ProjectRole,
    ) -> bool {
        let facts = MergeRequestFacts {
            requests: RequestsFacts(self.facts_with(role)),
            concerns_actor: request.concerns(user.id),
        };
        facts.allows(Actor::of(user.id, &user.privileges), MergeRequestAbility::Read)
    }

    /// Returns whether another user sees the project.
    pub fn is_seen_by(&self, tx: &mut dyn Tx, user: &User) -> Result<bool, StoreError> {
        let actor = Actor::of(user.id, &user.privileges);
        let facts = Requester { actor, ..self.requester }.tracker_facts(tx, &self.project)?;
        Ok(facts.allows(actor, TrackerAbility::SeeProject))
    }
}
