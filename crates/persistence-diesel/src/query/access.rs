//! SQL conditions for the visibility of projects. All lists and feeds use these.
//!
//! Most conditions exist in two forms. A set is looked up by indexes from the user's side: its cost grows with the
//! user's memberships, however few rows the query reads. A per-row condition on `projects` costs a few index
//! look-ups for each row, however many memberships the user has.

use chrono::NaiveDate;
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::policy::project::ProjectRole;
use hexforge_domain::project::query::Viewer;
use hexforge_domain::visibility::Visibility;

use crate::query::sql::Sql;

/// The condition that a membership or share has not expired.
pub(crate) fn is_in_force(expires_at: &'static str, today: NaiveDate) -> Sql {
    Sql::new("(").sql(expires_at).sql(" IS NULL OR ").sql(expires_at).sql(" > ").day(today).sql(")")
}

/// Selects the ids of the groups that a user is a member of.
pub(crate) fn groups_of(user: UserId, today: NaiveDate) -> Sql {
    Sql::new("SELECT group_id FROM group_members WHERE user_id = ")
        .id(user.0)
        .sql(" AND ")
        .then(is_in_force("expires_at", today))
}

/// Selects the ids of the groups that a user owns.
pub(crate) fn groups_owned_by(user: UserId, today: NaiveDate) -> Sql {
    groups_of(user, today).sql(" AND access_level = ").id(i64::from(AccessLevel::Owner.level()))
}

/// Selects the id of a user's personal namespace.
pub(crate) fn personal_namespace_of(user: UserId) -> Sql {
    Sql::new("SELECT id FROM namespaces WHERE owner_id = ").id(user.0)
}

/// Selects the ids of the projects that a user is authorized for. An id may occur more than once. See
/// [`ProjectScope`](hexforge_domain::project::query::ProjectScope).
pub(crate) fn authorized(user: UserId, today: NaiveDate) -> Sql {
    Sql::new("SELECT id FROM projects WHERE namespace_id IN (")
        .then(personal_namespace_of(user))
        .sql(" UNION ALL ")
        .then(groups_of(user, today))
        .sql(") UNION ALL SELECT project_id FROM project_members WHERE user_id = ")
        .id(user.0)
        .sql(" AND ")
        .then(is_in_force("expires_at", today))
        .sql(" UNION ALL ")
        .then(shared(Sql::new("shares.group_id IN (").then(groups_of(user, today)).sql(")"), today))
}

/// Selects the ids of the projects in which a user is at least a master, by membership in the project or its group, or
/// which are in the user's personal namespace. Shares do not count. An id may occur more than once.
pub(crate) fn administered(user: UserId, today: NaiveDate) -> Sql {
    let master = i64::from(AccessLevel::Master.level());
    Sql::new("SELECT id FROM projects WHERE namespace_id IN (")
        .then(personal_namespace_of(user))
        .sql(" UNION ALL ")
        .then(groups_of(user, today))
        .sql(" AND access_level >= ")
        .id(master)
        .sql(") UNION ALL SELECT project_id FROM project_members WHERE user_id = ")
        .id(user.0)
        .sql(" AND access_level >= ")
        .id(master)
        .sql(" AND ")
        .then(is_in_force("expires_at", today))
}

/// Selects the ids of the projects that are shared with a group.
pub(crate) fn shared_with(group: NamespaceId, today: NaiveDate) -> Sql {
    shared(Sql::new("shares.group_id = ").id(group.0), today)
}

/// Selects the ids of projects by their shares, except projects in namespaces with a share lock.
fn shared(which: Sql, today: NaiveDate) -> Sql {
    Sql::new(
        "SELECT shared.id FROM project_shares AS shares \
         JOIN projects AS shared ON shared.id = shares.project_id \
         JOIN namespaces AS homes ON homes.id = shared.namespace_id",
    )
    .filter([
        which,
        is_in_force("shares.expires_at", today),
        Sql::new("NOT homes.share_with_group_lock"),
    ])
}

