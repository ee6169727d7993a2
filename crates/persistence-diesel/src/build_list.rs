//! Which builds a list has.

use hexforge_domain::build::{BuildFilter, StatusFilter};
use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::ProjectId;

use crate::backend;
use crate::sql::Sql;

/// The ids of the jobs of a project that fit.
pub(crate) fn jobs(project: ProjectId, filter: &BuildFilter) -> Sql {
    let conditions = [
        Some(Sql::new("project_id = ").id(project.0)),
        Some(Sql::new("kind = 'build'")),
        filter.statuses.as_deref().map(among),
        filter.commit.map(|commit| of_commit(project, commit, None)),
    ];
    Sql::new("SELECT id FROM builds").filter(conditions.into_iter().flatten())
}

/// The ids of everything that counts for a commit and fits; nothing does where a text cannot be stored.
pub(crate) fn statuses(project: ProjectId, filter: &StatusFilter) -> Option<Sql> {
    let texts = [&filter.reference, &filter.stage, &filter.name];
    if texts.into_iter().flatten().any(|text| backend::unstorable(text)) {
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

fn among(statuses: &[Status]) -> Sql {
    let none = Sql::new("status IN (NULL");
    let all =
        statuses.iter().fold(none, |sql, status| sql.sql(", ").text(status.as_str().to_owned()));
    all.sql(")")
}

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
