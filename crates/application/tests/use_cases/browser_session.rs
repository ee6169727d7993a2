//! Signing in on the web pages.

use crate::support::{FIRST_PAGE, World, actor};
use chrono::TimeDelta;
use hexforge_application::browser_session::{self, NewSession, SignedIn};
use hexforge_application::error::{Entity, Error};
use hexforge_application::session::{self, Attempt};
use hexforge_application::sign_in::{self, Credentials};
use hexforge_application::user::fields::UserFields;
use hexforge_application::user::password::{self, PasswordChange};
use hexforge_application::user::{self, block};
use hexforge_domain::browser_session::{BrowserSession, IDLE_LIMIT, MAX_SESSIONS};
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::policy::Actor;
use hexforge_domain::text::Secret;
use hexforge_domain::user::{User, UserCommand, UserState};
use hexforge_domain_testing::builders::{a_browser_session, a_moment, a_user, at};

fn attempt(login: &str, password: &str) -> Attempt {
    let address = Some("203.0.113.5".parse().expect("an address"));
    Attempt { login: login.into(), password: Secret::new(password), address }
}

/// A world in which `ada` has the password `secret42`.
fn world_with_ada() -> (World, User) {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    (world, ada)
}

/// Signs `ada` in.
fn sign_in(world: &World, remember: bool) -> NewSession {
    browser_session::create(&world.app, &attempt("ada", "secret42"), remember, "links", None)
        .expect("the right password")
}

fn identify(world: &World, token: &Secret) -> Option<SignedIn> {
    browser_session::identify(&world.app, token).expect("the store works")
}

/// Returns which of the tokens are valid.
fn valid<'a>(world: &World, sessions: impl IntoIterator<Item = &'a NewSession>) -> Vec<bool> {
    sessions.into_iter().map(|session| identify(world, &session.token).is_some()).collect()
}

#[test]
fn signing_in_gives_a_token_that_leads_to_the_user_and_the_session() {
    let (world, ada) = world_with_ada();
    let NewSession { token, signed_in } = sign_in(&world, true);
    let ada =
        User { last_sign_in_at: Some(a_moment()), current_sign_in_at: Some(a_moment()), ..ada };
    let session = BrowserSession {
        id: signed_in.session.id,
        user: ada.id,
        created_at: a_moment(),
        last_used_at: a_moment(),
        address: Some("203.0.113.5".parse().expect("an address")),
        browser: "links".into(),
        remembered: true,
    };
    assert_eq!(signed_in, SignedIn { actor: actor(&ada), user: ada, session });
    assert_eq!(identify(&world, &token), Some(signed_in));
    assert_eq!(identify(&world, &Secret::new("a guess")), None);
    assert_eq!(world.outbox_events(), []);
}

#[test]
fn the_last_two_sign_ins_are_stored() {
    let (world, ada) = world_with_ada();
    for (last, current) in [(0, 0), (0, 60), (60, 120)] {
        sign_in(&world, false);
        let ada = world.reload(&ada);
        assert_eq!(ada.last_sign_in_at, Some(at(last)));
        assert_eq!(ada.current_sign_in_at, Some(at(current)));
        world.clock.advance(TimeDelta::minutes(1));
    }
}

#[test]
fn signing_in_again_ends_the_session_of_the_browser() {
    let (world, _) = world_with_ada();
    let (first, other) = (sign_in(&world, false), sign_in(&world, false));
    let again = browser_session::create(
        &world.app,
        &attempt("ada", "secret42"),
        false,
        "links",
        Some(&first.token),
    );
    let again = again.expect("the right password");
    assert_ne!(first.token, again.token);
    assert_eq!(valid(&world, [&first, &other, &again]), [false, true, true]);
    // A failed attempt does not sign out.
    let wrong = attempt("ada", "wrong");
    let failed = browser_session::create(&world.app, &wrong, false, "links", Some(&again.token));
    assert!(matches!(failed, Err(Error::Unauthenticated)), "{failed:?}");
    assert_eq!(valid(&world, [&again]), [true]);
}

#[test]
fn a_wrong_password_and_a_blocked_user_are_refused() {
    let (world, ada) = world_with_ada();
    let refused = |login: &str, password: &str| {
        let attempt = attempt(login, password);
        world.refusal(|app| browser_session::create(app, &attempt, false, "links", None))
    };
    assert_error!(refused("ada", "secret43"), Error::Unauthenticated);
    assert_error!(refused("ghost", "secret42"), Error::Unauthenticated);
    let ada = world.in_state(&ada, UserState::Blocked);
    assert_error!(refused("ada", "secret42"), Error::Unauthenticated);
    world.edit(&ada, |ada| (ada.state, ada.two_factor_enabled) = (UserState::Active, true));
    assert_error!(refused("ada", "secret42"), Error::SecondFactor);
}

