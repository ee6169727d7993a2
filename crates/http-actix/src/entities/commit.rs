//! Commits.

use std::fmt;

use chrono::{DateTime, Datelike, FixedOffset, Timelike};
use hexforge_application::repository::commits::CommitView;
use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::{Commit, ObjectId, title_of};
use hexforge_domain::pipeline::CommitFacts;
use hexforge_domain::repository::CommitStats;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

/// A time as git recorded it, with its offset: `2012-06-27T05:51:39.000-07:00`.
#[derive(ToSchema)]
#[schema(description = "With the offset that git recorded", value_type = String, format = DateTime)]
pub struct GitTime(pub DateTime<FixedOffset>);

impl fmt::Display for GitTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (date, time) = (self.0.date_naive(), self.0.time());
        let offset = self.0.offset().local_minus_utc();
        let sign = if offset < 0 { '-' } else { '+' };
        let minutes = offset.abs() / 60;
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.000{sign}{:02}:{:02}",
            date.year(),
            date.month(),
            date.day(),
            time.hour(),
            time.minute(),
            time.second(),
            minutes / 60,
            minutes % 60
        )
    }
}

impl Serialize for GitTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The commit of a branch or tag.
#[derive(Serialize, ToSchema)]
pub struct RefCommitJson {
    id: String,
    message: String,
    parent_ids: Vec<String>,
    /// The same ids under a second name, which the specification uses in some calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<String>, required = false)]
    parents_ids: Option<Vec<String>>,
    authored_date: GitTime,
    author_name: String,
    author_email: String,
    committed_date: GitTime,
    committer_name: String,
    committer_email: String,
}

impl From<Commit> for RefCommitJson {
    fn from(commit: Commit) -> Self {
        Self {
            id: commit.id.to_string(),
            message: commit.message,
            parent_ids: commit.parents.iter().map(ToString::to_string).collect(),
            parents_ids: None,
            authored_date: GitTime(commit.author.at),
            author_name: commit.author.name,
            author_email: commit.author.email,
            committed_date: GitTime(commit.committer.at),
            committer_name: commit.committer.name,
            committer_email: commit.committer.email,
        }
    }
}

impl RefCommitJson {
    /// With the parents under both names.
    pub fn with_both_names(commit: Commit) -> Self {
        let shown = Self::from(commit);
        Self { parents_ids: Some(shown.parent_ids.clone()), ..shown }
    }
}

/// A commit in lists.
#[derive(Serialize, ToSchema)]
pub struct CommitJson {
    id: String,
    short_id: String,
    title: String,
    author_name: String,
    author_email: String,
    created_at: GitTime,
    message: String,
}

impl CommitJson {
    /// A commit of which the database has the facts.
    pub fn from_facts(id: ObjectId, facts: &CommitFacts) -> Self {
        let id = id.to_string();
        Self {
            short_id: id[..8].to_owned(),
            title: title_of(&facts.message),
            author_name: facts.author_name.clone(),
            author_email: facts.author_email.clone(),
            created_at: GitTime(facts.committed_at),
            message: facts.message.clone(),
            id,
        }
    }
}

impl From<&Commit> for CommitJson {
    fn from(commit: &Commit) -> Self {
        let id = commit.id.to_string();
        Self {
            short_id: id[..8].to_owned(),
            title: commit.title(),
            author_name: commit.author.name.clone(),
            author_email: commit.author.email.clone(),
            created_at: GitTime(commit.committer.at),
            message: commit.message.clone(),
            id,
        }
    }
}

/// A commit with its dates, its statistics and the status of its pipelines.
#[derive(Serialize, ToSchema)]
pub struct CommitDetailJson {
    #[serde(flatten)]
    commit: CommitJson,
    parent_ids: Vec<String>,
    committed_date: GitTime,
    authored_date: GitTime,
    stats: CommitStatsJson,
    status: Option<&'static str>,
}

/// The number of changed lines of a commit.
#[derive(Serialize, ToSchema)]
struct CommitStatsJson {
    additions: u64,
    deletions: u64,
    total: u64,
}

impl From<&CommitView> for CommitDetailJson {
    fn from(view: &CommitView) -> Self {
        let CommitView { commit, stats, status } = view;
        let CommitStats { additions, deletions, .. } = *stats;
        Self {
            commit: CommitJson::from(commit),
            parent_ids: commit.parents.iter().map(ToString::to_string).collect(),
            committed_date: GitTime(commit.committer.at),
            authored_date: GitTime(commit.author.at),
            stats: CommitStatsJson { additions, deletions, total: additions + deletions },
            status: status.map(Status::as_str),
        }
    }
}

#[cfg(test)]
mod tests {
    use hexforge_domain::commit::Signature;

    use super::*;

    #[test]
    fn git_times_keep_their_offset() {
        for (seconds, offset, text) in [
            (1_340_801_499, -7 * 3600, "2012-06-27T05:51:39.000-07:00"),
            (1_340_801_499, 0, "2012-06-27T12:51:39.000+00:00"),
            (1_340_801_499, 5 * 3600 + 1800, "2012-06-27T18:21:39.000+05:30"),
        ] {
            assert_eq!(GitTime(Signature::time(seconds, offset)).to_string(), text);
        }
    }
}
