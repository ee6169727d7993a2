//! Users with their addresses, keys, tokens and identities.

pub(crate) mod browser_session;
pub(crate) mod deploy_key;
pub(crate) mod email;
pub(crate) mod identity;
pub(crate) mod key;
pub(crate) mod notification_setting;
pub(crate) mod sign_in;
pub(crate) mod token;
pub(crate) mod user;
