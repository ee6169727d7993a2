//! Notes; see [`Notes`](crate::note::port::Notes).

use super::check::{assert_pages, read, write};
use super::labels::a_place;
use crate::event::{EventAction, EventTarget, NewEvent};
use crate::id::{IssueId, NoteId, ProjectId};
use crate::issue::query::Clearance;
use crate::note::{NewNote, Note, NoteBody};
use crate::paging::Page;
use crate::ports::store::Store;
use crate::testing::builders::{a_day, a_note, a_user, an_event, an_issue, at};

fn count(store: &dyn Store, project: ProjectId, issue: IssueId) -> u32 {
    let issue = read(store, |tx| tx.issues().find(project, issue));
    issue.expect("the issue is there").user_notes_count
}

/// What is stored is what was given, also after a change.
pub fn a_note_has_every_field(store: &dyn Store) {
    let (project, ada) = a_place(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let issue = write(store, |tx| tx.issues().insert(an_issue(project, ada, "an issue"))).id;
    let new = NewNote { created_at: at(-9), ..a_note(project, issue, ada, "a note 🦀") };
    let made = write(store, |tx| tx.notes().insert(new.clone()));
    let expected = Note {
        id: made.id,
        project,
        issue,
        author: ada,
        updated_by: None,
        body: new.body,
        system: false,
        created_at: at(-9),
        updated_at: new.at,
    };
    assert_eq!(made, expected);
    let body = NoteBody::parse("another").expect("a body");
    let changed = Note { body, updated_by: Some(bob), updated_at: at(9), ..made };
    write(store, |tx| tx.notes().update(&changed));
    read(store, |tx| {
        assert_eq!(tx.notes().find(issue, changed.id)?, Some(changed.clone()));
        assert_eq!(tx.notes().find(IssueId(i64::MAX), changed.id)?, None);
        assert_eq!(
            tx.notes().find_all(&[changed.id, NoteId(i64::MAX)])?,
            std::slice::from_ref(&changed)
        );
        Ok(())
    });
}

/// What the service wrote is listed and not counted.
pub fn notes_are_listed_oldest_first_and_counted(store: &dyn Store) {
    let (project, ada) = a_place(store, "ada");
    let [issue, other] = ["one", "two"]
        .map(|title| write(store, |tx| tx.issues().insert(an_issue(project, ada, title))).id);
    let mut notes = Vec::new();
    for (number, system) in [(0, false), (1, true), (2, false), (3, false)] {
        let body = format!("note {number}");
        let new = NewNote { system, ..a_note(project, issue, ada, &body) };
        notes.push(write(store, |tx| tx.notes().insert(new)));
        write(store, |tx| tx.notes().insert(a_note(project, other, ada, &body)));
    }
    assert_pages(store, &notes, |tx, page| tx.notes().list(issue, page));
    assert_eq!(count(store, project, issue), 3);
    for note in [&notes[1], &notes[0], &notes[0]] {
        write(store, |tx| tx.notes().delete(note));
    }
    assert_pages(store, &notes[2..], |tx, page| tx.notes().list(issue, page));
    assert_eq!((count(store, project, issue), count(store, project, other)), (2, 4));
}

/// Those of the issue stay.
pub fn a_deleted_note_takes_its_events_along(store: &dyn Store) {
    let (project, ada) = a_place(store, "ada");
    write(store, |tx| {
        let issue = tx.issues().insert(an_issue(project, ada, "an issue"))?.id;
        let [one, two] = [1, 2].map(|_| a_note(project, issue, ada, "a note"));
        let (one, two) = (tx.notes().insert(one)?, tx.notes().insert(two)?);
        for (kind, id) in [("Issue", one.id.0), ("Note", one.id.0), ("Note", two.id.0)] {
            let target =
                EventTarget { kind: kind.into(), id: Some(id), title: None, issue: Some(issue) };
            let action = EventAction::CommentedOn;
            tx.events().insert(NewEvent {
                action,
                target: Some(target),
                ..an_event(project, ada)
            })?;
        }
        tx.notes().delete(&one)
    });
    let events =
        read(store, |tx| tx.events().of_project(project, Clearance::All, a_day(), Page::Whole));
    assert_eq!(events.total, 2);
}
