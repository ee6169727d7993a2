//! Projects in full and in short.

use hexforge_application::project::fork_link::ForkLink;
use hexforge_application::view::project::{Permissions, Place, PlacedProject, ProjectView};
use hexforge_domain::branch::BranchName;
use hexforge_domain::member::Membership;
use hexforge_domain::project::share::Share;
use hexforge_domain::project::{Description, Project};
use hexforge_domain::visibility::Visibility;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use super::links::Links;
use super::namespace::{NamespaceJson, NamespaceShape};
use super::time::Iso;
use super::user::{UserJson, UserOwner};

/// A project in full. What is absent in some answers is absent by what the view holds.
pub struct ProjectJson<'a> {
    view: &'a ProjectView,
    links: &'a Links,
}

impl<'a> ProjectJson<'a> {
    /// The project as seen below this address.
    pub fn new(view: &'a ProjectView, links: &'a Links) -> Self {
        Self { view, links }
    }
}

impl Serialize for ProjectJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (view, links) = (self.view, self.links);
        let (project, place) = (&view.project, &view.place);
        let mut map = serializer.serialize_map(None)?;
        identity(&mut map, project, place, links)?;
        features(&mut map, project)?;
        map.serialize_entry("created_at", &Iso(project.created_at))?;
        map.serialize_entry("last_activity_at", &Iso(project.last_activity_at))?;
        map.serialize_entry("shared_runners_enabled", &project.features.shared_runners)?;
        let lfs = project.features.lfs.or(place.namespace.lfs_enabled).unwrap_or(true);
        map.serialize_entry("lfs_enabled", &lfs)?;
        map.serialize_entry("creator_id", &project.creator.map(|creator| creator.0))?;
        map.serialize_entry("namespace", &NamespaceJson(&place.namespace, links))?;
        if let Some(source) = &view.forked_from {
            map.serialize_entry("forked_from_project", &SimpleProjectJson::new(source, links))?;
        }
        map.serialize_entry(
            "avatar_url",
            &links.project_avatar(&place.path_of(project), project.avatar.as_deref()),
        )?;
        map.serialize_entry("star_count", &project.star_count)?;
        map.serialize_entry("forks_count", &project.forks_count)?;
        if project.features.issues {
            map.serialize_entry("open_issues_count", &project.open_issues_count)?;
        }
        if let Some(token) = &view.runners_token {
            map.serialize_entry("runners_token", token.reveal())?;
        }
        // The reference has no such field, so it is there only where somebody set it.
        if let Some(expression) = &view.coverage_expression {
            map.serialize_entry("build_coverage_regex", expression.as_str())?;
        }
        map.serialize_entry("public_builds", &project.features.public_builds)?;
        let shares: Vec<_> = view.shares.iter().map(ShareLineJson::from).collect();
        map.serialize_entry("shared_with_groups", &shares)?;
        rules(&mut map, project)?;
        if let Some(permissions) = &view.permissions {
            map.serialize_entry("permissions", &PermissionsJson::from(permissions))?;
        }
        map.end()
    }
}

fn identity<M: SerializeMap>(
    map: &mut M,
    project: &Project,
    place: &Place,
    links: &Links,
) -> Result<(), M::Error> {
    let path = place.path_of(project);
    map.serialize_entry("id", &project.id.0)?;
    map.serialize_entry("description", &project.description.as_ref().map(Description::as_str))?;
    let default_branch = project.default_branch.as_ref().map(BranchName::as_str);
    map.serialize_entry("default_branch", &default_branch)?;
    map.serialize_entry("tag_list", &[(); 0])?;
    map.serialize_entry("public", &(project.visibility == Visibility::Public))?;
    map.serialize_entry("archived", &project.archived.as_bool())?;
    map.serialize_entry("visibility_level", &project.visibility.level())?;
    map.serialize_entry("ssh_url_to_repo", &links.ssh_to_repo(&path))?;
    map.serialize_entry("http_url_to_repo", &links.http_to_repo(&path))?;
    map.serialize_entry("web_url", &links.project(&path))?;
    if let Some(owner) = &place.owner {
        map.serialize_entry("owner", &UserJson::owner(owner, links))?;
    }
    map.serialize_entry("name", project.name.as_str())?;
    map.serialize_entry("name_with_namespace", &name_with_namespace(project, place))?;
    map.serialize_entry("path", project.path.as_str())?;
    map.serialize_entry("path_with_namespace", &path)
}

fn features<M: SerializeMap>(map: &mut M, project: &Project) -> Result<(), M::Error> {
    let features = &project.features;
    map.serialize_entry("container_registry_enabled", &features.container_registry)?;
    map.serialize_entry("issues_enabled", &features.issues)?;
    map.serialize_entry("merge_requests_enabled", &features.merge_requests)?;
    map.serialize_entry("wiki_enabled", &features.wiki)?;
    map.serialize_entry("builds_enabled", &features.builds)?;
    map.serialize_entry("snippets_enabled", &features.snippets)
}

fn rules<M: SerializeMap>(map: &mut M, project: &Project) -> Result<(), M::Error> {
    let features = &project.features;
    map.serialize_entry(
        "only_allow_merge_if_build_succeeds",
        &features.merge_only_if_build_succeeds,
    )?;
    map.serialize_entry("request_access_enabled", &features.request_access)?;
    map.serialize_entry(
        "only_allow_merge_if_all_discussions_are_resolved",
        &features.merge_only_if_discussions_resolved,
    )
}

