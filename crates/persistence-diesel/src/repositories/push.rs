//! The JSON form of pushes, in activity events and in the outbox.

use chrono::{DateTime, FixedOffset};
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::push::{ChangedPaths, HookScope, Push, PushedCommit, PushedProject, Pusher};
use hexforge_domain::visibility::Visibility;

use crate::database::json::{stored, stored_as};

stored_as! {
    HookScope => Option<String>: |reach| match reach {
        HookScope::Everywhere => None,
        HookScope::Project => Some("project".to_owned()),
    }, |word| match word.as_deref() {
        None => Some(HookScope::Everywhere),
        Some("project") => Some(HookScope::Project),
        Some(_) => None,
    };
}

stored! {
    Push {
        #[serde(rename = "ref")] reference: String,
        before: ObjectId,
        after: ObjectId,
        #[serde(default)] checkout: Option<ObjectId>,
        #[serde(default)] message: Option<String>,
        user: Pusher,
        project: PushedProject,
        commits: Vec<PushedCommit>,
        #[serde(rename = "total")] total_commits: u64,
        // The first versions did not write this field.
        #[serde(default)] reach: HookScope,
    }

    Pusher {
        id: UserId,
        name: String,
        email: String,
        #[serde(default)] avatar: Option<String>,
    }

    PushedProject {
        id: ProjectId,
        name: String,
        #[serde(default)] description: Option<String>,
        #[serde(default)] avatar: Option<String>,
        namespace: String,
        visibility: Visibility,
        #[serde(rename = "path")] path_with_namespace: String,
        #[serde(default)] default_branch: Option<String>,
    }

    PushedCommit {
        id: ObjectId,
        message: String,
        at: DateTime<FixedOffset>,
        #[serde(rename = "name")] author_name: String,
        #[serde(rename = "email")] author_email: String,
        #[serde(flatten)] paths: ChangedPaths,
    }

    ChangedPaths {
        added: Vec<String>,
        modified: Vec<String>,
        removed: Vec<String>,
    }
}
