//! The settings of the own account.

mod account;
mod emails;
mod keys;
mod notifications;
mod password;
mod sessions;
mod tokens;

use crate::table::Pages;

pub(super) fn declare(pages: &mut Pages) {
    account::declare(pages);
    password::declare(pages);
    keys::declare(pages);
    emails::declare(pages);
    tokens::declare(pages);
    notifications::declare(pages);
    sessions::declare(pages);
}
