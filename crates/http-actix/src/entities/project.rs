//! Projects in full and in short.

use hexforge_application::project::fork_link::ForkLink;
use hexforge_application::view::project::{Permissions, ProjectView};
use hexforge_domain::branch::BranchName;
use hexforge_domain::member::Membership;
use hexforge_domain::project::build_settings::BuildSettings;
use hexforge_domain::project::share::Share;
use hexforge_domain::project::{
    CoverageExpression, Description, NamespaceWithOwner, Project, ProjectWithNamespace,
};
use hexforge_domain::text::Secret;
use hexforge_domain::visibility::Visibility;
use serde::Serialize;
use utoipa::ToSchema;

use super::namespace::NamespaceJson;
use super::time::Iso;
use super::user::UserOwnerJson;
use hexforge_http_edge::links::Links;

/// A project in full.
#[derive(Serialize, ToSchema)]
pub struct ProjectJson<'a> {
    id: i64,
    description: Option<&'a str>,
    default_branch: Option<&'a str>,
    tag_list: [&'static str; 0],
    public: bool,
    archived: bool,
    visibility_level: i32,
    ssh_url_to_repo: String,
    http_url_to_repo: String,
    web_url: String,
    /// Only for projects of a user's namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = UserOwnerJson<'a>, required = false)]
    owner: Option<UserOwnerJson<'a>>,
    name: &'a str,
    name_with_namespace: String,
    path: &'a str,
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
    namespace: NamespaceJson<'a>,
    /// Only for forks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = SimpleProjectJson<'a>, required = false)]
    forked_from_project: Option<SimpleProjectJson<'a>>,
    avatar_url: Option<String>,
    #[schema(value_type = i64)]
    star_count: u32,
    #[schema(value_type = i64)]
    forks_count: u32,
    /// Only if issues are enabled, and no external issue tracker is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, required = false)]
    open_issues_count: Option<u32>,
    /// Only for callers who administer the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    runners_token: Option<&'a str>,
    /// Only for callers who administer the project, and only if it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    build_coverage_regex: Option<&'a str>,
    /// Only for callers who administer the project, once it was changed: the time limit of builds in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, required = false)]
    build_timeout: Option<i32>,
    /// Only for callers who administer the project, once it was changed: whether runners update working copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool, required = false)]
    build_allow_git_fetch: Option<bool>,
    public_builds: bool,
    shared_with_groups: Vec<ShareLineJson<'a>>,
    only_allow_merge_if_build_succeeds: bool,
    request_access_enabled: bool,
    only_allow_merge_if_all_discussions_are_resolved: bool,
    /// Only in responses about a single project.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = PermissionsJson, required = false)]
    permissions: Option<PermissionsJson>,
}

impl<'a> ProjectJson<'a> {
    /// The project, with the optional fields that the view has.
    pub fn new(view: &'a ProjectView, links: &Links) -> Self {
        let (project, place) = (&view.project, &view.place);
        let (features, path) = (&project.features, place.path_of(project));
        // The original service does not show these settings, so they are only shown where somebody uses them.
        let build_settings =
            view.build_settings.filter(|settings| *settings != BuildSettings::default());
        Self {
            id: project.id.0,
            description: project.description.as_ref().map(Description::as_str),
            default_branch: project.default_branch.as_ref().map(BranchName::as_str),
            tag_list: [],
            public: project.visibility == Visibility::Public,
            archived: project.archived.as_bool(),
            visibility_level: project.visibility.level(),
            ssh_url_to_repo: links.ssh_to_repo(&path),
            http_url_to_repo: links.http_to_repo(&path),
            web_url: links.project(&path),
            owner: place.owner.as_ref().map(|owner| UserOwnerJson::new(owner, links)),
            name: project.name.as_str(),
            name_with_namespace: name_with_namespace(project, place),
            path: project.path.as_str(),
            avatar_url: links.project_avatar(&path, project.avatar.as_deref()),
            path_with_namespace: path,
            container_registry_enabled: features.container_registry,
            issues_enabled: features.issues,
            merge_requests_enabled: features.merge_requests,
            wiki_enabled: features.wiki,
            builds_enabled: features.builds,
            snippets_enabled: features.snippets,
            created_at: Iso(project.created_at),
            last_activity_at: Iso(project.last_activity_at),
            shared_runners_enabled: features.shared_runners,
            lfs_enabled: features.has_lfs(place.namespace.lfs_enabled, links.has_lfs()),
            creator_id: project.creator.map(|creator| creator.0),
            namespace: NamespaceJson::new(&place.namespace, links),
            forked_from_project: view
                .forked_from
                .as_ref()
                .map(|source| SimpleProjectJson::new(source, links)),
            star_count: project.star_count,
            forks_count: project.forks_count,
            open_issues_count: (features.issues && !project.external_tracker)
                .then_some(project.open_issues_count),
            runners_token: view.runners_token.as_ref().map(Secret::reveal),
            build_coverage_regex: view.coverage_expression.as_ref().map(CoverageExpression::as_str),
            build_timeout: build_settings.map(|settings| settings.timeout.seconds()),
            build_allow_git_fetch: build_settings.map(|settings| settings.git_fetch),
            public_builds: features.public_builds,
            shared_with_groups: view.shares.iter().map(ShareLineJson::from).collect(),
            only_allow_merge_if_build_succeeds: features.merge_only_if_build_succeeds,
            request_access_enabled: features.request_access,
            only_allow_merge_if_all_discussions_are_resolved: features
                .merge_only_if_discussions_resolved,
            permissions: view.permissions.as_ref().map(PermissionsJson::from),
        }
    }
}

fn name_with_namespace(project: &Project, place: &NamespaceWithOwner) -> String {
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
    /// The project, with URLs built by `links`.
    pub fn new(placed: &'a ProjectWithNamespace, links: &Links) -> Self {
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

/// A share in the JSON of a project.
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

/// A share that was just created.
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
            notification_level: membership.notification_level.number(),
        }
    }
}
