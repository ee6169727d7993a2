//! The outbox; see [`Outbox`](hexforge_domain::outbox::port::Outbox).

use super::check::{read, write};
use super::labels::a_project_with_owner;
use crate::builders::{a_note, a_pipeline, an_issue, at, day};
use chrono::TimeDelta;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{KeyId, NamespaceId, ProjectId, UserId};
use hexforge_domain::issue::{Issue, IssueState, NewIssue};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::commit_note::CommitNoteEvent;
use hexforge_domain::outbox::project::{
    IssueAction, IssueEvent, IssueRow, NoteEvent, NoteRow, Person, ProjectCard, ProjectEvent,
};
use hexforge_domain::outbox::{
    DeployKeyFacts, GroupFacts, GroupMemberFacts, KeyFacts, MemberFacts, ProjectFacts, SystemEvent,
    TeamFacts, UserFacts,
};
use hexforge_domain::ports::store::Store;
use hexforge_domain::repository::{ChangedLine, FileDiff};
use hexforge_domain::text::LongText;
use hexforge_domain::visibility::Visibility;

fn a_fact(id: i64) -> UserFacts {
    UserFacts {
        id: UserId(id),
        username: format!("user{id}"),
        name: r#"Ada "🦀" O'Hara \ "#.into(),
        email: "ada@example.com".into(),
        created_at: at(1) + TimeDelta::microseconds(123_456),
        updated_at: at(2) + TimeDelta::microseconds(1),
    }
}

fn a_key_fact(id: i64) -> KeyFacts {
    KeyFacts {
        id: KeyId(id),
        key: "ssh-ed25519 AAAA 🦀\t\"comment\"".into(),
        username: "ada".into(),
        created_at: at(3) + TimeDelta::microseconds(999_999),
    }
}

fn a_deploy_key_fact(id: i64) -> DeployKeyFacts {
    let KeyFacts { id, key, created_at, .. } = a_key_fact(id);
    DeployKeyFacts { id, key, created_at }
}

fn a_project_fact(id: i64, visibility: Visibility) -> ProjectFacts {
    ProjectFacts {
        id: ProjectId(id),
        name: r#"Site "🦀" \ "#.into(),
        path: "Site.js".into(),
        path_with_namespace: "team/Site.js".into(),
        owner_name: "O'Hara\t🦀".into(),
        owner_email: if id % 2 == 0 { String::new() } else { "o@example.com".into() },
        visibility,
        created_at: at(4) + TimeDelta::microseconds(1),
        updated_at: at(5) + TimeDelta::microseconds(999_999),
    }
}

fn a_group_fact(id: i64) -> GroupFacts {
    GroupFacts {
        id: NamespaceId(id),
        name: "Größe – 🦀".into(),
        path: "team".into(),
        created_at: at(6) + TimeDelta::microseconds(10),
        updated_at: at(7),
    }
}

fn a_member_fact(access: AccessLevel) -> MemberFacts {
    MemberFacts {
        user: UserId(i64::MAX),
        username: "ada".into(),
        name: r#"Ada "🦀" \ "#.into(),
        email: "ada@example.com".into(),
        access,
        at: at(8) + TimeDelta::microseconds(123_456),
    }
}

/// Events of every kind about projects, groups and their members.
fn events_of_projects_and_groups() -> Vec<SystemEvent> {
    let mut events = Vec::new();
    for (id, visibility) in (1..).zip(Visibility::ALL) {
        let facts = || a_project_fact(id, visibility);
        events.push(SystemEvent::ProjectCreated(facts()));
        events.push(SystemEvent::ProjectDestroyed(facts()));
        events.push(SystemEvent::ProjectRenamed(facts(), "team/before.🦀".into()));
        events.push(SystemEvent::ProjectTransferred(facts(), "before/Site.js".into()));
    }
    for access in AccessLevel::ALL {
        let team = || TeamFacts {
            project: a_project_fact(i64::MAX, Visibility::Public),
            member: a_member_fact(access),
        };
        let group =
            || GroupMemberFacts { group: a_group_fact(i64::MAX), member: a_member_fact(access) };
        events.push(SystemEvent::TeamMemberAdded(team()));
        events.push(SystemEvent::TeamMemberRemoved(team()));
        events.push(SystemEvent::GroupMemberAdded(group()));
        events.push(SystemEvent::GroupMemberRemoved(group()));
    }
    events.push(SystemEvent::GroupCreated(a_group_fact(1)));
    events.push(SystemEvent::GroupDestroyed(a_group_fact(2)));
    events
}

