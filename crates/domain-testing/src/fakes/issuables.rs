//! Fake of the subscriptions, participants and awards of issues and merge requests.

use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{AwardId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::issuable::award::{Award, EmojiName, THUMBS_DOWN, THUMBS_UP, Votes};
use hexforge_domain::issuable::port::Issuables;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::subscription::Subscribed;

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
}

impl Issuables for FakeTx {
    fn subscriptions(
        &mut self,
        user: UserId,
        to: &[Issuable],
    ) -> Result<Vec<(Issuable, Subscribed)>, StoreError> {
        let chosen = |to: &Issuable| Some((*to, *self.tables.subscriptions.get(&(*to, user))?));
        Ok(to.iter().filter_map(chosen).collect())
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

    fn participations(
        &mut self,
        user: UserId,
        among: &[Issuable],
    ) -> Result<Vec<Issuable>, StoreError> {
        let takes_part = |on: &&Issuable| self.tables.participants.contains(&(**on, user));
        Ok(among.iter().filter(takes_part).copied().collect())
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

    fn award(
        &mut self,
        to: Issuable,
        user: UserId,
        name: &EmojiName,
        at: Timestamp,
    ) -> Result<Award, StoreError> {
        self.require_user(user)?;
        self.require_issuable(to)?;
        let same = |award: &&Award| award.on == to && award.user == user && award.name == *name;
        if let Some(given) = self.tables.awards.iter().find(same) {
            return Ok(given.clone());
        }
        let id = AwardId(self.next_id());
        let award = Award { id, on: to, user, name: name.clone(), created_at: at };
        self.tables.awards.push(award.clone());
        Ok(award)
    }

    fn votes(&mut self, on: &[Issuable]) -> Result<Vec<(Issuable, Votes)>, StoreError> {
        let count = |on: Issuable, name: &str| {
            let given = self.tables.awards.iter().filter(|award| award.on == on);
            let given = given.filter(|award| award.name.as_str() == name).count();
            u32::try_from(given).unwrap_or(u32::MAX)
        };
        let votes = |on: Issuable| Votes { up: count(on, THUMBS_UP), down: count(on, THUMBS_DOWN) };
        Ok(on.iter().map(|on| (*on, votes(*on))).collect())
    }
}
