//! The delivery log of hooks; see [`DeliveryLog`](hexforge_domain::delivery::port::DeliveryLog).

use super::check::{assert_pages, read, write};
use super::deliveries::{
    ALL, a_project_hook, a_service_hook, an_attempt, claim_lanes, insert_deliveries, settle_claim,
};
use crate::builders::at;
use hexforge_domain::delivery::lane::{ClaimLimits, Health};
use hexforge_domain::delivery::{
    Delivery, DeliveryKey, DeliveryState, FailingHook, HookRef, MAX_SHOWN_BODY, NewDelivery,
    QueueSize,
};
use hexforge_domain::id::{DeliveryId, UserId};
use hexforge_domain::outbox::{SystemEvent, UserFacts};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;

fn list_deliveries(store: &dyn Store, hook: HookRef) -> Vec<Delivery> {
    read(store, |tx| tx.delivery_log().list(hook, Page::Whole)).items
}

fn list_bodies(store: &dyn Store, hook: HookRef) -> Vec<String> {
    list_deliveries(store, hook).into_iter().map(|delivery| delivery.body.0).collect()
}

/// See [`DeliveryLog::list`](hexforge_domain::delivery::port::DeliveryLog::list).
pub fn deliveries_of_a_hook_are_listed_newest_first(store: &dyn Store) {
    let (hook, other) = (a_project_hook(store, "ada"), a_project_hook(store, "bob"));
    assert_pages(store, &[], |tx, page| tx.delivery_log().list(hook, page));
    insert_deliveries(store, hook, &[1, 2], at(1));
    insert_deliveries(store, other, &[3], at(2));
    insert_deliveries(store, hook, &[4], at(3));
    let listed = list_deliveries(store, hook);
    assert_pages(store, &listed, |tx, page| tx.delivery_log().list(hook, page));
    let said: Vec<&str> = listed.iter().map(|delivery| delivery.body.0.as_str()).collect();
    assert_eq!(said, ["4", "2", "1"]);
    let newest = Delivery {
        id: listed[0].id,
        key: DeliveryKey::new([4; 16]),
        event: "Push Hook".into(),
        state: DeliveryState::Pending { due: at(3) },
        tries: 0,
        created_at: at(3),
        body: ("4".into(), false),
        last: None,
    };
    assert_eq!(listed[0], newest);
    let find = |hook, id| read(store, |tx| tx.delivery_log().find(hook, id));
    assert_eq!(find(hook, newest.id), Some(newest.clone()));
    assert_eq!(find(other, newest.id), None);
    assert_eq!(find(hook, DeliveryId(i64::MAX)), None);
}

/// The limit counts characters, not bytes.
pub fn long_bodies_are_cut(store: &dyn Store) {
    let hook = a_service_hook(store);
    for (length, more) in [(MAX_SHOWN_BODY, false), (MAX_SHOWN_BODY + 1, true)] {
        write(store, |tx| {
            let payload = tx.deliveries().insert_payload(&"ü".repeat(length), at(0))?;
            let key = DeliveryKey::new([0; 16]);
            let event = "System Hook".to_owned();
            tx.deliveries().insert(&[NewDelivery { key, hook, event, payload, at: at(0) }])
        });
        let newest = list_deliveries(store, hook).swap_remove(0);
        assert_eq!(newest.body, ("ü".repeat(MAX_SHOWN_BODY), more));
    }
}

/// See [`DeliveryLog::retry`](hexforge_domain::delivery::port::DeliveryLog::retry).
pub fn a_delivery_can_be_sent_again(store: &dyn Store) {
    let hook = a_project_hook(store, "ada");
    insert_deliveries(store, hook, &[1], at(0));
    let claims = claim_lanes(store, at(0), ALL);
    let health = Health { failures: 9, failing_since: Some(at(0)), rest_until: Some(at(60)) };
    let attempt = an_attempt(at(0), None, Some("nobody"));
    settle_claim(store, &claims[0], DeliveryState::GivenUp, health, &attempt);
    let id = claims[0].deliveries[0].id;
    write(store, |tx| tx.delivery_log().retry(id, at(10)));
    let waiting = read(store, |tx| tx.delivery_log().find(hook, id)).expect("it is there");
    assert_eq!((waiting.state, waiting.tries), (DeliveryState::Pending { due: at(10) }, 0));
    assert_eq!(waiting.last, Some(attempt));
    let claims = claim_lanes(store, at(10), ALL);
    assert_eq!(claims[0].deliveries[0].since, at(10));
    write(store, |tx| tx.delivery_log().retry(DeliveryId(i64::MAX), at(10)));
}

