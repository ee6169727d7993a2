//! The setup on the first start.

use std::thread;

use crate::support::{World, field_errors, invalid};
use hexforge_application::session::{self, Attempt};
use hexforge_application::setup::first_administrator;
use hexforge_application::sign_in::{self, Credentials};
use hexforge_domain::outbox::{SystemEvent, UserFacts};
use hexforge_domain::policy::Actor;
use hexforge_domain::text::Secret;
use hexforge_domain::user::{ProjectsLimit, UserState};
use hexforge_domain_testing::builders::{a_moment, a_user, an_address};

const TOKEN: &str = "a-token-of-the-first-start";

fn token() -> Secret {
    Secret::new(TOKEN)
}

#[test]
fn an_empty_service_gets_the_administrator_root() {
    let world = World::new();
    assert!(first_administrator(&world.app, "engine42", &token()).expect("a first start"));
    let stored = world.stored();
    assert_eq!(stored.accounts.len(), 1);
    let root = &stored.accounts[0].user;
    assert_eq!((root.username.as_str(), root.name.as_str()), ("root", "Administrator"));
    assert_eq!(root.email, an_address("admin@example.com"));
    assert_eq!(root.state, UserState::Active);
    assert!(root.privileges.admin && root.privileges.can_create_group && !root.privileges.external);
    assert_eq!(root.privileges.projects_limit, ProjectsLimit(100));
    assert_eq!((root.confirmed_at, root.created_at), (Some(a_moment()), a_moment()));
    let namespace = stored.accounts[0].namespace.as_ref().expect("a personal namespace");
    assert_eq!(namespace.owner, Some(root.id));
    assert_eq!(world.outbox_events(), [SystemEvent::UserCreated(UserFacts::from(root))]);
}

#[test]
fn root_signs_in_by_token_and_password_and_may_use_sudo() {
    let world = World::new();
    first_administrator(&world.app, "engine42", &token()).expect("a first start");
    let ada = world.user(a_user("ada"));
    let mut shown = Credentials { private_token: Some(TOKEN.into()), ..Credentials::default() };
    let caller = sign_in::identify(&world.app, &shown).expect("the token of the first start");
    assert!(matches!(caller, Actor::Admin { .. }), "{caller:?}");
    shown.sudo = Some("ada".into());
    let caller = sign_in::identify(&world.app, &shown).expect("a private token");
    assert_eq!(caller.user(), Some(ada.id));
    let attempt =
        Attempt { login: "root".into(), password: Secret::new("engine42"), address: None };
    session::create(&world.app, &attempt).expect("the password of the first start");
}

#[test]
fn a_second_start_changes_nothing() {
    let world = World::new();
    first_administrator(&world.app, "engine42", &token()).expect("a first start");
    let before = world.stored();
    let other = Secret::new("another-token-of-20-or-more");
    assert!(!first_administrator(&world.app, "other password", &other).expect("a second start"));
    assert_eq!(world.stored(), before);
}

#[test]
fn a_service_with_any_user_gets_none_whatever_is_given() {
    let world = World::new();
    world.user(a_user("ada"));
    let before = world.stored();
    let nothing = first_administrator(&world.app, "short", &Secret::new("short"));
    assert!(!nothing.expect("there is nothing to make"));
    assert_eq!(world.stored(), before);
}

#[test]
fn a_short_password_and_a_short_token_are_refused() {
    let world = World::new();
    let short = "is too short (minimum is 8 characters)";
    for (password, token, expected) in [
        ("short", TOKEN, field_errors([("password", short)])),
        ("engine42", "7-chars", field_errors([("token", short)])),
        ("short", "", field_errors([("password", short), ("token", short)])),
    ] {
        let error = world.refusal(|app| first_administrator(app, password, &Secret::new(token)));
        assert_eq!(invalid(error), expected);
    }
}

#[test]
fn one_of_two_concurrent_starts_creates_the_administrator() {
    for _ in 0..20 {
        let world = World::new();
        let start = || first_administrator(&world.app, "engine42", &token());
        let made: Vec<bool> = thread::scope(|scope| {
            let starts: Vec<_> = (0..2).map(|_| scope.spawn(start)).collect();
            let ended = starts.into_iter().map(|t| t.join().expect("no start panics"));
            ended.map(|outcome| outcome.expect("both starts succeed")).collect()
        });
        assert_eq!(made.iter().filter(|made| **made).count(), 1);
        assert_eq!(world.stored().accounts.len(), 1);
        assert_eq!(world.outbox_events().len(), 1);
    }
}
