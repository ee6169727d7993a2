//! Fake of the subscriptions and participants of issues and merge requests.

use super::tx::FakeTx;
use hexforge_domain::award::Votes;
use hexforge_domain::award::emoji::{THUMBS_DOWN, THUMBS_UP};
use hexforge_domain::id::UserId;
use hexforge_domain::issuable::port::Issuables;
use hexforge_domain::issuable::{Issuable, IssuableDetails};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::subscription::Subscribed;
use hexforge_domain::unique::sorted_unique;
use std::collections::BTreeMap;

impl FakeTx {
    /// Fails like a foreign key if an issue or merge request does not exist.
    pub(super) fn require_issuable(&mut self, issuable: Issuable) -> Result<(), StoreError> {
        let exists = match issuable {
            Issuable::Issue(id) => self.tables.issues.iter().any(|issue| issue.id == id),
            Issuable::MergeRequest(id) => {
                self.tables.merge_requests.iter().any(|merge_request| merge_request.id == id)
            }
        };
        if exists { Ok(()) } else { self.refuse(StoreError::Gone) }
    }

    fn participates(&self, user: UserId, on: Issuable) -> bool {
        let mut awards = self.tables.awards.iter();
        self.tables.participants.contains(&(on, user))
            || awards.any(|award| award.on == on.into() && award.user == user)
    }

    fn votes_on(&self, on: Issuable) -> Votes {
        let count = |name: &str| {
            let given = self.tables.awards.iter().filter(|award| award.on == on.into());
            let given = given.filter(|award| award.name.as_str() == name).count();
            u32::try_from(given).unwrap_or(u32::MAX)
        };
        Votes { up: count(THUMBS_UP), down: count(THUMBS_DOWN) }
    }
}

impl Issuables for FakeTx {
    fn details(
        &mut self,
        reader: UserId,
        of: &[Issuable],
    ) -> Result<Vec<(Issuable, IssuableDetails)>, StoreError> {
        let mut found: BTreeMap<Issuable, IssuableDetails> = BTreeMap::new();
        for on in of {
            let labels = match *on {
                Issuable::Issue(id) => {
                    self.issues().labels_of(&[id])?.into_iter().map(|(_, _, title)| title).collect()
                }
                Issuable::MergeRequest(id) => {
                    let labels = self.merge_requests().labels_of(&[id])?;
                    labels.into_iter().map(|(_, _, title)| title).collect()
                }
            };
            let details = IssuableDetails {
                labels,
                subscription: self.tables.subscriptions.get(&(*on, reader)).copied(),
                participates: self.participates(reader, *on),
                votes: self.votes_on(*on),
            };
            found.insert(*on, details);
        }
        Ok(found.into_iter().collect())
    }

    fn subscription(
        &mut self,
        user: UserId,
        to: Issuable,
    ) -> Result<Option<Subscribed>, StoreError> {
        let chosen = self.tables.subscriptions.get(&(to, user)).copied();
        Ok(chosen.or_else(|| self.participates(user, to).then_some(Subscribed::Yes)))
    }

    fn subscribe(
        &mut self,
        to: Issuable,
        user: UserId,
        subscribed: Subscribed,
    ) -> Result<(), StoreError> {
        self.require_user(user)?;
        self.require_issuable(to)?;
        self.tables.subscriptions.insert((to, user), subscribed);
        Ok(())
    }

    fn participants(&mut self, on: Issuable, limit: u32) -> Result<Vec<UserId>, StoreError> {
        let noted = self.tables.participants.iter().filter(|(one, _)| *one == on);
        let awarded = self.tables.awards.iter().filter(|award| award.on == on.into());
        let users = noted.map(|(_, user)| *user).chain(awarded.map(|award| award.user));
        let mut users = sorted_unique(users);
        users.truncate(limit as usize);
        Ok(users)
    }

    fn participate(&mut self, on: Issuable, user: UserId) -> Result<(), StoreError> {
        self.require_user(user)?;
        self.require_issuable(on)?;
        self.tables.participants.insert((on, user));
        Ok(())
    }

    fn mention(&mut self, on: Issuable, usernames: &[&str]) -> Result<(), StoreError> {
        let named = |row: &super::users::UserRow| usernames.contains(&row.user.username.as_str());
        let users: Vec<UserId> =
            self.tables.users.values().filter(|row| named(row)).map(|row| row.user.id).collect();
        self.tables.participants.extend(users.into_iter().map(|user| (on, user)));
        Ok(())
    }
}
