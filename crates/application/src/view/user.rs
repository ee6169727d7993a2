//! Users as different readers see them.

use std::collections::HashMap;

use hexforge_domain::id::UserId;
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::text::Secret;
use hexforge_domain::user::{Identity, User};

/// Everything that administrators, and users about themselves, may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullUser {
    /// The account.
    pub user: User,
    /// Who the user is elsewhere.
    pub identities: Vec<Identity>,
    /// How many projects are in the user's own namespace.
    pub personal_projects: u64,
}

impl FullUser {
    /// Whether the user may make groups now.
    pub fn can_create_group(&self) -> bool {
        self.user.privileges.can_create_group && self.user.state.may_act()
    }

    /// Whether the user's limit leaves room for a project.
    pub fn can_create_project(&self) -> bool {
        u64::from(self.user.privileges.projects_limit.0.unsigned_abs()) > self.personal_projects
    }
}

/// One user, as much as the reader may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserView {
    /// For everybody.
    Single(User),
    /// For administrators.
    Full(FullUser),
}

/// A page of users, as much as the reader may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserPage {
    /// For everybody.
    Summaries(Paged<User>),
    /// For administrators.
    Full(Paged<FullUser>),
}

/// A user who just signed in, with the token that proves it from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginView {
    /// The user.
    pub user: FullUser,
    /// Shown this once; only its digest is kept.
    pub private_token: Secret,
}

/// Completes one user.
pub fn full(tx: &mut dyn Tx, user: User) -> Result<FullUser, StoreError> {
    let page = full_page(tx, Paged { items: vec![user], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// Completes a page of users with two queries for all of them.
pub fn full_page(tx: &mut dyn Tx, users: Paged<User>) -> Result<Paged<FullUser>, StoreError> {
    let ids: Vec<UserId> = users.items.iter().map(|user| user.id).collect();
    let mut by_user: HashMap<UserId, Vec<Identity>> = HashMap::new();
    for (user, identity) in tx.identities().of(&ids)? {
        by_user.entry(user).or_default().push(identity);
    }
    let projects: HashMap<UserId, u64> = tx.projects().count_personal(&ids)?.into_iter().collect();
    Ok(users.map(|user| FullUser {
        identities: by_user.remove(&user.id).unwrap_or_default(),
        personal_projects: projects.get(&user.id).copied().unwrap_or(0),
        user,
    }))
}
