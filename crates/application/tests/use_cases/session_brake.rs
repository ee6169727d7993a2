//! Throttling of failed sign-ins.

use std::net::IpAddr;
use std::sync::Barrier;
use std::thread;

use crate::support::{World, actor};
use chrono::TimeDelta;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::session::{self, Attempt};
use hexforge_application::sign_in::{self, Credentials};
use hexforge_application::view::user::LoginView;
use hexforge_domain::ports::passwords::Passwords;
use hexforge_domain::text::Secret;
use hexforge_domain::user::{Password, PasswordHash, User};
use hexforge_domain_testing::builders::{a_token, a_user};
use hexforge_domain_testing::fakes::FakePasswords;

/// A world in which `ada` and `bob` have the password `secret42`.
fn world_with_users() -> (World, User) {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    world.user(a_user("bob"));
    (world, ada)
}

fn attempt(login: &str, password: &str, address: Option<&str>) -> Attempt {
    let address: Option<IpAddr> = address.map(|ip| ip.parse().expect("an address"));
    Attempt { login: login.into(), password: Secret::new(password), address }
}

fn right(world: &World, login: &str, address: Option<&str>) -> Result<LoginView, Error> {
    session::create(&world.app, &attempt(login, "secret42", address))
}

/// Makes this many failed attempts to sign in.
fn fail(app: &App, times: usize, login: &str, address: Option<&str>) {
    for n in 1..=times {
        let outcome = session::create(app, &attempt(login, "wrong", address));
        assert!(matches!(outcome, Err(Error::Unauthenticated)), "failure {n}: {outcome:?}");
    }
}

#[test]
fn ten_failures_within_a_minute_brake_the_account_for_a_minute() {
    let (world, _) = world_with_users();
    fail(&world.app, 10, "ada", None);
    for password in ["wrong", "secret42"] {
        let error = world.refusal(|app| session::create(app, &attempt("ada", password, None)));
        assert_error!(error, Error::Throttled(60));
    }
    world.clock.advance(TimeDelta::seconds(59));
    assert_error!(right(&world, "ada", None), Err(Error::Throttled(1)));
    world.clock.advance(TimeDelta::seconds(1));
    right(&world, "ada", None).expect("the pause is over");
}

/// A client with one IPv6 address has a whole network of addresses.
#[test]
fn addresses_of_one_ipv6_network_are_braked_together() {
    let (world, _) = world_with_users();
    for number in 1..=10 {
        let address = format!("2001:db8:1:2::{number}");
        fail(&world.app, 1, &format!("nobody-{number}"), Some(&address));
    }
    let same_network = right(&world, "ada", Some("2001:db8:1:2:ffff::1"));
    assert_error!(same_network, Err(Error::Throttled(60)));
    right(&world, "ada", Some("2001:db8:1:3::1")).expect("another network");
}

#[test]
fn nine_failures_brake_nothing() {
    let (world, _) = world_with_users();
    fail(&world.app, 9, "ada", None);
    right(&world, "ada", None).expect("below the limit");
}

#[test]
fn failures_that_are_far_apart_brake_nothing() {
    let (world, _) = world_with_users();
    for _ in 0..3 {
        fail(&world.app, 9, "ada", Some("203.0.113.5"));
        world.clock.advance(TimeDelta::minutes(1));
    }
    right(&world, "ada", Some("203.0.113.5")).expect("never ten within a minute");
}

#[test]
fn tries_during_the_pause_do_not_make_it_longer() {
    let (world, _) = world_with_users();
    fail(&world.app, 10, "ada", None);
    for left in (1..=60).rev() {
        let outcome = session::create(&world.app, &attempt("ada", "wrong", None));
        assert!(matches!(outcome, Err(Error::Throttled(wait)) if wait == left), "{outcome:?}");
        world.clock.advance(TimeDelta::seconds(1));
    }
    right(&world, "ada", None).expect("the pause is over");
}

#[test]
fn after_the_pause_the_count_begins_anew() {
    let (world, _) = world_with_users();
    fail(&world.app, 10, "ada", None);
    world.clock.advance(TimeDelta::minutes(1));
    fail(&world.app, 9, "ada", None);
    right(&world, "ada", None).expect("below the limit");
}

