//! Tokens; see [`Tokens`](hexforge_domain::token::port::Tokens).

use super::check::{assert_pages, insert, read, write};
use crate::builders::{a_token, a_user, at};
use hexforge_domain::id::TokenId;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::token::{NewToken, Token, TokenHash, TokenHolder, TokenKind, TokenLife};
use hexforge_domain::user::{User, UserState};

/// See [`Tokens::insert`](hexforge_domain::token::port::Tokens::insert).
pub fn a_token_is_stored_with_every_field(store: &dyn Store) {
    let ada = insert(store, a_user("ada")).id;
    for (kind, expires_at) in [(TokenKind::Private, None), (TokenKind::Personal, Some(at(60)))] {
        let new = NewToken { kind, expires_at, at: at(3), ..a_token(ada, kind.as_str()) };
        let token = write(store, |tx| tx.tokens().insert(new.clone()));
        let life = TokenLife { expires_at, revoked_at: None };
        let (id, name) = (token.id, new.name);
        assert_eq!(token, Token { id, user: ada, kind, name, life, created_at: at(3) });
    }
}

/// See [`Tokens::holder`](hexforge_domain::token::port::Tokens::holder).
pub fn a_token_leads_to_all_that_a_sign_in_needs(store: &dyn Store) {
    let ada = insert(store, a_user("ada").admin().projects_limit(7));
    let eve = insert(store, a_user("eve").external());
    let blocked = User { state: UserState::Blocked, ..eve };
    let of_ada = NewToken { expires_at: Some(at(60)), ..a_token(ada.id, "one") };
    let of_eve = NewToken { kind: TokenKind::Private, ..a_token(blocked.id, "two") };
    let tokens = write(store, |tx| {
        tx.users().update(&blocked)?;
        Ok([tx.tokens().insert(of_ada.clone())?.id, tx.tokens().insert(of_eve.clone())?.id])
    });
    for (new, user, token) in [(of_ada, ada, tokens[0]), (of_eve, blocked, tokens[1])] {
        let expected = TokenHolder {
            token,
            kind: new.kind,
            life: TokenLife { expires_at: new.expires_at, revoked_at: None },
            user: user.id,
            state: user.state,
            privileges: user.privileges,
            settings_version: 0,
        };
        assert_eq!(read(store, |tx| tx.tokens().holder(&new.hash)), Some(expected));
    }
}

/// All bytes of the hash must match.
pub fn an_unknown_token_leads_to_nobody(store: &dyn Store) {
    let ada = insert(store, a_user("ada")).id;
    let hash = TokenHash([0, 255].repeat(16).try_into().expect("32 bytes"));
    write(store, |tx| tx.tokens().insert(NewToken { hash, ..a_token(ada, "any") }));
    assert!(read(store, |tx| tx.tokens().holder(&hash)).is_some());
    for byte in [0, 15, 31] {
        let mut other = hash;
        other.0[byte] ^= 1;
        assert_eq!(read(store, |tx| tx.tokens().holder(&other)), None, "{byte}");
    }
}

/// Tokens are ordered newest first, also within the same moment, including revoked ones.
pub fn tokens_of_a_user_are_listed_newest_first(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    let mut tokens = Vec::new();
    for (secret, moment) in [("a", at(0)), ("b", at(1)), ("c", at(1)), ("d", at(9))] {
        let new = NewToken { at: moment, ..a_token(ada, secret) };
        tokens.insert(0, write(store, |tx| tx.tokens().insert(new)));
        write(store, |tx| tx.tokens().insert(a_token(bob, &format!("{secret} of bob"))));
    }
    write(store, |tx| tx.tokens().revoke(tokens[1].id, at(10)));
    tokens[1].life.revoked_at = Some(at(10));
    assert_pages(store, &tokens, |tx, page| tx.tokens().list(ada, page));
    let cid = insert(store, a_user("cid")).id;
    assert_pages(store, &[], |tx, page| tx.tokens().list(cid, page));
}

/// See [`Tokens::active_personal`](hexforge_domain::token::port::Tokens::active_personal).
pub fn active_tokens_are_personal_and_neither_revoked_nor_expired(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    let personal = |secret: &str| NewToken { kind: TokenKind::Personal, ..a_token(ada, secret) };
    let add = |new: NewToken| write(store, |tx| tx.tokens().insert(new.clone()));
    let forever = add(NewToken { expires_at: None, ..personal("a") });
    let later = add(NewToken { expires_at: Some(at(61)), ..personal("b") });
    add(NewToken { expires_at: Some(at(60)), ..personal("c") });
    add(NewToken { kind: TokenKind::Private, expires_at: None, ..personal("d") });
    add(NewToken { user: bob, expires_at: None, ..personal("e") });
    let revoked = add(NewToken { expires_at: None, ..personal("f") });
    write(store, |tx| tx.tokens().revoke(revoked.id, at(10)));
    let active = |limit| read(store, |tx| tx.tokens().active_personal(ada, at(60), limit));
    assert_eq!(active(9), [later.clone(), forever]);
    assert_eq!(active(1), [later]);
}

