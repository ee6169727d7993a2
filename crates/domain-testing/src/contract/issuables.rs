//! Subscriptions, participants and awards; see [`Issuables`](hexforge_domain::issuable::port::Issuables).

use super::check::{read, write};
use super::labels::a_project_with_owner;
use crate::builders::{a_merge_request, a_user, an_issue, at};
use hexforge_domain::id::{IssueId, ProjectId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::issuable::award::{EmojiName, Votes};
use hexforge_domain::ports::store::Store;
use hexforge_domain::subscription::Subscribed;

/// Creates two issues and two merge requests.
fn two_of_each(store: &dyn Store, project: ProjectId, author: UserId) -> [[Issuable; 2]; 2] {
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
}

/// A user can award each emoji once, and only thumbs count as votes. Awards go with their user and with the awarded issue
/// or merge request.
pub fn emoji_are_given_once_and_thumbs_are_votes(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let [issues, requests] = two_of_each(store, project, ada);
    let award = |on, user, name: &str, moment| {
        let name = EmojiName::from_note(name).expect("an emoji");
        write(store, |tx| tx.issuables().award(on, user, &name, moment))
    };
    let votes = |on: &[Issuable]| {
        let mut votes = read(store, |tx| tx.issuables().votes(on));
        votes.retain(|(_, votes)| *votes != Votes::default());
        votes.sort_by_key(|(on, _)| *on);
        votes
    };
    for [one, two] in [issues, requests] {
        let first = award(one, bob, ":+1:", at(1));
        assert_eq!((first.on, first.user, first.created_at), (one, bob, at(1)));
        assert_eq!(award(one, bob, ":thumbsup:", at(2)), first);
        assert_eq!(award(one, ada, ":+1:", at(3)).name.as_str(), "thumbsup");
        award(one, bob, ":tada:", at(4));
        award(two, bob, ":-1:", at(5));
    }
    let (up, down) = (Votes { up: 2, down: 0 }, Votes { up: 0, down: 1 });
    let all = [issues, requests].concat();
    let unknown = [&all[..], &[IssueId(i64::MAX).into()]].concat();
    let expected: Vec<_> = all.iter().copied().zip([up, down, up, down]).collect();
    assert_eq!(votes(&unknown), expected);
    write(store, |tx| tx.users().delete(bob));
    let left = Votes { up: 1, down: 0 };
    assert_eq!(votes(&all), [(issues[0], left), (requests[0], left)]);
    write(store, |tx| {
        for on in all.iter().copied() {
            match on {
                Issuable::Issue(id) => tx.issues().delete(id)?,
                Issuable::MergeRequest(id) => tx.merge_requests().delete(id)?,
            }
        }
        Ok(())
    });
    assert_eq!(votes(&all), []);
}
