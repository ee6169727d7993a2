//! The log of hook deliveries, and sending them again. Not part of the specification; payloads and retries are section
//! 8 of users_hooks_events.md.

use std::time::Duration;

use chrono::TimeDelta;
use hexforge_delivery_reqwest::Guard;
use hexforge_http_actix::Dialect;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Answer, Backend, Forge, ForgeOptions, Receiver, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    error, forbidden, new_project, no_project, path_of_project,
};
use crate::api::hooks::hook_support::{clear_outbox, deliveries, hook_of, system_hook};
use crate::api::projects::project_support::a_cast;
use crate::api::support::{MISSING, id_of, message};
use crate::api::tracker::tracker_support::new_issue;

on_every_store!(
    deliveries_of_a_hook_are_listed,
    secrets_are_not_shown,
    lists_are_paged_newest_first,
    a_delivery_is_sent_again_under_the_same_key,
    calls_about_deliveries_are_for_those_who_administer,
    parameters_about_deliveries_are_checked,
    a_receiver_that_fails_is_tried_again,
    a_receiver_that_hangs_is_not_waited_for,
    redirects_are_not_followed,
    a_certificate_is_checked_unless_that_is_switched_off,
    long_answers_are_cut,
    a_removed_hook_hears_nothing_more,
    the_switches_at_the_time_of_the_event_count,
);

/// A project of root's with a hook for issues.
fn a_hooked_project(forge: &Forge, receiver: &Receiver) -> (String, Value) {
    let project = path_of_project(&new_project(forge, ROOT, "Ship", &[]));
    let hook = hook_of(forge, &project, &receiver.url("/x"), &[("issues_events", "true")]);
    clear_outbox(forge);
    (project, hook)
}

/// GET /projects/:id/hooks/:hook_id/deliveries
fn deliveries_of_a_hook_are_listed(forge: &Forge) {
    let receiver = Receiver::new();
    let (project, hook) = a_hooked_project(forge, &receiver);
    assert_eq!(deliveries(forge, &project, &hook), json!([]));
    new_issue(forge, ROOT, &project, "An issue", &[]);
    assert_eq!(deliveries(forge, &project, &hook), json!([]), "it was not yet looked at");
    forge.deliver();
    let received = receiver.take_only();
    let shown = deliveries(forge, &project, &hook);
    let expected = json!([{
        "id": id_of(&shown[0]), "delivery_id": received.key(), "event": "Issue Hook",
        "state": "delivered", "tries": 1, "created_at": "2016-09-22T10:30:00.000Z",
        "tried_at": "2016-09-22T10:30:00.000Z", "next_try_at": null, "duration_ms": 0,
        "error": null,
        "request": {
            "url": receiver.url("/x"),
            "headers": {
                "Content-Type": "application/json", "X-Gitlab-Event": "Issue Hook",
                "Idempotency-Key": received.key()
            },
            "body": received.body, "truncated": false
        },
        "response": {"status": 200, "body": "received"}
    }]);
    assert_eq!(shown.to_string(), expected.to_string());
}

/// GET /projects/:id/hooks/:hook_id/deliveries
fn secrets_are_not_shown(forge: &Forge) {
    let receiver = Receiver::new();
    let project = path_of_project(&new_project(forge, ROOT, "Ship", &[]));
    let url = format!("http://me:hunter2@{}/x", receiver.address);
    let form = [("issues_events", "true"), ("token", "hunter3")];
    let hook = hook_of(forge, &project, &url, &form);
    new_issue(forge, ROOT, &project, "An issue", &[]);
    forge.deliver();
    assert_eq!(receiver.take_only().header("x-gitlab-token"), Some("hunter3"));
    let shown = deliveries(forge, &project, &hook);
    assert_eq!(shown[0]["request"]["url"], receiver.url("/x"));
    assert!(!shown.to_string().contains("hunter"), "{shown}");
}

