//! The JSON form of system events in the outbox.

use hexforge_domain::Timestamp;
use hexforge_domain::id::{KeyId, NamespaceId, ProjectId, UserId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::{
    DeployKeyFacts, GroupFacts, GroupMemberFacts, KeyFacts, MemberFacts, ProjectFacts, TeamFacts,
    UserFacts,
};
use hexforge_domain::visibility::Visibility;

use crate::database::json::stored;

/// A project that was renamed or transferred.
pub(crate) struct MovedProject {
    pub(crate) project: ProjectFacts,
    /// The full path before the change.
    pub(crate) before: String,
}

stored! {
    UserFacts {
        id: UserId,
        username: String,
        name: String,
        email: String,
        created_at: Timestamp,
        updated_at: Timestamp,
    }

    KeyFacts {
        id: KeyId,
        key: String,
        username: String,
        created_at: Timestamp,
    }

    DeployKeyFacts {
        id: KeyId,
        key: String,
        created_at: Timestamp,
    }

    ProjectFacts {
        id: ProjectId,
        name: String,
        path: String,
        path_with_namespace: String,
        owner_name: String,
        owner_email: String,
        #[serde(rename = "visibility_level")] visibility: Visibility,
        created_at: Timestamp,
        updated_at: Timestamp,
    }

    MovedProject {
        project: ProjectFacts,
        before: String,
    }

    MemberFacts {
        #[serde(rename = "user_id")] user: UserId,
        username: String,
        name: String,
        email: String,
        #[serde(rename = "access_level")] access: AccessLevel,
        at: Timestamp,
    }

    TeamFacts {
        project: ProjectFacts,
        member: MemberFacts,
    }

    GroupFacts {
        id: NamespaceId,
        name: String,
        path: String,
        created_at: Timestamp,
        updated_at: Timestamp,
    }

    GroupMemberFacts {
        group: GroupFacts,
        member: MemberFacts,
    }
}
