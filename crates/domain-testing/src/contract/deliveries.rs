//! Hook deliveries; see [`Deliveries`](hexforge_domain::delivery::port::Deliveries).

use super::check::{read, write};
use super::labels::a_project_with_owner;
use crate::builders::{a_hook, a_hook_url, a_system_hook, at};
use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::delivery::lane::{Claim, ClaimLimits, Health, Sent, Settlement};
use hexforge_domain::delivery::{
    Attempt, DeliveryKey, DeliveryState, HookRef, HookRequest, NewDelivery, PayloadFormat,
};
use hexforge_domain::hook::kind::SYSTEM_HOOK;
use hexforge_domain::id::{DeliveryId, ProjectHookId};
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::text::Secret;
use std::sync::Barrier;

/// Limits above the number of lanes and deliveries of any case.
pub(super) const ALL: ClaimLimits = ClaimLimits { healthy: 100, failing: 100, each: 100 };

/// Creates a user with a project and a hook of the project.
pub(super) fn a_project_hook(store: &dyn Store, user: &str) -> HookRef {
    let (project, _) = a_project_with_owner(store, user);
    let hook = a_hook(&format!("http://{user}.example"));
    HookRef::Project(write(store, |tx| tx.project_hooks().insert(project, hook, at(0))).id)
}

pub(super) fn a_service_hook(store: &dyn Store) -> HookRef {
    let hook = a_system_hook("http://service.example");
    HookRef::System(write(store, |tx| tx.system_hooks().insert(hook, at(0))).id)
}

/// A size above that of any payload in the cases.
const LONG: u32 = 1_000_000;

fn request(store: &dyn Store, id: DeliveryId) -> Option<HookRequest> {
    let mut requests = read(store, |tx| tx.deliveries().requests(&[id], LONG));
    assert!(requests.len() <= 1 && requests.iter().all(|(of, _)| *of == id), "{requests:?}");
    requests.pop().map(|(_, request)| request)
}

fn key(number: u8) -> DeliveryKey {
    DeliveryKey::new([number; 16])
}

/// Adds deliveries to a hook, due from `moment` on. The payload of each is its number.
pub(super) fn insert_deliveries(
    store: &dyn Store,
    hook: HookRef,
    numbers: &[u8],
    moment: Timestamp,
) {
    write(store, |tx| {
        let mut new = Vec::new();
        for number in numbers {
            let payload = tx.deliveries().insert_payload(&number.to_string(), moment)?;
            let event = "Push Hook".to_owned();
            new.push(NewDelivery { key: key(*number), hook, event, payload, at: moment });
        }
        tx.deliveries().insert(&new)
    });
}

pub(super) fn claim_lanes(store: &dyn Store, now: Timestamp, limits: ClaimLimits) -> Vec<Claim> {
    let until = now + TimeDelta::seconds(30);
    write(store, |tx| tx.deliveries().claim(now, until, limits))
}

/// Returns the payloads of each claim.
fn claimed_payloads(store: &dyn Store, claims: &[Claim]) -> Vec<Vec<String>> {
    let body = |id: DeliveryId| {
        let request = request(store, id);
        request.map(|request| request.body).unwrap_or_default()
    };
    let of = |claim: &Claim| claim.deliveries.iter().map(|one| body(one.id)).collect();
    claims.iter().map(of).collect()
}

pub(super) fn an_attempt(moment: Timestamp, status: Option<u16>, error: Option<&str>) -> Attempt {
    Attempt {
        at: moment,
        url: "http://ada.example".into(),
        millis: 12,
        status,
        answer: status.map(|_| "Danke \"🦀\"".into()),
        error: error.map(str::to_owned),
    }
}

/// Settles a claim: all its deliveries were tried and are now in this state.
pub(super) fn settle_claim(
    store: &dyn Store,
    claim: &Claim,
    state: DeliveryState,
    health: Health,
    attempt: &Attempt,
) {
    let sent = |one: &hexforge_domain::delivery::lane::Claimed| Sent {
        id: one.id,
        tries: one.tries + 1,
        attempt: attempt.clone(),
        state,
    };
    let sent = claim.deliveries.iter().map(sent).collect();
    let done = Settlement { lane: claim.lane, number: claim.number, health, sent };
    write(store, |tx| tx.deliveries().settle(&[done]));
}