#[test]
fn an_account_is_braked_under_all_its_names_and_alone() {
    let (world, _) = world_with_users();
    fail(&world.app, 5, "ada", None);
    fail(&world.app, 5, "Ada@Example.com", None);
    for login in ["ada", "ADA", "ada@example.com"] {
        assert_error!(right(&world, login, None), Err(Error::Throttled(60)));
    }
    right(&world, "bob", None).expect("another account");
}

#[test]
fn an_account_that_does_not_exist_is_braked_like_one_that_does() {
    let (world, _) = world_with_users();
    fail(&world.app, 5, "ghost", None);
    fail(&world.app, 5, "GHOST", None);
    assert_error!(right(&world, "Ghost", None), Err(Error::Throttled(60)));
    right(&world, "ada", None).expect("another account");
}

#[test]
fn an_account_is_braked_from_everywhere() {
    let (world, _) = world_with_users();
    for n in 1..=10 {
        fail(&world.app, 1, "ada", Some(&format!("203.0.113.{n}")));
    }
    for address in [None, Some("127.0.0.1"), Some("203.0.113.99")] {
        assert_error!(right(&world, "ada", address), Err(Error::Throttled(60)));
    }
}

#[test]
fn the_tokens_of_a_braked_account_go_on_working() {
    let (world, ada) = world_with_users();
    world.token(a_token(ada.id, "ada's token"));
    fail(&world.app, 10, "ada", None);
    let shown = Credentials { private_token: Some("ada's token".into()), ..Credentials::default() };
    assert_eq!(sign_in::identify(&world.app, &shown).expect("a good token"), actor(&ada));
}

#[test]
fn an_address_is_braked_for_every_account_and_alone() {
    let (world, _) = world_with_users();
    for n in 1..=10 {
        fail(&world.app, 1, &format!("guess{n}"), Some("203.0.113.5"));
    }
    let mapped = Some("::ffff:203.0.113.5");
    for (login, address) in
        [("ada", Some("203.0.113.5")), ("bob", Some("203.0.113.5")), ("ada", mapped)]
    {
        assert_error!(right(&world, login, address), Err(Error::Throttled(60)));
    }
    for address in [None, Some("203.0.113.6"), Some("2001:db8::5")] {
        right(&world, "ada", address).expect("another address");
    }
    world.clock.advance(TimeDelta::minutes(1));
    right(&world, "ada", Some("203.0.113.5")).expect("the pause is over");
}

#[test]
fn the_own_machine_is_never_braked() {
    let (world, _) = world_with_users();
    for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
        for n in 1..=20 {
            fail(&world.app, 1, &format!("{address} guess{n}"), Some(address));
        }
        right(&world, "ada", Some(address)).expect("loopback");
    }
}

#[test]
fn a_success_resets_the_count_of_the_account() {
    let (world, _) = world_with_users();
    for _ in 0..3 {
        fail(&world.app, 9, "ada", None);
        right(&world, "ada", None).expect("below the limit");
    }
}

#[test]
fn the_right_password_of_an_account_with_a_second_factor_resets_its_count_too() {
    let (world, ada) = world_with_users();
    world.edit(&ada, |ada| ada.two_factor_enabled = true);
    for _ in 0..3 {
        fail(&world.app, 9, "ada", None);
        assert_error!(right(&world, "ada", None), Err(Error::SecondFactor));
    }
}

#[test]
fn a_success_does_not_reset_the_count_of_the_address() {
    let (world, _) = world_with_users();
    let address = Some("203.0.113.5");
    for n in 1..=10 {
        fail(&world.app, 1, &format!("guess{n}"), address);
        if n < 10 {
            right(&world, "bob", address).expect("below the limit");
        }
    }
    assert_error!(right(&world, "bob", address), Err(Error::Throttled(60)));
}

/// Lets the password checks of a barrier start together: none ends before all have started.
struct ConcurrentPasswords(Barrier);

impl Passwords for ConcurrentPasswords {
    fn hash(&self, password: &Password) -> PasswordHash {
        FakePasswords.hash(password)
    }

    fn verify(&self, attempt: &str, hash: Option<&PasswordHash>) -> bool {
        self.0.wait();
        FakePasswords.verify(attempt, hash)
    }
}

