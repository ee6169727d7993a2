//! The permission matrix of every actor, visibility level and ability: reference section 1.1 of pipelines.

use super::{CiAbility, CiFacts};
use crate::policy::tracker::matrix::Who::{self, *};
use crate::policy::tracker::matrix::{HID, NO, OK, WHO};
use crate::policy::{Denied, authorize};
use crate::visibility::Visibility;

fn facts(who: Who, visibility: Visibility) -> CiFacts {
    CiFacts { project: who.facts(visibility), builds: true, public_builds: true }
}

fn found(who: Who, facts: &CiFacts) -> [Result<(), Denied>; 8] {
    CiAbility::ALL.map(|ability| authorize(who.actor(), ability, facts))
}

type Line = (Who, [Result<(), Denied>; 8]);

#[rustfmt::skip]
const PRIVATE: [Line; 9] = [
    //           See  Pipes Builds Stats Envs Run  Post Administer
    (Anonymous, [WHO, WHO,  WHO,   WHO,  WHO, WHO, WHO, WHO]),
    (Stranger,  [HID, HID,  HID,   HID,  HID, HID, HID, HID]),
    (External,  [HID, HID,  HID,   HID,  HID, HID, HID, HID]),
    (Guest,     [OK,  NO,   NO,    NO,   NO,  NO,  NO,  NO]),
    (Reporter,  [OK,  OK,   OK,    OK,   OK,  NO,  NO,  NO]),
    (Developer, [OK,  OK,   OK,    OK,   OK,  OK,  OK,  NO]),
    (Master,    [OK,  OK,   OK,    OK,   OK,  OK,  OK,  OK]),
    (Owner,     [OK,  OK,   OK,    OK,   OK,  OK,  OK,  OK]),
    (Admin,     [OK,  OK,   OK,    OK,   OK,  OK,  OK,  OK]),
];

/// The expected outcomes for a visibility level. Users who can see an internal or public project have the rights of
/// reporters of a private project, except on environments.
fn table(visibility: Visibility) -> [Line; 9] {
    let mut reporter = PRIVATE[4].1;
    reporter[4] = NO;
    PRIVATE.map(|(who, line)| match (visibility, who) {
        (Visibility::Private, _) | (Visibility::Internal, External) => (who, line),
        (Visibility::Internal | Visibility::Public, Stranger | Guest)
        | (Visibility::Public, External) => (who, reporter),
        (Visibility::Internal | Visibility::Public, _) => (who, line),
    })
}

#[test]
fn the_whole_matrix_of_pipelines() {
    for visibility in Visibility::ALL {
        for (who, expected) in table(visibility) {
            let found = found(who, &facts(who, visibility));
            assert_eq!(found, expected, "{who:?} of a {} project", visibility.as_str());
        }
    }
}

/// Badges are for those who may read builds, and those of public projects for everybody.
#[test]
fn badges_of_public_projects_are_for_everybody() {
    for visibility in Visibility::ALL {
        for (who, expected) in table(visibility) {
            let is_public = visibility == Visibility::Public;
            let facts = facts(who, visibility);
            let shown = facts.shows_badges(who.actor());
            assert_eq!(shown, is_public || expected[2].is_ok(), "{who:?} {visibility:?}");
            let team = CiFacts { public_builds: false, ..facts };
            let is_team = PRIVATE.iter().any(|(other, line)| *other == who && line[2].is_ok());
            assert_eq!(team.shows_badges(who.actor()), is_team, "{who:?} {visibility:?}");
            assert!(!CiFacts { builds: false, ..facts }.shows_badges(who.actor()));
        }
    }
}

/// Without public builds, users who are not at least reporters lose access to builds.
#[test]
fn builds_that_are_not_public_are_for_the_team() {
    for visibility in Visibility::ALL {
        for (who, mut expected) in table(visibility) {
            if matches!(who, Stranger | External | Guest) && expected[2] == OK {
                expected[2] = NO;
            }
            let facts = CiFacts { public_builds: false, ..facts(who, visibility) };
            assert_eq!(found(who, &facts), expected, "{who:?} {visibility:?}");
        }
    }
}

/// With builds disabled, all access to pipelines and builds is refused, for administrators too. Commit statuses stay.
#[test]
fn disabled_builds_are_refused_to_everyone() {
    for (who, expected) in PRIVATE {
        let facts = CiFacts { builds: false, ..facts(who, Visibility::Private) };
        let mut without = expected;
        for place in [1, 2, 4, 5, 7] {
            if without[place] == OK {
                without[place] = NO;
            }
        }
        assert_eq!(found(who, &facts), without, "{who:?}");
    }
}
