//! Users, with the fields that different readers may see.

use std::collections::HashMap;

use hexforge_domain::id::UserId;
use hexforge_domain::paging::Paged;
use hexforge_domain::policy::user::may_create_groups;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::text::Secret;
use hexforge_domain::unique::sorted_unique;
use hexforge_domain::user::{Identity, User};

/// All fields, for administrators and for users reading their own account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullUser {
    /// The account.
    pub user: User,
    /// The identities of the user at external providers.
    pub identities: Vec<Identity>,
    /// The number of projects in the user's personal namespace.
    pub personal_projects: u64,
}

impl FullUser {
    /// Returns whether the user may currently create groups.
    pub fn can_create_group(&self) -> bool {
        may_create_groups(&self.user)
    }

    /// Returns whether the project limit allows another project.
    pub fn can_create_project(&self) -> bool {
        u64::from(self.user.privileges.projects_limit.0.unsigned_abs()) > self.personal_projects
    }
}

/// One user, with the fields that the reader may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserView {
    /// For everybody.
    Single(User),
    /// For administrators.
    Full(FullUser),
}

/// A page of users, with the fields that the reader may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserPage {
    /// For everybody.
    Summaries(Paged<User>),
    /// For administrators.
    Full(Paged<FullUser>),
}

/// The result of a sign-in: the user and the new private token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginView {
    /// The user.
    pub user: FullUser,
    /// The private token. It is shown only once; the database stores only its digest.
    pub private_token: Secret,
}

/// Loads all fields of one user.
pub fn full(tx: &mut dyn Tx, user: User) -> Result<FullUser, StoreError> {
    let page = full_page(tx, Paged { items: vec![user], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// Loads all fields of a page of users, with two queries for the whole page.
pub fn full_page(tx: &mut dyn Tx, users: Paged<User>) -> Result<Paged<FullUser>, StoreError> {
    let ids: Vec<UserId> = users.items.iter().map(|user| user.id).collect();
    let mut by_user: HashMap<UserId, Vec<Identity>> = HashMap::new();
    for (user, identity) in tx.identities().of_users(&ids)? {
        by_user.entry(user).or_default().push(identity);
    }
    let projects: HashMap<UserId, u64> = tx.projects().count_personal(&ids)?.into_iter().collect();
    Ok(users.map(|user| FullUser {
        identities: by_user.remove(&user.id).unwrap_or_default(),
        personal_projects: projects.get(&user.id).copied().unwrap_or(0),
        user,
    }))
}

/// Loads the users with these ids, with at most one query.
pub(crate) fn load_users(
    tx: &mut dyn Tx,
    ids: impl IntoIterator<Item = UserId>,
) -> Result<HashMap<UserId, User>, StoreError> {
    let found = tx.users().find_all(&sorted_unique(ids))?;
    Ok(found.into_iter().map(|user| (user.id, user)).collect())
}