#[test]
fn tries_at_the_same_time_do_not_get_past_the_limit() {
    const TRIES: usize = 25;
    let (world, _) = world_with_users();
    let app = world.app_with_passwords(ConcurrentPasswords(Barrier::new(TRIES)));
    let outcomes: Vec<_> = thread::scope(|scope| {
        let try_once = || session::create(&app, &attempt("ada", "wrong", Some("203.0.113.5")));
        let tries: Vec<_> = (0..TRIES).map(|_| scope.spawn(try_once)).collect();
        tries.into_iter().map(|t| t.join().expect("no try panics")).collect()
    });
    let refused = |outcome: &&Result<_, Error>| matches!(outcome, Err(Error::Unauthenticated));
    let braked = |outcome: &&Result<_, Error>| matches!(outcome, Err(Error::Throttled(60)));
    assert_eq!(outcomes.iter().filter(refused).count(), 10, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(braked).count(), TRIES - 10, "{outcomes:?}");
}

/// Makes ten failed attempts of other callers during each password check.
struct FailuresDuringCheck(App);

impl Passwords for FailuresDuringCheck {
    fn hash(&self, password: &Password) -> PasswordHash {
        FakePasswords.hash(password)
    }

    fn verify(&self, attempt: &str, hash: Option<&PasswordHash>) -> bool {
        fail(&self.0, 10, "ada", None);
        FakePasswords.verify(attempt, hash)
    }
}

#[test]
fn a_brake_that_falls_during_the_check_holds_for_the_right_password_too() {
    let (world, _) = world_with_users();
    let app = world.app_with_passwords(FailuresDuringCheck(world.app.clone()));
    let before = world.stored();
    let outcome = session::create(&app, &attempt("ada", "secret42", None));
    assert_error!(outcome, Err(Error::Throttled(60)));
    assert_eq!(world.stored(), before, "no token was made");
}

const HOME: Option<&str> = Some("203.0.113.5");
const ELSEWHERE: Option<&str> = Some("198.51.100.7");

#[test]
fn failures_of_others_do_not_keep_out_who_signed_in_from_here_before() {
    let (world, _) = world_with_users();
    right(&world, "ada", HOME).expect("nothing failed yet");
    fail(&world.app, 10, "ada", ELSEWHERE);
    assert_error!(right(&world, "ada", Some("192.0.2.1")), Err(Error::Throttled(60)));
    right(&world, "ada", HOME).expect("known from here");
    // Other callers are still throttled.
    assert_error!(right(&world, "ada", Some("192.0.2.1")), Err(Error::Throttled(60)));
}

#[test]
fn known_networks_have_a_brake_of_their_own() {
    let (world, _) = world_with_users();
    right(&world, "ada", HOME).expect("nothing failed yet");
    fail(&world.app, 10, "ada", HOME);
    assert_error!(right(&world, "ada", HOME), Err(Error::Throttled(60)));
    right(&world, "ada", ELSEWHERE).expect("the failures at home are counted there");
}

#[test]
fn a_network_is_known_to_one_user_and_for_ninety_days() {
    let (world, _) = world_with_users();
    right(&world, "bob", HOME).expect("nothing failed yet");
    fail(&world.app, 10, "ada", ELSEWHERE);
    assert_error!(right(&world, "ada", HOME), Err(Error::Throttled(60)));
    world.clock.advance(TimeDelta::days(91));
    fail(&world.app, 10, "bob", ELSEWHERE);
    assert_error!(right(&world, "bob", HOME), Err(Error::Throttled(60)));
}

#[test]
fn a_wrong_password_makes_no_network_known() {
    let (world, _) = world_with_users();
    fail(&world.app, 1, "ada", HOME);
    fail(&world.app, 9, "ada", ELSEWHERE);
    assert_error!(right(&world, "ada", HOME), Err(Error::Throttled(60)));
}

#[test]
fn the_loopback_address_is_not_remembered() {
    let (world, _) = world_with_users();
    right(&world, "ada", Some("127.0.0.1")).expect("nothing failed yet");
    fail(&world.app, 10, "ada", ELSEWHERE);
    assert_error!(right(&world, "ada", Some("127.0.0.1")), Err(Error::Throttled(60)));
}
