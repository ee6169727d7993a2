//! Namespaces: the first segment of every project path. Users and groups share one set of paths.

pub mod port;

use crate::Timestamp;
use crate::id::{NamespaceId, UserId};
use crate::text::{TooLong, limit, within};
use crate::visibility::Visibility;

/// First path segments that are reserved for routes: those of this service and those of the original
/// implementation.
const RESERVED: [&str; 40] = [
    ".well-known",
    "abuse_reports",
    "admin",
    "all",
    "api",
    "assets",
    "autocomplete",
    "ci",
    "dashboard",
    "emojis",
    "explore",
    "favicon.ico",
    "files",
    "groups",
    "help",
    "hooks",
    "import",
    "invites",
    "issues",
    "jwt",
    "merge_requests",
    "new",
    "notes",
    "notification_settings",
    "oauth",
    "profile",
    "projects",
    "public",
    "repository",
    "robots.txt",
    "s",
    "search",
    "sent_notifications",
    "services",
    "snippets",
    "teams",
    "u",
    "unsubscribes",
    "uploads",
    "users",
];

/// A valid path of a namespace. Usernames follow the same rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamespacePath(String);

crate::text::stored_text!(NamespacePath);

impl NamespacePath {
    /// Checks the rules for paths of users and groups.
    pub fn parse(path: &str) -> Result<Self, NamespacePathError> {
        if path.trim().is_empty() {
            return Err(NamespacePathError::Blank);
        }
        within(path, limit::SHORT)?;
        if !is_well_formed(path) || path.ends_with('.') {
            return Err(NamespacePathError::Format);
        }
        if RESERVED.contains(&path) {
            return Err(NamespacePathError::Reserved(path.to_owned()));
        }
        Ok(Self(path.to_owned()))
    }

    /// Returns whether a first path segment is reserved for routes. Accounts and groups that are older than the
    /// reservation may have such a path.
    pub fn is_reserved(path: &str) -> bool {
        RESERVED.contains(&path)
    }

    /// The lower-case form, which is unique among all namespaces.
    pub fn folded(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

/// Checks the characters, the beginning and the suffix of a path of a namespace or project.
pub(crate) fn is_well_formed(path: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let has_allowed_ends =
        !path.starts_with('-') && !path.ends_with(".git") && !path.ends_with(".atom");
    has_allowed_ends && path.chars().all(allowed)
}

/// The reason why a text is not a valid namespace path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NamespacePathError {
    /// Empty or blank.
    #[error("can't be blank")]
    Blank,
    /// Longer than the limit.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// A forbidden character, prefix or suffix.
    #[error(
        "can contain only letters, digits, '_', '-' and '.'. \
         Cannot start with '-' or end in '.', '.git' or '.atom'."
    )]
    Format,
    /// A path that is reserved for the service.
    #[error("{0} is a reserved name")]
    Reserved(String),
}

/// A namespace as it is stored: the personal namespace of a user, or a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Assigned by the store. A group and its namespace have the same id.
    pub id: NamespaceId,
    /// Unique among users and groups, ignoring case.
    pub path: NamespacePath,
    /// The display name: the username, or the name of the group.
    pub name: String,
    /// The user, if this is a personal namespace; `None` for a group.
    pub owner: Option<UserId>,
    /// The description of the group.
    pub description: String,
    /// The visibility level of the group. Personal namespaces are public.
    pub visibility: Visibility,
    /// Whether large file storage (LFS) is enabled; `None` uses the setting of the server.
    pub lfs_enabled: Option<bool>,
    /// Whether users who are not members may request access.
    pub request_access_enabled: bool,
    /// Whether sharing the projects of the group with other groups is forbidden.
    pub share_with_group_lock: bool,
    /// File name of the uploaded avatar.
    pub avatar: Option<String>,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
}

/// The kind of owner of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamespaceKind {
    /// A user.
    User,
    /// A group.
    Group,
}

impl NamespaceKind {
    /// The name of the kind in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            NamespaceKind::User => "user",
            NamespaceKind::Group => "group",
        }
    }
}

impl Namespace {
    /// Returns whether the namespace is personal or a group.
    pub fn kind(&self) -> NamespaceKind {
        match self.owner {
            Some(_) => NamespaceKind::User,
            None => NamespaceKind::Group,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_the_rules_of_the_reference() {
        use NamespacePathError::*;
        let reserved = |path: &str| Err(Reserved(path.to_owned()));
        for (path, expected) in [
            ("ada", Ok(())),
            ("ada.lovelace", Ok(())),
            (".dot", Ok(())),
            ("_", Ok(())),
            ("7", Ok(())),
            ("a-", Ok(())),
            ("Admin", Ok(())),
            ("", Err(Blank)),
            ("  ", Err(Blank)),
            ("-", Err(Format)),
            (".", Err(Format)),
            ("-ada", Err(Format)),
            ("ada.", Err(Format)),
            ("ada.git", Err(Format)),
            ("ada.atom", Err(Format)),
            ("ada lovelace", Err(Format)),
            ("ada/lovelace", Err(Format)),
            ("adä", Err(Format)),
            ("admin", reserved("admin")),
            ("api", reserved("api")),
            ("users", reserved("users")),
            ("explore", reserved("explore")),
            ("favicon.ico", reserved("favicon.ico")),
        ] {
            assert_eq!(NamespacePath::parse(path).map(|_| ()), expected, "{path:?}");
        }
        assert_eq!(NamespacePath::parse(&"a".repeat(256)), Err(TooLong(crate::text::TooLong(255))));
    }

    #[test]
    fn the_messages_are_those_of_the_reference() {
        assert_eq!(
            NamespacePathError::Format.to_string(),
            "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'."
        );
        assert_eq!(
            NamespacePathError::Reserved("admin".into()).to_string(),
            "admin is a reserved name"
        );
    }
}
