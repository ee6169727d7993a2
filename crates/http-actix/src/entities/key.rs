//! SSH keys.

use hexforge_application::user::key::AnyKey;
use hexforge_domain::deploy_key::DeployKey;
use hexforge_domain::user::SshKey;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Iso;
use super::user::UserFullJson;
use hexforge_http_edge::links::Links;

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

impl From<DeployKey> for KeyJson {
    fn from(key: DeployKey) -> Self {
        Self {
            id: key.id.0,
            title: key.title.into_string(),
            key: key.key,
            created_at: Iso(key.created_at),
        }
    }
}

/// A key with its user, for administrators.
#[derive(Serialize, ToSchema)]
pub struct AnyKeyJson<'a> {
    #[serde(flatten)]
    key: KeyJson,
    /// Null for a deploy key.
    user: Option<UserFullJson<'a>>,
}

impl<'a> AnyKeyJson<'a> {
    /// A key of a user, or a deploy key.
    pub fn new(any: &'a AnyKey, links: &Links) -> Self {
        match any {
            AnyKey::OfUser(key, user) => {
                Self { key: KeyJson::from(key.clone()), user: Some(UserFullJson::new(user, links)) }
            }
            AnyKey::Deploy(key) => Self { key: KeyJson::from(key.clone()), user: None },
        }
    }
}
