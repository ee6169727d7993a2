//! The data of users and projects that hook payloads share.

use crate::id::{ProjectId, UserId};
use crate::user::User;
use crate::visibility::Visibility;

/// The data of a user in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The user's id.
    pub id: UserId,
    /// The user's name.
    pub name: String,
    /// The user's username.
    pub username: String,
    /// The user's primary e-mail address, from which an avatar URL is derived.
    pub email: String,
    /// File name of the uploaded avatar.
    pub avatar: Option<String>,
}

impl From<&User> for Person {
    fn from(user: &User) -> Self {
        Self {
            id: user.id,
            name: user.name.as_str().to_owned(),
            username: user.username.as_str().to_owned(),
            email: user.email.as_str().to_owned(),
            avatar: user.avatar.clone(),
        }
    }
}

/// The data of a project in hook payloads. All URLs are derived from its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectCard {
    /// Its id.
    pub id: ProjectId,
    /// Its name.
    pub name: String,
    /// The description.
    pub description: Option<String>,
    /// The name of its namespace.
    pub namespace: String,
    /// Its path with that of its namespace.
    pub path_with_namespace: String,
    /// The visibility level.
    pub visibility: Visibility,
    /// File name of the uploaded avatar.
    pub avatar: Option<String>,
    /// The default branch.
    pub default_branch: Option<String>,
}