#[test]
fn guessing_is_braked_together_with_other_ways_to_sign_in() {
    let (world, _) = world_with_ada();
    for number in 0..10 {
        let wrong = attempt("ada", "wrong");
        let outcome = if number % 2 == 0 {
            browser_session::create(&world.app, &wrong, false, "links", None).map(drop)
        } else {
            session::create(&world.app, &wrong).map(drop)
        };
        assert!(matches!(outcome, Err(Error::Unauthenticated)), "{outcome:?}");
    }
    let right = attempt("ada", "secret42");
    let error = world.refusal(|app| browser_session::create(app, &right, false, "links", None));
    assert_error!(error, Error::Throttled(_));
}

#[test]
fn the_token_of_a_session_is_no_access_token() {
    let (world, _) = world_with_ada();
    let token = sign_in(&world, false).token.reveal().to_owned();
    for credentials in [
        Credentials { private_token: Some(token.clone()), ..Credentials::default() },
        Credentials { bearer_token: Some(token.clone()), ..Credentials::default() },
    ] {
        let caller = sign_in::identify(&world.app, &credentials).expect("no error");
        assert_eq!(caller, Actor::Anonymous);
    }
    let api = session::create(&world.app, &attempt("ada", "secret42")).expect("signed in");
    assert_eq!(identify(&world, &api.private_token), None);
}

#[test]
fn a_session_ends_some_time_after_its_last_use() {
    for (remember, limit) in [(false, IDLE_LIMIT), (true, TimeDelta::days(14))] {
        let (world, _) = world_with_ada();
        let session = sign_in(&world, remember);
        for _ in 0..3 {
            world.clock.advance(limit - TimeDelta::seconds(1));
            assert_eq!(valid(&world, [&session]), [true]);
        }
        world.clock.advance(limit);
        assert_eq!(valid(&world, [&session]), [false]);
    }
}

#[test]
fn a_use_is_written_at_most_every_five_minutes() {
    let (world, _) = world_with_ada();
    let token = sign_in(&world, false).token;
    let last_use = || {
        identify(&world, &token);
        identify(&world, &token).expect("it is valid").session.last_used_at
    };
    assert_eq!(last_use(), at(0));
    world.clock.advance(TimeDelta::seconds(299));
    assert_eq!(last_use(), at(0));
    world.clock.advance(TimeDelta::seconds(1));
    assert_eq!(last_use(), at(300));
}

#[test]
fn a_use_that_cannot_be_written_is_no_error() {
    let (mut world, _) = world_with_ada();
    let session = sign_in(&world, false);
    world.clock.advance(TimeDelta::hours(1));
    let store = world.failing_store();
    store.broken(0, 1);
    assert_eq!(valid(&world, [&session]), [true]);
}

#[test]
fn signing_out_ends_one_session() {
    let (world, _) = world_with_ada();
    let (one, other) = (sign_in(&world, false), sign_in(&world, false));
    for _ in 0..2 {
        browser_session::end(&world.app, &one.token).expect("it is no error to end it twice");
    }
    assert_eq!(valid(&world, [&one, &other]), [false, true]);
}

#[test]
fn users_list_and_revoke_their_own_sessions() {
    let (world, ada) = world_with_ada();
    let bob = world.user(a_user("bob"));
    let (old, remembered) = (sign_in(&world, false), sign_in(&world, true));
    world.clock.advance(IDLE_LIMIT);
    let new = sign_in(&world, false);
    let list = |who| browser_session::list(&world.app, who, FIRST_PAGE);
    let own = list(actor(&ada)).expect("they are ada's");
    assert_eq!(own.total, 2, "a session that has ended is not shown");
    assert_eq!(own.items, [new.signed_in.session.clone(), remembered.signed_in.session.clone()]);
    assert_eq!(list(actor(&bob)).expect("bob has none").items, []);
    assert!(matches!(list(Actor::Anonymous), Err(Error::Unauthenticated)));

    let id = remembered.signed_in.session.id;
    let error = world.refusal(|app| browser_session::revoke(app, actor(&bob), id));
    assert_error!(error, Error::NotFound(Entity::Record));
    let error = world.refusal(|app| browser_session::revoke(app, Actor::Anonymous, id));
    assert_error!(error, Error::Unauthenticated);
    browser_session::revoke(&world.app, actor(&ada), id).expect("it is ada's");
    let error = world.refusal(|app| browser_session::revoke(app, actor(&ada), id));
    assert_error!(error, Error::NotFound(Entity::Record));
    assert_eq!(valid(&world, [&old, &remembered, &new]), [false, false, true]);
}

#[test]
fn a_user_has_a_limited_number_of_sessions() {
    let (world, ada) = world_with_ada();
    let first = sign_in(&world, false);
    for _ in 1..MAX_SESSIONS {
        sign_in(&world, false);
    }
    assert_eq!(valid(&world, [&first]), [true]);
    let last = sign_in(&world, false);
    assert_eq!(valid(&world, [&first, &last]), [false, true]);
    let own = browser_session::list(&world.app, actor(&ada), FIRST_PAGE).expect("they are ada's");
    assert_eq!(own.total, MAX_SESSIONS as u64);
}

