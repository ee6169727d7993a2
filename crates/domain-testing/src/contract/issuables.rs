//! Subscriptions and participants; see [`Issuables`](hexforge_domain::issuable::port::Issuables).

use super::check::{read, write};
use super::labels::a_project_with_owner;
use crate::builders::{a_merge_request, a_note, a_user, an_award, an_issue};
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::ports::store::Store;
use hexforge_domain::subscription::Subscribed;

/// Creates two issues and two merge requests.
pub(super) fn two_of_each(
    store: &dyn Store,
    project: ProjectId,
    author: UserId,
) -> [[Issuable; 2]; 2] {
    let pair = |make: &(dyn Fn(&str) -> Issuable + Sync)| ["one", "two"].map(make);
    [
        pair(&|title| {
            write(store, |tx| tx.issues().insert(an_issue(project, author, title))).id.into()
        }),
        pair(&|title| {
            let new = a_merge_request(project, author, title);
            write(store, |tx| tx.merge_requests().insert(new)).id.into()
        }),
    ]
}

/// The subscriptions of other users do not change.
pub fn subscriptions_are_those_of_one_user(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    for [one, two] in two_of_each(store, project, ada) {
        let chosen = |user| read(store, |tx| tx.issuables().subscriptions(user, &[one, two]));
        assert_eq!(chosen(ada), []);
        for subscribed in [Subscribed::No, Subscribed::Yes, Subscribed::Yes, Subscribed::No] {
            write(store, |tx| tx.issuables().subscribe(one, ada, subscribed));
            assert_eq!((chosen(ada), chosen(bob)), (vec![(one, subscribed)], vec![]));
        }
    }
}

/// Unknown usernames are ignored. Issues and merge requests can be asked for together.
pub fn authors_of_notes_and_mentioned_users_participate(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [bob, eve] = ["bob", "eve"].map(|name| a_user(name).stored_in(store).id);
    let [issues, requests] = two_of_each(store, project, ada);
    for [one, two] in [issues, requests] {
        write(store, |tx| {
            tx.issuables().participate(one, ada)?;
            tx.issuables().participate(one, ada)?;
            tx.issuables().mention(one, &["bob", "nobody", "Eve"])?;
            tx.issuables().mention(one, &["bob"])?;
            tx.issuables().mention(two, &[])
        });
    }
    let all = [issues, requests].concat();
    let part = |user| {
        let mut found = read(store, |tx| tx.issuables().participations(user, &all));
        found.sort();
        found
    };
    let both = vec![issues[0], requests[0]];
    assert_eq!((part(ada), part(bob), part(eve)), (both.clone(), both, vec![]));
    for [one, two] in [issues, requests] {
        let users = |on, limit| read(store, |tx| tx.issuables().participants(on, limit));
        assert_eq!(users(one, 9), [ada, bob]);
        assert_eq!((users(one, 1), users(two, 9)), (vec![ada], vec![]));
        write(store, |tx| tx.awards().insert(an_award(two, eve, "tada")));
        assert_eq!(users(two, 9), [eve]);
    }
}

/// A user participates while at least one award of the user is left. Awards of notes do not count.
pub fn givers_of_awards_participate(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let [issues, requests] = two_of_each(store, project, ada);
    let all = [issues, requests].concat();
    let part = |user| {
        let mut found = read(store, |tx| tx.issuables().participations(user, &all));
        found.sort();
        found
    };
    for [one, two] in [issues, requests] {
        let note = a_note(project, two, ada, "a note");
        let note = write(store, |tx| tx.notes().insert(note)).id;
        let names = ["tada", "heart"];
        let made =
            names.map(|name| write(store, |tx| tx.awards().insert(an_award(one, bob, name))));
        write(store, |tx| {
            tx.awards().insert(an_award(note, bob, "tada"))?;
            tx.issuables().participate(one, ada)?;
            tx.awards().insert(an_award(one, ada, "tada"))
        });
        for award in &made {
            assert!(part(bob).contains(&one));
            write(store, |tx| tx.awards().delete(award.id));
        }
    }
    assert_eq!((part(ada), part(bob)), (vec![issues[0], requests[0]], vec![]));
}
