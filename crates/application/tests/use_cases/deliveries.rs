//! Deliveries of events to hooks, with their retries. The tests advance the clock.

use crate::support::World;
use chrono::TimeDelta;
use hexforge_application::delivery;
use hexforge_domain::delivery::lane::{Claim, ClaimLimits};
use hexforge_domain::delivery::{Delivery, DeliveryState, HookRef};
use hexforge_domain::id::ProjectId;
use hexforge_domain::outbox::{SystemEvent, UserFacts};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::outgoing::{Certificates, OutgoingError};
use hexforge_domain::ports::payloads::{Audience, Payloads};
use hexforge_domain::push::{HookScope, Push};
use hexforge_domain::service::slack::ChatSettings;
use hexforge_domain::text::Secret;
use hexforge_domain_testing::builders::{
    a_hook, a_project, a_push, a_system_hook, a_user, home_of,
};

/// Payloads that consist of the ref of a push and the audience.
struct PlainPayloads;

impl Payloads for PlainPayloads {
    fn payload_json(&self, event: &SystemEvent, audience: Audience) -> String {
        match event {
            SystemEvent::Pushed(push) => format!("{} {audience:?}", push.reference),
            _ => format!("something {audience:?}"),
        }
    }

    fn chat_form(&self, _: &SystemEvent, settings: ChatSettings<'_>) -> Option<String> {
        Some(format!("chat of {}", settings.project_name))
    }

    fn sample_json(&self) -> String {
        "a sample".to_owned()
    }
}

const ALL: ClaimLimits = ClaimLimits { healthy: 9, failing: 9, each: 9 };

struct Stage {
    world: World,
    project: ProjectId,
    hook: HookRef,
}

/// Stores a project with a hook that receives pushes.
fn a_stage() -> Stage {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    let home = home_of(&*world.app.store, ada.id);
    let project = a_project("poem", home, ada.id).stored_in(&*world.app.store).id;
    let mut hook = a_hook("https://me:pw@hook.example/x");
    hook.token = Some(Secret::new("s3cret"));
    let now = world.app.clock.now();
    let hook = world.write(|tx| tx.project_hooks().insert(project, hook, now)).id;
    Stage { world, project, hook: HookRef::Project(hook) }
}

impl Stage {
    fn push(&self, branch: &str) {
        let reference = format!("refs/heads/{branch}");
        self.record(Push { reference, ..self.a_push() });
    }

    fn a_push(&self) -> Push {
        a_push(self.project, hexforge_domain::id::UserId(1))
    }

    fn record(&self, push: Push) {
        let now = self.world.app.clock.now();
        self.world.write(|tx| tx.outbox().record(&SystemEvent::Pushed(Box::new(push)), now));
    }

    fn fan_out(&self) {
        while delivery::fan_out(&self.world.app, &PlainPayloads).expect("events are readable") {}
    }

    fn claim(&self) -> Vec<Claim> {
        delivery::claim(&self.world.app, &[], ALL).expect("lanes can be claimed")
    }

    /// Sends all deliveries that are due now. Returns the number of attempts.
    fn send(&self) -> usize {
        self.fan_out();
        let mut attempts = 0;
        let mut done = Vec::new();
        loop {
            let claims = delivery::claim(&self.world.app, &done, ALL).expect("a claim");
            if claims.is_empty() {
                return attempts;
            }
            let send = |claim| delivery::send(&self.world.app, claim, &|| true);
            done = claims.into_iter().map(send).collect();
            attempts += done.iter().map(|one| one.sent.len()).sum::<usize>();
        }
    }

    fn log(&self) -> Vec<Delivery> {
        self.world.read(|tx| tx.delivery_log().list(self.hook, Page::Whole)).items
    }

    /// Returns the bodies that receivers got, in order.
    fn received_bodies(&self) -> Vec<String> {
        let asked = self.world.outgoing.take_requests().into_iter();
        asked.map(|request| String::from_utf8_lossy(&request.body).into_owned()).collect()
    }

    fn answer(&self, status: u16) {
        self.world.outgoing.answer(move |_| Ok((status, b"thanks".to_vec())));
    }

