//! The subscriptions of a user to issues and merge requests.

use std::collections::{HashMap, HashSet};

use hexforge_domain::id::UserId;
use hexforge_domain::issuable::Issuable;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::subscription::Subscribed;

/// The subscriptions of one user to several issues or merge requests.
pub(crate) struct Subscriptions {
    chosen: HashMap<Issuable, Subscribed>,
    participates: HashSet<Issuable>,
}

impl Subscriptions {
    /// Loads the choices and the participations of a user. Costs two queries.
    pub(crate) fn load(
        tx: &mut dyn Tx,
        user: UserId,
        ids: &[Issuable],
    ) -> Result<Self, StoreError> {
        Ok(Self {
            chosen: tx.issuables().subscriptions(user, ids)?.into_iter().collect(),
            participates: tx.issuables().participations(user, ids)?.into_iter().collect(),
        })
    }

    /// Returns whether the user is subscribed: by choice, or by default as a participant. `concerned` tells whether the
    /// user is the author or the assignee.
    pub(crate) fn state_for(&self, id: Issuable, concerned: bool) -> Subscribed {
        let participates = concerned || self.participates.contains(&id);
        let chosen = self.chosen.get(&id).copied();
        chosen.unwrap_or(Subscribed::from_bool(participates))
    }
}
