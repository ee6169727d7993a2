//! Rate limits: off by default; 429 with headers about the limit.

use std::num::NonZeroU32;

use chrono::TimeDelta;
use hexforge_http_actix::{Dialect, RateLimits};
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Backend, Forge, ForgeOptions, Response, on_every_store};

use crate::api::support::message;

on_every_store!(without_limits_nothing_is_counted,);

fn without_limits_nothing_is_counted(forge: &Forge) {
    let answer = forge.get("/user").token(ROOT).send();
    assert_eq!(answer.header("RateLimit-Limit"), None);
}

fn limited(per_token: u32, per_address: u32) -> Forge {
    let options = ForgeOptions { backend: Backend::Fake, dialect: Dialect::Specification };
    let limits = RateLimits {
        per_token: NonZeroU32::new(per_token),
        per_address: NonZeroU32::new(per_address),
    };
    Forge::start_limited(options, limits).expect("the fake is always there")
}

fn limit_headers(answer: &Response) -> [Option<&str>; 3] {
    ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"].map(|name| answer.header(name))
}

#[track_caller]
fn assert_refused(answer: &Response, limit: &str, seconds: &str) {
    assert_eq!(answer.expect(429), message("429 Too Many Requests"));
    assert_eq!(answer.header("Retry-After"), Some(seconds));
    assert_eq!(limit_headers(answer), [Some(limit), Some("0"), Some(seconds)]);
}

#[test]
fn anonymous_requests_count_for_the_address() {
    let forge = limited(100, 2);
    let ask = || forge.get("/user").send();
    assert_eq!(limit_headers(&ask()), [Some("2"), Some("1"), Some("60")]);
    let second = ask();
    assert_eq!((second.status, limit_headers(&second)), (401, [Some("2"), Some("0"), Some("60")]));
    forge.clock.advance(TimeDelta::milliseconds(14_500));
    assert_refused(&ask(), "2", "46");
    // Nothing else of the request is checked.
    assert_refused(&forge.post("/session").form(&[("login", "root")]).send(), "2", "46");
    assert_refused(&forge.page("GET", "/root/ship.git/info/refs").send(), "2", "46");
    // Health checks are not counted.
    assert_eq!(forge.page("GET", "/-/liveness").send().status, 200);
    forge.clock.advance(TimeDelta::milliseconds(45_500));
    assert_eq!(ask().status, 401);
}

#[test]
fn requests_with_a_valid_token_count_for_the_token() {
    let forge = limited(3, 4);
    let ask = |token: &str| forge.get("/user").token(token).send();
    // Before the first look-up the token is not known to be valid.
    assert_eq!(limit_headers(&ask(ROOT)), [Some("4"), Some("3"), Some("60")]);
    for (remaining, by_query) in [("2", false), ("1", true), ("0", false)] {
        let answer = match by_query {
            true => forge.get(&format!("/user?private_token={ROOT}")).send(),
            false => ask(ROOT),
        };
        assert_eq!((answer.status, limit_headers(&answer)[1]), (200, Some(remaining)));
    }
    assert_refused(&ask(ROOT), "3", "60");
    assert_refused(
        &forge.get("/user").header("Authorization", &format!("Bearer {ROOT}")).send(),
        "3",
        "60",
    );
    // Other callers are not affected.
    assert_eq!(forge.get("/version").send().status, 401);
    forge.clock.advance(TimeDelta::seconds(60));
    assert_eq!(ask(ROOT).status, 200);
}

#[test]
fn made_up_tokens_count_for_the_address() {
    let forge = limited(3, 2);
    assert_eq!(forge.get("/user").token(ROOT).send().status, 200);
    assert_eq!(forge.get("/user").token("made-up-1").send().status, 401);
    assert_refused(&forge.get("/user").token("made-up-2").send(), "2", "60");
    assert_refused(&forge.get("/user").token("made-up-2").send(), "2", "60");
    // A valid token beside a made-up one does not help the made-up one.
    let both =
        || forge.get("/user").token("made-up-2").header("Authorization", &format!("Bearer {ROOT}"));
    assert_eq!(both().send().status, 200);
    assert_refused(&forge.get("/user").token("made-up-2").send(), "2", "60");
    assert_eq!(forge.get("/user").token(ROOT).send().status, 200);
}

#[test]
fn each_limit_can_be_set_alone() {
    let forge = limited(0, 2);
    assert_eq!(limit_headers(&forge.get("/user").token(ROOT).send())[1], Some("1"));
    assert_eq!(limit_headers(&forge.get("/user").token(ROOT).send())[1], Some("0"));
    assert_refused(&forge.get("/user").token(ROOT).send(), "2", "60");
    let forge = limited(1, 0);
    for _ in 0..3 {
        assert_eq!(limit_headers(&forge.get("/user").send()), [None; 3]);
    }
    assert_eq!(forge.get("/user").token(ROOT).send().status, 200);
    assert_eq!(forge.get("/user").token(ROOT).send().status, 200);
    assert_refused(&forge.get("/user").token(ROOT).send(), "1", "60");
}