/// GET /projects/:id/hooks/:hook_id/deliveries
fn lists_are_paged_newest_first(forge: &Forge) {
    let receiver = Receiver::new();
    let (project, hook) = a_hooked_project(forge, &receiver);
    for title in ["one", "two", "three"] {
        new_issue(forge, ROOT, &project, title, &[]);
    }
    assert_eq!(forge.deliver(), 3);
    let path = format!("{project}/hooks/{}/deliveries?per_page=2", id_of(&hook));
    let page = forge.get(&path).token(ROOT).send();
    let list = page.expect(200);
    assert_eq!((page.header("X-Total"), page.header("X-Next-Page")), (Some("3"), Some("2")));
    let title = |delivery: &Value| {
        let body = delivery["request"]["body"].as_str().expect("a text");
        let body: Value = serde_json::from_str(body).expect("JSON");
        body["object_attributes"]["title"].clone()
    };
    assert_eq!([title(&list[0]), title(&list[1])], [json!("three"), json!("two")]);
    let last = forge.get(&format!("{path}&page=2")).token(ROOT).send().expect(200);
    assert_eq!(last.as_array().map(Vec::len), Some(1));
    assert_eq!(title(&last[0]), "one");
}

/// POST /projects/:id/hooks/:hook_id/deliveries/:delivery_id/retry
fn a_delivery_is_sent_again_under_the_same_key(forge: &Forge) {
    let receiver = Receiver::new();
    let (project, hook) = a_hooked_project(forge, &receiver);
    receiver.answer(Answer::status(400));
    new_issue(forge, ROOT, &project, "An issue", &[]);
    forge.deliver();
    let first = receiver.take_only();
    let failed = deliveries(forge, &project, &hook)[0].clone();
    assert_eq!((&failed["state"], &failed["tries"]), (&json!("failed"), &json!(1)));
    assert_eq!(failed["error"], "the receiver answered 400");
    forge.clock.advance(TimeDelta::days(3));
    assert_eq!(forge.deliver(), 0);
    receiver.answer(Answer::status(200));
    let base = format!("{project}/hooks/{}/deliveries", id_of(&hook));
    let path = format!("{base}/{}/retry", id_of(&failed));
    let again = forge.post(&path).token(ROOT).send().expect(201);
    assert_eq!((&again["state"], &again["tries"]), (&json!("pending"), &json!(0)));
    assert_eq!(again["next_try_at"], "2016-09-25T10:30:00.000Z");
    assert_eq!(forge.deliver(), 1);
    let second = receiver.take_only();
    assert_eq!((second.key(), &second.body), (first.key(), &first.body));
    assert_eq!(deliveries(forge, &project, &hook)[0]["state"], "delivered");
    // A delivery that succeeded can be sent again, too.
    forge.post(&path).token(ROOT).send().expect(201);
    assert_eq!(forge.deliver(), 1);
    assert_eq!(receiver.take_only().key(), first.key());
}

/// GET /projects/:id/hooks/:hook_id/deliveries, POST /projects/:id/hooks/:hook_id/deliveries/:delivery_id/retry
fn calls_about_deliveries_are_for_those_who_administer(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let receiver = Receiver::new();
    let hook = hook_of(forge, &cast.path, &receiver.url("/"), &[("issues_events", "true")]);
    new_issue(forge, ROOT, &cast.path, "An issue", &[]);
    forge.deliver();
    let delivery = id_of(&deliveries(forge, &cast.path, &hook)[0]);
    let list = format!("{}/hooks/{}/deliveries", cast.path, id_of(&hook));
    let retry = format!("{list}/{delivery}/retry");
    for (method, path, status) in [("GET", &list, 200), ("POST", &retry, 201)] {
        for who in ["guest", "reporter", "developer"] {
            let refused = forge.request(method, path).token(cast.token(who)).send();
            assert_eq!(refused.expect(403), forbidden(), "{who} {method} {path}");
        }
        for who in ["stranger", "external"] {
            let refused = forge.request(method, path).token(cast.token(who)).send();
            assert_eq!(refused.expect(404), no_project(), "{who} {method} {path}");
        }
        for who in ["master", "owner", "root"] {
            forge.request(method, path).token(cast.token(who)).send().expect(status);
        }
    }
    // A hook of another project and a delivery of another hook are not found.
    let other = path_of_project(&new_project(forge, ROOT, "Other", &[]));
    let foreign = format!("{other}/hooks/{}/deliveries", id_of(&hook));
    let missing = forge.get(&foreign).token(ROOT).send();
    assert_eq!(missing.expect(404), message("404 Not found"));
    let own = hook_of(forge, &other, &receiver.url("/"), &[]);
    let foreign = format!("{other}/hooks/{}/deliveries/{delivery}/retry", id_of(&own));
    let missing = forge.post(&foreign).token(ROOT).send();
    assert_eq!(missing.expect(404), message("404 Not found"));
}

