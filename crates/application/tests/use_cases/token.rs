//! Personal access tokens.

use crate::support::{FIRST_PAGE, World, actor};
use hexforge_application::error::{Entity, Error};
use hexforge_application::sign_in::{Credentials, identify};
use hexforge_application::token;
use hexforge_domain::id::TokenId;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::token::{TokenKind, TokenLife};
use hexforge_domain::user::User;
use hexforge_domain_testing::builders::{a_moment, a_token, a_user, at};

const OPERATOR: Actor = Actor::OPERATOR;

fn world_with_ada() -> (World, User) {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    (world, ada)
}

fn caller(world: &World, token: &str) -> Actor {
    let shown = Credentials { private_token: Some(token.into()), ..Credentials::default() };
    identify(&world.app, &shown).expect("neither bearer nor sudo")
}

#[test]
fn a_token_is_made_for_a_user_and_proves_who_that_is() {
    let (world, ada) = world_with_ada();
    let secret = token::create(&world.app, OPERATOR, "ada", "build bot", None);
    let secret = secret.expect("the operator may");
    assert_eq!(caller(&world, secret.reveal()), actor(&ada));
    let tokens = token::list(&world.app, OPERATOR, "ada", FIRST_PAGE).expect("the operator may");
    assert_eq!(tokens.total, 1);
    let made = &tokens.items[0];
    assert_eq!((made.user, made.kind), (ada.id, TokenKind::Personal));
    assert_eq!((made.name.as_str(), made.created_at), ("build bot", a_moment()));
    assert_eq!(made.life, TokenLife::default());
    assert_eq!(world.outbox_events(), []);
}

#[test]
fn a_token_may_have_an_end() {
    let (world, ada) = world_with_ada();
    let secret = token::create(&world.app, OPERATOR, "ada", "for a minute", Some(at(60)));
    let secret = secret.expect("the operator may");
    assert_eq!(caller(&world, secret.reveal()), actor(&ada));
    world.clock.set(at(60));
    assert_eq!(caller(&world, secret.reveal()), Actor::Anonymous);
}

#[test]
fn every_token_is_another_one() {
    let (world, _) = world_with_ada();
    let make = || token::create(&world.app, OPERATOR, "ada", "bot", None).expect("may");
    assert_ne!(make(), make());
}

#[test]
fn tokens_are_listed_newest_first_in_pages() {
    let (world, ada) = world_with_ada();
    let [one, two, three] = ["1", "2", "3"].map(|secret| world.token(a_token(ada.id, secret)));
    let bob = world.user(a_user("bob"));
    world.token(a_token(bob.id, "4"));
    let page = token::list(&world.app, OPERATOR, "ada", FIRST_PAGE).expect("the operator may");
    assert_eq!(page.items, [three, two, one.clone()]);
    let second = Page::Numbered { number: 2, size: 2 };
    let page = token::list(&world.app, OPERATOR, "ada", second).expect("the operator may");
    assert_eq!((page.items, page.total), (vec![one], 3));
}

#[test]
fn users_are_known_by_exactly_their_name() {
    let (world, _) = world_with_ada();
    for name in ["ghost", "ADA", "ada@example.com", ""] {
        let error = world.refusal(|app| token::create(app, OPERATOR, name, "bot", None));
        assert_error!(error, Error::NotFound(Entity::User));
        let error = world.refusal(|app| token::list(app, OPERATOR, name, FIRST_PAGE));
        assert_error!(error, Error::NotFound(Entity::User));
    }
}

#[test]
fn a_revoked_token_is_anonymous_and_other_tokens_stay_valid() {
    let (world, ada) = world_with_ada();
    let lost = world.token(a_token(ada.id, "lost"));
    world.token(a_token(ada.id, "kept"));
    world.clock.set(at(60));
    token::revoke(&world.app, OPERATOR, lost.id).expect("the operator may");
    assert_eq!(caller(&world, "lost"), Actor::Anonymous);
    assert_eq!(caller(&world, "kept"), actor(&ada));
    let page = token::list(&world.app, OPERATOR, "ada", FIRST_PAGE).expect("the operator may");
    assert_eq!(page.items[1].life.revoked_at, Some(at(60)), "it is still listed");
    assert_eq!(page.items[0].life.revoked_at, None);
}

#[test]
fn a_token_that_is_revoked_or_unknown_is_not_found() {
    let (world, ada) = world_with_ada();
    let lost = world.token(a_token(ada.id, "lost"));
    token::revoke(&world.app, OPERATOR, lost.id).expect("the operator may");
    world.clock.set(at(60));
    for id in [lost.id, TokenId(9999)] {
        let error = world.refusal(|app| token::revoke(app, OPERATOR, id));
        assert_error!(error, Error::NotFound(Entity::Record));
    }
}

#[test]
fn only_administrators_manage_tokens_even_their_own() {
    let (world, ada) = world_with_ada();
    let own = world.token(a_token(ada.id, "own"));
    let caller = actor(&ada);
    assert_error!(
        world.refusal(|app| token::create(app, caller, "ada", "bot", None)),
        Error::Forbidden(None)
    );
    assert_error!(
        world.refusal(|app| token::list(app, caller, "ada", FIRST_PAGE)),
        Error::Forbidden(None)
    );
    assert_error!(world.refusal(|app| token::revoke(app, caller, own.id)), Error::Forbidden(None));
    assert_error!(
        world.refusal(|app| token::create(app, Actor::Anonymous, "ada", "bot", None)),
        Error::Unauthenticated
    );
    assert_error!(
        world.refusal(|app| token::list(app, Actor::Anonymous, "ada", FIRST_PAGE)),
        Error::Unauthenticated
    );
    assert_error!(
        world.refusal(|app| token::revoke(app, Actor::Anonymous, own.id)),
        Error::Unauthenticated
    );
}