#[test]
fn a_block_and_a_removal_end_all_sessions() {
    let (world, ada) = world_with_ada();
    let admin = world.admin();
    let session = sign_in(&world, true);
    block::apply(&world.app, admin, ada.id, UserCommand::Block).expect("by hand");
    block::apply(&world.app, admin, ada.id, UserCommand::Unblock).expect("by hand");
    assert_eq!(valid(&world, [&session]), [false], "unblocking does not restore sessions");

    let session = sign_in(&world, true);
    user::delete(&world.app, admin, ada.id).expect("by an administrator");
    assert_eq!(valid(&world, [&session]), [false]);
}

#[test]
fn a_blocked_user_is_not_signed_in_even_if_the_session_is_left() {
    let (world, ada) = world_with_ada();
    let session = sign_in(&world, true);
    world.in_state(&ada, UserState::DirectoryBlocked);
    assert_eq!(valid(&world, [&session]), [false]);
}

#[test]
fn a_password_set_by_an_administrator_ends_all_sessions() {
    let (world, ada) = world_with_ada();
    let admin = world.admin();
    let sessions = [sign_in(&world, true), sign_in(&world, false)];
    let password = Some(Secret::new("another42"));
    let fields = UserFields { password, ..UserFields::default() };
    user::update(&world.app, admin, ada.id, &fields).expect("by an administrator");
    assert_eq!(valid(&world, &sessions), [false, false]);
}

fn change(current: &str, new: &str) -> PasswordChange {
    PasswordChange { current: Secret::new(current), new: Secret::new(new), address: None }
}

#[test]
fn users_change_their_own_password_and_keep_only_this_session() {
    let (world, _) = world_with_ada();
    let (this, other) = (sign_in(&world, true), sign_in(&world, false));
    let api = session::create(&world.app, &attempt("ada", "secret42")).expect("signed in");
    password::change_own(&world.app, &this.signed_in, &change("secret42", "another42"))
        .expect("the right password");
    assert_eq!(valid(&world, [&this, &other]), [true, false]);
    let private_token = Some(api.private_token.reveal().to_owned());
    let credentials = Credentials { private_token, ..Credentials::default() };
    let caller = sign_in::identify(&world.app, &credentials).expect("no error");
    assert_eq!(caller, Actor::Anonymous);
    for (password, accepted) in [("secret42", false), ("another42", true)] {
        let outcome = session::create(&world.app, &attempt("ada", password));
        assert_eq!(outcome.is_ok(), accepted, "{password}");
    }
}

#[test]
fn a_password_is_not_changed_without_the_current_one_or_to_a_short_one() {
    let (world, _) = world_with_ada();
    let (this, other) = (sign_in(&world, true), sign_in(&world, false));
    for (current, new, field, message) in [
        ("wrong", "another42", "current_password", "is invalid"),
        ("secret42", "short", "password", "is too short (minimum is 8 characters)"),
    ] {
        let change = change(current, new);
        let error = world.refusal(|app| password::change_own(app, &this.signed_in, &change));
        let expected = Error::from(FieldErrors::single(field, message));
        assert_eq!(error.to_string(), expected.to_string());
    }
    assert_eq!(valid(&world, [&this, &other]), [true, true]);
    session::create(&world.app, &attempt("ada", "secret42")).expect("still the password");
}

#[test]
fn guessing_the_current_password_is_braked() {
    let (world, _) = world_with_ada();
    let this = sign_in(&world, true);
    let try_once =
        |current| password::change_own(&world.app, &this.signed_in, &change(current, "another42"));
    for _ in 0..10 {
        assert!(matches!(try_once("wrong"), Err(Error::Invalid(_))));
    }
    assert!(matches!(try_once("secret42"), Err(Error::Throttled(_))));
}

#[test]
fn the_secret_of_forms_belongs_to_the_session() {
    let (world, _) = world_with_ada();
    let (one, other) = (sign_in(&world, true), sign_in(&world, false));
    let secret = |session: &NewSession| browser_session::form_secret(&world.app, &session.token);
    assert_eq!(secret(&one), secret(&one));
    assert_ne!(secret(&one), secret(&other));
    assert_ne!(secret(&one), world.app.secrets.digest(one.token.reveal()).0);
}

/// More sessions than one transaction removes.
#[test]
fn any_number_of_ended_sessions_is_removed() {
    let world = World::new();
    let names: Vec<String> = (0..25).map(|number| format!("user{number}")).collect();
    let users: Vec<User> = names.iter().map(|name| world.user(a_user(name))).collect();
    world.write(|tx| {
        for user in &users {
            for number in 0..100 {
                let token = format!("{} {number}", user.id);
                tx.browser_sessions().insert(a_browser_session(user.id, &token))?;
            }
        }
        Ok(())
    });
    let removed = || browser_session::remove_ended(&world.app, &|| true).expect("it can");
    world.clock.advance(IDLE_LIMIT - TimeDelta::seconds(1));
    assert_eq!(removed(), 0);
    world.clock.advance(TimeDelta::seconds(1));
    assert_eq!(browser_session::remove_ended(&world.app, &|| false).expect("it is stopped"), 0);
    assert_eq!((removed(), removed()), (2500, 0));
}
