//! Awards with the users who gave them.

use hexforge_domain::award::Award;
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::user::User;

use super::user::load_users;

/// An award with the user who gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwardView {
    /// The award.
    pub award: Award,
    /// The user who gave the award.
    pub user: User,
}

/// Adds the user to an award.
pub fn load(tx: &mut dyn Tx, award: Award) -> Result<AwardView, StoreError> {
    let page = page(tx, Paged { items: vec![award], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// Adds the users to a page of awards.
pub fn page(tx: &mut dyn Tx, awards: Paged<Award>) -> Result<Paged<AwardView>, StoreError> {
    let users = load_users(tx, awards.items.iter().map(|award| award.user))?;
    // An award is deleted together with its user, so every user exists.
    let view = |award: Award| Some(AwardView { user: users.get(&award.user)?.clone(), award });
    Ok(Paged { items: awards.items.into_iter().filter_map(view).collect(), total: awards.total })
}
