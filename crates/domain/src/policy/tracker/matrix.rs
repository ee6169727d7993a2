//! The permission matrix of every actor, visibility level and ability: reference sections 1.1 of labels and boards, 11
//! of issues.

use super::{
    IssueAbility, IssueFacts, NoteAbility, NoteFacts, NoteSubject, TrackerAbility, TrackerFacts,
};
use crate::id::UserId;
use crate::member::AccessLevel;
use crate::policy::merge_request::{MergeRequestFacts, RequestsFacts};
use crate::policy::project::{ProjectFacts, ProjectRole};
use crate::policy::snippet::{SnippetFacts, SnippetsFacts};
use crate::policy::{Actor, Denied, authorize};
use crate::project::Archived;
use crate::visibility::Visibility;

/// Short names of the outcomes in the tables.
pub(in crate::policy) const OK: Result<(), Denied> = Ok(());
pub(in crate::policy) const WHO: Result<(), Denied> = Err(Denied::Unauthenticated);
pub(in crate::policy) const HID: Result<(), Denied> = Err(Denied::Hidden);
pub(in crate::policy) const NO: Result<(), Denied> = Err(Denied::Forbidden);

/// The caller, in the first column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::policy) enum Who {
    Anonymous,
    Stranger,
    External,
    Guest,
    Reporter,
    Developer,
    Master,
    Owner,
    Admin,
}

use Who::*;

impl Who {
    pub(in crate::policy) fn actor(self) -> Actor {
        match self {
            Anonymous => Actor::Anonymous,
            Admin => Actor::Admin { id: UserId(1) },
            Stranger | Guest | Reporter | Developer | Master | Owner => {
                Actor::User { id: UserId(2), external: false }
            }
            External => Actor::User { id: UserId(2), external: true },
        }
    }

    pub(in crate::policy) fn facts(self, visibility: Visibility) -> ProjectFacts {
        let level = match self {
            Anonymous | Stranger | External | Owner | Admin => None,
            Guest => Some(AccessLevel::Guest),
            Reporter => Some(AccessLevel::Reporter),
            Developer => Some(AccessLevel::Developer),
            Master => Some(AccessLevel::Master),
        };
        ProjectFacts {
            visibility,
            role: ProjectRole { level, owner: self == Owner },
            archived: Archived::No,
        }
    }
}

type Line = (Who, [Result<(), Denied>; 12]);

#[rustfmt::skip]
const PRIVATE: [Line; 9] = [
    //           See  ReadI CreateI AdmI ModN DelI ReadL AdmL ReadM AdmM AdmB DelB
    (Anonymous, [WHO, WHO,  WHO,    WHO, WHO, WHO, WHO,  WHO, WHO,  WHO, WHO, WHO]),
    (Stranger,  [HID, HID,  HID,    HID, HID, HID, HID,  HID, HID,  HID, HID, HID]),
    (External,  [HID, HID,  HID,    HID, HID, HID, HID,  HID, HID,  HID, HID, HID]),
    (Guest,     [OK,  OK,   OK,     NO,  NO,  NO,  OK,   NO,  OK,   NO,  NO,  NO]),
    (Reporter,  [OK,  OK,   OK,     OK,  NO,  NO,  OK,   OK,  OK,   NO,  OK,  NO]),
    (Developer, [OK,  OK,   OK,     OK,  NO,  NO,  OK,   OK,  OK,   NO,  OK,  NO]),
    (Master,    [OK,  OK,   OK,     OK,  OK,  NO,  OK,   OK,  OK,   OK,  OK,  NO]),
    (Owner,     [OK,  OK,   OK,     OK,  OK,  OK,  OK,   OK,  OK,   OK,  OK,  OK]),
    (Admin,     [OK,  OK,   OK,     OK,  OK,  OK,  OK,   OK,  OK,   OK,  OK,  OK]),
];

/// The expected outcomes for a visibility level. Users who can see an internal or public project have the rights of
/// guests of a private project.
fn table(visibility: Visibility) -> [Line; 9] {
    let guest = PRIVATE[3].1;
    PRIVATE.map(|(who, line)| match (visibility, who) {
        (Visibility::Public, Stranger | External) | (Visibility::Internal, Stranger) => {
            (who, guest)
        }
        _ => (who, line),
    })
}