    fn time_out(&self) {
        self.world.outgoing.answer(|_| Err(OutgoingError::TimedOut));
    }

    fn wait(&self, seconds: i64) {
        self.world.clock.advance(TimeDelta::seconds(seconds));
    }
}

#[test]
fn a_push_is_sent_with_everything_the_receiver_needs() {
    let stage = a_stage();
    stage.answer(200);
    stage.push("one");
    assert_eq!(stage.send(), 1);
    let asked = stage.world.outgoing.take_requests();
    assert_eq!(asked.len(), 1);
    let request = &asked[0];
    assert_eq!(request.url, "https://me:pw@hook.example/x");
    assert_eq!(request.body, b"refs/heads/one Project");
    assert_eq!(request.header("Content-Type"), Some("application/json"));
    assert_eq!(request.header("X-Gitlab-Event"), Some("Push Hook"));
    assert_eq!(request.header("X-Gitlab-Token"), Some("s3cret"));
    assert_eq!(request.certificates, Certificates::Verified);
    let logged = &stage.log()[0];
    assert_eq!(request.header("Idempotency-Key"), Some(logged.key.as_str()));
    assert_eq!((logged.state, logged.tries), (DeliveryState::Delivered, 1));
    let last = logged.last.as_ref().expect("it was tried");
    assert_eq!(
        (last.status, last.answer.as_deref(), &last.error),
        (Some(200), Some("thanks"), &None)
    );
    assert_eq!(last.url, "https://hook.example/x");
    assert_eq!(stage.world.outbox_events(), []);
    assert_eq!(stage.send(), 0);
}

#[test]
fn a_receiver_that_is_down_is_tried_again_under_the_same_key_and_in_order() {
    let stage = a_stage();
    stage.time_out();
    stage.push("one");
    stage.push("two");
    assert_eq!(stage.send(), 1, "a receiver that is down is left alone");
    assert_eq!(stage.send(), 0);
    let first = stage.world.outgoing.take_requests().swap_remove(0);
    stage.answer(204);
    stage.wait(10);
    stage.push("three");
    assert_eq!(stage.send(), 3);
    let asked = stage.world.outgoing.take_requests();
    assert_eq!(asked[0], first, "the same again, key and all");
    let bodies: Vec<_> = asked.iter().map(|one| String::from_utf8_lossy(&one.body)).collect();
    assert_eq!(
        bodies,
        ["refs/heads/one Project", "refs/heads/two Project", "refs/heads/three Project"]
    );
    assert_eq!(stage.log().iter().map(|one| one.tries).collect::<Vec<_>>(), [1, 1, 2]);
}

#[test]
fn a_rejected_event_does_not_delay_the_next_ones() {
    let stage = a_stage();
    stage.world.outgoing.answer(|request| {
        let bad = request.body.starts_with(b"refs/heads/bad");
        Ok((if bad { 500 } else { 200 }, vec![]))
    });
    for branch in ["one", "bad", "two"] {
        stage.push(branch);
    }
    assert_eq!(stage.send(), 3);
    let states: Vec<_> = stage.log().iter().map(|one| one.state.as_str()).collect();
    assert_eq!(states, ["delivered", "pending", "delivered"]);
}

#[test]
fn a_failing_delivery_is_given_up_after_twenty_tries_or_a_day() {
    let stage = a_stage();
    stage.answer(503);
    stage.push("one");
    let (mut attempts, begin) = (0, stage.world.app.clock.now());
    while stage.log().first().is_none_or(|one| one.state.due().is_some()) {
        attempts += stage.send();
        if let Some(due) = stage.log()[0].state.due() {
            stage.world.clock.set(due);
        }
    }
    let took = stage.world.app.clock.now() - begin;
    assert!(took <= TimeDelta::hours(24), "{took}");
    assert_eq!(attempts, 20);
    let given_up = &stage.log()[0];
    assert_eq!((given_up.state, given_up.tries), (DeliveryState::GivenUp, 20));
    let last = given_up.last.as_ref().expect("it was tried");
    assert_eq!(last.error.as_deref(), Some("the receiver answered 503"));
    let failing = delivery::list_failing_hooks(&stage.world.app).expect("hooks can be asked for");
    assert_eq!((failing.len(), failing[0].failures), (1, 20));
    assert_eq!(failing[0].host, "hook.example", "no path and no password");
    // A delivery is tried at least once, even if the service was stopped for longer than a day.
    stage.push("two");
    stage.fan_out();
    stage.wait(48 * 3600);
    assert_eq!(stage.send(), 1);
    assert_eq!(stage.log()[0].state, DeliveryState::GivenUp);
}