/// GET /projects/:id/hooks/:hook_id/deliveries, POST /projects/:id/hooks/:hook_id/deliveries/:delivery_id/retry
fn parameters_about_deliveries_are_checked(forge: &Forge) {
    let receiver = Receiver::new();
    let (project, hook) = a_hooked_project(forge, &receiver);
    let hooks = format!("{project}/hooks");
    let get = |path: String| forge.get(&path).token(ROOT).send();
    assert_eq!(get(format!("{hooks}/x/deliveries")).expect(400), error("hook_id is invalid"));
    let missing = get(format!("{hooks}/{MISSING}/deliveries"));
    assert_eq!(missing.expect(404), message("404 Not found"));
    let retry = |id: &str| {
        let path = format!("{hooks}/{}/deliveries/{id}/retry", id_of(&hook));
        forge.post(&path).token(ROOT).send()
    };
    assert_eq!(retry("x").expect(400), error("delivery_id is invalid"));
    assert_eq!(retry(&MISSING.to_string()).expect(404), message("404 Not found"));
}

/// Section 8: retries
fn a_receiver_that_fails_is_tried_again(forge: &Forge) {
    let receiver = Receiver::new();
    let (project, hook) = a_hooked_project(forge, &receiver);
    receiver.answer(Answer::status(503));
    new_issue(forge, ROOT, &project, "An issue", &[]);
    assert_eq!(forge.deliver(), 1);
    let waiting = deliveries(forge, &project, &hook)[0].clone();
    assert_eq!((&waiting["state"], &waiting["tries"]), (&json!("pending"), &json!(1)));
    assert_eq!(waiting["response"]["status"], 503);
    let next = waiting["next_try_at"].as_str().expect("a moment").to_owned();
    assert!(
        ("2016-09-22T10:30:05"..="2016-09-22T10:30:10.000Z").contains(&next.as_str()),
        "{next}"
    );
    receiver.answer(Answer::status(200));
    assert_eq!(forge.deliver(), 0);
    forge.clock.advance(TimeDelta::seconds(10));
    assert_eq!(forge.deliver(), 1);
    let delivered = deliveries(forge, &project, &hook)[0].clone();
    assert_eq!((&delivered["state"], &delivered["tries"]), (&json!("delivered"), &json!(2)));
    let keys: Vec<String> = receiver.take().iter().map(|one| one.key().to_owned()).collect();
    assert_eq!(keys, [waiting["delivery_id"].as_str().expect("a key"); 2]);
}

/// Section 8: timeout
fn a_receiver_that_hangs_is_not_waited_for(forge: &Forge) {
    let receiver = Receiver::hanging(Duration::from_secs(20));
    let (project, hook) = a_hooked_project(forge, &receiver);
    new_issue(forge, ROOT, &project, "An issue", &[]);
    let started = std::time::Instant::now();
    assert_eq!(forge.deliver(), 1);
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    let waiting = deliveries(forge, &project, &hook)[0].clone();
    assert_eq!(waiting["state"], "pending");
    assert_eq!(waiting["error"], "the server did not answer in time");
    assert_eq!(waiting["response"], Value::Null);
}

