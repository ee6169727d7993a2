//! The permission matrix of every actor, visibility level and ability: reference section 1.11.

use super::{GroupAbility, GroupFacts};
use crate::id::UserId;
use crate::member::AccessLevel;
use crate::policy::{Actor, Denied, authorize};
use crate::visibility::Visibility;

/// Short names of the outcomes in the tables.
const OK: Result<(), Denied> = Ok(());
const WHO: Result<(), Denied> = Err(Denied::Unauthenticated);
const HIDDEN: Result<(), Denied> = Err(Denied::Hidden);
const NO: Result<(), Denied> = Err(Denied::Forbidden);

const ABILITIES: [GroupAbility; 4] = [
    GroupAbility::Read,
    GroupAbility::ReadAllProjects,
    GroupAbility::CreateProjects,
    GroupAbility::Administer,
];

const ANONYMOUS: Actor = Actor::Anonymous;
const USER: Actor = Actor::User { id: UserId(2), external: false };
const EXTERNAL: Actor = Actor::User { id: UserId(3), external: true };
const ADMIN: Actor = Actor::Admin { id: UserId(1) };

const STRANGER: Option<AccessLevel> = None;
const GUEST: Option<AccessLevel> = Some(AccessLevel::Guest);
const REPORTER: Option<AccessLevel> = Some(AccessLevel::Reporter);
const DEVELOPER: Option<AccessLevel> = Some(AccessLevel::Developer);
const MASTER: Option<AccessLevel> = Some(AccessLevel::Master);
const OWNER: Option<AccessLevel> = Some(AccessLevel::Owner);

/// A line: the caller, its access level, and the outcome for each ability.
type Line = (Actor, Option<AccessLevel>, [Result<(), Denied>; 4]);

#[rustfmt::skip]
const PRIVATE: [Line; 14] = [
    //                     Read    ReadAll Create  Administer
    (ANONYMOUS, STRANGER,  [WHO,    WHO,    WHO,    WHO]),
    (USER,      STRANGER,  [HIDDEN, HIDDEN, HIDDEN, HIDDEN]),
    (USER,      GUEST,     [OK,     OK,     NO,     NO]),
    (USER,      REPORTER,  [OK,     OK,     NO,     NO]),
    (USER,      DEVELOPER, [OK,     OK,     NO,     NO]),
    (USER,      MASTER,    [OK,     OK,     OK,     NO]),
    (USER,      OWNER,     [OK,     OK,     OK,     OK]),
    (EXTERNAL,  STRANGER,  [HIDDEN, HIDDEN, HIDDEN, HIDDEN]),
    (EXTERNAL,  GUEST,     [OK,     OK,     NO,     NO]),
    (EXTERNAL,  REPORTER,  [OK,     OK,     NO,     NO]),
    (EXTERNAL,  DEVELOPER, [OK,     OK,     NO,     NO]),
    (EXTERNAL,  MASTER,    [OK,     OK,     OK,     NO]),
    (EXTERNAL,  OWNER,     [OK,     OK,     OK,     OK]),
    (ADMIN,     STRANGER,  [OK,     OK,     OK,     OK]),
];

#[rustfmt::skip]
const INTERNAL: [Line; 14] = [
    //                     Read    ReadAll Create  Administer
    (ANONYMOUS, STRANGER,  [WHO,    WHO,    WHO,    WHO]),
    (USER,      STRANGER,  [OK,     NO,     NO,     NO]),
    (USER,      GUEST,     [OK,     OK,     NO,     NO]),
    (USER,      REPORTER,  [OK,     OK,     NO,     NO]),
    (USER,      DEVELOPER, [OK,     OK,     NO,     NO]),
    (USER,      MASTER,    [OK,     OK,     OK,     NO]),
    (USER,      OWNER,     [OK,     OK,     OK,     OK]),
    (EXTERNAL,  STRANGER,  [HIDDEN, HIDDEN, HIDDEN, HIDDEN]),
    (EXTERNAL,  GUEST,     [OK,     OK,     NO,     NO]),
    (EXTERNAL,  REPORTER,  [OK,     OK,     NO,     NO]),
    (EXTERNAL,  DEVELOPER, [OK,     OK,     NO,     NO]),
    (EXTERNAL,  MASTER,    [OK,     OK,     OK,     NO]),
    (EXTERNAL,  OWNER,     [OK,     OK,     OK,     OK]),
    (ADMIN,     STRANGER,  [OK,     OK,     OK,     OK]),
];

