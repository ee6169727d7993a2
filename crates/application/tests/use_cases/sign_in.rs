//! Authentication of requests by their tokens.

use crate::support::{World, actor};
use hexforge_application::error::{Error, StaleToken};
use hexforge_application::sign_in::{Credentials, identify};
use hexforge_domain::policy::Actor;
use hexforge_domain::token::{NewToken, Token, TokenKind};
use hexforge_domain::user::{User, UserState};
use hexforge_domain_testing::builders::{a_token, a_user, at};

fn private(token: &str) -> Credentials {
    Credentials { private_token: Some(token.into()), ..Credentials::default() }
}

fn bearer(token: &str) -> Credentials {
    Credentials { bearer_token: Some(token.into()), ..Credentials::default() }
}

fn both(private_token: &str, bearer_token: &str) -> Credentials {
    Credentials { bearer_token: Some(bearer_token.into()), ..private(private_token) }
}

/// A world in which `ada` has the personal token `ada` and `bob` has `bob`.
fn world_with_tokens() -> (World, User, User) {
    let world = World::new();
    let [ada, bob] = ["ada", "bob"].map(|name| {
        let user = world.user(a_user(name));
        world.token(a_token(user.id, name));
        user
    });
    (world, ada, bob)
}

fn caller(world: &World, credentials: &Credentials) -> Actor {
    identify(&world.app, credentials).expect("neither stale nor sudo")
}

fn expiring(world: &World, user: &User, secret: &str, seconds: i64) -> Token {
    world.token(NewToken { expires_at: Some(at(seconds)), ..a_token(user.id, secret) })
}

fn revoked(world: &World, user: &User, secret: &str) {
    let token = world.token(a_token(user.id, secret));
    assert!(world.write(|tx| tx.tokens().revoke(token.id, at(0))));
}

#[test]
fn a_request_without_a_token_is_anonymous() {
    let (world, ..) = world_with_tokens();
    assert_eq!(caller(&world, &Credentials::default()), Actor::Anonymous);
}

#[test]
fn tokens_of_both_kinds_are_taken_both_ways() {
    let (world, ada, _) = world_with_tokens();
    world.token(NewToken { kind: TokenKind::Private, ..a_token(ada.id, "from a session") });
    for token in ["ada", "from a session"] {
        assert_eq!(caller(&world, &private(token)), actor(&ada), "{token}");
        assert_eq!(caller(&world, &bearer(token)), actor(&ada), "{token}");
    }
}

#[test]
fn the_actor_has_the_rights_of_the_user() {
    let world = World::new();
    let boss = world.user(a_user("boss").admin());
    let eve = world.user(a_user("eve").external());
    let ada = world.user(a_user("ada"));
    for user in [&boss, &eve, &ada] {
        world.token(a_token(user.id, user.username.as_str()));
    }
    assert_eq!(caller(&world, &private("boss")), Actor::Admin { id: boss.id });
    assert_eq!(caller(&world, &private("eve")), Actor::User { id: eve.id, external: true });
    assert_eq!(caller(&world, &private("ada")), Actor::User { id: ada.id, external: false });
}

#[test]
fn a_request_with_an_unknown_token_is_anonymous() {
    let (world, ..) = world_with_tokens();
    for token in ["ghost", "", "ADA", " ada"] {
        assert_eq!(caller(&world, &private(token)), Actor::Anonymous, "{token:?}");
        assert_eq!(caller(&world, &bearer(token)), Actor::Anonymous, "{token:?}");
    }
}

#[test]
fn the_private_token_comes_before_the_bearer_token() {
    let (world, ada, bob) = world_with_tokens();
    assert_eq!(caller(&world, &both("ada", "bob")), actor(&ada));
    assert_eq!(caller(&world, &both("bob", "ada")), actor(&bob));
}

#[test]
fn after_an_invalid_private_token_the_bearer_token_is_used() {
    let (world, ada, bob) = world_with_tokens();
    expiring(&world, &ada, "expired", 0);
    revoked(&world, &ada, "revoked");
    for worthless in ["ghost", "expired", "revoked"] {
        assert_eq!(caller(&world, &both(worthless, "bob")), actor(&bob), "{worthless}");
    }
}

#[test]
fn a_good_private_token_hides_a_stale_bearer_token() {
    let (world, ada, bob) = world_with_tokens();
    revoked(&world, &bob, "revoked");
    assert_eq!(caller(&world, &both("ada", "revoked")), actor(&ada));
}

#[test]
fn a_request_with_a_stale_private_token_is_anonymous() {
    let (world, ada, _) = world_with_tokens();
    expiring(&world, &ada, "expired", 0);
    revoked(&world, &ada, "revoked");
    for token in ["expired", "revoked"] {
        assert_eq!(caller(&world, &private(token)), Actor::Anonymous, "{token}");
    }
}

#[test]
fn a_stale_bearer_token_is_reported_as_expired_or_revoked() {
    let (world, ada, _) = world_with_tokens();
    expiring(&world, &ada, "expired", 0);
    revoked(&world, &ada, "revoked");
    let error = world.refusal(|app| identify(app, &bearer("expired")));
    assert_error!(error, Error::StaleToken(StaleToken::Expired));
    let error = world.refusal(|app| identify(app, &bearer("revoked")));
    assert_error!(error, Error::StaleToken(StaleToken::Revoked));
}

#[test]
fn a_token_is_good_until_its_last_moment() {
    let (world, ada, _) = world_with_tokens();
    expiring(&world, &ada, "for a minute", 60);
    world.clock.set(at(59));
    assert_eq!(caller(&world, &private("for a minute")), actor(&ada));
    assert_eq!(caller(&world, &bearer("for a minute")), actor(&ada));
    world.clock.set(at(60));
    assert_eq!(caller(&world, &private("for a minute")), Actor::Anonymous);
    let error = world.refusal(|app| identify(app, &bearer("for a minute")));
    assert_error!(error, Error::StaleToken(StaleToken::Expired));
}

#[test]
fn a_blocked_user_is_nobody() {
    for state in [UserState::Blocked, UserState::DirectoryBlocked] {
        let (world, ada, _) = world_with_tokens();
        world.in_state(&ada, state);
        assert_eq!(caller(&world, &private("ada")), Actor::Anonymous, "{state:?}");
        assert_eq!(caller(&world, &bearer("ada")), Actor::Anonymous, "{state:?}");
        assert_eq!(caller(&world, &both("ada", "bob")), Actor::Anonymous, "{state:?}");
    }
}

#[test]
fn a_request_with_a_token_of_a_removed_user_is_anonymous() {
    let (world, ada, _) = world_with_tokens();
    world.write(|tx| tx.users().delete(ada.id));
    assert_eq!(caller(&world, &private("ada")), Actor::Anonymous);
    assert_eq!(caller(&world, &bearer("ada")), Actor::Anonymous);
}