/// Section 8: redirects
fn redirects_are_not_followed(forge: &Forge) {
    let (receiver, inner) = (Receiver::new(), Receiver::new());
    let (project, hook) = a_hooked_project(forge, &receiver);
    for status in [301, 302, 307] {
        let location = format!("location: {}\r\n", inner.url("/"));
        receiver.answer(Answer::With(status, location, String::new()));
        new_issue(forge, ROOT, &project, "An issue", &[]);
        assert_eq!(forge.deliver(), 1);
        let failed = deliveries(forge, &project, &hook)[0].clone();
        assert_eq!(failed["state"], "failed", "{status}");
        let why = format!("the receiver answered {status}; redirects are not followed");
        assert_eq!(failed["error"], why);
    }
    assert_eq!(inner.count(), 0);
}

/// Section 8: TLS. The certificate of the receiver is self-signed.
fn a_certificate_is_checked_unless_that_is_switched_off(forge: &Forge) {
    let receiver = Receiver::self_signed();
    assert!(receiver.url("/").starts_with("https://"));
    let project = path_of_project(&new_project(forge, ROOT, "Ship", &[]));
    let issues = ("issues_events", "true");
    let checked = hook_of(forge, &project, &receiver.url("/checked"), &[issues]);
    assert_eq!(checked["enable_ssl_verification"], true);
    let form = [issues, ("enable_ssl_verification", "false")];
    let trusting = hook_of(forge, &project, &receiver.url("/trusting"), &form);
    new_issue(forge, ROOT, &project, "An issue", &[]);
    assert_eq!(forge.deliver(), 2);
    assert_eq!(receiver.take_only().line, "POST /trusting HTTP/1.1");
    assert_eq!(deliveries(forge, &project, &trusting)[0]["state"], "delivered");
    let failed = deliveries(forge, &project, &checked)[0].clone();
    // The receiver may have a valid certificate later.
    assert_eq!((&failed["state"], &failed["response"]), (&json!("pending"), &Value::Null));
    let why = failed["error"].as_str().expect("a reason");
    assert!(why.contains("certificate"), "{why}");
    // Once the check is switched off, the certificate is accepted.
    let path = format!("{project}/hooks/{}", id_of(&checked));
    let url = receiver.url("/checked");
    let form = [("url", url.as_str()), ("enable_ssl_verification", "false")];
    forge.put(&path).token(ROOT).form(&form).send().expect(200);
    forge.clock.advance(TimeDelta::seconds(10));
    assert_eq!(forge.deliver(), 1);
    assert_eq!(receiver.take_only().line, "POST /checked HTTP/1.1");
    // The same for system hooks, whose test request is sent at once.
    let service = system_hook(forge, &receiver.url("/service"), &[]);
    let tried = |hook: &Value| {
        forge.get(&format!("/hooks/{}", id_of(hook))).token(ROOT).send().expect(200);
        receiver.take().len()
    };
    assert_eq!(tried(&service), 0);
    let off = ("enable_ssl_verification", "false");
    let service = system_hook(forge, &receiver.url("/service"), &[off]);
    assert_eq!(tried(&service), 1);
}

/// Only a limited part of a response is stored.
fn long_answers_are_cut(forge: &Forge) {
    let receiver = Receiver::new();
    let (project, hook) = a_hooked_project(forge, &receiver);
    receiver.answer(Answer::With(200, String::new(), "x\0".repeat(1024 * 1024)));
    new_issue(forge, ROOT, &project, "An issue", &[]);
    assert_eq!(forge.deliver(), 1);
    let delivered = deliveries(forge, &project, &hook)[0].clone();
    assert_eq!(delivered["state"], "delivered");
    let kept = delivered["response"]["body"].as_str().expect("a text").len();
    assert!((1..=16 * 1024).contains(&kept), "{kept}");
}

/// Section 8: a hook deleted meanwhile is skipped
fn a_removed_hook_hears_nothing_more(forge: &Forge) {
    let receiver = Receiver::new();
    let (project, hook) = a_hooked_project(forge, &receiver);
    receiver.answer(Answer::status(500));
    new_issue(forge, ROOT, &project, "An issue", &[]);
    assert_eq!(forge.deliver(), 1);
    new_issue(forge, ROOT, &project, "Another", &[]);
    forge.delete(&format!("{project}/hooks/{}", id_of(&hook))).token(ROOT).send().expect(200);
    forge.clock.advance(TimeDelta::hours(1));
    assert_eq!(forge.deliver(), 0);
    assert_eq!(receiver.count(), 1);
}

