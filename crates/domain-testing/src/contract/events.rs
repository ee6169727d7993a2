//! Activity events; see [`Events`](hexforge_domain::event::port::Events).

use super::check::{assert_pages, insider, outsider, read, write};
use super::world::{World, a_world};
use crate::builders::{a_day, a_project, a_push, a_user, an_event, at, day, home_of};
use hexforge_domain::event::query::{EventFeed, EventSelection};
use hexforge_domain::event::{Event, EventAction, EventTarget, NewEvent};
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::project::query::Viewer;
use hexforge_domain::push::{HookScope, Push};

/// Creates a user with a public project.
fn a_public_project(store: &dyn Store, name: &str) -> (ProjectId, UserId) {
    let user = a_user(name).stored_in(store).id;
    let project = a_project("site", home_of(store, user), user).public().stored_in(store);
    (project.id, user)
}

fn insert_event(store: &dyn Store, new: NewEvent) -> Event {
    write(store, |tx| tx.events().insert(new))
}

/// Checks that events are returned and read back as they were written.
fn assert_stored_unchanged(store: &dyn Store, author: UserId, news: Vec<NewEvent>) {
    let mut events = Vec::new();
    for new in news {
        let event = insert_event(store, new.clone());
        let expected = Event {
            id: event.id,
            project: new.project,
            author,
            action: new.action,
            target: new.target,
            push: new.push,
            created_at: new.at,
        };
        assert_eq!(event, expected);
        events.insert(0, event);
    }
    assert_authored(store, author, &events);
    let project = events[0].project;
    assert_pages(store, &events, |tx, page| {
        tx.events().of_project(project, Clearance::All, a_day(), page)
    });
}

/// Checks the events that an author sees of itself.
fn assert_authored(store: &dyn Store, author: UserId, events: &[Event]) {
    assert_pages(store, events, |tx, page| {
        tx.events().authored_by(author, insider(author), Clearance::All, a_day(), page)
    });
}

/// The target of an event may be complete, partial or missing.
pub fn an_event_keeps_its_target_and_its_data(store: &dyn Store) {
    let (project, author) = a_public_project(store, "ada");
    let target = |id: Option<i64>, title: Option<&str>| {
        let title = title.map(str::to_owned);
        Some(EventTarget { kind: "Issue".into(), id, title, belongs_to: None })
    };
    let bare = Push {
        checkout: None,
        message: None,
        commits: vec![],
        total_commits: 0,
        reach: HookScope::Project,
        ..a_push(project, author)
    };
    let pushes = [Some(a_push(project, author)), None, Some(bare), None, None];
    let targets = [
        target(Some(42), Some("Fix it 🦀")),
        target(Some(i64::MAX), None),
        target(None, Some("")),
        target(None, None),
        None,
    ];
    let mut news = Vec::new();
    for (target, push) in targets.into_iter().zip(pushes) {
        let push = push.map(Box::new);
        news.push(NewEvent { target, push, ..an_event(project, author) });
    }
    assert_stored_unchanged(store, author, news);
}

/// All actions are read back as they were written.
pub fn an_event_keeps_its_action(store: &dyn Store) {
    let (project, author) = a_public_project(store, "ada");
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
    let news = actions.map(|action| NewEvent { action, ..an_event(project, author) });
    assert_stored_unchanged(store, author, news.into());
}

/// Events are ordered newest first, also within the same moment.
pub fn events_of_an_author_are_listed_newest_first(store: &dyn Store) {
    let ((site, ada), (other, bob)) =
        (a_public_project(store, "ada"), a_public_project(store, "bob"));
    let mut events = Vec::new();
    for (place, moment) in
        [(site, at(0)), (other, at(1)), (site, at(1)), (site, at(1)), (other, at(9))]
    {
        events.insert(0, insert_event(store, NewEvent { at: moment, ..an_event(place, ada) }));
        insert_event(store, NewEvent { at: moment, ..an_event(place, bob) });
    }
    assert!(events.is_sorted_by(|newer, older| newer.id > older.id), "{events:?}");
    assert_authored(store, ada, &events);
    let cid = a_user("cid").stored_in(store).id;
    assert_authored(store, cid, &[]);
}

/// Events of all authors are listed, and none of other projects.
pub fn events_of_a_project_are_listed_newest_first(store: &dyn Store) {
    let ((site, ada), (other, bob)) =
        (a_public_project(store, "ada"), a_public_project(store, "bob"));
    let mut events = Vec::new();
    for (author, moment) in [(ada, at(0)), (bob, at(1)), (ada, at(1)), (bob, at(1)), (ada, at(9))] {
        events.insert(0, insert_event(store, NewEvent { at: moment, ..an_event(site, author) }));
        insert_event(store, NewEvent { at: moment, ..an_event(other, author) });
    }
    assert_pages(store, &events, |tx, page| {
        tx.events().of_project(site, Clearance::All, a_day(), page)
    });
    let empty = a_project("empty", home_of(store, ada), ada).stored_in(store).id;
    assert_pages(store, &[], |tx, page| {
        tx.events().of_project(empty, Clearance::All, a_day(), page)
    });
}

