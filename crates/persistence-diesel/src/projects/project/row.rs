//! The rows of projects.

use chrono::NaiveDateTime;
use diesel::backend::Backend as DieselBackend;
use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Bool};
use hexforge_domain::branch::BranchName;
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::{
    Archived, BuildSettings, BuildTimeout, Description, Features, Project, ProjectHeader,
    ProjectName, ProjectPath,
};
use hexforge_domain::visibility::Visibility;

use crate::database::schema::projects;
use crate::database::time::{to_naive, to_utc};
use crate::groups::namespace::NamespaceRow;
use crate::query::search;
use crate::users::user::UserRow;

/// The sealed runners token; the coverage expression, time limit and git strategy of a project.
pub(super) type AdminSettingsRow = (Option<String>, (Option<String>, Option<i32>, Option<bool>));

/// Converts stored settings for builds. Missing ones have their default.
pub(super) fn to_build_settings(
    (timeout, git_fetch): (Option<i32>, Option<bool>),
) -> BuildSettings {
    let default = BuildSettings::default();
    BuildSettings {
        timeout: timeout.map_or(default.timeout, BuildTimeout::stored),
        git_fetch: git_fetch.unwrap_or(default.git_fetch),
    }
}

/// The number of forks of a project, as an SQL expression.
#[derive(Clone, Copy, Debug, QueryId, ValidGrouping)]
pub(crate) struct ForksCount;

impl Expression for ForksCount {
    type SqlType = BigInt;
}

// It is selected from joins with `projects` too.
impl<S> AppearsOnTable<S> for ForksCount {}
impl<S> SelectableExpression<S> for ForksCount {}

impl<DB: DieselBackend> QueryFragment<DB> for ForksCount {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql("coalesce((SELECT forks FROM fork_counts WHERE project_id = projects.id), 0)");
        Ok(())
    }
}

/// Whether an external issue tracker of a project is active, as an SQL expression.
#[derive(Clone, Copy, Debug, QueryId, ValidGrouping)]
pub(crate) struct HasTracker;

impl Expression for HasTracker {
    type SqlType = Bool;
}

// It is selected from joins with `projects` too.
impl<S> AppearsOnTable<S> for HasTracker {}
impl<S> SelectableExpression<S> for HasTracker {}

impl<DB: DieselBackend> QueryFragment<DB> for HasTracker {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql(
            "EXISTS (SELECT 1 FROM services WHERE project_id = projects.id AND external_tracker)",
        );
        Ok(())
    }
}

/// The version of a project's repository; 0 without a repository. See
/// [`RepositoryState::version`](hexforge_domain::refs::RepositoryState::version).
#[derive(Clone, Copy, Debug, QueryId, ValidGrouping)]
pub(super) struct RepositoryVersion;

impl Expression for RepositoryVersion {
    type SqlType = BigInt;
}

// It is selected from joins with `projects` too.
impl<S> AppearsOnTable<S> for RepositoryVersion {}
impl<S> SelectableExpression<S> for RepositoryVersion {}

impl<DB: DieselBackend> QueryFragment<DB> for RepositoryVersion {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql(
            "coalesce((SELECT CASE WHEN refs_version < 0 OR packs_version < 0 THEN -1 \
             ELSE refs_version + packs_version END FROM repositories \
             WHERE project_id = projects.id), 0)",
        );
        Ok(())
    }
}

/// A row of `projects`, without the columns that only searches and lookups read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = projects)]
pub(super) struct ProjectRow {
    pub id: i64,
    namespace_id: i64,
    creator_id: Option<i64>,
    name: String,
    path: String,
    description: Option<String>,
    visibility_level: i32,
    archived: bool,
    issues_enabled: bool,
    merge_requests_enabled: bool,
    wiki_enabled: bool,
    builds_enabled: bool,
    snippets_enabled: bool,
    container_registry_enabled: bool,
    shared_runners_enabled: bool,
    public_builds: bool,
    lfs_enabled: Option<bool>,
    merge_only_if_build_succeeds: bool,
    merge_only_if_discussions_resolved: bool,
    request_access_enabled: bool,
    star_count: i32,
    #[diesel(select_expression = ForksCount, select_expression_type = ForksCount)]
    forks_count: i64,
    open_issues_count: i32,
    #[diesel(select_expression = HasTracker, select_expression_type = HasTracker)]
    external_tracker: bool,
    forked_from_id: Option<i64>,
    import_url: Option<String>,
    default_branch: Option<String>,
    avatar: Option<String>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
    last_activity_at: NaiveDateTime,
}

impl TryFrom<ProjectRow> for Project {
    type Error = StoreError;