fn the_switches_at_the_time_of_the_event_count(forge: &Forge) {
    let receiver = Receiver::new();
    let (project, hook) = a_hooked_project(forge, &receiver);
    let switch = |word: &str| {
        let form = [("url", receiver.url("/x")), ("issues_events", word.to_owned())];
        let form: Vec<(&str, &str)> =
            form.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let one = format!("{project}/hooks/{}", id_of(&hook));
        forge.put(&one).token(ROOT).form(&form).send().expect(200);
    };
    new_issue(forge, ROOT, &project, "Heard of", &[]);
    switch("false");
    new_issue(forge, ROOT, &project, "Not heard of", &[]);
    switch("true");
    forge.deliver();
    assert_eq!(receiver.take_only().json()["object_attributes"]["title"], "Heard of");
}

/// Section 8, and design.md section 3.9: addresses that hooks must not call, with the reasons.
#[test]
fn hostile_addresses_are_refused_with_a_readable_reason() {
    let options = ForgeOptions { backend: Backend::Sqlite, dialect: Dialect::Specification };
    let own = "8.8.4.4".parse().expect("an address");
    let forge = Forge::start_guarded(options, Guard::public_only([own])).expect("SQLite is there");
    let receiver = Receiver::new();
    let port = receiver.address.port();
    let project = path_of_project(&new_project(&forge, ROOT, "Ship", &[]));
    let machine = "this machine";
    let table = [
        ("127.0.0.1", machine),
        ("127.1", machine),
        ("2130706433", machine),
        ("0177.0.0.1", machine),
        ("017700000001", machine),
        ("0x7f.1", machine),
        ("0x7f000001", machine),
        ("0", machine),
        ("0.0.0.0", machine),
        ("localhost", machine),
        ("a.localhost", machine),
        ("[::1]", machine),
        ("[::]", machine),
        ("[::ffff:127.0.0.1]", machine),
        ("[::ffff:7f00:1]", machine),
        ("[::127.0.0.1]", machine),
        ("[64:ff9b::7f00:1]", machine),
        ("[2002:7f00:1::]", machine),
        ("10.0.0.1", "a private network"),
        ("172.16.0.1", "a private network"),
        ("192.168.1.1", "a private network"),
        ("100.64.0.1", "a private network"),
        ("[fd00:ec2::254]", "a private network"),
        ("[2002:c0a8:101::]", "a private network"),
        ("169.254.169.254", "a link-local address"),
        ("[fe80::1]", "a link-local address"),
        ("[::ffff:169.254.169.254]", "a link-local address"),
        ("[64:ff9b::a9fe:a9fe]", "a link-local address"),
        ("168.63.129.16", "a metadata address"),
        ("224.0.0.1", "a multicast address"),
        ("255.255.255.255", "the broadcast address"),
        ("8.8.4.4", "this server itself"),
        ("[::ffff:8.8.4.4]", "this server itself"),
    ];
    let mut hooks = Vec::new();
    for (host, _) in table {
        let url = format!("http://me:hunter2@{host}:{port}/");
        hooks.push(hook_of(&forge, &project, &url, &[("issues_events", "true")]));
    }
    new_issue(&forge, ROOT, &project, "An issue", &[]);
    assert_eq!(forge.deliver(), table.len());
    for ((host, what), hook) in table.iter().zip(&hooks) {
        let failed = deliveries(&forge, &project, hook)[0].clone();
        assert_eq!(failed["state"], "failed", "{host}");
        let why = failed["error"].as_str().expect("a reason");
        assert!(why.contains(what) && !why.contains("hunter2"), "{host}: {why}");
        assert_eq!(failed["response"], Value::Null, "{host}");
    }
    assert_eq!(receiver.count(), 0);
}
