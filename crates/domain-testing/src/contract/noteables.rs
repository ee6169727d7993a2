//! Notes on merge requests and commits; see [`Notes`](hexforge_domain::note::port::Notes).

use super::check::{assert_duplicate, assert_pages, insider, read, write};
use super::labels::a_project_with_owner;
use crate::builders::{
    a_day, a_member, a_merge_request, a_note, a_project, a_user, an_event, an_issue, home_of,
};
use hexforge_domain::commit::ObjectId;
use hexforge_domain::event::{EventAction, EventTarget, NewEvent};
use hexforge_domain::id::{MergeRequestId, ProjectId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::merge_request::NewMergeRequest;
use hexforge_domain::note::port::NoteReader;
use hexforge_domain::note::{NewNote, Note, NoteLine, NotePosition, NoteSource, Noteable};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::project::Project;

const COMMIT: ObjectId = ObjectId::from_bytes([7; 20]);

fn a_stored_request(store: &dyn Store, project: ProjectId, author: UserId) -> MergeRequestId {
    write(store, |tx| tx.merge_requests().insert(a_merge_request(project, author, "a request"))).id
}

/// System notes are listed and not counted.
pub fn notes_on_merge_requests_are_counted_there(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [request, other] = [1, 2].map(|_| a_stored_request(store, project, ada));
    let mut notes = Vec::new();
    for (number, system) in [(0, false), (1, true), (2, false), (3, false)] {
        let body = format!("note {number}");
        let new = NewNote { system, ..a_note(project, request, ada, &body) };
        notes.push(write(store, |tx| tx.notes().insert(new)));
        write(store, |tx| tx.notes().insert(a_note(project, other, ada, &body)));
    }
    let count = |id| {
        let found = read(store, |tx| tx.merge_requests().find(project, id));
        found.expect("it was made").user_notes_count
    };
    assert_eq!((notes[0].on, count(request)), (request.into(), 3));
    assert_pages(store, &notes, |tx, page| tx.notes().list(request.into(), None, page));
    write(store, |tx| {
        let found = tx.notes().find(request.into(), notes[0].id, None)?;
        assert_eq!(found.as_ref(), Some(&notes[0]));
        assert_eq!(tx.notes().find(other.into(), notes[0].id, None)?, None);
        tx.notes().delete(&notes[0])?;
        // An update of a stale request does not overwrite the count.
        let stale = tx.merge_requests().find(project, request)?.expect("it was made");
        tx.notes().delete(&notes[1])?;
        tx.notes().delete(&notes[2])?;
        tx.merge_requests().update(&stale)
    });
    assert_eq!((count(request), count(other)), (1, 4));
    let gone = a_note(project, MergeRequestId(i64::MAX), ada, "nowhere");
    let outcome: Result<Note, StoreError> = store.write(|tx| tx.notes().insert(gone));
    assert!(matches!(outcome, Err(StoreError::Gone)), "{outcome:?}");
}

/// Another project with the same commit has other notes. Positions are read back as they were written.
pub fn notes_on_commits_are_those_of_one_project(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let (fork, bob) = a_project_with_owner(store, "bob");
    let on = |project| Noteable::Commit { project, id: COMMIT };
    let at = |line| Some(NotePosition { path: "a b/ü.rs".into(), line });
    let mut notes = Vec::new();
    let lines = [NoteLine::Added(7), NoteLine::Removed(Some(8)), NoteLine::Removed(None)];
    for position in [None].into_iter().chain(lines.map(at)) {
        let new = NewNote { position, ..a_note(project, on(project), ada, "a comment 🦀") };
        let made = write(store, |tx| tx.notes().insert(new.clone()));
        assert_eq!((made.on, &made.position), (on(project), &new.position));
        notes.push(made);
    }
    write(store, |tx| tx.notes().insert(a_note(fork, on(fork), bob, "elsewhere")));
    assert_pages(store, &notes, |tx, page| tx.notes().list(on(project), None, page));
    let other = Noteable::Commit { project, id: ObjectId::ZERO };
    read(store, |tx| {
        assert_eq!(tx.notes().find_all(&[notes[1].id])?, notes[1..2]);
        assert_eq!(tx.notes().list(on(fork), None, Page::Whole)?.total, 1);
        assert_eq!(tx.notes().list(other, None, Page::Whole)?.total, 0);
        assert_eq!(tx.notes().find(on(fork), notes[0].id, None)?, None);
        Ok(())
    });
    write(store, |tx| tx.notes().delete(&notes[0]));
    assert_pages(store, &notes[1..], |tx, page| tx.notes().list(on(project), None, page));
    write(store, |tx| tx.users().delete(ada));
    assert_eq!(read(store, |tx| tx.notes().find_all(&[notes[1].id])), []);
}

/// Notes without a position, and those on other requests and on commits, are left out.
pub fn notes_on_lines_of_a_merge_request_come_newest_first(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [request, other] = [1, 2].map(|_| a_stored_request(store, project, ada));
    let commit = Noteable::Commit { project, id: COMMIT };
    let position = |line| Some(NotePosition { path: "a b/ü.rs".into(), line });
    let mut notes = Vec::new();
    for line in [NoteLine::Added(7), NoteLine::Removed(Some(7)), NoteLine::Removed(None)] {
        for on in [Noteable::from(other), commit] {
            let new = NewNote { position: position(line), ..a_note(project, on, ada, "elsewhere") };
            write(store, |tx| tx.notes().insert(new));
        }
        write(store, |tx| tx.notes().insert(a_note(project, request, ada, "on no line")));
        let new = NewNote { position: position(line), ..a_note(project, request, ada, "here") };
        notes.insert(0, write(store, |tx| tx.notes().insert(new)));
    }
    for limit in [0, 1, 3, 9] {
        let found = read(store, |tx| tx.notes().on_lines(request, limit));
        assert_eq!(found, notes[..notes.len().min(limit as usize)], "{limit}");
    }
    let missing = read(store, |tx| tx.notes().on_lines(MergeRequestId(i64::MAX), 9));
    assert_eq!(missing, []);
}

/// Events about other notes, and about the merge request itself, are kept.
pub fn events_about_notes_are_deleted_with_them(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let request = a_stored_request(store, project, ada);
    for on in [Noteable::from(request), Noteable::Commit { project, id: COMMIT }] {
        let total = |store: &dyn Store| {
            let all = |tx: &mut dyn hexforge_domain::ports::store::Tx| {
                tx.events().of_project(project, Clearance::All, a_day(), Page::Whole)
            };
            read(store, all).total
        };
        let before = total(store);
        let made = write(store, |tx| {
            let [one, two] = [1, 2].map(|_| a_note(project, on, ada, "a note"));
            let made = [tx.notes().insert(one)?, tx.notes().insert(two)?];
            for (kind, note) in [("Note", 0), ("LegacyDiffNote", 0), ("Note", 1), ("Milestone", 0)]
            {
                let (id, belongs_to) = (Some(made[note].id.0), on.issuable().map(Noteable::from));
                let target = EventTarget { kind: kind.into(), id, title: None, belongs_to };
                let (action, target) = (EventAction::CommentedOn, Some(target));
                let event =
                    tx.events().insert(NewEvent { action, target, ..an_event(project, ada) })?;
                assert_eq!(event.target.and_then(|target| target.belongs_to), belongs_to);
            }
            Ok(made)
        });
        write(store, |tx| tx.notes().delete(&made[0]));
        assert_eq!(total(store), before + 2, "{on:?}");
    }
    write(store, |tx| tx.merge_requests().delete(request));
    let events =
        read(store, |tx| tx.events().of_project(project, Clearance::All, a_day(), Page::Whole));
    assert_eq!(events.total, 2);
}

/// A merge request is visible to readers of the code, and to its author and assignee, while the project has merge
/// requests.
pub fn mentions_by_merge_requests_are_visible_to_their_readers(store: &dyn Store) {
    let [ada, bob, rob, gus, eve] =
        ["ada", "bob", "rob", "gus", "eve"].map(|name| a_user(name).stored_in(store).id);
    let home = home_of(store, ada);
    let open = a_project("open", home, ada).public().stored_in(store).id;
    let shut = a_project("shut", home, ada).stored_in(store);
    let (issue, notes) = write(store, |tx| {
        tx.project_members().insert(shut.id, a_member(gus, AccessLevel::Guest))?;
        tx.project_members().insert(shut.id, a_member(rob, AccessLevel::Reporter))?;
        let issue = tx.issues().insert(an_issue(open, ada, "an issue"))?.id;
        let public = tx.merge_requests().insert(a_merge_request(open, ada, "public"))?.id;
        let private = NewMergeRequest { assignee: Some(eve), ..a_merge_request(shut.id, bob, "x") };
        let private = tx.merge_requests().insert(private)?.id;
        let mut notes = vec![];
        for (project, merge_request) in [(open, public), (shut.id, private)] {
            let source = Some(NoteSource::MergeRequest { project, merge_request });
            let new = NewNote { system: true, source, ..a_note(open, issue, ada, "mentioned") };
            notes.push(tx.notes().insert(new)?);
        }
        Ok((issue, notes))
    });
    let reader = |user| Some(NoteReader { viewer: insider(user), today: a_day() });
    let assert_seen = |readers: &[(Option<NoteReader>, usize)]| {
        for (reader, seen) in readers {
            assert_pages(store, &notes[..*seen], |tx, page| {
                tx.notes().list(issue.into(), *reader, page)
            });
        }
    };
    assert_seen(&[
        (None, 2),
        (reader(ada), 2),
        (reader(bob), 2),
        (reader(eve), 2),
        (reader(rob), 2),
        (reader(gus), 1),
    ]);
    let mut without = shut.features;
    without.merge_requests = false;
    write(store, |tx| tx.projects().update(&Project { features: without, ..shut.clone() }));
    assert_seen(&[(None, 2), (reader(ada), 1), (reader(bob), 1), (reader(rob), 1)]);
    write(store, |tx| tx.users().delete(bob));
    assert_seen(&[(None, 1)]);
}

/// Mentions by issues, by commits, of other subjects and from other projects are left out.
pub fn requests_that_mention_a_subject_come_newest_first(store: &dyn Store) {
    let [ada, bob, gus] = ["ada", "bob", "gus"].map(|name| a_user(name).stored_in(store).id);
    let home = home_of(store, ada);
    let shut = a_project("shut", home, ada).stored_in(store).id;
    let other = a_project("other", home, ada).public().stored_in(store).id;
    let (issue, requests) = write(store, |tx| {
        tx.project_members().insert(shut, a_member(gus, AccessLevel::Guest))?;
        let issue = tx.issues().insert(an_issue(shut, ada, "an issue"))?.id;
        let second = tx.issues().insert(an_issue(shut, ada, "another"))?.id;
        let mut requests = Vec::new();
        for (project, author, on) in [
            (shut, ada, issue),
            (shut, gus, issue),
            (shut, ada, issue),
            (shut, ada, second),
            (other, ada, issue),
        ] {
            let new = a_merge_request(project, author, "a request");
            let merge_request = tx.merge_requests().insert(new)?.id;
            let source = Some(NoteSource::MergeRequest { project, merge_request });
            tx.notes().insert(NewNote {
                system: true,
                source,
                ..a_note(shut, on, ada, "mentioned")
            })?;
            requests.push(merge_request);
        }
        for source in [
            NoteSource::Issue { project: shut, issue: second },
            NoteSource::Commit { project: shut, id: COMMIT },
        ] {
            let new = a_note(shut, issue, ada, "mentioned");
            tx.notes().insert(NewNote { system: true, source: Some(source), ..new })?;
        }
        Ok((issue, requests))
    });
    let reader = |user| Some(NoteReader { viewer: insider(user), today: a_day() });
    for (reader, limit, expected) in [
        (None, 9, vec![2, 1, 0]),
        (None, 2, vec![2, 1]),
        (reader(ada), 9, vec![2, 1, 0]),
        // A guest may not read the code, and sees own requests only.
        (reader(gus), 9, vec![1]),
        (reader(gus), 1, vec![1]),
        (reader(bob), 9, vec![]),
    ] {
        let found =
            read(store, |tx| tx.notes().mentioning_requests(issue.into(), shut, reader, limit));
        let expected: Vec<MergeRequestId> = expected.into_iter().map(|at| requests[at]).collect();
        assert_eq!(found, expected, "{reader:?} {limit}");
    }
}

/// Every kind of source may mention every kind of subject.
pub fn each_pair_of_source_and_subject_has_one_note_about_a_mention(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let (fork, _) = a_project_with_owner(store, "bob");
    let issues = ["one", "two"]
        .map(|title| write(store, |tx| tx.issues().insert(an_issue(project, ada, title))).id);
    let requests = [1, 2].map(|_| a_stored_request(store, project, ada));
    let other = ObjectId::from_bytes([8; 20]);
    let commit = |id| Noteable::Commit { project, id };
    let subjects: Vec<Noteable> =
        vec![issues[0].into(), issues[1].into(), requests[0].into(), requests[1].into()];
    let subjects = [subjects, vec![commit(COMMIT), commit(other)]].concat();
    let sources = [
        NoteSource::Issue { project, issue: issues[0] },
        NoteSource::MergeRequest { project, merge_request: requests[0] },
        NoteSource::Commit { project, id: COMMIT },
        NoteSource::Commit { project: fork, id: COMMIT },
    ];
    for source in sources {
        for on in [subjects[0], subjects[2], subjects[4]] {
            let new = NewNote { source: Some(source), ..a_note(project, on, ada, "mentioned") };
            let made = write(store, |tx| tx.notes().insert(new.clone()));
            assert_eq!(made.source, Some(source));
            assert_eq!(read(store, |tx| tx.notes().find_all(&[made.id])), [made]);
            assert_duplicate(store, "source", |tx| tx.notes().insert(new));
        }
        let mut found = read(store, |tx| tx.notes().mentioned_by(source, &subjects));
        found.sort();
        assert_eq!(found, [subjects[0], subjects[2], subjects[4]], "{source:?}");
        assert_eq!(read(store, |tx| tx.notes().mentioned_by(source, &[])), []);
    }
}