/// Returns the lowest visibility level that gives a user without membership access to a project or group.
pub(crate) fn lowest_open_level(external: bool) -> i64 {
    let lowest = if external { Visibility::Public } else { Visibility::Internal };
    i64::from(lowest.level())
}

/// The common table expression that [`visible`] refers to, for [`Sql::with`].
pub(crate) fn authorized_cte(viewer: Viewer, today: NaiveDate) -> (&'static str, Sql) {
    ("authorized", authorized(viewer.user, today))
}

/// The condition that the viewer sees a row of `projects`. Needs [`authorized_cte`].
pub(crate) fn visible(viewer: Viewer) -> Sql {
    // The unary plus keeps query planners from using the index on visibility levels: these queries are faster by
    // another index.
    Sql::new("(+projects.visibility_level >= ")
        .id(lowest_open_level(viewer.external))
        .sql(" OR projects.id IN (SELECT id FROM authorized))")
}

/// The condition that a query returns a row. It is a scalar subquery because PostgreSQL would evaluate a frequent
/// `EXISTS` by collecting all rows first.
pub(crate) fn returns_row(query: Sql) -> Sql {
    Sql::new("(").then(query).sql(" LIMIT 1) IS NOT NULL")
}

/// [`authorized`] as a condition on a row of `projects`.
pub(crate) fn is_authorized(user: UserId, today: NaiveDate) -> Sql {
    let member =
        Sql::new("SELECT 1 FROM project_members WHERE project_id = projects.id AND user_id = ")
            .id(user.0)
            .sql(" AND ")
            .then(is_in_force("expires_at", today));
    let shared = Sql::new(
        "SELECT 1 FROM project_shares AS shares \
         JOIN group_members AS members ON members.group_id = shares.group_id \
         WHERE shares.project_id = projects.id AND members.user_id = ",
    )
    .id(user.0)
    .sql(" AND ")
    .then(is_in_force("members.expires_at", today))
    .sql(" AND ")
    .then(is_in_force("shares.expires_at", today))
    .sql(UNLOCKED);
    Sql::new("(projects.namespace_id = (")
        .then(personal_namespace_of(user))
        .sql(") OR ")
        .then(returns_row(group_membership_of(user, today)))
        .sql(" OR ")
        .then(returns_row(member))
        .sql(" OR ")
        .then(returns_row(shared))
        .sql(")")
}

/// The condition that a row of `projects` is in the user's personal namespace or in a group that the user owns.
pub(crate) fn is_owned(user: UserId, today: NaiveDate) -> Sql {
    let owner = group_membership_of(user, today)
        .sql(" AND access_level = ")
        .id(i64::from(AccessLevel::Owner.level()));
    Sql::new("(projects.namespace_id = (")
        .then(personal_namespace_of(user))
        .sql(") OR ")
        .then(returns_row(owner))
        .sql(")")
}

/// The condition that the user starred a row of `projects`.
pub(crate) fn is_starred(user: UserId) -> Sql {
    returns_row(
        Sql::new("SELECT 1 FROM stars WHERE project_id = projects.id AND user_id = ").id(user.0),
    )
}

/// [`shared_with`] as a condition on a row of `projects`.
pub(crate) fn is_shared_with(group: NamespaceId, today: NaiveDate) -> Sql {
    returns_row(
        Sql::new(
            "SELECT 1 FROM project_shares AS shares \
             WHERE shares.project_id = projects.id AND shares.group_id = ",
        )
        .id(group.0)
        .sql(" AND ")
        .then(is_in_force("shares.expires_at", today))
        .sql(UNLOCKED),
    )
}

/// [`visible`] as a condition on a row of `projects`, without the set of all authorized projects.
pub(crate) fn is_visible(viewer: Viewer, today: NaiveDate) -> Sql {
    Sql::new("(+projects.visibility_level >= ")
        .id(lowest_open_level(viewer.external))
        .sql(" OR ")
        .then(is_authorized(viewer.user, today))
        .sql(")")
}

