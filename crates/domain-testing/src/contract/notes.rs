//! Notes; see [`Notes`](hexforge_domain::note::port::Notes).

use super::check::{assert_duplicate, assert_pages, insider, read, write};
use super::labels::a_project_with_owner;
use crate::builders::{
    a_day, a_member, a_note, a_project, a_user, an_event, an_issue, at, home_of,
};
use hexforge_domain::commit::ObjectId;
use hexforge_domain::event::{EventAction, EventTarget, NewEvent};
use hexforge_domain::id::{IssueId, NoteId, ProjectId};
use hexforge_domain::issue::NewIssue;
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::note::port::NoteReader;
use hexforge_domain::note::{NewNote, Note, NoteBody, NoteSource};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;

fn count(store: &dyn Store, project: ProjectId, issue: IssueId) -> u32 {
    let issue = read(store, |tx| tx.issues().find(project, issue));
    issue.expect("the issue is there").user_notes_count
}

/// All fields are read back as they were written, also after an update.
pub fn a_note_has_every_field(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let issue = write(store, |tx| tx.issues().insert(an_issue(project, ada, "an issue"))).id;
    let new = NewNote { created_at: at(-9), ..a_note(project, issue, ada, "a note 🦀") };
    let made = write(store, |tx| tx.notes().insert(new.clone()));
    let expected = Note {
        id: made.id,
        project,
        on: issue.into(),
        position: None,
        author: ada,
        updated_by: None,
        body: new.body,
        system: false,
        source: None,
        created_at: at(-9),
        updated_at: new.at,
    };
    assert_eq!(made, expected);
    let body = NoteBody::parse("another").expect("a body");
    let changed = Note { body, updated_by: Some(bob), updated_at: at(9), ..made };
    write(store, |tx| tx.notes().update(&changed));
    read(store, |tx| {
        assert_eq!(tx.notes().find(issue.into(), changed.id, None)?, Some(changed.clone()));
        assert_eq!(tx.notes().find(IssueId(i64::MAX).into(), changed.id, None)?, None);
        assert_eq!(
            tx.notes().find_all(&[changed.id, NoteId(i64::MAX)])?,
            std::slice::from_ref(&changed)
        );
        Ok(())
    });
}

/// System notes are listed and not counted.
pub fn notes_are_listed_oldest_first_and_counted(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [issue, other] = ["one", "two"]
        .map(|title| write(store, |tx| tx.issues().insert(an_issue(project, ada, title))).id);
    let mut notes = Vec::new();
    for (number, system) in [(0, false), (1, true), (2, false), (3, false)] {
        let body = format!("note {number}");
        let new = NewNote { system, ..a_note(project, issue, ada, &body) };
        notes.push(write(store, |tx| tx.notes().insert(new)));
        write(store, |tx| tx.notes().insert(a_note(project, other, ada, &body)));
    }
    assert_pages(store, &notes, |tx, page| tx.notes().list(issue.into(), None, page));
    assert_eq!(count(store, project, issue), 3);
    for note in [&notes[1], &notes[0], &notes[0]] {
        write(store, |tx| tx.notes().delete(note));
    }
    assert_pages(store, &notes[2..], |tx, page| tx.notes().list(issue.into(), None, page));
    assert_eq!((count(store, project, issue), count(store, project, other)), (2, 4));
}

/// Events of the issue are kept.
pub fn a_deleted_note_takes_its_events_along(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    write(store, |tx| {
        let issue = tx.issues().insert(an_issue(project, ada, "an issue"))?.id;
        let [one, two] = [1, 2].map(|_| a_note(project, issue, ada, "a note"));
        let (one, two) = (tx.notes().insert(one)?, tx.notes().insert(two)?);
        let on = Some(issue.into());
        for (kind, id) in [("Issue", one.id.0), ("Note", one.id.0), ("Note", two.id.0)] {
            let target =
                EventTarget { kind: kind.into(), id: Some(id), title: None, belongs_to: on };
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

/// Sources are a public project, a private one and a confidential issue, and commits to both
/// projects.
pub fn mentions_are_visible_to_readers_of_their_source(store: &dyn Store) {
    let [ada, bob, rob, gus] =
        ["ada", "bob", "rob", "gus"].map(|name| a_user(name).stored_in(store).id);
    let home = home_of(store, ada);
    let open = a_project("open", home, ada).public().stored_in(store).id;
    let shut = a_project("shut", home, ada).stored_in(store).id;
    let issue = write(store, |tx| tx.issues().insert(an_issue(open, ada, "an issue"))).id;
    let (notes, sources) = write(store, |tx| {
        tx.project_members().insert(shut, a_member(gus, AccessLevel::Guest))?;
        tx.project_members().insert(shut, a_member(rob, AccessLevel::Reporter))?;
        let public = tx.issues().insert(an_issue(open, ada, "public"))?.id;
        let private = tx.issues().insert(an_issue(shut, ada, "private"))?.id;
        let secret = NewIssue { confidential: true, ..an_issue(shut, ada, "secret") };
        let secret = tx.issues().insert(secret)?.id;
        let id = ObjectId::from_bytes([7; 20]);
        let sources = [
            NoteSource::Issue { project: open, issue: public },
            NoteSource::Commit { project: open, id },
            NoteSource::Issue { project: shut, issue: private },
            NoteSource::Commit { project: shut, id },
            NoteSource::Issue { project: shut, issue: secret },
        ];
        let mut notes = vec![tx.notes().insert(a_note(open, issue, ada, "a note"))?];
        for source in sources {
            let new = a_note(open, issue, ada, "mentioned");
            let new = NewNote { system: true, source: Some(source), ..new };
            notes.push(tx.notes().insert(new)?);
        }
        Ok((notes, sources))
    });
    let reader = |user| Some(NoteReader { viewer: insider(user), today: a_day() });
    for (reader, seen) in [
        (None, vec![0, 1, 2, 3, 4, 5]),
        (reader(ada), vec![0, 1, 2, 3, 4, 5]),
        (reader(rob), vec![0, 1, 2, 3, 4, 5]),
        (reader(gus), vec![0, 1, 2, 3]),
        (reader(bob), vec![0, 1, 2]),
    ] {
        let expected: Vec<Note> = seen.iter().map(|at| notes[*at].clone()).collect();
        assert_pages(store, &expected, |tx, page| tx.notes().list(issue.into(), reader, page));
        for (at, note) in notes.iter().enumerate() {
            let found = read(store, |tx| tx.notes().find(issue.into(), note.id, reader));
            assert_eq!(found.is_some(), seen.contains(&at), "{at} {reader:?}");
        }
    }
    let among = [issue.into(), IssueId(i64::MAX).into()];
    let mentioned = read(store, |tx| tx.notes().mentioned_by(sources[3], &among));
    assert_eq!(mentioned, [issue.into()]);
    let again = NewNote { source: Some(sources[0]), ..a_note(open, issue, ada, "again") };
    assert_duplicate(store, "source", |tx| tx.notes().insert(again));
    write(store, |tx| tx.projects().delete(shut));
    assert_pages(store, &notes[..3], |tx, page| tx.notes().list(issue.into(), None, page));
}
