//! Snippets; see [`Snippets`](hexforge_domain::snippet::port::Snippets).

use super::check::{assert_duplicate, assert_pages, read, write};
use crate::builders::{
    a_day, a_member, a_moment, a_note, a_project, a_snippet, a_user, an_award, at, home_of,
};
use hexforge_domain::event::{EventAction, EventTarget, NewEvent};
use hexforge_domain::id::{ProjectId, SnippetId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::note::Note;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::snippet::{NewSnippet, Snippet, SnippetFileName};
use hexforge_domain::text::{LongText, ShortText};
use hexforge_domain::visibility::Visibility;

fn a_project_with_owner(store: &dyn Store) -> (ProjectId, UserId) {
    let ada = a_user("ada").stored_in(store).id;
    (a_project("site", home_of(store, ada), ada).public().stored_in(store).id, ada)
}

fn insert(store: &dyn Store, new: NewSnippet) -> Snippet {
    write(store, |tx| tx.snippets().insert(new))
}

fn long(text: &str) -> LongText {
    LongText::parse(text).expect("a short text")
}

/// See [`Snippets::insert`](hexforge_domain::snippet::port::Snippets::insert).
pub fn a_snippet_is_stored_with_every_field(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store);
    let texts = ["x", "", " \r\n\t🦀 'quoted' \"twice\" \\"];
    for (visibility, text) in Visibility::ALL.into_iter().zip(texts) {
        for project in [Some(project), None] {
            let new = NewSnippet {
                title: ShortText::parse("A <b>title</b>").expect("a title"),
                content: long(text),
                visibility,
                at: at(7),
                ..a_snippet(project, ada)
            };
            let made = insert(store, new.clone());
            let expected = Snippet {
                id: made.id,
                project,
                author: ada,
                title: new.title,
                file_name: new.file_name,
                visibility,
                created_at: at(7),
                updated_at: at(7),
            };
            assert_eq!(made, expected);
            assert_eq!(read(store, |tx| tx.snippets().find(made.id)), Some(expected));
            assert_eq!(read(store, |tx| tx.snippets().content(made.id)), Some(new.content));
        }
    }
    assert_eq!(read(store, |tx| tx.snippets().find(SnippetId(i64::MAX))), None);
    assert_eq!(read(store, |tx| tx.snippets().content(SnippetId(i64::MAX))), None);
}

/// See the three lists of [`Snippets`](hexforge_domain::snippet::port::Snippets).
pub fn snippets_are_listed_newest_first_by_level_and_owner(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store);
    let bob = a_user("bob").stored_in(store).id;
    let other = a_project("other", home_of(store, ada), ada).stored_in(store).id;
    let mut all = Vec::new();
    for owner in [Some(project), Some(other), None] {
        for author in [ada, bob] {
            for visibility in Visibility::ALL {
                let new = NewSnippet { visibility, ..a_snippet(owner, author) };
                all.insert(0, insert(store, new));
            }
        }
    }
    let those = |matches: &dyn Fn(&Snippet) -> bool| -> Vec<Snippet> {
        all.iter().filter(|snippet| matches(snippet)).cloned().collect()
    };
    for lowest in Visibility::ALL {
        let of_project =
            those(&|snippet| snippet.project == Some(project) && snippet.visibility >= lowest);
        assert_pages(store, &of_project, |tx, page| {
            tx.snippets().of_project(project, lowest, page)
        });
    }
    let personal = those(&|snippet| snippet.project.is_none() && snippet.author == bob);
    assert_pages(store, &personal, |tx, page| tx.snippets().personal(bob, page));
    let public =
        those(&|snippet| snippet.project.is_none() && snippet.visibility == Visibility::Public);
    assert_pages(store, &public, |tx, page| tx.snippets().public(page));
}

/// See [`Snippets::update`](hexforge_domain::snippet::port::Snippets::update).
pub fn an_updated_snippet_keeps_its_owner_and_its_content(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store);
    let snippet = insert(store, a_snippet(Some(project), ada));
    let other = insert(store, a_snippet(Some(project), ada));
    let changed = Snippet {
        title: ShortText::parse("New").expect("a title"),
        file_name: SnippetFileName::stored("b.rs".into()),
        visibility: Visibility::Public,
        updated_at: at(9),
        ..snippet.clone()
    };
    write(store, |tx| tx.snippets().update(&changed, None));
    assert_eq!(read(store, |tx| tx.snippets().find(snippet.id)), Some(changed.clone()));
    let content = a_snippet(None, ada).content;
    assert_eq!(read(store, |tx| tx.snippets().content(snippet.id)), Some(content.clone()));
    write(store, |tx| tx.snippets().update(&changed, Some(&long("new"))));
    assert_eq!(read(store, |tx| tx.snippets().content(snippet.id)), Some(long("new")));
    assert_eq!(read(store, |tx| tx.snippets().find(other.id)), Some(other.clone()));
    assert_eq!(read(store, |tx| tx.snippets().content(other.id)), Some(content));
}

