//! Namespaces, and groups, which are namespaces.

use hexforge_application::view::group::GroupDetail;
use hexforge_domain::namespace::Namespace;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use super::links::Links;
use super::project::{ProjectJson, ProjectShape};
use super::time::Iso;

/// A namespace inside a project, and a group that was removed.
pub struct NamespaceJson<'a>(pub &'a Namespace, pub &'a Links);

impl Serialize for NamespaceJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(namespace, links) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &namespace.id.0)?;
        map.serialize_entry("name", &namespace.name)?;
        map.serialize_entry("path", namespace.path.as_str())?;
        map.serialize_entry("owner_id", &namespace.owner.map(|owner| owner.0))?;
        map.serialize_entry("created_at", &Iso(namespace.created_at))?;
        map.serialize_entry("updated_at", &Iso(namespace.updated_at))?;
        map.serialize_entry("description", &namespace.description)?;
        let avatar =
            namespace.owner.is_none().then(|| AvatarJson { url: links.group_avatar(namespace) });
        map.serialize_entry("avatar", &avatar)?;
        map.serialize_entry("share_with_group_lock", &namespace.share_with_group_lock)?;
        map.serialize_entry("visibility_level", &namespace.visibility.level())?;
        map.serialize_entry("request_access_enabled", &namespace.request_access_enabled)?;
        map.serialize_entry("deleted_at", &None::<&str>)?;
        map.serialize_entry("lfs_enabled", &namespace.lfs_enabled)?;
        map.serialize_entry("kind", namespace.kind().as_str())?;
        map.end()
    }
}

// Schemas of the types above. These types are never constructed.

/// A namespace.
#[derive(Serialize, ToSchema)]
#[schema(as = Namespace)]
pub struct NamespaceShape {
    id: i64,
    name: String,
    path: String,
    owner_id: Option<i64>,
    created_at: Iso,
    updated_at: Iso,
    description: String,
    avatar: Option<AvatarJson>,
    share_with_group_lock: bool,
    visibility_level: i32,
    request_access_enabled: bool,
    deleted_at: Option<Iso>,
    lfs_enabled: Option<bool>,
    kind: String,
}

/// A picture.
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
pub struct GroupJson<'a>(pub &'a Namespace, pub &'a Links);

impl Serialize for GroupJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        group(&mut map, self.0, self.1)?;
        map.end()
    }
}

/// A group with what is inside.
pub struct GroupDetailJson<'a>(pub &'a GroupDetail, pub &'a Links);

impl Serialize for GroupDetailJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(detail, links) = self;
        let json = |view| ProjectJson::new(view, links);
        let mut map = serializer.serialize_map(None)?;
        group(&mut map, &detail.group, links)?;
        map.serialize_entry("projects", &detail.projects.iter().map(json).collect::<Vec<_>>())?;
        let shared = detail.shared_projects.iter().map(json).collect::<Vec<_>>();
        map.serialize_entry("shared_projects", &shared)?;
        map.end()
    }
}

fn group<M: SerializeMap>(map: &mut M, group: &Namespace, links: &Links) -> Result<(), M::Error> {
    map.serialize_entry("id", &group.id.0)?;
    map.serialize_entry("name", &group.name)?;
    map.serialize_entry("path", group.path.as_str())?;
    map.serialize_entry("description", &group.description)?;
    map.serialize_entry("visibility_level", &group.visibility.level())?;
    map.serialize_entry("lfs_enabled", &group.lfs_enabled.unwrap_or(true))?;
    map.serialize_entry("avatar_url", &links.group_avatar(group))?;
    map.serialize_entry("web_url", &links.group(group))?;
    map.serialize_entry("request_access_enabled", &group.request_access_enabled)
}

/// A group.
#[derive(Serialize, ToSchema)]
pub struct Group {
    id: i64,
    name: String,
    path: String,
    description: String,
    visibility_level: i32,
    lfs_enabled: bool,
    avatar_url: Option<String>,
    web_url: String,
    request_access_enabled: bool,
}

/// A group with what is inside.
#[derive(Serialize, ToSchema)]
#[schema(as = GroupDetail)]
pub struct GroupDetailShape {
    #[serde(flatten)]
    group: Group,
    projects: Vec<ProjectShape>,
    shared_projects: Vec<ProjectShape>,
}