/// The condition that the namespace of a shared project has no share lock. It is attached to the share, so that it
/// is evaluated only for shared projects.
const UNLOCKED: &str = " AND NOT (SELECT homes.share_with_group_lock FROM namespaces AS homes \
     WHERE homes.id = (SELECT shared.namespace_id FROM projects AS shared \
         WHERE shared.id = shares.project_id))";

/// Selects a user's membership in the group that contains a row of `projects`.
fn group_membership_of(user: UserId, today: NaiveDate) -> Sql {
    Sql::new("SELECT 1 FROM group_members WHERE group_id = projects.namespace_id AND user_id = ")
        .id(user.0)
        .sql(" AND ")
        .then(is_in_force("expires_at", today))
}

/// Selects the ids of the projects in which a user has at least the Reporter level. An id may occur more than once.
fn reported(user: UserId, today: NaiveDate) -> Sql {
    let reporter = i64::from(AccessLevel::Reporter.level());
    let groups = || groups_of(user, today).sql(" AND access_level >= ").id(reporter);
    let by_group = Sql::new("shares.group_access >= ")
        .id(reporter)
        .sql(" AND shares.group_id IN (")
        .then(groups())
        .sql(")");
    Sql::new("SELECT id FROM projects WHERE namespace_id IN (")
        .then(personal_namespace_of(user))
        .sql(" UNION ALL ")
        .then(groups())
        .sql(") UNION ALL SELECT project_id FROM project_members WHERE user_id = ")
        .id(user.0)
        .sql(" AND access_level >= ")
        .id(reporter)
        .sql(" AND ")
        .then(is_in_force("expires_at", today))
        .sql(" UNION ALL ")
        .then(shared(by_group, today))
}

/// The common table expression that [`may_see_issue`] refers to, for [`Sql::with`].
pub(crate) fn reported_cte(clearance: Clearance, today: NaiveDate) -> Option<(&'static str, Sql)> {
    match clearance {
        Clearance::All | Clearance::Own(_) | Clearance::Nothing => None,
        Clearance::ByRole(user) => Some(("reported", reported(user, today))),
    }
}

/// The condition that the viewer may see a row of `issues` despite its confidentiality. Needs
/// [`reported_cte`].
pub(crate) fn may_see_issue(clearance: Clearance) -> Option<Sql> {
    let own = |user: UserId| {
        Sql::new("(NOT issues.confidential OR issues.author_id = ")
            .id(user.0)
            .sql(" OR issues.assignee_id = ")
            .id(user.0)
    };
    match clearance {
        Clearance::All => None,
        Clearance::Nothing => Some(Sql::new("NOT issues.confidential")),
        Clearance::Own(user) => Some(own(user).sql(")")),
        Clearance::ByRole(user) => {
            Some(own(user).sql(" OR issues.project_id IN (SELECT id FROM reported))"))
        }
    }
}

/// The condition that the viewer sees the code of a row of `projects`. Needs [`reported_cte`].
pub(crate) fn code_visible(viewer: Viewer) -> Sql {
    Sql::new("(+projects.visibility_level >= ")
        .id(lowest_open_level(viewer.external))
        .sql(" OR projects.id IN (SELECT id FROM reported))")
}

/// The condition that the viewer may see a row of `merge_requests` of a row of `projects`. Needs [`reported_cte`].
pub(crate) fn may_see_merge_request(viewer: Viewer) -> Sql {
    Sql::new("projects.merge_requests_enabled AND (merge_requests.author_id = ")
        .id(viewer.user.0)
        .sql(" OR merge_requests.assignee_id = ")
        .id(viewer.user.0)
        .sql(" OR ")
        .then(code_visible(viewer))
        .sql(")")
}

