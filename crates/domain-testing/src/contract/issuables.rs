//! Subscriptions and participants; see [`Issuables`](hexforge_domain::issuable::port::Issuables).

use super::check::{read, write};
use super::labels::a_project_with_owner;
use crate::builders::{a_merge_request, a_note, a_user, an_award, an_issue, label_in};
use hexforge_domain::award::Votes;
use hexforge_domain::id::{IssueId, ProjectId, UserId};
use hexforge_domain::issuable::{Issuable, IssuableDetails};
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

/// Returns the details of these for a reader, without empty ones, in the order of the ids.
pub(super) fn details_of(
    store: &dyn Store,
    reader: UserId,
    of: &[Issuable],
) -> Vec<(Issuable, IssuableDetails)> {
    let mut found = read(store, |tx| tx.issuables().details(reader, of));
    found.retain(|(_, details)| *details != IssuableDetails::default());
    found.sort_by_key(|(on, _)| *on);
    found
}

/// Returns those of these in which a user participates.
fn participations(store: &dyn Store, user: UserId, among: &[Issuable]) -> Vec<Issuable> {
    let found = details_of(store, user, among).into_iter();
    found.filter(|(_, details)| details.participates).map(|(on, _)| on).collect()
}

/// The subscriptions of other users do not change.
pub fn subscriptions_are_those_of_one_user(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    for [one, two] in two_of_each(store, project, ada) {
        let chosen = |user| -> Vec<(Issuable, Subscribed)> {
            let found = details_of(store, user, &[one, two]).into_iter();
            found.filter_map(|(on, details)| Some((on, details.subscription?))).collect()
        };
        let subscription = |user, to| read(store, |tx| tx.issuables().subscription(user, to));
        assert_eq!((chosen(ada), subscription(ada, one)), (vec![], None));
        for subscribed in [Subscribed::No, Subscribed::Yes, Subscribed::Yes, Subscribed::No] {
            write(store, |tx| tx.issuables().subscribe(one, ada, subscribed));
            assert_eq!((chosen(ada), chosen(bob)), (vec![(one, subscribed)], vec![]));
            assert_eq!(subscription(ada, one), Some(subscribed));
            assert_eq!((subscription(ada, two), subscription(bob, one)), (None, None));
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
    let part = |user| participations(store, user, &all);
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
    let part = |user| participations(store, user, &all);
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

/// An explicit choice prevails over participation by a note, a mention or an award.
pub fn participants_without_a_choice_are_subscribed(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [bob, eve] = ["bob", "eve"].map(|name| a_user(name).stored_in(store).id);
    for [one, two] in two_of_each(store, project, ada) {
        let subscription = |user, to| read(store, |tx| tx.issuables().subscription(user, to));
        let award = write(store, |tx| {
            tx.issuables().participate(one, ada)?;
            tx.issuables().participate(one, bob)?;
            tx.issuables().subscribe(one, bob, Subscribed::No)?;
            for name in ["heart", "tada"] {
                tx.awards().insert(an_award(one, eve, name))?;
            }
            tx.awards().insert(an_award(two, eve, "tada"))
        });
        assert_eq!(subscription(ada, one), Some(Subscribed::Yes));
        assert_eq!(subscription(bob, one), Some(Subscribed::No));
        assert_eq!(subscription(eve, one), Some(Subscribed::Yes));
        assert_eq!([ada, bob].map(|user| subscription(user, two)), [None, None]);
        assert_eq!(subscription(eve, two), Some(Subscribed::Yes));
        write(store, |tx| tx.awards().delete(award.id));
        assert_eq!(subscription(eve, two), None);
        write(store, |tx| tx.issuables().subscribe(two, eve, Subscribed::Yes));
        assert_eq!(subscription(eve, two), Some(Subscribed::Yes));
    }
    assert_eq!(read(store, |tx| tx.issuables().subscription(ada, IssueId(i64::MAX).into())), None);
}

/// Unknown issues are ignored. Issues and merge requests can be asked for together.
pub fn details_have_labels_votes_and_the_subscription_of_the_reader(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [bob, eve] = ["bob", "eve"].map(|name| a_user(name).stored_in(store).id);
    let labels = ["b", "a", "B"].map(|title| label_in(store, project, title));
    let ids = labels.each_ref().map(|label| label.id);
    let [issues, requests] = two_of_each(store, project, ada);
    let all = [issues, requests].concat();
    let with_unknown = [&all[..], &[IssueId(i64::MAX).into()]].concat();
    let details = |reader| details_of(store, reader, &with_unknown);
    assert_eq!(details(ada), []);
    assert_eq!(details_of(store, ada, &[]), []);
    for [one, _] in [issues, requests] {
        write(store, |tx| {
            match one {
                Issuable::Issue(id) => tx.issues().set_labels(id, &ids)?,
                Issuable::MergeRequest(id) => tx.merge_requests().set_labels(id, &ids)?,
            }
            tx.issuables().subscribe(one, ada, Subscribed::No)?;
            tx.issuables().participate(one, bob)?;
            tx.awards().insert(an_award(one, bob, "+1"))?;
            tx.awards().insert(an_award(one, eve, "-1"))?;
            tx.awards().insert(an_award(one, eve, "tada"))
        });
    }
    let titles =
        ["B", "a", "b"].map(|title| labels.iter().find(|label| label.title.as_str() == title));
    let titles: Vec<_> = titles.into_iter().flatten().map(|label| label.title.clone()).collect();
    for (reader, subscription, participates) in
        [(ada, Some(Subscribed::No), false), (bob, None, true), (eve, None, true)]
    {
        let votes = Votes { up: 1, down: 1 };
        let expected =
            IssuableDetails { labels: titles.clone(), subscription, participates, votes };
        let expected = [issues[0], requests[0]].map(|on| (on, expected.clone()));
        assert_eq!(details(reader), expected);
    }
}
