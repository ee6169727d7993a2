//! Trusted proxies: whose forwarded headers are used for rate limits and for limits on wrong passwords.

use std::num::NonZeroU32;

use hexforge_http_actix::{Dialect, RateLimits};
use hexforge_tests::forge::PASSWORD;
use hexforge_tests::{Backend, Forge, ForgeOptions, Restrictions};

/// A server with a limit per address that trusts these proxies.
fn forge(trusted: &[&str], per_address: u32) -> Forge {
    let options = ForgeOptions { backend: Backend::Fake, dialect: Dialect::Specification };
    let rate_limits = RateLimits { per_token: None, per_address: NonZeroU32::new(per_address) };
    let trusted_proxies =
        trusted.iter().map(|network| network.parse().expect("a network")).collect();
    let restrictions = Restrictions { rate_limits, trusted_proxies, ..Restrictions::default() };
    Forge::start_restricted(options, restrictions).expect("the fake is always there")
}

/// The remaining requests of a caller who sends this header.
fn remaining(forge: &Forge, name: &str, value: &str) -> String {
    let answer = forge.get("/user").header(name, value).send();
    answer.header("RateLimit-Remaining").expect("addresses are limited").to_owned()
}

#[test]
fn a_trusted_proxy_names_the_client() {
    let forge = forge(&["127.0.0.0/8"], 9);
    for (name, value, left) in [
        ("X-Forwarded-For", "198.51.100.7", "8"),
        ("X-Forwarded-For", "198.51.100.8", "8"),
        // A value that the client itself sent does not change its address.
        ("X-Forwarded-For", "203.0.113.1, 198.51.100.7", "7"),
        ("X-Forwarded-For", "203.0.113.2, 198.51.100.7, 127.0.0.2", "6"),
        ("X-Forwarded-For", "198.51.100.7:4711", "5"),
        ("Forwarded", "for=203.0.113.3, For=\"198.51.100.7:80\";proto=https", "4"),
        ("X-Forwarded-For", "2001:db8:1:2::1", "8"),
        ("X-Forwarded-For", "[2001:db8:1:2:3::9]:4711", "7"),
        ("Forwarded", "for=\"[2001:db8:1:2:4::9]:4711\"", "6"),
        // Without an address, the request counts for the proxy.
        ("X-Forwarded-For", "203.0.113.1, garbage", "8"),
        ("X-Forwarded-For", "", "7"),
        ("X-Real-IP", "198.51.100.9", "6"),
    ] {
        assert_eq!(remaining(&forge, name, value), left, "{name}: {value}");
    }
    let hundreds = format!("{}198.51.100.7", "203.0.113.9, ".repeat(300));
    assert_eq!(remaining(&forge, "X-Forwarded-For", &hundreds), "3");
}

#[test]
fn forwarded_headers_of_other_addresses_are_ignored() {
    for trusted in [&[][..], &["198.51.100.0/24", "::1"]] {
        let forge = forge(trusted, 9);
        for (value, left) in [("198.51.100.7", "8"), ("198.51.100.8", "7"), ("127.0.0.1", "6")] {
            assert_eq!(remaining(&forge, "X-Forwarded-For", value), left, "{trusted:?} {value}");
        }
    }
}

/// `POST /session`
#[test]
fn guessing_passwords_through_a_proxy_limits_only_the_guesser() {
    let forge = forge(&["127.0.0.1"], 0);
    forge.user("ada");
    let sign_in = |login: &str, password: &str, from: &str| {
        let form = [("login", login), ("password", password)];
        let request = forge.post("/session").header("X-Forwarded-For", from);
        request.form(&form).send().status
    };
    for number in 0..10 {
        // Each request has another made-up address, and another address of the same IPv6 network.
        let from = format!("203.0.113.{number}, 2001:db8:1:2::{number:x}");
        assert_eq!(sign_in(&format!("nobody-{number}"), "wrong horse", &from), 401);
    }
    assert_eq!(sign_in("ada", PASSWORD, "2001:db8:1:2::ffff"), 429);
    assert_eq!(sign_in("ada", PASSWORD, "2001:db8:1:3::1"), 201);
    assert_eq!(sign_in("ada", PASSWORD, "198.51.100.7"), 201);
}