/// All events are read back as they were written.
pub fn every_system_event_is_stored_unchanged(store: &dyn Store) {
    let mut events = vec![
        SystemEvent::UserCreated(a_fact(1)),
        SystemEvent::UserDestroyed(a_fact(i64::MAX)),
        SystemEvent::KeyCreated(a_key_fact(2)),
        SystemEvent::KeyDestroyed(a_key_fact(i64::MAX)),
        SystemEvent::DeployKeyCreated(a_deploy_key_fact(3)),
        SystemEvent::DeployKeyDestroyed(a_deploy_key_fact(i64::MAX)),
    ];
    events.extend(events_of_projects_and_groups());
    for event in &events {
        write(store, |tx| tx.outbox().record(event, at(5) + TimeDelta::microseconds(7)));
    }
    let waiting = read(store, |tx| tx.outbox().oldest(100));
    assert!(waiting.iter().all(|entry| entry.at == at(5) + TimeDelta::microseconds(7)));
    assert_eq!(waiting.into_iter().map(|entry| entry.event).collect::<Vec<_>>(), events);
}

/// See [`Outbox::oldest`](hexforge_domain::outbox::port::Outbox::oldest).
pub fn the_oldest_entries_come_first_and_no_more_than_asked_for(store: &dyn Store) {
    assert_eq!(read(store, |tx| tx.outbox().oldest(10)), []);
    let moments = [at(0), at(1), at(1), at(1), at(9)];
    for (id, moment) in (1..).zip(moments) {
        write(store, |tx| tx.outbox().record(&SystemEvent::UserCreated(a_fact(id)), moment));
    }
    let all = read(store, |tx| tx.outbox().oldest(u32::MAX));
    assert!(all.is_sorted_by(|older, newer| older.id < newer.id), "{all:?}");
    let expected: Vec<_> = (1..=5).map(|id| SystemEvent::UserCreated(a_fact(id))).collect();
    assert_eq!(all.iter().map(|entry| entry.event.clone()).collect::<Vec<_>>(), expected);
    assert_eq!(all.iter().map(|entry| entry.at).collect::<Vec<_>>(), moments);
    for limit in [0, 1, 4, 5, 6] {
        let some = read(store, |tx| tx.outbox().oldest(limit));
        assert_eq!(some, all[..all.len().min(limit as usize)], "{limit}");
    }
}

/// Reading does not remove entries.
pub fn reading_does_not_remove_entries(store: &dyn Store) {
    write(store, |tx| tx.outbox().record(&SystemEvent::UserCreated(a_fact(1)), at(0)));
    let first = read(store, |tx| tx.outbox().oldest(1));
    assert_eq!(first.len(), 1);
    assert_eq!(read(store, |tx| tx.outbox().oldest(1)), first);
}

