//! Fake of the users.

use super::search::any_contains;
use super::tx::FakeTx;
use hexforge_domain::id::UserId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::user::port::{Emails, Users};
use hexforge_domain::user::{Appearance, NewUser, PasswordHash, User, UserFilter, UserState};

/// A user with its password hash.
#[derive(Clone, PartialEq)]
pub(super) struct UserRow {
    pub user: User,
    pub password: PasswordHash,
}

impl Users for FakeTx {
    fn find(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
        Ok(self.tables.users.get(&id).map(|row| row.user.clone()))
    }

    fn find_all(&mut self, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        let highest_first = self.tables.users.values().rev().map(|row| &row.user);
        Ok(highest_first.filter(|user| ids.contains(&user.id)).cloned().collect())
    }

    fn lock(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
        // Write transactions run one at a time, so there is nothing to lock.
        Users::find(self, id)
    }

    fn lock_to_delete(&mut self, _: UserId) -> Result<(), StoreError> {
        // Write transactions run one at a time, so there is nothing to lock.
        Ok(())
    }

    fn find_by_username(&mut self, username: &str) -> Result<Option<User>, StoreError> {
        let found = self.tables.users.values().find(|row| row.user.username.as_str() == username);
        Ok(found.map(|row| row.user.clone()))
    }

    fn find_by_login(&mut self, login: &str) -> Result<Option<(User, PasswordHash)>, StoreError> {
        let address = login.to_lowercase();
        let found = self.tables.users.values().find(|UserRow { user, .. }| {
            if login.contains('@') {
                user.email.as_str() == address
            } else {
                user.username.as_str().eq_ignore_ascii_case(login)
            }
        });
        Ok(found.map(|row| (row.user.clone(), row.password.clone())))
    }

    fn list(&mut self, filter: &UserFilter, page: Page) -> Result<Paged<User>, StoreError> {
        let users = self.tables.users.values().rev().map(|row| &row.user);
        Ok(page.slice(users.filter(|user| matches_filter(user, filter)).cloned().collect()))
    }

    fn insert(&mut self, new: NewUser) -> Result<User, StoreError> {
        if Users::find_by_username(self, new.username.as_str())?.is_some() {
            return self.refuse(StoreError::Duplicate("username"));
        }
        if Emails::holder(self, &new.email)?.is_some() {
            return self.refuse(StoreError::Duplicate("email"));
        }
        let user = User {
            id: UserId(self.next_id()),
            username: new.username,
            name: new.name,
            email: new.email,
            state: UserState::Active,
            privileges: new.privileges,
            profile: new.profile,
            appearance: Appearance::default(),
            avatar: None,
            two_factor_enabled: false,
            confirmed_at: new.confirmed_at,
            last_sign_in_at: None,
            current_sign_in_at: None,
            created_at: new.at,
            updated_at: new.at,
        };
        let row = UserRow { user: user.clone(), password: new.password };
        self.tables.users.insert(user.id, row);
        Ok(user)
    }

    fn update(&mut self, user: &User) -> Result<(), StoreError> {
        let namesake = Users::find_by_username(self, user.username.as_str())?;
        if namesake.is_some_and(|namesake| namesake.id != user.id) {
            return self.refuse(StoreError::Duplicate("username"));
        }
        if let Some(row) = self.tables.users.get_mut(&user.id) {
            row.user = User { email: row.user.email.clone(), ..user.clone() };
        }
        Ok(())
    }

    fn set_password(&mut self, id: UserId, hash: &PasswordHash) -> Result<(), StoreError> {
        if let Some(row) = self.tables.users.get_mut(&id) {
            row.password = hash.clone();
        }
        Ok(())
    }

    fn delete(&mut self, id: UserId) -> Result<(), StoreError> {
        self.tables.remove_user(id);
        Ok(())
    }
}

fn matches_filter(user: &User, filter: &UserFilter) -> bool {
    let fields = [user.name.as_str(), user.email.as_str(), user.username.as_str()];
    (!filter.active || user.state.may_act())
        && (!filter.blocked || !user.state.may_act())
        && (!filter.external || user.privileges.external)
        && filter.search.as_deref().is_none_or(|text| any_contains(text, &fields))
}
