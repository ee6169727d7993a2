//! Queries for lists of builds.

use hexforge_domain::build::{BuildFilter, StatusFilter};
use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::ProjectId;

use crate::database::backend;
use crate::query::sql::Sql;

/// Selects the ids of a project's jobs that match the filter. Each status is a separate query, combined by `UNION
/// ALL`, so that each reads an index in order. One condition on all statuses would scan all builds of the project.
pub(crate) fn jobs(project: ProjectId, filter: &BuildFilter) -> Sql {
    let with_status = |status: Option<Sql>| {
        let conditions = [
            Some(Sql::new("project_id = ").id(project.0)),
            Some(Sql::new("kind = 'build'")),
            status,
            filter.commit.map(|commit| of_commit(project, commit, None)),
        ];
        Sql::new("SELECT id FROM builds").filter(conditions.into_iter().flatten())
    };
    let Some(statuses) = filter.statuses.as_deref() else { return with_status(None) };
    // Each status once, even if the filter repeats it.
    let wanted = Status::ALL.into_iter().filter(|status| statuses.contains(status));
    let each = wanted
        .map(|status| with_status(Some(Sql::new("status = ").text(status.as_str().to_owned()))));
    let all = each.reduce(|all, one| all.sql(" UNION ALL ").then(one));
    all.unwrap_or_else(|| with_status(Some(Sql::new("FALSE"))))
}

/// Selects the ids of all builds and external statuses of a commit that match the filter. `None` if a filter text
/// contains NUL, because then nothing matches.
pub(crate) fn statuses(project: ProjectId, filter: &StatusFilter) -> Option<Sql> {
    let texts = [&filter.reference, &filter.stage, &filter.name];
    if texts.into_iter().flatten().any(|text| backend::contains_nul(text)) {
        return None;
    }
    let conditions = [
        Some(of_commit(project, filter.commit, filter.reference.clone())),
        filter.stage.clone().map(|stage| Sql::new("stage = ").text(stage)),
        filter.name.clone().map(|name| Sql::new("name = ").text(name)),
        (!filter.superseded).then(|| Sql::new("NOT superseded")),
    ];
    Some(Sql::new("SELECT id FROM builds").filter(conditions.into_iter().flatten()))
}

/// The condition that a build belongs to a pipeline of a commit, and of a ref if one is given.
fn of_commit(project: ProjectId, commit: ObjectId, reference: Option<String>) -> Sql {
    let pipelines = Sql::new("pipeline_id IN (SELECT id FROM pipelines WHERE project_id = ")
        .id(project.0)
        .sql(" AND sha = ")
        .text(commit.to_string());
    let pipelines = match reference {
        Some(reference) => pipelines.sql(" AND reference = ").text(reference),
        None => pipelines,
    };
    pipelines.sql(")")
}
