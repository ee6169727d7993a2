//! Tags and releases.

use hexforge_application::tag::TagView;
use hexforge_domain::tag::Release;
use serde::Serialize;
use utoipa::ToSchema;

use super::commit::RefCommitJson;

/// A tag in a response.
#[derive(Serialize, ToSchema)]
pub struct TagJson {
    name: String,
    message: Option<String>,
    commit: RefCommitJson,
    release: Option<ReleaseJson>,
}

impl TagJson {
    /// The tag as a single response.
    pub fn single(view: TagView) -> Self {
        let commit = view.tag.commit.clone().into();
        Self::new(view, commit)
    }

    /// The tag in lists, and when it is created.
    pub fn listed(view: TagView) -> Self {
        let commit = RefCommitJson::with_both_names(view.tag.commit.clone());
        Self::new(view, commit)
    }

    fn new(view: TagView, commit: RefCommitJson) -> Self {
        Self {
            name: view.tag.name.as_str().to_owned(),
            message: view.tag.message,
            commit,
            release: view.release.map(ReleaseJson::from),
        }
    }
}

/// A release in a response.
#[derive(Serialize, ToSchema)]
pub struct ReleaseJson {
    tag_name: String,
    description: String,
}

impl From<Release> for ReleaseJson {
    fn from(release: Release) -> Self {
        Self { tag_name: release.tag.as_str().to_owned(), description: release.description }
    }
}