fn name_with_namespace(project: &Project, place: &Place) -> String {
    format!("{} / {}", place.human_name(), project.name.as_str())
}

/// A project in short: exactly these fields.
#[derive(Serialize, ToSchema)]
pub struct SimpleProjectJson<'a> {
    id: i64,
    http_url_to_repo: String,
    web_url: String,
    name: &'a str,
    name_with_namespace: String,
    path: &'a str,
    path_with_namespace: String,
}

impl<'a> SimpleProjectJson<'a> {
    /// The project as seen below this address.
    pub fn new(placed: &'a PlacedProject, links: &Links) -> Self {
        let path = placed.place.path_of(&placed.project);
        Self {
            id: placed.project.id.0,
            http_url_to_repo: links.http_to_repo(&path),
            web_url: links.project(&path),
            name: placed.project.name.as_str(),
            name_with_namespace: name_with_namespace(&placed.project, &placed.place),
            path: placed.project.path.as_str(),
            path_with_namespace: path,
        }
    }
}

/// A share as projects show it.
#[derive(Serialize, ToSchema)]
pub struct ShareLineJson<'a> {
    group_id: i64,
    group_name: &'a str,
    group_access_level: i32,
}

impl<'a> From<&'a Share> for ShareLineJson<'a> {
    fn from(share: &'a Share) -> Self {
        Self {
            group_id: share.share.group.0,
            group_name: &share.group_name,
            group_access_level: share.share.access.level(),
        }
    }
}

/// A share that was just made.
#[derive(Serialize, ToSchema)]
pub struct ShareJson {
    id: i64,
    project_id: i64,
    group_id: i64,
    group_access: i32,
    expires_at: Option<String>,
}

impl From<Share> for ShareJson {
    fn from(share: Share) -> Self {
        Self {
            id: share.id.0,
            project_id: share.share.project.0,
            group_id: share.share.group.0,
            group_access: share.share.access.level(),
            expires_at: share.share.expires_at.map(|day| day.to_string()),
        }
    }
}

/// The link of a fork to its source, shown when it is created.
#[derive(Serialize, ToSchema)]
pub struct ForkLinkJson {
    id: i64,
    forked_to_project_id: i64,
    forked_from_project_id: i64,
    created_at: Iso,
    updated_at: Iso,
}

impl From<ForkLink> for ForkLinkJson {
    fn from(link: ForkLink) -> Self {
        Self {
            id: link.fork.0,
            forked_to_project_id: link.fork.0,
            forked_from_project_id: link.source.0,
            created_at: Iso(link.at),
            updated_at: Iso(link.at),
        }
    }
}

/// The reader's access levels in a project.
#[derive(Serialize, ToSchema)]
pub struct PermissionsJson {
    project_access: Option<AccessJson>,
    group_access: Option<AccessJson>,
}

impl From<&Permissions> for PermissionsJson {
    fn from(permissions: &Permissions) -> Self {
        Self {
            project_access: permissions.project.map(AccessJson::from),
            group_access: permissions.group.map(AccessJson::from),
        }
    }
}

/// A membership of the reader.
#[derive(Serialize, ToSchema)]
pub struct AccessJson {
    access_level: i32,
    notification_level: i32,
}

impl From<Membership> for AccessJson {
    fn from(membership: Membership) -> Self {
        Self {
            access_level: membership.level.level(),
            notification_level: membership.notification_level,
        }
    }
}

// The schema of `ProjectJson`. This type is never constructed.

/// A project in full.
#[derive(Serialize, ToSchema)]
#[schema(as = Project)]
pub struct ProjectShape {
    id: i64,
    description: Option<String>,
    default_branch: Option<String>,
    tag_list: Vec<String>,
    public: bool,
    archived: bool,
    visibility_level: i32,
    ssh_url_to_repo: String,
    http_url_to_repo: String,
    web_url: String,
    /// Only for projects of a user's namespace.
    #[schema(required = false)]
    owner: UserOwner,
    name: String,
    name_with_namespace: String,
    path: String,
    path_with_namespace: String,
    container_registry_enabled: bool,
    issues_enabled: bool,
    merge_requests_enabled: bool,
    wiki_enabled: bool,
    builds_enabled: bool,
    snippets_enabled: bool,
    created_at: Iso,
    last_activity_at: Iso,
    shared_runners_enabled: bool,
    lfs_enabled: bool,
    creator_id: Option<i64>,
    namespace: NamespaceShape,
    /// Only for forks.
    #[schema(required = false)]
    forked_from_project: SimpleProjectJson<'static>,
    avatar_url: Option<String>,
    star_count: i64,
    forks_count: i64,
    /// Only if issues are enabled.
    #[schema(required = false)]
    open_issues_count: i64,
    /// For those who administer the project.
    #[schema(required = false)]
    runners_token: String,
    /// For those who administer the project, where it is set.
    #[schema(required = false)]
    build_coverage_regex: String,
    public_builds: bool,
    shared_with_groups: Vec<ShareLineJson<'static>>,
    only_allow_merge_if_build_succeeds: bool,
    request_access_enabled: bool,
    only_allow_merge_if_all_discussions_are_resolved: bool,
    /// In the answer for one project.
    #[schema(required = false)]
    permissions: PermissionsJson,
}
