//! Awards; see [`Awards`](hexforge_domain::award::port::Awards).

use super::check::{assert_duplicate, assert_pages, read, write};
use super::issuables::{details_of, two_of_each};
use super::labels::a_project_with_owner;
use crate::builders::{a_note, a_user, an_award, at};
use hexforge_domain::award::{Award, Awardable, NewAward, Votes};
use hexforge_domain::id::{AwardId, IssueId, MergeRequestId, NoteId, ProjectId, SnippetId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError};

/// Writes a note on each of these.
fn notes_on(
    store: &dyn Store,
    project: ProjectId,
    author: UserId,
    things: &[Issuable],
) -> Vec<Awardable> {
    let note_on = |thing: &Issuable| {
        let note = a_note(project, *thing, author, "a note");
        write(store, |tx| tx.notes().insert(note)).id.into()
    };
    things.iter().map(note_on).collect()
}

/// All fields are read back as they were written, and only under their target.
pub fn an_award_has_every_field(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let things = two_of_each(store, project, ada).concat();
    let targets: Vec<Awardable> = things.iter().copied().map(Awardable::from).collect();
    let targets = [targets, notes_on(store, project, ada, &things)].concat();
    for on in &targets {
        let new = NewAward { at: at(7), ..an_award(*on, ada, "tada") };
        let made = write(store, |tx| tx.awards().insert(new.clone()));
        let NewAward { user, name, .. } = new;
        assert_eq!(made, Award { id: made.id, on: *on, user, name, created_at: at(7) });
        for other in &targets {
            let found = read(store, |tx| tx.awards().find(*other, made.id));
            assert_eq!(found, (other == on).then(|| made.clone()), "{other:?}");
        }
        assert_eq!(read(store, |tx| tx.awards().find(*on, AwardId(i64::MAX))), None);
    }
}

/// A user can give each emoji once to a target. Other users, emoji and targets are independent.
pub fn an_emoji_is_given_once_by_each_user(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let things = two_of_each(store, project, ada).concat();
    let targets: Vec<Awardable> = things.iter().copied().map(Awardable::from).collect();
    for on in [targets, notes_on(store, project, ada, &things)].concat() {
        let given = |user, name: &str| {
            let name = an_award(on, user, name).name;
            read(store, |tx| tx.awards().find_given(on, user, &name))
        };
        assert_eq!(given(ada, "tada"), None);
        let made = write(store, |tx| tx.awards().insert(an_award(on, ada, "tada")));
        assert_eq!((given(ada, "tada"), given(bob, "tada")), (Some(made.clone()), None));
        assert_eq!(given(ada, "heart"), None);
        assert_duplicate(store, "award", |tx| tx.awards().insert(an_award(on, ada, "tada")));
        write(store, |tx| {
            tx.awards().insert(an_award(on, bob, "tada"))?;
            tx.awards().insert(an_award(on, ada, "heart"))
        });
        write(store, |tx| tx.awards().delete(made.id));
        assert_eq!(given(ada, "tada"), None);
        write(store, |tx| tx.awards().insert(an_award(on, ada, "tada")));
    }
}

/// Awards for something that does not exist are refused.
pub fn targets_of_awards_exist(store: &dyn Store) {
    let (_, ada) = a_project_with_owner(store, "ada");
    let none = i64::MAX;
    let request = Awardable::MergeRequest(MergeRequestId(none));
    let snippet = Awardable::Snippet(SnippetId(none));
    for on in [Awardable::Issue(IssueId(none)), request, snippet, NoteId(none).into()] {
        let refused = store.write(|tx| tx.awards().insert(an_award(on, ada, "tada")));
        assert!(matches!(refused, Err(StoreError::Gone)), "{refused:?}");
    }
}

