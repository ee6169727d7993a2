//! The maximum lengths of texts that callers may store, in characters. Domain types enforce them,
//! and the OpenAPI document states them as `maxLength`.

/// Names, titles, keys, secrets of hooks and profile fields.
pub const SHORT: usize = 255;
/// Passwords of accounts.
pub const PASSWORD: usize = 128;
/// Descriptions of projects and of commit statuses.
pub const DESCRIPTION: usize = 2000;
/// URLs.
pub const URL: usize = 2000;
/// Descriptions of labels. The limit is lower than [`LONG`] because every list of labels repeats
/// them.
pub const LABEL_DESCRIPTION: usize = 10_000;
/// Long texts: issues, notes, milestones, releases, annotations of tags.
pub const LONG: usize = 1_048_576;
/// Public keys.
pub const PUBLIC_KEY: usize = 5000;
/// Colours of labels.
pub const COLOR: usize = 7;
/// Broadcast messages.
pub const BROADCAST: usize = 10_000;
/// Texts of the sign-in pages.
pub const SETTING: usize = 65_536;
/// Values of variables.
pub const VARIABLE_VALUE: usize = 65_536;
/// Properties of services.
pub const SERVICE_PROPERTY: usize = 2000;
/// Names of branches and tags, in bytes.
pub const REF_NAME: usize = 1000;
/// Lists of label titles: as many titles as an issue may have, separated by commas.
pub const LABEL_LIST: usize = crate::issue::label_list::MAX_LABELS * (SHORT + 1) - 1;
/// Logs of builds, in bytes.
pub const LOG: usize = 67_108_864;
/// Texts that are only compared with stored ones: tokens, file paths, object ids.
pub const LOOKUP: usize = 4096;