#[test]
fn other_answers_and_refusals_are_final_and_say_why() {
    for (answer, why) in [
        (Ok((404, vec![])), "the receiver answered 404"),
        (Ok((302, vec![])), "the receiver answered 302; redirects are not followed"),
        (
            Err(OutgoingError::Refused("`x` leads to this machine, which is not allowed".into())),
            "`x` leads to this machine, which is not allowed",
        ),
    ] {
        let stage = a_stage();
        stage.world.outgoing.answer(move |_| answer.clone());
        stage.push("one");
        assert_eq!(stage.send(), 1);
        let failed = stage.log().swap_remove(0);
        assert_eq!(failed.state, DeliveryState::Failed, "{why}");
        assert_eq!(failed.last.and_then(|last| last.error).as_deref(), Some(why));
        stage.wait(3600);
        assert_eq!(stage.send(), 0, "{why}");
    }
}

#[test]
fn a_transaction_makes_only_so_many_deliveries() {
    let stage = a_stage();
    let now = stage.world.app.clock.now();
    for number in 1..60 {
        let hook = a_hook(&format!("https://hook.example/{number}"));
        stage.world.write(|tx| tx.project_hooks().insert(stage.project, hook, now));
    }
    for number in 0..12 {
        stage.push(&format!("b{number}"));
    }
    let left = || stage.world.read(|tx| tx.outbox().oldest(99)).len();
    let mut lengths = vec![left()];
    while delivery::fan_out(&stage.world.app, &PlainPayloads).expect("events are readable") {
        lengths.push(left());
    }
    assert_eq!(lengths, [12, 7, 2, 0]);
    stage.answer(200);
    assert_eq!(stage.send(), 720);
}

#[test]
fn deliveries_that_a_dead_process_claimed_are_sent_by_another() {
    let stage = a_stage();
    stage.push("one");
    stage.fan_out();
    assert_eq!(stage.claim().len(), 1);
    stage.wait(29);
    assert_eq!(stage.send(), 0);
    stage.wait(1);
    assert_eq!(stage.send(), 1);
    assert_eq!(stage.log()[0].tries, 1);
}

#[test]
fn nothing_is_sent_that_could_last_longer_than_the_claim() {
    let stage = a_stage();
    for branch in ["one", "two", "three"] {
        stage.push(branch);
    }
    stage.fan_out();
    let clock = stage.world.clock.clone();
    stage.world.outgoing.answer(move |_| {
        clock.advance(TimeDelta::seconds(6));
        Ok((200, vec![]))
    });
    let claim = stage.claim().swap_remove(0);
    let done = delivery::send(&stage.world.app, claim, &|| true);
    assert_eq!(done.sent.len(), 2);
    delivery::claim(&stage.world.app, &[done], ClaimLimits { healthy: 0, failing: 0, each: 0 })
        .expect("it can be settled");
    assert_eq!(stage.send(), 1);
}

#[test]
fn a_stop_ends_a_claim_after_the_current_delivery() {
    let stage = a_stage();
    stage.push("one");
    stage.push("two");
    stage.fan_out();
    let claim = stage.claim().swap_remove(0);
    let asked = std::cell::Cell::new(0);
    let once = || asked.replace(asked.get() + 1) == 0;
    assert_eq!(delivery::send(&stage.world.app, claim, &once).sent.len(), 1);
}

