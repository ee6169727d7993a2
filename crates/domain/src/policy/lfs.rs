//! The rules about Git LFS.

use super::project::{ProjectAbility, ProjectFacts};
use super::{Actor, Denied, Protected};
use crate::lfs::LfsOperation;

/// The caller of an LFS request, by the kind of its credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LfsCaller {
    /// A user, or a caller without credentials.
    Actor(Actor),
    /// A user whose credentials only allow reading.
    Reader(Actor),
    /// A running build, which reads what its user may read.
    BuildOfUser(Actor),
    /// A running build without a user, which reads its own project.
    BuildOfProject {
        /// Whether the request is about that project.
        is_own: bool,
    },
    /// A deploy key.
    DeployKey {
        /// Whether the project has the key.
        is_attached: bool,
    },
}

/// The facts about a project for decisions about its LFS objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LfsFacts {
    /// The facts about the project and the user of the caller.
    pub project: ProjectFacts,
    /// Whether LFS is on for the project.
    pub enabled: bool,
}

impl LfsCaller {
    /// Checks whether the caller may transfer objects of the project.
    pub fn authorize(self, operation: LfsOperation, on: &LfsFacts) -> Result<(), Denied> {
        let (ability, is_upload) = match operation {
            LfsOperation::Download => (ProjectAbility::DownloadCode, false),
            LfsOperation::Upload => (ProjectAbility::PushCode, true),
        };
        let allows = |actor, ability| on.project.allows(actor, ability);
        let is_public = allows(Actor::Anonymous, ProjectAbility::DownloadCode);
        let (is_readable, is_allowed) = match self {
            // Signing in does not help where LFS is off, so only other refusals ask for credentials.
            LfsCaller::Actor(Actor::Anonymous) if is_upload || !is_public => {
                return Err(Denied::Unauthenticated);
            }
            LfsCaller::BuildOfUser(_) | LfsCaller::BuildOfProject { .. } if is_upload => {
                return Err(Denied::Unauthenticated);
            }
            LfsCaller::Actor(actor) => {
                (allows(actor, ProjectAbility::Read), allows(actor, ability))
            }
            LfsCaller::Reader(actor) | LfsCaller::BuildOfUser(actor) => {
                (allows(actor, ProjectAbility::Read), !is_upload && allows(actor, ability))
            }
            LfsCaller::BuildOfProject { is_own } => (is_own, is_own),
            LfsCaller::DeployKey { is_attached } => {
                (is_public || is_attached, !is_upload && (is_public || is_attached))
            }
        };
        match (is_readable, is_allowed && on.enabled) {
            (false, _) => Err(Denied::Hidden),
            (true, false) => Err(Denied::Forbidden),
            (true, true) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::UserId;
    use crate::member::AccessLevel;
    use crate::policy::project::ProjectRole;
    use crate::project::Archived;
    use crate::visibility::Visibility;

    const ADA: Actor = Actor::User { id: UserId(1), external: false };
    const EXTERNAL: Actor = Actor::User { id: UserId(1), external: true };
    const ADMIN: Actor = Actor::Admin { id: UserId(2) };

    fn facts(visibility: Visibility, level: Option<AccessLevel>) -> LfsFacts {
        let role = ProjectRole { level, owner: false };
        let project = ProjectFacts { visibility, role, archived: Archived::No };
        LfsFacts { project, enabled: true }
    }

    /// The letters of the table: served, 401, 404 and 403.
    fn letter(outcome: Result<(), Denied>) -> char {
        match outcome {
            Ok(()) => 's',
            Err(Denied::Unauthenticated) => 'u',
            Err(Denied::Hidden) => 'h',
            Err(Denied::Forbidden) => 'f',
        }
    }

    fn outcomes(caller: LfsCaller, facts: &LfsFacts) -> String {
        let of = |operation| letter(caller.authorize(operation, facts));
        [of(LfsOperation::Download), of(LfsOperation::Upload)].iter().collect()
    }

    /// Downloads and uploads by caller and visibility; each outcome is the letter of `letter`.
    #[test]
    fn who_may_transfer_objects() {
        use LfsCaller::{BuildOfUser, Reader};
        use Visibility::{Internal, Private, Public};
        let user = LfsCaller::Actor;
        let level = Some;
        for (caller, role, public, internal, private) in [
            (user(Actor::Anonymous), None, "su", "uu", "uu"),
            (user(ADA), None, "sf", "sf", "hh"),
            (user(EXTERNAL), None, "sf", "hh", "hh"),
            (user(ADA), level(AccessLevel::Guest), "sf", "sf", "ff"),
            (user(ADA), level(AccessLevel::Reporter), "sf", "sf", "sf"),
            (user(ADA), level(AccessLevel::Developer), "ss", "ss", "ss"),
            (user(ADMIN), None, "ss", "ss", "ss"),
            (Reader(ADA), None, "sf", "sf", "hh"),
            (Reader(ADA), level(AccessLevel::Master), "sf", "sf", "sf"),
            (BuildOfUser(ADA), None, "su", "su", "hu"),
            (BuildOfUser(ADA), level(AccessLevel::Guest), "su", "su", "fu"),
            (BuildOfUser(ADA), level(AccessLevel::Master), "su", "su", "su"),
            (LfsCaller::BuildOfProject { is_own: true }, None, "su", "su", "su"),
            (LfsCaller::BuildOfProject { is_own: false }, None, "hu", "hu", "hu"),
            (LfsCaller::DeployKey { is_attached: true }, None, "sf", "sf", "sf"),
            (LfsCaller::DeployKey { is_attached: false }, None, "sf", "hh", "hh"),
        ] {
            for (visibility, expected) in
                [(Public, public), (Internal, internal), (Private, private)]
            {
                let found = outcomes(caller, &facts(visibility, role));
                assert_eq!(found, expected, "{caller:?} {role:?} {visibility:?}");
            }
        }
    }

    #[test]
    fn projects_without_lfs_forbid_transfers_and_stay_hidden_otherwise() {
        let off = |facts: LfsFacts| LfsFacts { enabled: false, ..facts };
        for (caller, facts, expected) in [
            (LfsCaller::Actor(Actor::Anonymous), facts(Visibility::Public, None), "fu"),
            (LfsCaller::Actor(Actor::Anonymous), facts(Visibility::Private, None), "uu"),
            (LfsCaller::Actor(ADA), facts(Visibility::Private, None), "hh"),
            (LfsCaller::Actor(ADA), facts(Visibility::Private, Some(AccessLevel::Master)), "ff"),
            (LfsCaller::Actor(ADMIN), facts(Visibility::Private, None), "ff"),
            (LfsCaller::BuildOfProject { is_own: true }, facts(Visibility::Private, None), "fu"),
            (LfsCaller::DeployKey { is_attached: true }, facts(Visibility::Private, None), "ff"),
        ] {
            assert_eq!(outcomes(caller, &off(facts)), expected, "{caller:?}");
        }
    }

    #[test]
    fn archived_projects_accept_no_uploads() {
        let mut facts = facts(Visibility::Private, Some(AccessLevel::Master));
        facts.project.archived = Archived::Yes;
        for actor in [ADA, ADMIN] {
            assert_eq!(outcomes(LfsCaller::Actor(actor), &facts), "sf", "{actor:?}");
        }
    }
}
