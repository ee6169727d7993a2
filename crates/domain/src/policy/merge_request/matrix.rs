//! The permission matrix of merge requests: reference sections 1.3 and 15 of merge requests.

use super::{MergeRequestAbility, MergeRequestFacts, RequestsAbility, RequestsFacts};
use crate::policy::tracker::TrackerFacts;
use crate::policy::tracker::matrix::{HID, NO, OK, WHO, Who};
use crate::policy::{Denied, authorize};
use crate::project::Archived;
use crate::visibility::Visibility;
use Who::*;

type Outcome = Result<(), Denied>;

fn requests(who: Who, visibility: Visibility) -> RequestsFacts {
    let project = who.facts(visibility);
    RequestsFacts(TrackerFacts { project, issues: true, merge_requests: true })
}

const PROJECT_ABILITIES: [RequestsAbility; 3] =
    [RequestsAbility::List, RequestsAbility::CreateFrom, RequestsAbility::CreateInto];

#[rustfmt::skip]
const IN_PROJECTS: [(Who, [Outcome; 9]); 9] = [
    //           private        internal       public: list, create from, create into
    (Anonymous, [WHO, WHO, WHO, WHO, WHO, WHO, WHO, WHO, WHO]),
    (Stranger,  [HID, HID, HID, OK,  NO,  OK,  OK,  NO,  OK]),
    (External,  [HID, HID, HID, HID, HID, HID, OK,  NO,  OK]),
    (Guest,     [NO,  NO,  OK,  OK,  NO,  OK,  OK,  NO,  OK]),
    (Reporter,  [OK,  NO,  OK,  OK,  NO,  OK,  OK,  NO,  OK]),
    (Developer, [OK,  OK,  OK,  OK,  OK,  OK,  OK,  OK,  OK]),
    (Master,    [OK,  OK,  OK,  OK,  OK,  OK,  OK,  OK,  OK]),
    (Owner,     [OK,  OK,  OK,  OK,  OK,  OK,  OK,  OK,  OK]),
    (Admin,     [OK,  OK,  OK,  OK,  OK,  OK,  OK,  OK,  OK]),
];

#[test]
fn the_whole_matrix_of_the_requests_of_a_project() {
    for (who, expected) in IN_PROJECTS {
        let mut found = Vec::new();
        for visibility in [Visibility::Private, Visibility::Internal, Visibility::Public] {
            let facts = requests(who, visibility);
            found.extend(PROJECT_ABILITIES.map(|one| authorize(who.actor(), one, &facts)));
        }
        assert_eq!(found, expected, "{who:?}");
    }
}

/// The abilities on one request of a private project, of another user and of the caller.
#[rustfmt::skip]
const ONE: [(Who, [Outcome; 8]); 9] = [
    //           read, update, administer, delete: others'     own
    (Anonymous, [WHO, WHO, WHO, WHO,                           WHO, WHO, WHO, WHO]),
    (Stranger,  [HID, HID, HID, HID,                           HID, HID, HID, HID]),
    (External,  [HID, HID, HID, HID,                           HID, HID, HID, HID]),
    (Guest,     [NO,  NO,  NO,  NO,                            OK,  OK,  NO,  NO]),
    (Reporter,  [OK,  NO,  NO,  NO,                            OK,  OK,  NO,  NO]),
    (Developer, [OK,  OK,  OK,  NO,                            OK,  OK,  OK,  NO]),
    (Master,    [OK,  OK,  OK,  NO,                            OK,  OK,  OK,  NO]),
    (Owner,     [OK,  OK,  OK,  OK,                            OK,  OK,  OK,  OK]),
    (Admin,     [OK,  OK,  OK,  OK,                            OK,  OK,  OK,  OK]),
];

const ON_ONE: [MergeRequestAbility; 4] = [
    MergeRequestAbility::Read,
    MergeRequestAbility::Update,
    MergeRequestAbility::Administer,
    MergeRequestAbility::Delete,
];

#[test]
fn the_whole_matrix_of_one_request() {
    for (who, expected) in ONE {
        let mut found = Vec::new();
        for concerns_actor in [false, true] {
            let requests = requests(who, Visibility::Private);
            let facts = MergeRequestFacts { requests, concerns_actor };
            found.extend(ON_ONE.map(|one| authorize(who.actor(), one, &facts)));
        }
        assert_eq!(found, expected, "{who:?}");
    }
}

#[test]
fn archived_projects_are_read_only_and_the_switch_hides_all_but_the_removal() {
    for (who, line) in ONE {
        let open = requests(who, Visibility::Private);
        let mut archived = open;
        archived.0.project.archived = Archived::Yes;
        let mut off = open;
        off.0.merge_requests = false;
        let [read, update, administer, delete] = [line[4], line[5], line[6], line[7]];
        let refuse = |outcome: Outcome| if outcome == OK { NO } else { outcome };
        for (requests, expected) in [
            (archived, [read, refuse(update), refuse(administer), delete]),
            (off, [refuse(read), refuse(update), refuse(administer), delete]),
        ] {
            let facts = MergeRequestFacts { requests, concerns_actor: true };
            let found = ON_ONE.map(|one| authorize(who.actor(), one, &facts));
            assert_eq!(found, expected, "{who:?} {requests:?}");
            for ability in [RequestsAbility::CreateFrom, RequestsAbility::CreateInto] {
                assert!(authorize(who.actor(), ability, &requests).is_err(), "{who:?}");
            }
        }
    }
}