/// See [`Deliveries::requests`](hexforge_domain::delivery::port::Deliveries::requests).
pub fn a_request_has_all_data_to_send_a_delivery(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let url = "https://u:p%40@a.example/ü?a='b'";
    let mut settings = a_hook(url);
    settings.token = Some(Secret::new("s🦀"));
    settings.enable_ssl_verification = false;
    let hook = write(store, |tx| tx.project_hooks().insert(project, settings, at(0)));
    let service = a_service_hook(store);
    write(store, |tx| {
        let payload = tx.deliveries().insert_payload(r#"{"a":"\u0000 🦀 \\"}"#, at(1))?;
        let of = |hook, number, event: &str| NewDelivery {
            key: key(number),
            hook,
            event: event.into(),
            payload,
            at: at(1),
        };
        let hook = HookRef::Project(hook.id);
        tx.deliveries().insert(&[of(hook, 1, "Tag Push Hook"), of(service, 2, SYSTEM_HOOK)])
    });
    assert!(read(store, |tx| tx.deliveries().any_due(at(1))));
    assert!(!read(store, |tx| tx.deliveries().any_due(at(0))));
    assert_eq!(claim_lanes(store, at(0), ALL), []);
    let claims = claim_lanes(store, at(1), ALL);
    let requests: Vec<Option<HookRequest>> =
        claims.iter().map(|claim| request(store, claim.deliveries[0].id)).collect();
    let body = r#"{"a":"\u0000 🦀 \\"}"#;
    let first = HookRequest {
        key: key(1),
        event: "Tag Push Hook".into(),
        format: PayloadFormat::Json,
        body: body.into(),
        url: Secret::new(url),
        token: Some(Secret::new("s🦀")),
        verify: false,
    };
    let second = HookRequest {
        key: key(2),
        event: SYSTEM_HOOK.into(),
        format: PayloadFormat::Json,
        body: body.into(),
        url: Secret::new("http://service.example"),
        token: None,
        verify: true,
    };
    assert_eq!(requests, [Some(first), Some(second)]);
    for claim in &claims {
        assert_eq!(claim.deliveries.len(), 1);
        let delivery = claim.deliveries[0];
        assert_eq!((delivery.tries, delivery.since), (0, at(1)));
        assert_eq!((claim.health, claim.until), (Health::default(), at(31)));
    }
    assert_eq!(request(store, DeliveryId(i64::MAX)), None);
}

/// See [`Deliveries::requests`](hexforge_domain::delivery::port::Deliveries::requests).
pub fn requests_are_read_together_up_to_a_size(store: &dyn Store) {
    let (one, two) = (a_project_hook(store, "ada"), a_project_hook(store, "bob"));
    // Payloads have one character each, and two from 10 on.
    insert_deliveries(store, one, &[1, 2, 3], at(0));
    insert_deliveries(store, two, &[10, 11], at(0));
    let claims = claim_lanes(store, at(0), ALL);
    let ids = claims.iter().flat_map(|claim| &claim.deliveries).map(|delivery| delivery.id);
    let ids: Vec<DeliveryId> = ids.collect();
    for (most, expected) in [
        (0, vec!["1"]),
        (1, vec!["1"]),
        (2, vec!["1", "2"]),
        (4, vec!["1", "2", "3"]),
        (5, vec!["1", "2", "3", "10"]),
        (LONG, vec!["1", "2", "3", "10", "11"]),
    ] {
        let requests = read(store, |tx| tx.deliveries().requests(&ids, most));
        let bodies: Vec<&str> = requests.iter().map(|(_, request)| request.body.as_str()).collect();
        assert_eq!(bodies, expected, "{most}");
        assert!(requests.iter().map(|(id, _)| id).eq(&ids[..expected.len()]), "{most}");
    }
    // Deliveries that no longer wait are left out, wherever they are in the list.
    let attempt = an_attempt(at(1), Some(200), None);
    settle_claim(store, &claims[0], DeliveryState::Delivered, Health::default(), &attempt);
    let requests = read(store, |tx| tx.deliveries().requests(&ids, LONG));
    assert!(requests.iter().map(|(id, _)| id).eq(&ids[3..]));
    assert_eq!(read(store, |tx| tx.deliveries().requests(&[], LONG)), []);
}

/// Pending deliveries use the current URL of their hook, so that a corrected URL applies to them.
pub fn a_delivery_uses_the_current_url_of_its_hook(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let hook = a_hook("http://old.example");
    let hook = write(store, |tx| tx.project_hooks().insert(project, hook, at(0)));
    insert_deliveries(store, HookRef::Project(hook.id), &[1], at(0));
    let mut settings = hook.settings;
    settings.url = a_hook_url("http://new.example");
    write(store, |tx| tx.project_hooks().update(hook.id, &settings, at(1)));
    let id = claim_lanes(store, at(1), ALL)[0].deliveries[0].id;
    let request = request(store, id).expect("it waits");
    assert_eq!(request.url.reveal(), "http://new.example");
}

/// See [`Deliveries::claim`](hexforge_domain::delivery::port::Deliveries::claim).
pub fn a_claimed_lane_is_not_claimed_again_before_it_expires(store: &dyn Store) {
    let hook = a_project_hook(store, "ada");
    insert_deliveries(store, hook, &[1], at(0));
    let first = claim_lanes(store, at(0), ALL);
    assert_eq!(claimed_payloads(store, &first), [["1"]]);
    assert_eq!(claim_lanes(store, at(29), ALL), []);
    // The first claim expired: its deliveries do not count as tried.
    let second = claim_lanes(store, at(30), ALL);
    assert_eq!(claimed_payloads(store, &second), [["1"]]);
    assert_eq!(second[0].deliveries[0].tries, 0);
    assert_ne!(second[0].number, first[0].number);
}

/// Deliveries of a lane come in order, and lanes by the longest wait.
pub fn due_deliveries_are_claimed_oldest_first_up_to_the_limit(store: &dyn Store) {
    let (one, two) = (a_project_hook(store, "ada"), a_project_hook(store, "bob"));
    let three = a_service_hook(store);
    insert_deliveries(store, two, &[21], at(2));
    insert_deliveries(store, one, &[11, 12], at(1));
    insert_deliveries(store, three, &[31], at(3));
    insert_deliveries(store, one, &[13], at(2));
    let few = ClaimLimits { healthy: 2, failing: 0, each: 2 };
    let claims = claim_lanes(store, at(9), few);
    assert_eq!(claimed_payloads(store, &claims), [vec!["11", "12"], vec!["21"]]);
    assert_eq!(claimed_payloads(store, &claim_lanes(store, at(9), ALL)), [["31"]]);
}

/// Failing lanes have their own limit, so that healthy lanes do not wait for them.
pub fn failing_lanes_have_their_own_limit(store: &dyn Store) {
    let (good, bad) = (a_project_hook(store, "ada"), a_project_hook(store, "bob"));
    insert_deliveries(store, bad, &[1], at(0));
    let claims = claim_lanes(store, at(0), ALL);
    let health = Health { failures: 1, failing_since: Some(at(0)), rest_until: None };
    let again = DeliveryState::Pending { due: at(1) };
    settle_claim(store, &claims[0], again, health, &an_attempt(at(0), Some(500), Some("500")));
    insert_deliveries(store, good, &[2], at(0));
    for (healthy, failing, expected) in [(0, 0, None), (9, 0, Some("2")), (0, 9, Some("1"))] {
        let claims = claim_lanes(store, at(5), ClaimLimits { healthy, failing, each: 9 });
        let expected: Vec<Vec<&str>> = expected.into_iter().map(|body| vec![body]).collect();
        assert_eq!(claimed_payloads(store, &claims), expected, "{healthy} {failing}");
    }
}

/// See [`Deliveries::settle`](hexforge_domain::delivery::port::Deliveries::settle).
pub fn results_of_deliveries_are_recorded(store: &dyn Store) {
    let hook = a_project_hook(store, "ada");
    insert_deliveries(store, hook, &[1, 2], at(0));
    let claims = claim_lanes(store, at(0), ALL);
    let states = [DeliveryState::Delivered, DeliveryState::Failed];
    let attempts = [
        an_attempt(at(3), Some(204), None),
        an_attempt(at(4), None, Some("`x` leads to a private network, which is not allowed")),
    ];
    let sent = |place: usize| Sent {
        id: claims[0].deliveries[place].id,
        tries: 1,
        attempt: attempts[place].clone(),
        state: states[place],
    };
    let health = Health { failures: 1, failing_since: Some(at(4)), rest_until: None };
    let done = Settlement {
        lane: claims[0].lane,
        number: claims[0].number,
        health,
        sent: vec![sent(0), sent(1)],
    };
    write(store, |tx| tx.deliveries().settle(&[done]));
    assert_eq!(claim_lanes(store, at(99), ALL), []);
    let log =
        read(store, |tx| tx.delivery_log().list(hook, hexforge_domain::paging::Page::Whole)).items;
    for (delivery, place) in log.iter().rev().zip(0..) {
        assert_eq!((delivery.state, delivery.tries), (states[place], 1));
        assert_eq!(delivery.last.as_ref(), Some(&attempts[place]));
        assert_eq!(request(store, delivery.id), None);
    }
    // The lane is free again, and keeps its health.
    insert_deliveries(store, hook, &[3], at(5));
    assert_eq!(claim_lanes(store, at(5), ALL)[0].health, health);
}

/// A failed delivery waits until it is due; later deliveries do not wait for it.
pub fn a_failed_delivery_waits_until_it_is_due(store: &dyn Store) {
    let hook = a_project_hook(store, "ada");
    insert_deliveries(store, hook, &[1], at(0));
    let claims = claim_lanes(store, at(0), ALL);
    let later = DeliveryState::Pending { due: at(60) };
    let attempt = an_attempt(at(0), Some(500), Some("500"));
    settle_claim(store, &claims[0], later, Health::default(), &attempt);
    assert_eq!(claim_lanes(store, at(59), ALL), []);
    insert_deliveries(store, hook, &[2], at(59));
    let claims = claim_lanes(store, at(59), ALL);
    assert_eq!(claimed_payloads(store, &claims), [["2"]]);
    let delivered = an_attempt(at(59), Some(200), None);
    settle_claim(store, &claims[0], DeliveryState::Delivered, Health::default(), &delivered);
    let claims = claim_lanes(store, at(60), ALL);
    assert_eq!(claimed_payloads(store, &claims), [["1"]]);
    assert_eq!((claims[0].deliveries[0].tries, claims[0].deliveries[0].since), (1, at(0)));
}

/// A resting lane is not claimed, neither for existing nor for new deliveries.
pub fn a_paused_lane_is_not_claimed(store: &dyn Store) {
    let hook = a_project_hook(store, "ada");
    insert_deliveries(store, hook, &[1, 2], at(0));
    let claims = claim_lanes(store, at(0), ClaimLimits { each: 1, ..ALL });
    let later = DeliveryState::Pending { due: at(8) };
    let health = Health { failures: 1, failing_since: Some(at(0)), rest_until: Some(at(8)) };
    settle_claim(store, &claims[0], later, health, &an_attempt(at(0), None, Some("nobody")));
    insert_deliveries(store, hook, &[3], at(1));
    assert!(!read(store, |tx| tx.deliveries().any_due(at(7))));
    assert_eq!(claim_lanes(store, at(7), ALL), []);
    let claims = claim_lanes(store, at(8), ALL);
    assert_eq!(claimed_payloads(store, &claims), [["1", "2", "3"]]);
    assert_eq!(claims[0].health, health);
}

/// A new delivery waits until the claimed lane is settled.
pub fn deliveries_added_to_a_claimed_lane_are_sent_later(store: &dyn Store) {
    let hook = a_project_hook(store, "ada");
    insert_deliveries(store, hook, &[1], at(0));
    let first = claim_lanes(store, at(0), ALL);
    insert_deliveries(store, hook, &[2], at(1));
    assert_eq!(claim_lanes(store, at(2), ALL), []);
    let attempt = an_attempt(at(1), Some(200), None);
    settle_claim(store, &first[0], DeliveryState::Delivered, Health::default(), &attempt);
    assert_eq!(claimed_payloads(store, &claim_lanes(store, at(2), ALL)), [["2"]]);
}

/// Settling an expired claim changes nothing.
pub fn an_expired_claim_settles_nothing(store: &dyn Store) {
    let hook = a_project_hook(store, "ada");
    insert_deliveries(store, hook, &[1], at(0));
    let late = claim_lanes(store, at(0), ALL);
    let now = claim_lanes(store, at(30), ALL);
    let failed = an_attempt(at(29), Some(404), Some("404"));
    settle_claim(store, &late[0], DeliveryState::Failed, Health::default(), &failed);
    assert!(request(store, now[0].deliveries[0].id).is_some());
    assert_eq!(claim_lanes(store, at(31), ALL), []);
    let delivered = an_attempt(at(31), Some(200), None);
    settle_claim(store, &now[0], DeliveryState::Delivered, Health::default(), &delivered);
    // A claim cannot be settled twice.
    settle_claim(store, &now[0], DeliveryState::Failed, Health::default(), &failed);
    let log =
        read(store, |tx| tx.delivery_log().list(hook, hexforge_domain::paging::Page::Whole)).items;
    assert_eq!(log[0].last.as_ref(), Some(&delivered));
}

/// Deliveries are deleted with their hook, and with the project of the hook.
pub fn deliveries_are_deleted_with_their_hooks(store: &dyn Store) {
    let service = a_service_hook(store);
    let (project, _) = a_project_with_owner(store, "ada");
    let new = |url| write(store, |tx| tx.project_hooks().insert(project, a_hook(url), at(0)));
    let (one, two) = (new("http://one.example"), new("http://two.example"));
    for (hook, number) in
        [(service, 1), (HookRef::Project(one.id), 2), (HookRef::Project(two.id), 3)]
    {
        insert_deliveries(store, hook, &[number], at(0));
    }
    let claims = claim_lanes(store, at(0), ALL);
    write(store, |tx| tx.project_hooks().delete(one.id));
    assert_eq!(claimed_payloads(store, &claims), [["1"], [""], ["3"]]);
    write(store, |tx| tx.projects().delete(project));
    assert_eq!(claimed_payloads(store, &claims), [["1"], [""], [""]]);
    // Settling a deleted lane is harmless.
    let attempt = an_attempt(at(1), Some(200), None);
    for claim in &claims {
        settle_claim(store, claim, DeliveryState::Delivered, Health::default(), &attempt);
    }
    let HookRef::System(id) = service else { return };
    insert_deliveries(store, service, &[4], at(1));
    write(store, |tx| tx.system_hooks().delete(id));
    assert_eq!(claim_lanes(store, at(99), ALL), []);
    assert_eq!(read(store, |tx| tx.delivery_log().queue()).deliveries, 0);
}

/// Hooks may be deleted while the receivers of an event are looked up.
pub fn deliveries_to_deleted_hooks_are_left_out(store: &dyn Store) {
    let hook = a_project_hook(store, "ada");
    let gone = HookRef::Project(ProjectHookId(i64::MAX));
    write(store, |tx| {
        let payload = tx.deliveries().insert_payload("x", at(0))?;
        let of = |hook, number| NewDelivery {
            key: key(number),
            hook,
            event: "Push Hook".into(),
            payload,
            at: at(0),
        };
        tx.deliveries().insert(&[of(gone, 1), of(hook, 2)])
    });
    assert_eq!(claimed_payloads(store, &claim_lanes(store, at(0), ALL)), [["x"]]);
    write(store, |tx| tx.deliveries().insert(&[]));
}

/// No lane is claimed by two concurrent callers, and every lane is claimed.
pub fn lanes_claimed_at_once_go_to_one_each(store: &dyn Store) {
    const LANES: usize = 12;
    const CALLERS: usize = 4;
    let (project, _) = a_project_with_owner(store, "ada");
    for number in 0..LANES as u8 {
        let hook = a_hook("http://a.example");
        let hook = write(store, |tx| tx.project_hooks().insert(project, hook, at(0)));
        insert_deliveries(store, HookRef::Project(hook.id), &[number], at(0));
    }
    let barrier = Barrier::new(CALLERS);
    let mut lanes: Vec<_> = std::thread::scope(|scope| {
        let ask = || {
            barrier.wait();
            let mut mine = Vec::new();
            loop {
                let limits = ClaimLimits { healthy: 1, failing: 0, each: 1 };
                let now = at(1);
                let claimed = store.write::<_, StoreError>(|tx| {
                    tx.deliveries().claim(now, now + TimeDelta::hours(1), limits)
                });
                match claimed {
                    Ok(claims) if claims.is_empty() => return mine,
                    Ok(claims) => mine.extend(claims.into_iter().map(|claim| claim.lane)),
                    Err(StoreError::Busy) => (),
                    Err(error) => panic!("{error}"),
                }
            }
        };
        let asking: Vec<_> = (0..CALLERS).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().flat_map(|one| one.join().expect("no panic")).collect()
    });
    // A concurrent claim may have skipped lanes that another one was just taking.
    lanes.extend(claim_lanes(store, at(1), ALL).into_iter().map(|claim| claim.lane));
    lanes.sort_unstable();
    let given_out = lanes.len();
    lanes.dedup();
    assert_eq!((lanes.len(), given_out), (LANES, LANES));
}