/// Selects the access of users to a project. Each row has a user, an access level and a flag that is true if the user
/// owns the project by it. `is_meant` is the condition that a column has the id of such a user. See
/// [`ProjectRole`](hexforge_domain::policy::project::ProjectRole).
pub(crate) fn roles(
    project: ProjectId,
    is_meant: impl Fn(&'static str) -> Sql,
    today: NaiveDate,
) -> Sql {
    let of_project =
        Sql::new("SELECT user_id, access_level, FALSE FROM project_members WHERE project_id = ")
            .id(project.0)
            .sql(" AND ")
            .then(is_meant("user_id"))
            .sql(" AND ")
            .then(is_in_force("expires_at", today));
    let of_group =
        Sql::new("SELECT members.user_id, members.access_level, members.access_level = ")
            .id(i64::from(AccessLevel::Owner.level()))
            .sql(
                " FROM projects JOIN group_members AS members \
             ON members.group_id = projects.namespace_id WHERE projects.id = ",
            )
            .id(project.0)
            .sql(" AND ")
            .then(is_meant("members.user_id"))
            .sql(" AND ")
            .then(is_in_force("members.expires_at", today));
    let of_shares = Sql::new(
        "SELECT members.user_id, CASE WHEN members.access_level < shares.group_access \
             THEN members.access_level ELSE shares.group_access END, FALSE \
         FROM project_shares AS shares \
         JOIN group_members AS members ON members.group_id = shares.group_id \
         JOIN projects ON projects.id = shares.project_id \
         JOIN namespaces AS homes ON homes.id = projects.namespace_id \
         WHERE NOT homes.share_with_group_lock AND shares.project_id = ",
    )
    .id(project.0)
    .sql(" AND ")
    .then(is_meant("members.user_id"))
    .sql(" AND ")
    .then(is_in_force("members.expires_at", today))
    .sql(" AND ")
    .then(is_in_force("shares.expires_at", today));
    // Owning the personal namespace gives no access level.
    let of_home = Sql::new(
        "SELECT homes.owner_id, 0, TRUE FROM projects JOIN namespaces AS homes \
         ON homes.id = projects.namespace_id WHERE projects.id = ",
    )
    .id(project.0)
    .sql(" AND ")
    .then(is_meant("homes.owner_id"));
    [of_group, of_shares, of_home]
        .into_iter()
        .fold(of_project, |all, more| all.sql(" UNION ALL ").then(more))
}

/// The type of the rows of [`roles`].
pub(crate) type RoleRow = (i64, i32, bool);

/// Combines the rows of [`roles`] about one user.
pub(crate) fn combine_roles<'a>(rows: impl Iterator<Item = &'a RoleRow>) -> ProjectRole {
    let combine = |role: ProjectRole, (_, level, owner): &RoleRow| ProjectRole {
        level: role.level.max(AccessLevel::from_level(i64::from(*level))),
        owner: role.owner || *owner,
    };
    rows.fold(ProjectRole::default(), combine)
}

/// Selects the ids of all users with an access level on a project, each once. See
/// [`ProjectMembers::team`](hexforge_domain::member::port::ProjectMembers::team).
pub(crate) fn team(project: ProjectId, today: NaiveDate) -> Sql {
    Sql::new("SELECT user_id AS id FROM project_members WHERE project_id = ")
        .id(project.0)
        .sql(" AND ")
        .then(is_in_force("expires_at", today))
        .sql(
            " UNION SELECT members.user_id FROM projects JOIN group_members AS members \
             ON members.group_id = projects.namespace_id WHERE projects.id = ",
        )
        .id(project.0)
        .sql(" AND ")
        .then(is_in_force("members.expires_at", today))
        .sql(
            " UNION SELECT members.user_id FROM project_shares AS shares \
             JOIN group_members AS members ON members.group_id = shares.group_id \
             JOIN projects ON projects.id = shares.project_id \
             JOIN namespaces AS homes ON homes.id = projects.namespace_id \
             WHERE NOT homes.share_with_group_lock AND shares.project_id = ",
        )
        .id(project.0)
        .sql(" AND ")
        .then(is_in_force("members.expires_at", today))
        .sql(" AND ")
        .then(is_in_force("shares.expires_at", today))
}
