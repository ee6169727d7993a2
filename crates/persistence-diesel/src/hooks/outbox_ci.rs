//! What happened to pipelines and builds, as rows of the outbox.

use chrono::{DateTime, FixedOffset};
use hexforge_domain::Timestamp;
use hexforge_domain::ci::status::Status;
use hexforge_domain::ci::when::When;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{BuildId, PipelineId, RunnerId};
use hexforge_domain::outbox::ci::{BuildNews, BuildRow, PipelineNews, PipelineRow, RunnerRow};
use hexforge_domain::pipeline::CommitFacts;
use serde_json::{Value, json};

use crate::hooks::outbox::{micros, text};
use crate::hooks::outbox_project::{
    card_from_json, card_to_json, person_from_json, person_to_json,
};

pub(crate) fn build_to_json(news: &BuildNews) -> Value {
    json!({
        "project": card_to_json(&news.project),
        "project_name": news.project_name,
        "pipeline": pipeline_row(&news.pipeline),
        "commit": commit_to_json(&news.commit),
        "build": build_row(&news.build),
        "allow_failure": news.allow_failure,
    })
}

pub(crate) fn build_from_json(payload: &Value) -> Option<BuildNews> {
    Some(BuildNews {
        project: card_from_json(&payload["project"])?,
        project_name: text(payload, "project_name")?,
        pipeline: pipeline(&payload["pipeline"])?,
        commit: commit_from_json(&payload["commit"])?,
        build: build(&payload["build"])?,
        allow_failure: payload["allow_failure"].as_bool()?,
    })
}

pub(crate) fn pipeline_to_json(news: &PipelineNews) -> Value {
    json!({
        "project": card_to_json(&news.project),
        "default_branch": news.default_branch,
        "pipeline": pipeline_row(&news.pipeline),
        "user": news.user.as_ref().map(person_to_json),
        "commit": commit_to_json(&news.commit),
        "stages": news.stages,
        "builds": news.builds.iter().map(build_row).collect::<Vec<_>>(),
    })
}

pub(crate) fn pipeline_from_json(payload: &Value) -> Option<PipelineNews> {
    let stages = payload["stages"].as_array()?.iter();
    let stages = stages.map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>();
    let builds = payload["builds"].as_array()?.iter().map(build).collect::<Option<_>>();
    Some(PipelineNews {
        project: card_from_json(&payload["project"])?,
        default_branch: text(payload, "default_branch"),
        pipeline: pipeline(&payload["pipeline"])?,
        user: nullable(&payload["user"], person_from_json)?,
        commit: commit_from_json(&payload["commit"])?,
        stages: stages?,
        builds: builds?,
    })
}

/// `None` when something is there that cannot be read.
fn nullable<T>(value: &Value, read: fn(&Value) -> Option<T>) -> Option<Option<T>> {
    match value {
        Value::Null => Some(None),
        value => read(value).map(Some),
    }
}

fn moment(moment: Option<Timestamp>) -> Option<i64> {
    moment.map(|moment| moment.timestamp_micros())
}

fn pipeline_row(row: &PipelineRow) -> Value {
    json!({
        "id": row.id.0,
        "ref": row.reference,
        "tag": row.tag,
        "sha": row.sha.to_string(),
        "before_sha": row.before_sha.to_string(),
        "status": row.status.as_str(),
        "created_at": row.created_at.timestamp_micros(),
        "started_at": moment(row.started_at),
        "finished_at": moment(row.finished_at),
        "duration": row.duration,
    })
}

fn pipeline(payload: &Value) -> Option<PipelineRow> {
    Some(PipelineRow {
        id: PipelineId(payload["id"].as_i64()?),
        reference: text(payload, "ref")?,
        tag: payload["tag"].as_bool()?,
        sha: ObjectId::parse(payload["sha"].as_str()?)?,
        before_sha: ObjectId::parse(payload["before_sha"].as_str()?)?,
        status: Status::parse(payload["status"].as_str()?)?,
        created_at: micros(payload, "created_at")?,
        started_at: micros(payload, "started_at"),
        finished_at: micros(payload, "finished_at"),
        duration: payload["duration"].as_i64(),
    })
}

fn commit_to_json(commit: &CommitFacts) -> Value {
    json!({
        "message": commit.message,
        "author_name": commit.author_name,
        "author_email": commit.author_email,
        "authored_at": commit.authored_at.to_rfc3339(),
        "committed_at": commit.committed_at.to_rfc3339(),
    })
}

fn commit_from_json(payload: &Value) -> Option<CommitFacts> {
    Some(CommitFacts {
        message: text(payload, "message")?,
        author_name: text(payload, "author_name")?,
        author_email: text(payload, "author_email")?,
        authored_at: with_offset(&payload["authored_at"])?,
        committed_at: with_offset(&payload["committed_at"])?,
    })
}

fn with_offset(value: &Value) -> Option<DateTime<FixedOffset>> {
    DateTime::parse_from_rfc3339(value.as_str()?).ok()
}

fn build_row(row: &BuildRow) -> Value {
    let runner = |runner: &RunnerRow| {
        json!({
            "id": runner.id.0,
            "description": runner.description,
            "active": runner.active,
            "is_shared": runner.shared,
        })
    };
    let file = |(name, size): &(String, u64)| json!({ "filename": name, "size": size });
    json!({
        "id": row.id.0,
        "stage": row.stage,
        "name": row.name,
        "status": row.status.as_str(),
        "created_at": row.created_at.timestamp_micros(),
        "started_at": moment(row.started_at),
        "finished_at": moment(row.finished_at),
        "when": row.when.as_str(),
        "user": row.user.as_ref().map(person_to_json),
        "runner": row.runner.as_ref().map(runner),
        "artifacts_file": row.artifacts.as_ref().map(file),
    })
}

fn build(payload: &Value) -> Option<BuildRow> {
    let runner = |payload: &Value| {
        Some(RunnerRow {
            id: RunnerId(payload["id"].as_i64()?),
            description: text(payload, "description")?,
            active: payload["active"].as_bool()?,
            shared: payload["is_shared"].as_bool()?,
        })
    };
    let file = |payload: &Value| Some((text(payload, "filename")?, payload["size"].as_u64()?));
    Some(BuildRow {
        id: BuildId(payload["id"].as_i64()?),
        stage: text(payload, "stage")?,
        name: text(payload, "name")?,
        status: Status::parse(payload["status"].as_str()?)?,
        created_at: micros(payload, "created_at")?,
        started_at: micros(payload, "started_at"),
        finished_at: micros(payload, "finished_at"),
        when: When::parse(payload["when"].as_str()?)?,
        user: nullable(&payload["user"], person_from_json)?,
        runner: nullable(&payload["runner"], runner)?,
        artifacts: nullable(&payload["artifacts_file"], file)?,
    })
}
