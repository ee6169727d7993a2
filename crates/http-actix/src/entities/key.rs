//! SSH keys.

use hexforge_domain::user::SshKey;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Iso;

/// A key in a response.
#[derive(Serialize, ToSchema)]
pub struct KeyJson {
    id: i64,
    title: String,
    key: String,
    created_at: Iso,
}

impl From<SshKey> for KeyJson {
    fn from(key: SshKey) -> Self {
        Self {
            id: key.id.0,
            title: key.title.into_string(),
            key: key.key,
            created_at: Iso(key.created_at),
        }
    }
}
