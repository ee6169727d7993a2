//! Fake of the subscriptions and participants of issues and merge requests.

use super::tx::FakeTx;
use hexforge_domain::id::UserId;
use hexforge_domain::issuable::Issuable;
use hexforge_domain::issuable::port::Issuables;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::subscription::Subscribed;
use hexforge_domain::unique::sorted_unique;

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
        let awarded = |on: Issuable| {
            self.tables.awards.iter().any(|award| award.on == on.into() && award.user == user)
        };
        let takes_part =
            |on: &&Issuable| self.tables.participants.contains(&(**on, user)) || awarded(**on);
        Ok(among.iter().filter(takes_part).copied().collect())
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