/// See [`DeliveryLog::queue`](hexforge_domain::delivery::port::DeliveryLog::queue).
pub fn the_queue_is_counted(store: &dyn Store) {
    let queue = || read(store, |tx| tx.delivery_log().queue());
    assert_eq!(queue(), QueueSize::default());
    let hook = a_service_hook(store);
    insert_deliveries(store, hook, &[1, 2], at(5));
    assert_eq!(queue(), QueueSize { events: 0, deliveries: 2, oldest: Some(at(5)) });
    let facts = UserFacts {
        id: UserId(1),
        username: "ada".into(),
        name: "Ada".into(),
        email: "ada@example.com".into(),
        created_at: at(0),
        updated_at: at(0),
    };
    write(store, |tx| tx.outbox().record(&SystemEvent::UserCreated(facts), at(3)));
    assert_eq!(queue(), QueueSize { events: 1, deliveries: 2, oldest: Some(at(3)) });
    let claims = claim_lanes(store, at(5), ALL);
    let attempt = an_attempt(at(5), Some(200), None);
    settle_claim(store, &claims[0], DeliveryState::Delivered, Health::default(), &attempt);
    assert_eq!(queue(), QueueSize { events: 1, deliveries: 0, oldest: Some(at(3)) });
}

/// See [`DeliveryLog::failing`](hexforge_domain::delivery::port::DeliveryLog::failing).
pub fn failing_hooks_are_listed(store: &dyn Store) {
    let failing = |failures, limit| read(store, |tx| tx.delivery_log().failing(failures, limit));
    let (one, two) = (a_project_hook(store, "ada"), a_service_hook(store));
    for (hook, failures) in [(one, 3), (two, 7)] {
        insert_deliveries(store, hook, &[1, 2], at(0));
        let first = ClaimLimits { each: 1, ..ALL };
        for (moment, failures, reason) in [(1, failures - 1, "before"), (2, failures, "now")] {
            let claims = claim_lanes(store, at(moment), first);
            let health = Health { failures, failing_since: Some(at(1)), rest_until: None };
            let attempt = an_attempt(at(moment), Some(500), Some(reason));
            settle_claim(store, &claims[0], DeliveryState::Failed, health, &attempt);
        }
    }
    let named = failing(3, 10);
    assert_eq!(named.iter().map(|hook| hook.hook).collect::<Vec<_>>(), [two, one]);
    let expected = FailingHook {
        hook: two,
        project: None,
        host: "service.example".into(),
        failures: 7,
        since: at(1),
        reason: "now".into(),
    };
    assert_eq!(named[0], expected);
    assert!(named[1].project.is_some());
    assert_eq!(failing(4, 10), [expected]);
    assert_eq!(failing(8, 10), []);
    assert_eq!(failing(1, 1).len(), 1);
}

/// Pending deliveries are never removed, and only the deliveries of the hook itself count.
pub fn old_deliveries_are_removed_with_their_payloads(store: &dyn Store) {
    let (hook, other) = (a_project_hook(store, "ada"), a_project_hook(store, "bob"));
    let attempt = an_attempt(at(1), Some(200), None);
    for (hook, numbers, moment) in [(hook, [1, 2], 1), (hook, [3, 4], 5), (other, [5, 6], 1)] {
        insert_deliveries(store, hook, &numbers, at(moment));
        for claim in claim_lanes(store, at(9), ALL) {
            settle_claim(store, &claim, DeliveryState::Delivered, Health::default(), &attempt);
        }
    }
    insert_deliveries(store, hook, &[7], at(0));
    let stale =
        |before, keep, limit| read(store, |tx| tx.delivery_log().stale(at(before), keep, limit));
    assert_eq!(stale(0, 10, 100), []);
    assert_eq!(stale(2, 10, 100).len(), 4);
    assert_eq!(stale(2, 10, 3).len(), 3);
    assert_eq!(stale(99, 0, 100).len(), 6);
    let beyond = stale(0, 3, 100);
    assert_eq!(beyond.len(), 2);
    write(store, |tx| tx.delivery_log().remove(&beyond));
    assert_eq!(list_bodies(store, hook), ["7", "4", "3"]);
    assert_eq!(list_bodies(store, other), ["6", "5"]);
    let waiting = list_deliveries(store, hook)[0].id;
    write(store, |tx| tx.delivery_log().remove(&[waiting]));
    assert_eq!(list_bodies(store, hook), ["7", "4", "3"]);
    let unused = read(store, |tx| tx.delivery_log().unused_payloads(100));
    assert_eq!(unused.len(), 2);
    assert_eq!(read(store, |tx| tx.delivery_log().unused_payloads(1)).len(), 1);
    write(store, |tx| tx.delivery_log().remove_payloads(&unused));
    assert_eq!(read(store, |tx| tx.delivery_log().unused_payloads(100)), []);
    assert_eq!(list_bodies(store, hook), ["7", "4", "3"]);
}