/// The awards of a note are not among those of its issue.
pub fn awards_are_listed_oldest_first(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let things = two_of_each(store, project, ada).concat();
    let notes = notes_on(store, project, ada, &things);
    let mut of_notes = Vec::new();
    for (thing, note) in things.iter().copied().zip(notes) {
        for on in [thing.into(), note] {
            let names = ["tada", "heart", "8ball", "bug", "zap"];
            let made: Vec<Award> = (names.iter())
                .map(|name| write(store, |tx| tx.awards().insert(an_award(on, ada, name))))
                .collect();
            assert_pages(store, &made, |tx, page| tx.awards().list(on, page));
            let Awardable::Note(note) = on else { continue };
            assert_eq!(
                read(store, |tx| tx.awards().of_discussion(thing.into(), &[note], 5)).len(),
                10
            );
            of_notes.extend(made);
        }
    }
    let notes: Vec<NoteId> = of_notes.iter().map(|award| NoteId(award.on.id())).collect();
    let nothing = Awardable::Issue(IssueId(i64::MAX));
    for (notes, limit, expected) in [
        (&notes[..], 10, &of_notes[..]),
        (&notes[..], 1, &of_notes[..10]),
        (&notes[..0], 3, &of_notes[..0]),
    ] {
        let found = read(store, |tx| tx.awards().of_discussion(nothing, notes, limit));
        assert_eq!(found, expected);
    }
    for on in [Awardable::Note(notes[0]), things[0].into()] {
        let all = read(store, |tx| tx.awards().list(on, Page::Whole)).items;
        assert_eq!(read(store, |tx| tx.awards().of_discussion(on, &[], 3)), all[..3]);
    }
}

/// Only thumbs on the issue or merge request itself are votes. Awards go with their user, their note, and the issue or
/// merge request.
pub fn thumbs_are_votes(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let [issues, requests] = two_of_each(store, project, ada);
    let all = [issues, requests].concat();
    let votes = |on: &[Issuable]| -> Vec<(Issuable, Votes)> {
        let votes = details_of(store, ada, on).into_iter().map(|(on, one)| (on, one.votes));
        votes.filter(|(_, votes)| *votes != Votes::default()).collect()
    };
    for note in notes_on(store, project, ada, &all) {
        write(store, |tx| tx.awards().insert(an_award(note, ada, "+1")));
    }
    for [one, two] in [issues, requests] {
        for (on, user, name) in
            [(one, bob, "+1"), (one, ada, "+1"), (one, bob, "tada"), (two, bob, "-1")]
        {
            write(store, |tx| tx.awards().insert(an_award(on, user, name)));
        }
    }
    let (up, down) = (Votes { up: 2, down: 0 }, Votes { up: 0, down: 1 });
    let unknown = [&all[..], &[IssueId(i64::MAX).into()]].concat();
    let expected: Vec<_> = all.iter().copied().zip([up, down, up, down]).collect();
    assert_eq!(votes(&unknown), expected);
    write(store, |tx| tx.users().delete(bob));
    let left = Votes { up: 1, down: 0 };
    assert_eq!(votes(&all), [(issues[0], left), (requests[0], left)]);
}

/// Awards are deleted with their note, and with the issue or merge request.
pub fn awards_go_with_their_target(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let things = two_of_each(store, project, ada).concat();
    let notes = notes_on(store, project, ada, &things);
    for (index, (thing, note)) in things.into_iter().zip(notes).enumerate() {
        let made = [Awardable::from(thing), note]
            .map(|on| write(store, |tx| tx.awards().insert(an_award(on, ada, "tada"))));
        let left = || made.clone().map(|one| read(store, |tx| tx.awards().find(one.on, one.id)));
        if index % 2 == 0 {
            write(store, |tx| {
                let found = tx.notes().find_all(&[NoteId(note.id())])?;
                found.iter().try_for_each(|note| tx.notes().delete(note))
            });
            assert_eq!(left(), [Some(made[0].clone()), None]);
        }
        write(store, |tx| match thing {
            Issuable::Issue(id) => tx.issues().delete(id),
            Issuable::MergeRequest(id) => tx.merge_requests().delete(id),
        });
        assert_eq!(left(), [None, None]);
    }
}