/// Returns the names of the projects whose events by bob a viewer sees, oldest first.
fn visible_project_names(
    store: &dyn Store,
    world: &World,
    viewer: Viewer,
    days: i64,
) -> Vec<String> {
    let list = |page| {
        read(store, |tx| {
            tx.events().authored_by(world.bob, viewer, Clearance::All, day(days), page)
        })
    };
    let mut events = list(Page::Whole);
    assert_eq!(events.total, events.items.len() as u64);
    let second = Page::Numbered { number: 2, size: 2 };
    assert_eq!(list(second), second.slice(events.items.clone()));
    events.items.reverse();
    let name = |event: Event| {
        let mut projects = world.projects.iter();
        let project = projects.find(|project| project.id == event.project);
        project.expect("it is one of the world's").name.as_str().to_owned()
    };
    events.map(name).items
}

/// An event is visible to a viewer if its project is, whoever the author is.
pub fn events_of_an_author_are_seen_where_the_project_is(store: &dyn Store) {
    let world = a_world(store);
    for project in &world.projects {
        insert_event(store, an_event(project.id, world.bob));
        insert_event(store, an_event(project.id, world.eve));
    }
    for (viewer, days, expected) in [
        (
            insider(world.ada),
            0,
            "home member in-team team-internal team-public in-guild shared shared-internal \
             shared-public internal public",
        ),
        (
            outsider(world.ada),
            -1,
            "home member was-member in-team team-internal team-public in-past in-guild shared \
             shared-internal shared-public was-shared shared-past public",
        ),
        (
            insider(world.eve),
            0,
            "team-internal team-public shared-internal shared-public internal public",
        ),
        (outsider(world.eve), 0, "team-public shared-public public"),
        (outsider(UserId(i64::MAX)), 0, "team-public shared-public public"),
    ] {
        let expected: Vec<&str> = expected.split_whitespace().collect();
        assert_eq!(
            visible_project_names(store, &world, viewer, days),
            expected,
            "{viewer:?} on day {days}"
        );
    }
    // Authors do not see their own events in projects that they may not see.
    let own = read(store, |tx| {
        tx.events().authored_by(
            world.eve,
            outsider(world.eve),
            Clearance::All,
            a_day(),
            Page::Whole,
        )
    });
    assert_eq!(own.total, 3);
}

/// See [`Events::select`](hexforge_domain::event::port::Events::select).
pub fn feeds_select_events_that_the_reader_may_see(store: &dyn Store) {
    let ((site, ada), (other, bob)) =
        (a_public_project(store, "ada"), a_public_project(store, "bob"));
    let hidden = a_project("hidden", home_of(store, ada), ada).stored_in(store).id;
    let stored = [(site, ada, 1), (other, ada, 2), (hidden, ada, 3), (site, bob, 4)];
    let [in_site, in_other, in_hidden, by_bob] = stored.map(|(place, author, moment)| {
        insert_event(store, NewEvent { at: at(moment), ..an_event(place, author) })
    });
    let home = home_of(store, ada);
    let (nobody, ada_herself) = (outsider(UserId(0)), insider(ada));
    for (feed, viewer, expected) in [
        (EventFeed::Author(ada), nobody, vec![&in_other, &in_site]),
        (EventFeed::Author(ada), ada_herself, vec![&in_hidden, &in_other, &in_site]),
        (EventFeed::Namespace(home), nobody, vec![&by_bob, &in_site]),
        (EventFeed::Namespace(home), ada_herself, vec![&by_bob, &in_hidden, &in_site]),
        (EventFeed::AuthorizedFor(ada), ada_herself, vec![&by_bob, &in_hidden, &in_site]),
        (EventFeed::AuthorizedFor(bob), insider(bob), vec![&in_other]),
    ] {
        let clearance = Clearance::Nothing;
        let selection = EventSelection { feed, viewer, clearance, today: a_day() };
        let expected: Vec<Event> = expected.into_iter().cloned().collect();
        let select = |page| read(store, |tx| tx.events().select(&selection, page));
        assert_eq!(select(Page::Whole), expected, "{selection:?}");
        let second = Page::Numbered { number: 2, size: 1 };
        assert_eq!(select(second), second.slice(expected.clone()).items, "{selection:?}");
        let times: Vec<_> = expected.iter().map(|event| event.created_at).collect();
        let since =
            |moment, limit| read(store, |tx| tx.events().times(&selection, at(moment), limit));
        assert_eq!(since(0, 9), times, "{selection:?}");
        assert_eq!(since(0, 1), times[..1], "{selection:?}");
        let newer: Vec<_> = times.iter().copied().filter(|time| *time >= at(2)).collect();
        assert_eq!(since(2, 9), newer, "{selection:?}");
    }
}
