//! Activity events; see [`Events`](crate::event::port::Events).

use super::check::{assert_pages, insert, write};
use crate::event::{Event, EventAction, EventTarget, NewEvent};
use crate::id::{ProjectId, UserId};
use crate::ports::store::Store;
use crate::testing::builders::{a_user, an_event, at};

fn happen(store: &dyn Store, new: NewEvent) -> Event {
    write(store, |tx| tx.events().insert(new))
}

/// Checks that what is returned and what is read is what was given.
fn assert_kept(store: &dyn Store, author: UserId, news: Vec<NewEvent>) {
    let mut events = Vec::new();
    for new in news {
        let event = happen(store, new.clone());
        let expected = Event {
            id: event.id,
            project: new.project,
            author,
            action: new.action,
            target: new.target,
            data: new.data,
            created_at: new.at,
        };
        assert_eq!(event, expected);
        events.insert(0, event);
    }
    assert_pages(store, &events, |tx, page| tx.events().authored_by(author, page));
}

/// What an event is about may be known in full, in part or not at all.
pub fn an_event_keeps_its_target_and_its_data(store: &dyn Store) {
    let author = insert(store, a_user("ada")).id;
    let target = |id: Option<i64>, title: Option<&str>| {
        Some(EventTarget { kind: "Issue".into(), id, title: title.map(str::to_owned) })
    };
    let data = r#"{"ref": "refs/heads/main", "commits": [{"title": "Don't \"quote\" 🦀"}]}"#;
    let targets = [
        target(Some(42), Some("Fix it 🦀")),
        target(Some(i64::MAX), None),
        target(None, Some("")),
        target(None, None),
        None,
    ];
    let mut news = Vec::new();
    for (target, data) in targets.into_iter().zip([Some(data), None, Some("{}"), None, None]) {
        let data = data.map(str::to_owned);
        news.push(NewEvent { project: ProjectId(7), target, data, ..an_event(author) });
    }
    assert_kept(store, author, news);
}

/// No action is confused with another.
pub fn an_event_keeps_its_action(store: &dyn Store) {
    let author = insert(store, a_user("ada")).id;
    let actions = [
        EventAction::Created,
        EventAction::Imported,
        EventAction::Opened,
        EventAction::Closed,
        EventAction::PushedNew,
        EventAction::PushedTo,
        EventAction::Deleted,
        EventAction::CommentedOn,
        EventAction::Accepted,
        EventAction::Joined,
        EventAction::Left,
        EventAction::Destroyed,
        EventAction::Expired,
    ];
    let news = actions.map(|action| NewEvent { action, ..an_event(author) });
    assert_kept(store, author, news.into());
}

/// Newest first, also when they happened at the same moment.
pub fn events_of_an_author_are_listed_newest_first(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    let mut events = Vec::new();
    for moment in [at(0), at(1), at(1), at(1), at(9)] {
        events.insert(0, happen(store, NewEvent { at: moment, ..an_event(ada) }));
        happen(store, NewEvent { at: moment, ..an_event(bob) });
    }
    assert!(events.is_sorted_by(|newer, older| newer.id > older.id), "{events:?}");
    assert_pages(store, &events, |tx, page| tx.events().authored_by(ada, page));
    let cid = insert(store, a_user("cid")).id;
    assert_pages(store, &[], |tx, page| tx.events().authored_by(cid, page));
}
