//! Rate limits of pages.

use std::num::NonZeroU32;

use hexforge_http_actix::{Dialect, RateLimits};
use hexforge_tests::{Backend, Forge, ForgeOptions};

use super::support::Browser;

#[test]
fn requests_with_a_session_count_for_the_user() {
    let options = ForgeOptions { backend: Backend::Fake, dialect: Dialect::Specification };
    let limits = RateLimits { per_token: NonZeroU32::new(4), per_address: NonZeroU32::new(3) };
    let forge = Forge::start_limited(options, limits).expect("the fake is always there");
    // Two requests sign in, and the third one makes the session known.
    let root = Browser::signed_in(&forge, "root");
    assert_eq!(root.get("/help").0.header("RateLimit-Limit"), Some("3"));
    let stranger = Browser::stranger(&forge);
    assert_eq!(stranger.get("/help").0.status, 429, "the address has no requests left");
    assert_eq!(stranger.get("/-/identicon/ada.svg").0.status, 429, "it is a page like others");
    assert_eq!(stranger.get("/-/liveness").0.status, 200);
    for remaining in ["3", "2", "1", "0"] {
        let seen = root.get("/help").0;
        assert_eq!((seen.status, seen.header("RateLimit-Remaining")), (200, Some(remaining)));
    }
    assert_eq!(root.get("/help").0.status, 429);
    // An invented cookie does not help, and cookies mean nothing to the API.
    let invented = forge.page("GET", "/help").header("Cookie", "hexforge_session=invented");
    assert_eq!(invented.send().status, 429);
    let session = root.cookie("hexforge_session").expect("it is kept");
    let call = forge.get("/version").header("Cookie", &format!("hexforge_session={session}"));
    assert_eq!(call.send().header("RateLimit-Limit"), Some("3"));
}

/// Refusals are pages only where people read them: programs get what they expect.
#[test]
fn refusals_of_pages_are_pages() {
    let options = ForgeOptions { backend: Backend::Fake, dialect: Dialect::Specification };
    let limits = RateLimits { per_token: NonZeroU32::new(1), per_address: NonZeroU32::new(1) };
    let forge = Forge::start_limited(options, limits).expect("the fake is always there");
    let stranger = Browser::stranger(&forge);
    assert_eq!(stranger.get("/help").0.status, 200);
    for address in ["/help", "/", "/root/ship/issues", "/users/sign_in"] {
        let refused = stranger.get(address);
        let page = refused.page(429);
        assert_eq!(page.heading(), "Too many requests", "{address}");
        assert_eq!(page.all("title"), ["Too many requests · hexforge"]);
        assert_eq!(page.faults(), [""; 0]);
        assert!(page.1.contains("Wait a moment and try again."), "{}", page.1);
        let id = refused.0.header("X-Request-Id").expect("responses have an id");
        assert_eq!(page.all("main code"), [id]);
        assert_eq!(refused.0.header("Content-Type"), Some("text/html; charset=utf-8"));
        assert_eq!(refused.0.header("RateLimit-Remaining"), Some("0"));
        assert_eq!(refused.0.header("Retry-After"), refused.0.header("RateLimit-Reset"));
        assert!(refused.0.header("Content-Security-Policy").is_some());
    }
    for address in ["/api/v3/version", "/root/ship.git/info/refs?service=git-upload-pack"] {
        let refused = forge.page("GET", address).send();
        assert_eq!(refused.status, 429, "{address}");
        assert_eq!(refused.text(), r#"{"message":"429 Too Many Requests"}"#, "{address}");
        assert_eq!(refused.header("Content-Type"), Some("application/json"));
    }
}