/// See [`Tokens::revoke`](hexforge_domain::token::port::Tokens::revoke).
pub fn a_token_is_revoked_once(store: &dyn Store) {
    let ada = insert(store, a_user("ada")).id;
    let new = NewToken { expires_at: Some(at(60)), ..a_token(ada, "one") };
    let token = write(store, |tx| tx.tokens().insert(new.clone()));
    write(store, |tx| tx.tokens().insert(a_token(ada, "other")));
    for (moment, revoked) in [(at(1), true), (at(2), false), (at(3), false)] {
        assert_eq!(write(store, |tx| tx.tokens().revoke(token.id, moment)), revoked);
        let holder = read(store, |tx| tx.tokens().holder(&new.hash)).expect("it is still known");
        let life = TokenLife { expires_at: Some(at(60)), revoked_at: Some(at(1)) };
        assert_eq!(holder.life, life, "the first revocation counts");
    }
    let other = read(store, |tx| tx.tokens().holder(&a_token(ada, "other").hash));
    assert_eq!(other.map(|holder| holder.life), Some(TokenLife::default()));
}

/// See [`Tokens::extend`](hexforge_domain::token::port::Tokens::extend).
pub fn the_end_of_a_token_is_moved_until_it_is_revoked(store: &dyn Store) {
    let ada = insert(store, a_user("ada")).id;
    let new = NewToken { expires_at: Some(at(60)), ..a_token(ada, "one") };
    let token = write(store, |tx| tx.tokens().insert(new)).id;
    let end = |store| {
        let found = read(store, |tx| tx.tokens().find(token)).expect("it was stored");
        found.life.expires_at
    };
    write(store, |tx| tx.tokens().extend(token, at(90)));
    assert_eq!(end(store), Some(at(90)));
    write(store, |tx| tx.tokens().revoke(token, at(61)));
    write(store, |tx| tx.tokens().extend(token, at(200)));
    assert_eq!(end(store), Some(at(90)));
    assert_eq!(read(store, |tx| tx.tokens().find(TokenId(i64::MAX))), None);
}

/// See [`Tokens::revoke_sessions`](hexforge_domain::token::port::Tokens::revoke_sessions).
pub fn sessions_of_one_user_are_revoked_together(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    let (private, end) = (TokenKind::Private, Some(at(60)));
    let made = |user, kind, expires_at, secret: &str| {
        let new = NewToken { kind, expires_at, ..a_token(user, secret) };
        write(store, |tx| tx.tokens().insert(new)).id
    };
    let sessions = [made(ada, private, end, "a"), made(ada, private, end, "b")];
    let others = [
        made(ada, private, None, "first start"),
        made(ada, TokenKind::Personal, end, "personal"),
        made(bob, private, end, "of bob"),
    ];
    write(store, |tx| tx.tokens().revoke(sessions[0], at(1)));
    write(store, |tx| tx.tokens().revoke_sessions(ada, at(2)));
    let revoked = |id| {
        let found = read(store, |tx| tx.tokens().find(id)).expect("it was stored");
        found.life.revoked_at
    };
    assert_eq!(sessions.map(revoked), [Some(at(1)), Some(at(2))]);
    assert_eq!(others.map(revoked), [None; 3]);
}

/// See [`Tokens::ended_sessions`](hexforge_domain::token::port::Tokens::ended_sessions).
pub fn ended_sessions_are_found_by_their_end_and_removed(store: &dyn Store) {
    let ada = insert(store, a_user("ada")).id;
    let made = |kind, end: Option<i64>, secret: &str| {
        let expires_at = end.map(at);
        let new = NewToken { kind, expires_at, ..a_token(ada, secret) };
        write(store, |tx| tx.tokens().insert(new)).id
    };
    let private = TokenKind::Private;
    let [last, first, second, open] = [(60, "a"), (20, "b"), (40, "c"), (61, "d")]
        .map(|(end, name)| made(private, Some(end), name));
    let others =
        [made(private, None, "first start"), made(TokenKind::Personal, Some(10), "personal")];
    write(store, |tx| tx.tokens().revoke(second, at(1)));
    write(store, |tx| tx.tokens().revoke(open, at(1)));
    let ended = |by, limit| read(store, |tx| tx.tokens().ended_sessions(at(by), limit));
    assert_eq!(ended(60, 10), [first, second, last]);
    assert_eq!(ended(60, 2), [first, second]);
    assert_eq!(ended(19, 10), []);
    write(store, |tx| tx.tokens().remove(&[first, second]));
    assert_eq!(ended(60, 10), [last]);
    write(store, |tx| tx.tokens().remove(&[]));
    write(store, |tx| tx.tokens().remove(&[first, TokenId(i64::MAX)]));
    let left = read(store, |tx| tx.tokens().list(ada, Page::Whole)).items;
    let left: Vec<TokenId> = left.into_iter().map(|token| token.id).collect();
    assert_eq!(left, [others[1], others[0], open, last]);
}

/// See [`Tokens::revoke`](hexforge_domain::token::port::Tokens::revoke).
pub fn there_is_nothing_to_revoke_under_an_unknown_id(store: &dyn Store) {
    insert(store, a_user("ada"));
    assert!(!write(store, |tx| tx.tokens().revoke(TokenId(i64::MAX), at(0))));
}