#[test]
fn a_hook_that_is_removed_meanwhile_is_skipped() {
    let stage = a_stage();
    stage.push("one");
    stage.fan_out();
    let claim = stage.claim().swap_remove(0);
    let HookRef::Project(id) = stage.hook else { panic!("a project hook") };
    stage.world.write(|tx| tx.project_hooks().delete(id));
    let done = delivery::send(&stage.world.app, claim, &|| true);
    let states: Vec<DeliveryState> = done.sent.iter().map(|sent| sent.state).collect();
    assert_eq!(states, [DeliveryState::Failed], "it is not tried again");
    delivery::claim(&stage.world.app, &[done], ALL).expect("it can be settled");
    assert_eq!(stage.received_bodies(), [""; 0]);
}

#[test]
fn hooks_receive_only_the_events_that_they_are_enabled_for() {
    let stage = a_stage();
    let now = stage.world.app.clock.now();
    let add_system = |url: &str, push: bool, tag: bool| {
        let mut hook = a_system_hook(url);
        (hook.push_events, hook.tag_push_events) = (push, tag);
        stage.world.write(|tx| tx.system_hooks().insert(hook, now));
    };
    add_system("http://push.example", true, false);
    add_system("http://tag.example", false, true);
    let heard = || {
        stage.send();
        let asked = stage.world.outgoing.take_requests().into_iter();
        let mut heard: Vec<String> = asked
            .map(|request| {
                format!("{} {}", request.url, request.header("X-Gitlab-Event").unwrap_or("?"))
            })
            .collect();
        heard.sort();
        heard
    };
    stage.push("one");
    assert_eq!(
        heard(),
        ["http://push.example System Hook", "https://me:pw@hook.example/x Push Hook"]
    );
    stage.record(Push { reference: "refs/tags/v1".into(), ..stage.a_push() });
    assert_eq!(heard(), ["http://tag.example System Hook"]);
    // A tag that is removed through the API.
    let removed = Push { reference: "refs/tags/v1".into(), ..stage.a_push() };
    stage.record(Push { reach: HookScope::Project, ..removed });
    assert_eq!(heard(), [""; 0]);
    let facts = UserFacts {
        id: hexforge_domain::id::UserId(1),
        username: "ada".into(),
        name: "Ada".into(),
        email: "ada@example.com".into(),
        created_at: now,
        updated_at: now,
    };
    stage.world.write(|tx| tx.outbox().record(&SystemEvent::UserCreated(facts), now));
    assert_eq!(heard(), ["http://push.example System Hook", "http://tag.example System Hook"]);
    // A hook that is registered later does not receive earlier events.
    stage.push("two");
    stage.wait(1);
    let late = stage.world.app.clock.now();
    let hook = a_hook("http://late.example");
    stage.world.write(|tx| tx.project_hooks().insert(stage.project, hook, late));
    assert_eq!(heard().len(), 2);
}

#[test]
fn old_deliveries_are_forgotten() {
    let stage = a_stage();
    for number in 0..105 {
        stage.push(&number.to_string());
    }
    assert_eq!(stage.send(), 105);
    assert_eq!(delivery::prune(&stage.world.app, &|| true).expect("it can be written"), 5);
    assert_eq!(stage.log().len(), 100);
    stage.wait(31 * 24 * 3600);
    assert_eq!(delivery::prune(&stage.world.app, &|| true).expect("it can be written"), 100);
    assert_eq!(stage.log(), []);
    assert_eq!(stage.world.read(|tx| tx.delivery_log().unused_payloads(9)), []);
}

#[test]
fn due_events_and_deliveries_are_reported() {
    let stage = a_stage();
    let work = || {
        let work = delivery::due_work(&stage.world.app).expect("it can be read");
        (work.events, work.deliveries)
    };
    assert_eq!(work(), (false, false));
    stage.push("one");
    assert_eq!(work(), (true, false));
    stage.fan_out();
    assert_eq!(work(), (false, true));
    stage.send();
    assert_eq!(work(), (false, false));
}

#[test]
fn a_change_of_a_hook_waits_for_a_bounded_number_of_events() {
    let stage = a_stage();
    for number in 0..300 {
        stage.push(&format!("b{number}"));
    }
    delivery::catch_up(&stage.world.app, &PlainPayloads).expect("events are readable");
    assert_eq!(stage.log().len(), 200);
    // The workers expand the remaining events.
    stage.fan_out();
    assert_eq!(stage.log().len(), 300);
}