fn tracker(who: Who, visibility: Visibility, issues: bool, merge_requests: bool) -> TrackerFacts {
    TrackerFacts { project: who.facts(visibility), issues, merge_requests }
}

#[test]
fn the_whole_matrix_of_issues_labels_milestones_and_boards() {
    for visibility in Visibility::ALL {
        for (who, expected) in table(visibility) {
            let facts = tracker(who, visibility, true, true);
            let found = TrackerAbility::ALL.map(|ability| authorize(who.actor(), ability, &facts));
            assert_eq!(found, expected, "{who:?} of a {} project", visibility.as_str());
        }
    }
}

/// With a feature disabled, its abilities are refused, for administrators too. Boards stay.
#[test]
fn disabled_features_are_refused_to_everyone() {
    use TrackerAbility::*;
    for (who, line) in table(Visibility::Private) {
        for (issues, merge_requests) in [(false, true), (true, false), (false, false)] {
            let facts = tracker(who, Visibility::Private, issues, merge_requests);
            for (ability, open) in TrackerAbility::ALL.into_iter().zip(line) {
                let has = match ability {
                    SeeProject | AdministerLists | DeleteLists => true,
                    ReadIssues | CreateIssues | AdministerIssues | ModerateNotes | DeleteIssues => {
                        issues
                    }
                    ReadLabels | AdministerLabels | ReadMilestones | AdministerMilestones => {
                        issues || merge_requests
                    }
                };
                let expected = if has || open != OK { open } else { NO };
                let found = authorize(who.actor(), ability, &facts);
                assert_eq!(found, expected, "{who:?} {ability:?} {issues} {merge_requests}");
            }
        }
    }
}

/// A line: the caller of a public project, and the outcomes of reading and updating an issue. The pairs are: an issue
/// of another user, an issue of the caller, and the same two again for confidential issues.
type IssueLine = (Who, [Result<(), Denied>; 8]);

#[rustfmt::skip]
const ISSUES: [IssueLine; 9] = [
    //           others'   own       others' secret  own secret
    (Anonymous, [WHO, WHO, WHO, WHO, WHO, WHO,       WHO, WHO]),
    (Stranger,  [OK,  NO,  OK,  OK,  HID, HID,       OK,  OK]),
    (External,  [OK,  NO,  OK,  OK,  HID, HID,       OK,  OK]),
    (Guest,     [OK,  NO,  OK,  OK,  HID, HID,       OK,  OK]),
    (Reporter,  [OK,  OK,  OK,  OK,  OK,  OK,        OK,  OK]),
    (Developer, [OK,  OK,  OK,  OK,  OK,  OK,        OK,  OK]),
    (Master,    [OK,  OK,  OK,  OK,  OK,  OK,        OK,  OK]),
    (Owner,     [OK,  OK,  OK,  OK,  OK,  OK,        OK,  OK]),
    (Admin,     [OK,  OK,  OK,  OK,  OK,  OK,        OK,  OK]),
];

#[test]
fn the_whole_matrix_of_one_issue() {
    for (who, expected) in ISSUES {
        let mut found = Vec::new();
        for confidential in [false, true] {
            for concerns_actor in [false, true] {
                let tracker = tracker(who, Visibility::Public, true, true);
                let facts = IssueFacts { tracker, confidential, concerns_actor };
                for ability in [IssueAbility::Read, IssueAbility::Update] {
                    found.push(authorize(who.actor(), ability, &facts));
                }
            }
        }
        assert_eq!(found, expected, "{who:?}");
    }
}

#[test]
fn own_issues_in_a_hidden_project_are_hidden() {
    for (visibility, who) in [(Visibility::Private, Stranger), (Visibility::Internal, External)] {
        let tracker = tracker(who, visibility, true, true);
        let facts = IssueFacts { tracker, confidential: false, concerns_actor: true };
        assert_eq!(authorize(who.actor(), IssueAbility::Update, &facts), HID);
    }
}

/// Each line has the caller of a public project, and the outcomes of updating and deleting a note. The pairs are: a
/// note of another user, a note of the caller, and a system note about the caller.
type NoteLine = (Who, [Result<(), Denied>; 6]);

