//! Builds and pipelines.

use hexforge_domain::Timestamp;
use hexforge_domain::ci::when::When;
use hexforge_domain::outbox::ci::{BuildEvent, BuildRow, PipelineEvent};
use hexforge_domain::outbox::project::Person;
use serde_json::{Value, json};

use super::{commit_block, row_time};
use crate::entities::blocks::{PersonBlock, Place, RepositoryBlock, ShortProjectBlock};
use hexforge_http_edge::links::Links;

/// The payload for a build that was created, started or ended.
pub fn build(event: &BuildEvent, links: &Links) -> Value {
    let (build, pipeline, commit) = (&event.build, &event.pipeline, &event.commit);
    let user = build.user.as_ref();
    json!({
        "object_kind": "build",
        "ref": pipeline.reference,
        "tag": pipeline.tag,
        "before_sha": pipeline.before_sha.to_string(),
        "sha": pipeline.sha.to_string(),
        "build_id": build.id.0,
        "build_name": build.name,
        "build_stage": build.stage,
        "build_status": build.status.as_str(),
        "build_started_at": build.started_at.map(row_time),
        "build_finished_at": build.finished_at.map(row_time),
        "build_duration": seconds(build),
        "build_allow_failure": event.allow_failure,
        "project_id": event.project.id.0,
        "project_name": event.project_name,
        "user": {
            "id": user.map(|user| user.id.0),
            "name": user.map(|user| &user.name),
            "email": user.map(|user| &user.email),
        },
        "commit": {
            "id": pipeline.id.0,
            "sha": pipeline.sha.to_string(),
            "message": commit.message,
            "author_name": commit.author_name,
            "author_email": commit.author_email,
            "status": pipeline.status.as_str(),
            "duration": pipeline.duration,
            "started_at": pipeline.started_at.map(row_time),
            "finished_at": pipeline.finished_at.map(row_time),
        },
        "repository": RepositoryBlock::new(Place::from(&event.project), links),
    })
}

/// The payload for a pipeline whose status changed.
pub fn pipeline(event: &PipelineEvent, links: &Links) -> Value {
    let (pipeline, commit) = (&event.pipeline, &event.commit);
    json!({
        "object_kind": "pipeline",
        "object_attributes": {
            "id": pipeline.id.0,
            "ref": pipeline.reference,
            "tag": pipeline.tag,
            "sha": pipeline.sha.to_string(),
            "before_sha": pipeline.before_sha.to_string(),
            "status": pipeline.status.as_str(),
            "stages": event.stages,
            "created_at": row_time(pipeline.created_at),
            "finished_at": pipeline.finished_at.map(row_time),
            "duration": pipeline.duration,
        },
        "user": person(event.user.as_ref(), links),
        "project": ShortProjectBlock::new(Place::from(&event.project), links),
        "commit": commit_block(pipeline.sha, commit, &event.project, links),
        "builds": event.builds.iter().map(|build| row(build, links)).collect::<Vec<_>>(),
    })
}

/// A build in the payload of its pipeline.
fn row(build: &BuildRow, links: &Links) -> Value {
    let artifacts = build.artifacts.as_ref();
    json!({
        "id": build.id.0,
        "stage": build.stage,
        "name": build.name,
        "status": build.status.as_str(),
        "created_at": row_time(build.created_at),
        "started_at": build.started_at.map(row_time),
        "finished_at": build.finished_at.map(row_time),
        "when": build.when.as_str(),
        "manual": build.when == When::Manual,
        "user": person(build.user.as_ref(), links),
        "runner": build.runner.as_ref().map(|runner| json!({
            "id": runner.id.0,
            "description": runner.description,
            "active": runner.active,
            "is_shared": runner.shared,
        })),
        "artifacts_file": {
            "filename": artifacts.map(|(name, _)| name),
            "size": artifacts.map(|(_, size)| size),
        },
    })
}

fn person(person: Option<&Person>, links: &Links) -> Value {
    person.map_or(Value::Null, |person| json!(PersonBlock::new(person, links)))
}

/// The duration of a build that has ended.
fn seconds(build: &BuildRow) -> Option<f64> {
    let (began, ended): (Timestamp, Timestamp) = build.started_at.zip(build.finished_at)?;
    Some((ended - began).num_milliseconds() as f64 / 1000.0)
}
