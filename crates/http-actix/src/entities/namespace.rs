//! Namespaces, and groups, which are namespaces.

use hexforge_application::view::group::GroupDetail;
use hexforge_domain::namespace::Namespace;
use serde::Serialize;
use utoipa::ToSchema;

use super::project::ProjectJson;
use super::time::Iso;
use hexforge_http_edge::links::Links;

/// A namespace inside a project, and a group that was removed.
#[derive(Serialize, ToSchema)]
pub struct NamespaceJson<'a> {
    id: i64,
    name: &'a str,
    path: &'a str,
    owner_id: Option<i64>,
    created_at: Iso,
    updated_at: Iso,
    description: &'a str,
    /// Null for namespaces of users.
    avatar: Option<AvatarJson>,
    share_with_group_lock: bool,
    visibility_level: i32,
    request_access_enabled: bool,
    deleted_at: Option<Iso>,
    lfs_enabled: Option<bool>,
    kind: &'static str,
}

impl<'a> NamespaceJson<'a> {
    /// All fields of a namespace.
    pub fn new(namespace: &'a Namespace, links: &Links) -> Self {
        let is_group = namespace.owner.is_none();
        Self {
            id: namespace.id.0,
            name: &namespace.name,
            path: namespace.path.as_str(),
            owner_id: namespace.owner.map(|owner| owner.0),
            created_at: Iso(namespace.created_at),
            updated_at: Iso(namespace.updated_at),
            description: &namespace.description,
            avatar: is_group.then(|| AvatarJson { url: links.group_avatar(namespace) }),
            share_with_group_lock: namespace.share_with_group_lock,
            visibility_level: namespace.visibility.level(),
            request_access_enabled: namespace.request_access_enabled,
            deleted_at: None,
            lfs_enabled: namespace.lfs_enabled,
            kind: namespace.kind().as_str(),
        }
    }
}

/// An avatar.
#[derive(Serialize, ToSchema)]
pub struct AvatarJson {
    url: Option<String>,
}

/// A namespace in the list of namespaces.
#[derive(Serialize, ToSchema)]
pub struct NamespaceLineJson {
    id: i64,
    path: String,
    kind: &'static str,
}

impl From<Namespace> for NamespaceLineJson {
    fn from(namespace: Namespace) -> Self {
        Self {
            id: namespace.id.0,
            path: namespace.path.as_str().to_owned(),
            kind: namespace.kind().as_str(),
        }
    }
}

/// A group.
#[derive(Serialize, ToSchema)]
pub struct GroupJson<'a> {
    id: i64,
    name: &'a str,
    path: &'a str,
    description: &'a str,
    visibility_level: i32,
    lfs_enabled: bool,
    avatar_url: Option<String>,
    web_url: String,
    request_access_enabled: bool,
}

impl<'a> GroupJson<'a> {
    /// A group in lists.
    pub fn new(group: &'a Namespace, links: &Links) -> Self {
        Self {
            id: group.id.0,
            name: &group.name,
            path: group.path.as_str(),
            description: &group.description,
            visibility_level: group.visibility.level(),
            lfs_enabled: links.has_lfs() && group.lfs_enabled.unwrap_or(true),
            avatar_url: links.group_avatar(group),
            web_url: links.group(group),
            request_access_enabled: group.request_access_enabled,
        }
    }
}

/// A group with its projects.
#[derive(Serialize, ToSchema)]
pub struct GroupDetailJson<'a> {
    #[serde(flatten)]
    group: GroupJson<'a>,
    projects: Vec<ProjectJson<'a>>,
    shared_projects: Vec<ProjectJson<'a>>,
}

impl<'a> GroupDetailJson<'a> {
    /// A group with the projects that the reader sees.
    pub fn new(detail: &'a GroupDetail, links: &Links) -> Self {
        let project = |view| ProjectJson::new(view, links);
        Self {
            group: GroupJson::new(&detail.group, links),
            projects: detail.projects.iter().map(project).collect(),
            shared_projects: detail.shared_projects.iter().map(project).collect(),
        }
    }
}