    fn try_from(row: ProjectRow) -> Result<Self, StoreError> {
        let description = row.description.map(|text| Description::parse(&text)).transpose();
        Ok(Project {
            id: ProjectId(row.id),
            namespace: NamespaceId(row.namespace_id),
            creator: row.creator_id.map(UserId),
            name: ProjectName::stored(row.name),
            path: ProjectPath::stored(row.path),
            description: description.map_err(|_| StoreError::Corrupt("description"))?,
            visibility: to_visibility(row.visibility_level)?,
            archived: Archived::from_bool(row.archived),
            features: Features {
                issues: row.issues_enabled,
                merge_requests: row.merge_requests_enabled,
                wiki: row.wiki_enabled,
                builds: row.builds_enabled,
                snippets: row.snippets_enabled,
                container_registry: row.container_registry_enabled,
                shared_runners: row.shared_runners_enabled,
                public_builds: row.public_builds,
                lfs: row.lfs_enabled,
                merge_only_if_build_succeeds: row.merge_only_if_build_succeeds,
                merge_only_if_discussions_resolved: row.merge_only_if_discussions_resolved,
                request_access: row.request_access_enabled,
            },
            star_count: row.star_count.unsigned_abs(),
            forks_count: u32::try_from(row.forks_count).unwrap_or(u32::MAX),
            open_issues_count: row.open_issues_count.unsigned_abs(),
            external_tracker: row.external_tracker,
            forked_from: row.forked_from_id.map(ProjectId),
            import_url: row.import_url,
            default_branch: row.default_branch.map(BranchName::stored),
            avatar: row.avatar,
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
            last_activity_at: to_utc(row.last_activity_at),
        })
    }
}

/// A project with its namespace, the owner of the namespace, the reader if the reader starred it, and the version of
/// the repository.
pub(super) type RowWithNamespace = (ProjectRow, NamespaceRow, Option<UserRow>, Option<i64>, i64);

/// The columns that every repository request reads.
#[derive(Queryable, Selectable)]
#[diesel(table_name = projects)]
pub(super) struct HeaderRow {
    id: i64,
    path: String,
    visibility_level: i32,
    archived: bool,
    #[diesel(select_expression = RepositoryVersion)]
    repository_version: i64,
}

impl TryFrom<HeaderRow> for ProjectHeader {
    type Error = StoreError;

    fn try_from(row: HeaderRow) -> Result<Self, StoreError> {
        Ok(ProjectHeader {
            id: ProjectId(row.id),
            path: ProjectPath::stored(row.path),
            visibility: to_visibility(row.visibility_level)?,
            archived: Archived::from_bool(row.archived),
            repository_version: row.repository_version,
        })
    }
}

pub(crate) fn to_visibility(level: i32) -> Result<Visibility, StoreError> {
    Visibility::from_level(i64::from(level)).ok_or(StoreError::Corrupt("visibility"))
}

/// The columns that an update sets: `None` becomes null. Counters and the default branch are set separately.
#[derive(AsChangeset, Insertable)]
#[diesel(table_name = projects, treat_none_as_null = true)]
pub(super) struct ProjectValues<'a> {
    namespace_id: i64,
    creator_id: Option<i64>,
    name: &'a str,
    path: &'a str,
    path_folded: String,
    description: Option<&'a str>,
    visibility_level: i32,
    archived: bool,
    issues_enabled: bool,
    merge_requests_enabled: bool,
    wiki_enabled: bool,
    builds_enabled: bool,
    snippets_enabled: bool,
    container_registry_enabled: bool,
    shared_runners_enabled: bool,
    public_builds: bool,
    lfs_enabled: Option<bool>,
    merge_only_if_build_succeeds: bool,
    merge_only_if_discussions_resolved: bool,
    request_access_enabled: bool,
    forked_from_id: Option<i64>,
    import_url: Option<&'a str>,
    avatar: Option<&'a str>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
    last_activity_at: NaiveDateTime,
    search_text: String,
}

impl<'a> From<&'a Project> for ProjectValues<'a> {
    fn from(project: &'a Project) -> Self {
        let (name, path) = (project.name.as_str(), project.path.as_str());
        let description = project.description.as_ref().map(Description::as_str);
        let features = project.features;
        Self {
            namespace_id: project.namespace.0,
            creator_id: project.creator.map(|user| user.0),
            name,
            path,
            path_folded: project.path.folded(),
            description,
            visibility_level: project.visibility.level(),
            archived: project.archived.as_bool(),
            issues_enabled: features.issues,
            merge_requests_enabled: features.merge_requests,
            wiki_enabled: features.wiki,
            builds_enabled: features.builds,
            snippets_enabled: features.snippets,
            container_registry_enabled: features.container_registry,
            shared_runners_enabled: features.shared_runners,
            public_builds: features.public_builds,
            lfs_enabled: features.lfs,
            merge_only_if_build_succeeds: features.merge_only_if_build_succeeds,
            merge_only_if_discussions_resolved: features.merge_only_if_discussions_resolved,
            request_access_enabled: features.request_access,
            forked_from_id: project.forked_from.map(|source| source.0),
            import_url: project.import_url.as_deref(),
            avatar: project.avatar.as_deref(),
            created_at: to_naive(project.created_at),
            updated_at: to_naive(project.updated_at),
            last_activity_at: to_naive(project.last_activity_at),
            search_text: search::text(&[name, path, description.unwrap_or_default()]),
        }
    }
}