fn comment(store: &dyn Store, snippet: &Snippet, author: UserId) -> Note {
    let project = snippet.project.expect("a snippet of a project");
    write(store, |tx| {
        let note = tx.notes().insert(a_note(project, snippet.id, author, "a note"))?;
        let target = EventTarget {
            kind: "Note".into(),
            id: Some(note.id.0),
            title: None,
            belongs_to: Some(note.on),
        };
        let (action, at) = (EventAction::CommentedOn, a_moment());
        let event = NewEvent { project, author, action, target: Some(target), push: None, at };
        let event = tx.events().insert(event)?;
        assert_eq!(event.target.and_then(|target| target.belongs_to), Some(snippet.id.into()));
        Ok(note)
    })
}

fn event_count(store: &dyn Store, project: ProjectId, clearance: Clearance) -> u64 {
    let page = Page::Whole;
    read(store, |tx| tx.events().of_project(project, clearance, a_day(), page)).total
}

/// Notes and events go with their snippet, and a note takes its event along.
pub fn a_deleted_snippet_takes_its_notes_and_events_along(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store);
    let [one, two] = [1, 2].map(|_| insert(store, a_snippet(Some(project), ada)));
    let notes = [&one, &one, &two].map(|snippet| comment(store, snippet, ada));
    assert_pages(store, &notes[..2], |tx, page| tx.notes().list(one.id.into(), None, page));
    assert_eq!(event_count(store, project, Clearance::All), 3);
    write(store, |tx| tx.notes().delete(&notes[0]));
    assert_eq!(event_count(store, project, Clearance::All), 2);
    write(store, |tx| tx.snippets().delete(one.id));
    assert_eq!(read(store, |tx| tx.snippets().find(one.id)), None);
    let left = read(store, |tx| tx.notes().find_all(&notes.each_ref().map(|note| note.id)));
    assert_eq!(left, [notes[2].clone()]);
    assert_eq!(event_count(store, project, Clearance::All), 1);
    let gone = store.write(|tx| tx.notes().insert(a_note(project, one.id, ada, "late")));
    assert!(matches!(gone, Err(StoreError::Gone)), "{gone:?}");
}

/// Awards are given to a snippet once by each user, and go with it.
pub fn awards_of_snippets_go_with_them(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store);
    let [one, two] = [1, 2].map(|_| insert(store, a_snippet(Some(project), ada)).id);
    let given = write(store, |tx| {
        tx.awards().insert(an_award(two, ada, "tada"))?;
        tx.awards().insert(an_award(one, ada, "tada"))
    });
    assert_duplicate(store, "award", |tx| tx.awards().insert(an_award(one, ada, "tada")));
    assert_pages(store, std::slice::from_ref(&given), |tx, page| {
        tx.awards().list(one.into(), page)
    });
    assert_eq!(read(store, |tx| tx.awards().find(two.into(), given.id)), None);
    write(store, |tx| tx.snippets().delete(one));
    assert_pages(store, &[], |tx, page| tx.awards().list(one.into(), page));
    assert_eq!(read(store, |tx| tx.awards().list(two.into(), Page::Whole)).total, 1);
}

/// See [`Events::of_project`](hexforge_domain::event::port::Events::of_project).
pub fn events_about_snippets_that_are_not_public_are_for_the_team(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store);
    let [bob, eve] = ["bob", "eve"].map(|name| a_user(name).stored_in(store).id);
    write(store, |tx| tx.project_members().insert(project, a_member(bob, AccessLevel::Guest)));
    for visibility in Visibility::ALL {
        let new = NewSnippet { visibility, ..a_snippet(Some(project), ada) };
        comment(store, &insert(store, new), ada);
    }
    // Snippets are off at first.
    for (clearance, off, on) in [
        (Clearance::All, 3, 3),
        (Clearance::Own(bob), 0, 3),
        (Clearance::ByRole(bob), 0, 3),
        (Clearance::Own(eve), 0, 1),
        (Clearance::Nothing, 0, 1),
    ] {
        for (enabled, expected) in [(false, off), (true, on)] {
            write(store, |tx| {
                let mut row = tx.projects().lock(project)?.expect("the project exists");
                row.features.snippets = enabled;
                tx.projects().update(&row)
            });
            let found = event_count(store, project, clearance);
            assert_eq!(found, expected, "{clearance:?} {enabled}");
        }
    }
}

/// Snippets are deleted with their project and their author.
pub fn snippets_go_with_their_project_and_their_author(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store);
    let bob = a_user("bob").stored_in(store).id;
    let of_bob = insert(store, a_snippet(Some(project), bob));
    let personal = insert(store, a_snippet(None, bob));
    let kept = insert(store, a_snippet(None, ada));
    let of_ada = insert(store, a_snippet(Some(project), ada));
    comment(store, &of_bob, ada);
    write(store, |tx| tx.users().delete(bob));
    assert_pages(store, &[], |tx, page| tx.snippets().personal(bob, page));
    assert_pages(store, std::slice::from_ref(&of_ada), |tx, page| {
        tx.snippets().of_project(project, Visibility::Private, page)
    });
    for gone in [&of_bob, &personal] {
        assert_eq!(read(store, |tx| tx.snippets().find(gone.id)), None);
    }
    assert_eq!(event_count(store, project, Clearance::All), 0);
    write(store, |tx| tx.projects().delete(project));
    assert_eq!(read(store, |tx| tx.snippets().find(of_ada.id)), None);
    assert_eq!(read(store, |tx| tx.snippets().find(kept.id)), Some(kept.clone()));
}