#[rustfmt::skip]
const NOTES: [NoteLine; 9] = [
    //           others'   own       system
    (Anonymous, [WHO, WHO, WHO, WHO, WHO, WHO]),
    (Stranger,  [NO,  NO,  OK,  OK,  NO,  NO]),
    (External,  [NO,  NO,  OK,  OK,  NO,  NO]),
    (Guest,     [NO,  NO,  OK,  OK,  NO,  NO]),
    (Reporter,  [NO,  NO,  OK,  OK,  NO,  NO]),
    (Developer, [NO,  NO,  OK,  OK,  NO,  NO]),
    (Master,    [OK,  OK,  OK,  OK,  NO,  OK]),
    (Owner,     [OK,  OK,  OK,  OK,  NO,  OK]),
    (Admin,     [OK,  OK,  OK,  OK,  NO,  OK]),
];

/// The same for notes on a confidential issue of another user.
#[rustfmt::skip]
const SECRET_NOTES: [NoteLine; 9] = [
    //           others'   own       system
    (Anonymous, [WHO, WHO, WHO, WHO, WHO, WHO]),
    (Stranger,  [HID, HID, OK,  OK,  HID, HID]),
    (External,  [HID, HID, OK,  OK,  HID, HID]),
    (Guest,     [HID, HID, OK,  OK,  HID, HID]),
    (Reporter,  [NO,  NO,  OK,  OK,  NO,  NO]),
    (Developer, [NO,  NO,  OK,  OK,  NO,  NO]),
    (Master,    [OK,  OK,  OK,  OK,  NO,  OK]),
    (Owner,     [OK,  OK,  OK,  OK,  NO,  OK]),
    (Admin,     [OK,  OK,  OK,  OK,  NO,  OK]),
];

#[test]
fn the_whole_matrix_of_one_note() {
    for (confidential, table) in [(false, NOTES), (true, SECRET_NOTES)] {
        for (who, expected) in table {
            let tracker = tracker(who, Visibility::Public, true, true);
            let on =
                NoteSubject::Issue(IssueFacts { tracker, confidential, concerns_actor: false });
            let mut found = Vec::new();
            for (written_by_actor, system) in [(false, false), (true, false), (true, true)] {
                let facts = NoteFacts { on, written_by_actor, system };
                for ability in [NoteAbility::Update, NoteAbility::Delete] {
                    found.push(authorize(who.actor(), ability, &facts));
                }
            }
            assert_eq!(found, expected, "{who:?} {confidential}");
            let facts = NoteFacts { on, written_by_actor: true, system: false };
            let sees = authorize(who.actor(), NoteAbility::Read, &facts).is_ok();
            let sees_no_secret = matches!(who, Stranger | External | Guest);
            assert_eq!(sees, who != Anonymous && !(confidential && sees_no_secret), "{who:?}");
        }
    }
}

/// With their features disabled, nobody sees issues, merge requests and snippets. Only the author of a note may still
/// change and delete it, and only in a project that the author sees.
#[test]
fn authors_keep_the_rights_to_their_notes_on_hidden_subjects() {
    for (visibility, who, expected) in [
        (Visibility::Public, Stranger, OK),
        (Visibility::Private, Guest, OK),
        (Visibility::Private, Stranger, HID),
        (Visibility::Internal, External, HID),
        (Visibility::Public, Anonymous, WHO),
    ] {
        let tracker = tracker(who, visibility, false, false);
        let snippets = SnippetsFacts { project: tracker.project, enabled: false };
        let requests = RequestsFacts(tracker);
        for on in [
            NoteSubject::Issue(IssueFacts { tracker, confidential: false, concerns_actor: false }),
            NoteSubject::MergeRequest(MergeRequestFacts { requests, concerns_actor: false }),
            NoteSubject::Snippet(SnippetFacts { snippets, visibility, written_by_actor: false }),
        ] {
            let facts = NoteFacts { on, written_by_actor: true, system: false };
            let may = |ability| authorize(who.actor(), ability, &facts);
            assert!(may(NoteAbility::Read).is_err(), "{who:?} {on:?}");
            for ability in [NoteAbility::Update, NoteAbility::Delete] {
                assert_eq!(may(ability), expected, "{who:?} {on:?}");
            }
        }
    }
}
