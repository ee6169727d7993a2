//! Administrators acting as other users.

use crate::support::{World, actor};
use hexforge_application::error::{Entity, Error, ForbiddenReason};
use hexforge_application::sign_in::{Credentials, identify};
use hexforge_domain::policy::Actor;
use hexforge_domain::token::{NewToken, TokenKind};
use hexforge_domain::user::{User, UserState};
use hexforge_domain_testing::builders::{a_token, a_user};

fn as_user(private_token: &str, target: &str) -> Credentials {
    Credentials {
        private_token: Some(private_token.into()),
        bearer_token: None,
        sudo: Some(target.into()),
    }
}

/// A world in which the administrator `boss` has the private token `boss` and the personal token
/// `boss's program`, and the normal user `ada` has the private token `ada`.
fn world_with_tokens() -> (World, User, User) {
    let world = World::new();
    let boss = world.user(a_user("boss").admin());
    let ada = world.user(a_user("ada"));
    for user in [&boss, &ada] {
        let token = a_token(user.id, user.username.as_str());
        world.token(NewToken { kind: TokenKind::Private, ..token });
    }
    world.token(a_token(boss.id, "boss's program"));
    (world, boss, ada)
}

#[test]
fn an_administrator_acts_as_a_user_of_an_id_or_a_name() {
    let (world, _, ada) = world_with_tokens();
    for target in [ada.id.to_string(), "ada".to_owned()] {
        let caller = identify(&world.app, &as_user("boss", &target));
        assert_eq!(caller.expect("an administrator may"), actor(&ada), "{target}");
    }
}

#[test]
fn a_private_token_is_enough_when_it_comes_as_a_bearer_token() {
    let (world, _, ada) = world_with_tokens();
    let credentials = Credentials {
        bearer_token: Some("boss".into()),
        sudo: Some("ada".into()),
        ..Credentials::default()
    };
    assert_eq!(identify(&world.app, &credentials).expect("an administrator may"), actor(&ada));
}

#[test]
fn the_rights_are_those_of_the_other_user() {
    let (world, boss, _) = world_with_tokens();
    let eve = world.user(a_user("eve").external());
    let other = world.user(a_user("other").admin());
    for (target, expected) in [
        ("eve", Actor::User { id: eve.id, external: true }),
        ("other", Actor::Admin { id: other.id }),
        ("boss", Actor::Admin { id: boss.id }),
    ] {
        let caller = identify(&world.app, &as_user("boss", target));
        assert_eq!(caller.expect("an administrator may"), expected, "{target}");
    }
}

#[test]
fn a_normal_user_may_not_use_sudo_even_for_itself() {
    let (world, ..) = world_with_tokens();
    for target in ["boss", "ada", "ghost", ""] {
        let error = world.refusal(|app| identify(app, &as_user("ada", target)));
        assert_error!(error, Error::Forbidden(Some(ForbiddenReason::SudoNeedsAdmin)));
    }
}

#[test]
fn a_personal_token_is_not_enough() {
    let (world, ..) = world_with_tokens();
    for target in ["ada", "ghost"] {
        let error = world.refusal(|app| identify(app, &as_user("boss's program", target)));
        assert_error!(error, Error::Forbidden(Some(ForbiddenReason::SudoNeedsPrivateToken)));
    }
}

#[test]
fn a_normal_user_with_a_personal_token_is_told_that_it_is_no_administrator() {
    let (world, _, ada) = world_with_tokens();
    world.token(a_token(ada.id, "ada's program"));
    let error = world.refusal(|app| identify(app, &as_user("ada's program", "boss")));
    assert_error!(error, Error::Forbidden(Some(ForbiddenReason::SudoNeedsAdmin)));
}

#[test]
fn the_error_names_an_unknown_sudo_target() {
    let (world, ..) = world_with_tokens();
    for target in ["ghost", "ADA", "9999", "99999999999999999999", "-1", "ada@example.com", ""] {
        let error = world.refusal(|app| identify(app, &as_user("boss", target)));
        match error {
            Error::NotFound(Entity::SudoTarget(named)) => assert_eq!(named, target),
            other => panic!("{target}: {other:?}"),
        }
    }
}

#[test]
fn digits_are_an_id_even_if_they_are_the_name_of_a_user() {
    let (world, ..) = world_with_tokens();
    world.user(a_user("4711"));
    let error = world.refusal(|app| identify(app, &as_user("boss", "4711")));
    assert_error!(error, Error::NotFound(Entity::SudoTarget(_)));
}

#[test]
fn a_sudo_request_as_a_blocked_user_is_anonymous() {
    let (world, _, ada) = world_with_tokens();
    for state in [UserState::Blocked, UserState::DirectoryBlocked] {
        world.in_state(&ada, state);
        let caller = identify(&world.app, &as_user("boss", "ada"));
        assert_eq!(caller.expect("the user exists"), Actor::Anonymous, "{state:?}");
    }
}

#[test]
fn sudo_of_an_anonymous_caller_is_ignored() {
    let (world, boss, _) = world_with_tokens();
    world.in_state(&boss, UserState::Blocked);
    for token in ["boss", "unknown"] {
        let caller = identify(&world.app, &as_user(token, "ada"));
        assert_eq!(caller.expect("a sudo of nobody is ignored"), Actor::Anonymous, "{token}");
    }
    let only_sudo = Credentials { sudo: Some("ada".into()), ..Credentials::default() };
    assert_eq!(identify(&world.app, &only_sudo).expect("ignored"), Actor::Anonymous);
}
