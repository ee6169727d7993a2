//! Signing in with a password.

use crate::support::{World, actor};
use chrono::TimeDelta;
use hexforge_application::error::Error;
use hexforge_application::session::{self, Attempt};
use hexforge_application::sign_in::{self, Credentials};
use hexforge_application::view::user::FullUser;
use hexforge_domain::paging::Page;
use hexforge_domain::text::Secret;
use hexforge_domain::token::{NewToken, Token, TokenKind, TokenLife};
use hexforge_domain::user::{Identity, User, UserState};
use hexforge_domain_testing::builders::{a_moment, a_text, a_token, a_user, an_address};

fn attempt(login: &str, password: &str) -> Attempt {
    Attempt { login: login.into(), password: Secret::new(password), address: None }
}

fn tokens_of(world: &World, user: &User) -> Vec<Token> {
    world.read(|tx| tx.tokens().list(user.id, Page::Whole)).items
}

/// A world in which `Ada` has the password `secret42`.
fn world_with_ada() -> (World, User) {
    let world = World::new();
    let ada = world.user(a_user("Ada").email("ada@example.com"));
    (world, ada)
}

#[test]
fn users_sign_in_by_name_or_primary_address_in_any_case() {
    let (world, ada) = world_with_ada();
    for login in ["Ada", "ada", "ADA", "ada@example.com", "Ada@Example.COM"] {
        let answer = session::create(&world.app, &attempt(login, "secret42"));
        assert_eq!(answer.expect("the right password").user.user, ada, "{login}");
    }
}

#[test]
fn who_signs_in_sees_the_full_account() {
    let (world, ada) = world_with_ada();
    let identity = Identity { provider: a_text("directory"), extern_uid: Some(a_text("7")) };
    world.write(|tx| tx.identities().put(ada.id, &identity));
    let answer = session::create(&world.app, &attempt("ada", "secret42")).expect("signed in");
    assert_eq!(
        answer.user,
        FullUser { user: ada, identities: vec![identity], personal_projects: 0 }
    );
}

#[test]
fn a_session_gives_a_private_token_that_ends_and_proves_who_one_is() {
    let (world, ada) = world_with_ada();
    let answer = session::create(&world.app, &attempt("ada", "secret42")).expect("signed in");
    let tokens = tokens_of(&world, &ada);
    assert_eq!(tokens.len(), 1);
    let life = TokenLife { expires_at: Some(a_moment() + TimeDelta::days(14)), revoked_at: None };
    assert_eq!((tokens[0].kind, tokens[0].life), (TokenKind::Private, life));
    assert_eq!(tokens[0].created_at, a_moment());
    let shown = Credentials {
        private_token: Some(answer.private_token.reveal().to_owned()),
        ..Credentials::default()
    };
    let caller = sign_in::identify(&world.app, &shown).expect("a good token");
    assert_eq!(caller, actor(&ada));
}

#[test]
fn every_session_gives_another_token_and_the_older_ones_stay_good() {
    let (world, ada) = world_with_ada();
    let sign_in = || session::create(&world.app, &attempt("ada", "secret42")).expect("signed in");
    let (first, second) = (sign_in().private_token, sign_in().private_token);
    assert_ne!(first, second);
    for token in [first, second] {
        let shown = Credentials {
            private_token: Some(token.reveal().to_owned()),
            ..Credentials::default()
        };
        assert_eq!(sign_in::identify(&world.app, &shown).expect("a good token"), actor(&ada));
    }
}

#[test]
fn a_session_changes_nothing_about_the_account_and_is_no_news() {
    let (world, ada) = world_with_ada();
    session::create(&world.app, &attempt("ada", "secret42")).expect("signed in");
    assert_eq!(world.reload(&ada), ada);
    assert_eq!(world.outbox_events(), []);
}

#[test]
fn a_wrong_password_is_refused() {
    let (world, _) = world_with_ada();
    for password in ["secret43", "", "SECRET42", "secret42 ", "fake$secret42"] {
        let error = world.refusal(|app| session::create(app, &attempt("ada", password)));
        assert_error!(error, Error::Unauthenticated);
    }
}

#[test]
fn an_unknown_user_is_refused_in_the_same_way() {
    let (world, _) = world_with_ada();
    for login in ["ghost", "ghost@example.com", "", "@", "A da"] {
        let error = world.refusal(|app| session::create(app, &attempt(login, "secret42")));
        assert_error!(error, Error::Unauthenticated);
    }
}

#[test]
fn a_secondary_address_does_not_sign_in() {
    let (world, ada) = world_with_ada();
    world.write(|tx| tx.emails().insert(ada.id, &an_address("ada@work.example.com")));
    let login = attempt("ada@work.example.com", "secret42");
    assert_error!(world.refusal(|app| session::create(app, &login)), Error::Unauthenticated);
}

#[test]
fn a_blocked_user_is_refused_whatever_the_password() {
    for state in [UserState::Blocked, UserState::DirectoryBlocked] {
        let (world, ada) = world_with_ada();
        world.in_state(&ada, state);
        for password in ["secret42", "secret43"] {
            let error = world.refusal(|app| session::create(app, &attempt("ada", password)));
            assert_error!(error, Error::Unauthenticated);
        }
    }
}

#[test]
fn an_account_with_a_second_factor_gets_no_token_for_its_password() {
    let (world, ada) = world_with_ada();
    world.edit(&ada, |ada| ada.two_factor_enabled = true);
    let error = world.refusal(|app| session::create(app, &attempt("ada", "secret42")));
    assert_error!(error, Error::SecondFactor);
}

#[test]
fn a_wrong_password_does_not_tell_that_there_is_a_second_factor() {
    let (world, ada) = world_with_ada();
    world.edit(&ada, |ada| ada.two_factor_enabled = true);
    let error = world.refusal(|app| session::create(app, &attempt("ada", "secret43")));
    assert_error!(error, Error::Unauthenticated);
}

#[test]
fn sessions_are_removed_a_week_after_their_end() {
    let (world, ada) = world_with_ada();
    let sign_in = || session::create(&world.app, &attempt("ada", "secret42")).expect("signed in");
    for _ in 0..2 {
        sign_in();
    }
    world.write(|tx| tx.tokens().insert(a_token(ada.id, "personal")));
    world.clock.advance(TimeDelta::days(7));
    sign_in();
    world.clock.advance(TimeDelta::days(14) - TimeDelta::seconds(1));
    let removed = || session::remove_ended(&world.app, &|| true).expect("it can");
    assert_eq!(removed(), 0);
    world.clock.advance(TimeDelta::seconds(1));
    assert_eq!(session::remove_ended(&world.app, &|| false).expect("it is stopped"), 0);
    assert_eq!((removed(), removed()), (2, 0));
    assert_eq!(tokens_of(&world, &ada).len(), 2, "a later session and a personal token");
}

/// More sessions than one transaction removes.
#[test]
fn any_number_of_ended_sessions_is_removed() {
    let (world, ada) = world_with_ada();
    world.write(|tx| {
        for number in 0..2500 {
            let (kind, expires_at) = (TokenKind::Private, Some(a_moment()));
            let new = NewToken { kind, expires_at, ..a_token(ada.id, &number.to_string()) };
            tx.tokens().insert(new)?;
        }
        Ok(())
    });
    world.clock.advance(TimeDelta::days(8));
    assert_eq!(session::remove_ended(&world.app, &|| true).expect("it can"), 2500);
    assert_eq!(tokens_of(&world, &ada), []);
}
