//! The permission matrix of every actor, visibility level and ability: reference section 1.11.

use super::{ProjectAbility, ProjectFacts, ProjectRole};
use crate::id::UserId;
use crate::member::AccessLevel;
use crate::policy::{Actor, Denied, authorize};
use crate::project::Archived;
use crate::visibility::Visibility;

/// Short names of the outcomes in the tables.
const OK: Result<(), Denied> = Ok(());
const WHO: Result<(), Denied> = Err(Denied::Unauthenticated);
const HIDDEN: Result<(), Denied> = Err(Denied::Hidden);
const NO: Result<(), Denied> = Err(Denied::Forbidden);

/// The caller, in the first column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Anonymous,
    Stranger,
    ExternalStranger,
    Guest,
    ExternalGuest,
    Reporter,
    ExternalReporter,
    Developer,
    ExternalDeveloper,
    Master,
    ExternalMaster,
    Owner,
    ExternalOwner,
    Admin,
}

use Who::*;

impl Who {
    fn actor(self) -> Actor {
        let external = matches!(
            self,
            ExternalStranger
                | ExternalGuest
                | ExternalReporter
                | ExternalDeveloper
                | ExternalMaster
                | ExternalOwner
        );
        match self {
            Anonymous => Actor::Anonymous,
            Admin => Actor::Admin { id: UserId(1) },
            Stranger | ExternalStranger | Guest | ExternalGuest | Reporter | ExternalReporter
            | Developer | ExternalDeveloper | Master | ExternalMaster | Owner | ExternalOwner => {
                Actor::User { id: UserId(2), external }
            }
        }
    }

    fn role(self) -> ProjectRole {
        let level = match self {
            Anonymous | Stranger | ExternalStranger | Admin => None,
            Guest | ExternalGuest => Some(AccessLevel::Guest),
            Reporter | ExternalReporter => Some(AccessLevel::Reporter),
            Developer | ExternalDeveloper => Some(AccessLevel::Developer),
            Master | ExternalMaster => Some(AccessLevel::Master),
            // The owner of the namespace owns the project without a membership.
            Owner | ExternalOwner => None,
        };
        ProjectRole { level, owner: matches!(self, Owner | ExternalOwner) }
    }
}

/// A line: the caller, and the outcome for each of [`ProjectAbility::ALL`].
type Line = (Who, [Result<(), Denied>; 8]);

#[rustfmt::skip]
const PRIVATE: [Line; 14] = [
    //                   Read    Star    Upload  Download Push    Unreachable Administer Own
    (Anonymous,         [WHO,    WHO,    WHO,    WHO,     WHO,    WHO,        WHO,       WHO]),
    (Stranger,          [HIDDEN, HIDDEN, HIDDEN, HIDDEN,  HIDDEN, HIDDEN,     HIDDEN,    HIDDEN]),
    (ExternalStranger,  [HIDDEN, HIDDEN, HIDDEN, HIDDEN,  HIDDEN, HIDDEN,     HIDDEN,    HIDDEN]),
    (Guest,             [OK,     OK,     OK,     NO,      NO,     NO,         NO,        NO]),
    (ExternalGuest,     [OK,     OK,     OK,     NO,      NO,     NO,         NO,        NO]),
    (Reporter,          [OK,     OK,     OK,     OK,      NO,     NO,         NO,        NO]),
    (ExternalReporter,  [OK,     OK,     OK,     OK,      NO,     NO,         NO,        NO]),
    (Developer,         [OK,     OK,     OK,     OK,      OK,     NO,         NO,        NO]),
    (ExternalDeveloper, [OK,     OK,     OK,     OK,      OK,     NO,         NO,        NO]),
    (Master,            [OK,     OK,     OK,     OK,      OK,     OK,         OK,        NO]),
    (ExternalMaster,    [OK,     OK,     OK,     OK,      OK,     OK,         OK,        NO]),
    (Owner,             [OK,     OK,     OK,     OK,      OK,     OK,         OK,        OK]),
    (ExternalOwner,     [OK,     OK,     OK,     OK,      OK,     OK,         OK,        OK]),
    (Admin,             [OK,     OK,     OK,     OK,      OK,     OK,         OK,        OK]),
];

#[rustfmt::skip]
const INTERNAL: [Line; 14] = [
    //                   Read    Star    Upload  Download Push    Unreachable Administer Own
    (Anonymous,         [WHO,    WHO,    WHO,    WHO,     WHO,    WHO,        WHO,       WHO]),
    (Stranger,          [OK,     OK,     OK,     OK,      NO,     NO,         NO,        NO]),
    (ExternalStranger,  [HIDDEN, HIDDEN, HIDDEN, HIDDEN,  HIDDEN, HIDDEN,     HIDDEN,    HIDDEN]),
    (Guest,             [OK,     OK,     OK,     OK,      NO,     NO,         NO,        NO]),
    (ExternalGuest,     [OK,     OK,     OK,     NO,      NO,     NO,         NO,        NO]),
    (Reporter,          [OK,     OK,     OK,     OK,      NO,     NO,         NO,        NO]),
    (ExternalReporter,  [OK,     OK,     OK,     OK,      NO,     NO,         NO,        NO]),
    (Developer,         [OK,     OK,     OK,     OK,      OK,     NO,         NO,        NO]),
    (ExternalDeveloper, [OK,     OK,     OK,     OK,      OK,     NO,         NO,        NO]),
    (Master,            [OK,     OK,     OK,     OK,      OK,     OK,         OK,        NO]),
    (ExternalMaster,    [OK,     OK,     OK,     OK,      OK,     OK,         OK,        NO]),
    (Owner,             [OK,     OK,     OK,     OK,      OK,     OK,         OK,        OK]),
    (ExternalOwner,     [OK,     OK,     OK,     OK,      OK,     OK,         OK,        OK]),
    (Admin,             [OK,     OK,     OK,     OK,      OK,     OK,         OK,        OK]),
];