#[rustfmt::skip]
const PUBLIC: [Line; 14] = [
    //                     Read    ReadAll Create  Administer
    (ANONYMOUS, STRANGER,  [OK,     WHO,    WHO,    WHO]),
    (USER,      STRANGER,  [OK,     NO,     NO,     NO]),
    (USER,      GUEST,     [OK,     OK,     NO,     NO]),
    (USER,      REPORTER,  [OK,     OK,     NO,     NO]),
    (USER,      DEVELOPER, [OK,     OK,     NO,     NO]),
    (USER,      MASTER,    [OK,     OK,     OK,     NO]),
    (USER,      OWNER,     [OK,     OK,     OK,     OK]),
    (EXTERNAL,  STRANGER,  [OK,     NO,     NO,     NO]),
    (EXTERNAL,  GUEST,     [OK,     OK,     NO,     NO]),
    (EXTERNAL,  REPORTER,  [OK,     OK,     NO,     NO]),
    (EXTERNAL,  DEVELOPER, [OK,     OK,     NO,     NO]),
    (EXTERNAL,  MASTER,    [OK,     OK,     OK,     NO]),
    (EXTERNAL,  OWNER,     [OK,     OK,     OK,     OK]),
    (ADMIN,     STRANGER,  [OK,     OK,     OK,     OK]),
];

#[test]
fn the_whole_matrix_of_groups() {
    for (visibility, table) in [
        (Visibility::Private, PRIVATE),
        (Visibility::Internal, INTERNAL),
        (Visibility::Public, PUBLIC),
    ] {
        for (actor, level, expected) in table {
            let facts = GroupFacts { visibility, level, sees_a_project: false };
            let found = ABILITIES.map(|ability| authorize(actor, ability, &facts));
            assert_eq!(found, expected, "{actor:?}, {level:?}, {visibility:?} group");
        }
    }
}

/// A user who may see a project of a group may read the group, and gets no other ability from that.
#[test]
fn the_whole_matrix_of_those_who_see_a_project_of_the_group() {
    for visibility in Visibility::ALL {
        for (actor, level, expected) in [
            (USER, STRANGER, [OK, NO, NO, NO]),
            (EXTERNAL, STRANGER, [OK, NO, NO, NO]),
            (USER, GUEST, [OK, OK, NO, NO]),
            (EXTERNAL, GUEST, [OK, OK, NO, NO]),
            (USER, MASTER, [OK, OK, OK, NO]),
            (USER, OWNER, [OK, OK, OK, OK]),
            (ADMIN, STRANGER, [OK, OK, OK, OK]),
        ] {
            let facts = GroupFacts { visibility, level, sees_a_project: true };
            let found = ABILITIES.map(|ability| authorize(actor, ability, &facts));
            assert_eq!(found, expected, "{actor:?}, {level:?}, {visibility:?} group");
        }
    }
}

#[test]
fn anonymous_callers_do_not_see_a_group_through_a_project() {
    for (visibility, read) in
        [(Visibility::Private, WHO), (Visibility::Internal, WHO), (Visibility::Public, OK)]
    {
        let facts = GroupFacts { visibility, level: STRANGER, sees_a_project: true };
        let found = ABILITIES.map(|ability| authorize(ANONYMOUS, ability, &facts));
        assert_eq!(found, [read, WHO, WHO, WHO], "{visibility:?}");
    }
}
