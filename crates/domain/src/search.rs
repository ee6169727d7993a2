//! Searches by title across projects.

use chrono::NaiveDate;

use crate::id::ProjectId;
use crate::issue::query::Clearance;
use crate::ports::store_error::StoreError;
use crate::project::query::Viewer;

/// A search by title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TitleSearch {
    /// What is searched for.
    pub kind: SearchedKind,
    /// A substring of the title, ignoring the case of ASCII letters.
    pub text: String,
    /// Only in this project.
    pub project: Option<ProjectId>,
    /// The reader. Only projects that the reader may see are searched. Merge requests are found where the reader sees
    /// the code, or if the reader is author or assignee.
    pub viewer: Viewer,
    /// The confidential issues to include.
    pub clearance: Clearance,
    /// The day on which memberships and shares have to be valid.
    pub today: NaiveDate,
    /// The maximum number of results.
    pub limit: u32,
}

/// What a search finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchedKind {
    /// Issues, in projects with issues enabled.
    Issues,
    /// Merge requests, in projects with merge requests enabled.
    MergeRequests,
    /// Milestones, in projects with issues or merge requests enabled.
    Milestones,
}

/// Searches by title.
pub trait Searches {
    /// The ids of what is found, newest first.
    fn by_title(&mut self, search: &TitleSearch) -> Result<Vec<i64>, StoreError>;
}
