//! Users, their keys, addresses, tokens and sign-ins.

mod application_settings;
mod application_settings_effects;
mod broadcast_messages;
mod emails;
mod key_checks;
mod keys;
mod notification_settings;
mod session;
mod sudo;
mod tokens;
mod user_events;
mod users_block;
mod users_create;
mod users_create_checks;
mod users_delete;
mod users_list;
mod users_read;
mod users_update;
mod users_update_checks;