#[rustfmt::skip]
const PUBLIC: [Line; 14] = [
    //                   Read    Star    Upload  Download Push    Unreachable Administer Own
    (Anonymous,         [OK,     WHO,    WHO,    OK,      WHO,    WHO,        WHO,       WHO]),
    (Stranger,          [OK,     OK,     OK,     OK,      NO,     NO,         NO,        NO]),
    (ExternalStranger,  [OK,     OK,     OK,     OK,      NO,     NO,         NO,        NO]),
    (Guest,             [OK,     OK,     OK,     OK,      NO,     NO,         NO,        NO]),
    (ExternalGuest,     [OK,     OK,     OK,     OK,      NO,     NO,         NO,        NO]),
    (Reporter,          [OK,     OK,     OK,     OK,      NO,     NO,         NO,        NO]),
    (ExternalReporter,  [OK,     OK,     OK,     OK,      NO,     NO,         NO,        NO]),
    (Developer,         [OK,     OK,     OK,     OK,      OK,     NO,         NO,        NO]),
    (ExternalDeveloper, [OK,     OK,     OK,     OK,      OK,     NO,         NO,        NO]),
    (Master,            [OK,     OK,     OK,     OK,      OK,     OK,         OK,        NO]),
    (ExternalMaster,    [OK,     OK,     OK,     OK,      OK,     OK,         OK,        NO]),
    (Owner,             [OK,     OK,     OK,     OK,      OK,     OK,         OK,        OK]),
    (ExternalOwner,     [OK,     OK,     OK,     OK,      OK,     OK,         OK,        OK]),
    (Admin,             [OK,     OK,     OK,     OK,      OK,     OK,         OK,        OK]),
];

#[test]
fn the_whole_matrix_of_projects() {
    for (visibility, table) in [
        (Visibility::Private, PRIVATE),
        (Visibility::Internal, INTERNAL),
        (Visibility::Public, PUBLIC),
    ] {
        for (who, expected) in table {
            let role = who.role();
            let facts = ProjectFacts { visibility, role, archived: Archived::No };
            let found = ProjectAbility::ALL.map(|ability| authorize(who.actor(), ability, &facts));
            assert_eq!(found, expected, "{who:?} of a {} project", visibility.as_str());
        }
    }
}

#[test]
fn nobody_pushes_to_an_archived_project_and_nothing_else_changes() {
    for (who, expected) in PRIVATE {
        let role = who.role();
        let facts = ProjectFacts { visibility: Visibility::Private, role, archived: Archived::Yes };
        for (ability, expected) in ProjectAbility::ALL.into_iter().zip(expected) {
            let expected = match (ability, expected) {
                (ProjectAbility::PushCode, OK) => NO,
                (_, expected) => expected,
            };
            let found = authorize(who.actor(), ability, &facts);
            assert_eq!(found, expected, "{who:?} {ability:?}");
        }
    }
}

#[test]
fn every_table_has_a_line_for_everybody() {
    for table in [INTERNAL, PUBLIC] {
        assert_eq!(table.map(|(who, _)| who), PRIVATE.map(|(who, _)| who));
    }
    for (place, (who, _)) in PRIVATE.iter().enumerate() {
        assert!(!PRIVATE[..place].iter().any(|(other, _)| other == who), "{who:?} twice");
    }
}

/// An owner of a project's group has both the access level and the ownership; the level alone is not enough.
#[test]
fn owning_by_level_alone_is_not_owning() {
    let user = Actor::User { id: UserId(2), external: false };
    for (level, owner, expected) in [
        (Some(AccessLevel::Owner), true, OK),
        (Some(AccessLevel::Owner), false, NO),
        (Some(AccessLevel::Guest), true, OK),
    ] {
        let role = ProjectRole { level, owner };
        let facts = ProjectFacts { visibility: Visibility::Private, role, archived: Archived::No };
        assert_eq!(authorize(user, ProjectAbility::Own, &facts), expected, "{role:?}");
    }
}

#[test]
fn roles_do_not_matter_for_administrators_and_anonymous_callers() {
    let role = ProjectRole { level: Some(AccessLevel::Master), owner: true };
    for visibility in Visibility::ALL {
        for (who, table_line) in [(Anonymous, 0), (Admin, 13)] {
            let table = match visibility {
                Visibility::Private => PRIVATE,
                Visibility::Internal => INTERNAL,
                Visibility::Public => PUBLIC,
            };
            let facts = ProjectFacts { visibility, role, archived: Archived::No };
            let found = ProjectAbility::ALL.map(|ability| authorize(who.actor(), ability, &facts));
            assert_eq!((who, found), table[table_line], "{visibility:?}");
        }
    }
}
