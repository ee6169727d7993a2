//! The JSON form of pipeline and build events in the outbox.

use chrono::{DateTime, FixedOffset};
use hexforge_domain::Timestamp;
use hexforge_domain::ci::status::Status;
use hexforge_domain::ci::when::When;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{BuildId, PipelineId, RunnerId};
use hexforge_domain::outbox::ci::{BuildEvent, BuildRow, PipelineEvent, PipelineRow, RunnerRow};
use hexforge_domain::outbox::project::{Person, ProjectCard};
use hexforge_domain::pipeline::CommitFacts;

use crate::database::json::{stored, stored_as};

struct ArtifactsFile {
    filename: String,
    size: u64,
}

stored_as! {
    (String, u64) => ArtifactsFile:
        |(name, size)| ArtifactsFile { filename: name.clone(), size: *size },
        |file| Some((file.filename, file.size));
}

stored! {
    BuildEvent {
        project: ProjectCard,
        project_name: String,
        pipeline: PipelineRow,
        commit: CommitFacts,
        build: BuildRow,
        allow_failure: bool,
    }

    PipelineEvent {
        project: ProjectCard,
        #[serde(default)] default_branch: Option<String>,
        pipeline: PipelineRow,
        #[serde(default)] user: Option<Person>,
        commit: CommitFacts,
        stages: Vec<String>,
        builds: Vec<BuildRow>,
    }

    PipelineRow {
        id: PipelineId,
        #[serde(rename = "ref")] reference: String,
        tag: bool,
        sha: ObjectId,
        before_sha: ObjectId,
        status: Status,
        created_at: Timestamp,
        #[serde(default)] started_at: Option<Timestamp>,
        #[serde(default)] finished_at: Option<Timestamp>,
        #[serde(default)] duration: Option<i64>,
    }

    CommitFacts {
        message: String,
        author_name: String,
        author_email: String,
        authored_at: DateTime<FixedOffset>,
        committed_at: DateTime<FixedOffset>,
    }

    BuildRow {
        id: BuildId,
        stage: String,
        name: String,
        status: Status,
        created_at: Timestamp,
        #[serde(default)] started_at: Option<Timestamp>,
        #[serde(default)] finished_at: Option<Timestamp>,
        when: When,
        #[serde(default)] user: Option<Person>,
        #[serde(default)] runner: Option<RunnerRow>,
        #[serde(default, rename = "artifacts_file")] artifacts: Option<(String, u64)>,
    }

    ArtifactsFile {
        filename: String,
        size: u64,
    }

    RunnerRow {
        id: RunnerId,
        description: String,
        active: bool,
        #[serde(rename = "is_shared")] shared: bool,
    }
}