/// Project events are read back as they were written, with all optional fields or none.
pub fn events_of_projects_are_stored_unchanged(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let new = NewIssue {
        assignee: Some(ada),
        description: LongText::parse("Don't \"quote\" \\ 🦀").ok(),
        confidential: true,
        due_date: Some(day(1)),
        ..an_issue(project, ada, "an issue 🦀")
    };
    let (full, bare, note) = write(store, |tx| {
        let full = tx.issues().insert(new)?;
        let bare = tx.issues().insert(an_issue(project, ada, "bare"))?;
        let note = tx.notes().insert(a_note(project, full.id, ada, "a note 🦀"))?;
        Ok((full, bare, note))
    });
    let full = Issue { updated_by: Some(ada), moved_to: Some(bare.id), ..full };
    let user = read(store, |tx| tx.users().find(ada)).expect("she was made");
    let person =
        |avatar: Option<&str>| Person { avatar: avatar.map(str::to_owned), ..Person::from(&user) };
    let card = |description: Option<&str>| ProjectCard {
        id: project,
        name: "Site 🦀".into(),
        description: description.map(str::to_owned),
        namespace: "ada".into(),
        path_with_namespace: "ada/site".into(),
        visibility: Visibility::Internal,
        avatar: description.map(str::to_owned),
        default_branch: description.map(str::to_owned),
    };
    let closed = Issue { state: IssueState::Closed, ..bare };
    let mut events = vec![SystemEvent::InProject(Box::new(ProjectEvent::NoteOnIssue(NoteEvent {
        user: person(None),
        project: card(Some("d")),
        note: NoteRow::from(&note),
        issue: IssueRow::from(&full),
    })))];
    for (action, issue, assignee) in [
        (IssueAction::Open, &full, Some(person(Some("me.png")))),
        (IssueAction::Close, &closed, None),
        (IssueAction::Reopen, &closed, None),
        (IssueAction::Update, &full, None),
    ] {
        let (user, project) = (person(Some("me.png")), card(None));
        let event = IssueEvent { action, user, project, issue: IssueRow::from(issue), assignee };
        events.push(SystemEvent::InProject(Box::new(ProjectEvent::Issue(event))));
    }
    for line in [None, Some(a_changed_line())] {
        let event = CommitNoteEvent {
            user: person(None),
            project: card(None),
            note: NoteRow::from(&note),
            commit: ObjectId::ZERO,
            facts: a_pipeline(project).commit,
            line,
        };
        events.push(SystemEvent::InProject(Box::new(ProjectEvent::NoteOnCommit(event))));
    }
    for event in &events {
        write(store, |tx| tx.outbox().record(event, at(9)));
    }
    let kept = read(store, |tx| tx.outbox().oldest(10));
    let kept: Vec<SystemEvent> = kept.into_iter().map(|entry| entry.event).collect();
    assert_eq!(kept, events);
}

/// A line of a removed file.
fn a_changed_line() -> ChangedLine {
    let diff = FileDiff {
        old_path: "ä \"b\"".into(),
        new_path: "ä \"b\"".into(),
        old_mode: Some(0o100_755),
        new_mode: None,
        renamed: false,
        text: "--- a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x 🦀\n".into(),
        too_large: false,
    };
    ChangedLine { old: u32::MAX, new: 0, diff }
}

/// See [`Outbox::next`](hexforge_domain::outbox::port::Outbox::next).
pub fn entries_are_removed_after_their_deliveries_are_created(store: &dyn Store) {
    assert!(!read(store, |tx| tx.outbox().any()));
    for id in 1..=5 {
        write(store, |tx| tx.outbox().record(&SystemEvent::UserCreated(a_fact(id)), at(id)));
    }
    assert!(read(store, |tx| tx.outbox().any()));
    let all = read(store, |tx| tx.outbox().oldest(10));
    let batch = write(store, |tx| tx.outbox().next(None, 2));
    assert_eq!((batch.entries, batch.last), (all[..2].to_vec(), Some(all[1].id)));
    let batch = write(store, |tx| tx.outbox().next(Some(all[1].id), 9));
    assert_eq!((batch.entries, batch.last), (all[2..].to_vec(), Some(all[4].id)));
    write(store, |tx| tx.outbox().remove(&[all[0].id, all[3].id]));
    let kept = read(store, |tx| tx.outbox().oldest(10));
    assert_eq!(kept, [all[1].clone(), all[2].clone(), all[4].clone()]);
    let batch = write(store, |tx| tx.outbox().next(Some(all[4].id), 9));
    assert_eq!((batch.entries, batch.last), (vec![], None));
    write(store, |tx| tx.outbox().remove(&[]));
}
