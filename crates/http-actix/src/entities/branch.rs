//! Branches.

use hexforge_application::branch::BranchView;
use serde::Serialize;
use utoipa::ToSchema;

use super::commit::RefCommitJson;

/// A branch in a response.
#[derive(Serialize, ToSchema)]
pub struct BranchJson {
    name: String,
    commit: RefCommitJson,
    protected: bool,
    developers_can_push: bool,
    developers_can_merge: bool,
}

impl From<BranchView> for BranchJson {
    fn from(view: BranchView) -> Self {
        Self {
            name: view.branch.name.as_str().to_owned(),
            commit: view.branch.commit.into(),
            protected: view.protection.protected,
            developers_can_push: view.protection.developers.push,
            developers_can_merge: view.protection.developers.merge,
        }
    }
}
