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
