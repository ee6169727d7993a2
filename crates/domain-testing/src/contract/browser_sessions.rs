//! Browser sessions; see [`BrowserSessions`](hexforge_domain::browser_session::port::BrowserSessions).

use super::check::{assert_duplicate, insert, read, write};
use crate::builders::{a_browser_session, a_user, at};
use hexforge_domain::browser_session::{
    BrowserSession, MAX_SESSIONS, NewBrowserSession, SessionHolder,
};
use hexforge_domain::id::{BrowserSessionId, UserId};
use hexforge_domain::ports::store::Store;
use hexforge_domain::user::{User, UserState};

fn stored(store: &dyn Store, new: NewBrowserSession) -> BrowserSession {
    write(store, |tx| tx.browser_sessions().insert(new))
}

fn ids_of(store: &dyn Store, user: UserId) -> Vec<BrowserSessionId> {
    let sessions = read(store, |tx| tx.browser_sessions().list(user));
    sessions.into_iter().map(|session| session.id).collect()
}

/// A session is stored with every field, and its hash leads to it and its user, blocked or not.
pub fn a_session_leads_to_its_user(store: &dyn Store) {
    let ada = insert(store, a_user("ada").admin());
    let eve = User { state: UserState::Blocked, ..insert(store, a_user("eve")) };
    write(store, |tx| tx.users().update(&eve));
    for (user, address, remembered) in
        [(ada, Some("203.0.113.7"), true), (eve, Some("2001:db8::7"), false)]
    {
        let address = address.map(|address| address.parse().expect("an address"));
        let browser = "Mozilla/5.0 (X11; Größe 7)".to_owned();
        let name = user.username.as_str().to_owned();
        let new =
            NewBrowserSession { address, browser, remembered, ..a_browser_session(user.id, &name) };
        let new = NewBrowserSession { at: at(3), ..new };
        let session = stored(store, new.clone());
        let expected = BrowserSession {
            id: session.id,
            user: user.id,
            created_at: at(3),
            last_used_at: at(3),
            address,
            browser: new.browser,
            remembered,
        };
        assert_eq!(session, expected);
        let holder = read(store, |tx| tx.browser_sessions().holder(&new.hash));
        assert_eq!(holder, Some(SessionHolder { session, user, settings_version: 0 }));
        let mut other = new.hash;
        other.0[31] ^= 1;
        assert_eq!(read(store, |tx| tx.browser_sessions().holder(&other)), None);
    }
}

/// See [`list`](hexforge_domain::browser_session::port::BrowserSessions::list).
pub fn sessions_of_a_user_are_listed_by_their_last_use(store: &dyn Store) {
    let [ada, bob, cid] = ["ada", "bob", "cid"].map(|name| insert(store, a_user(name)).id);
    let [a, b, c] = [("a", 0), ("b", 5), ("c", 5)].map(|(token, moment)| {
        stored(store, NewBrowserSession { at: at(moment), ..a_browser_session(ada, token) }).id
    });
    let of_bob = stored(store, a_browser_session(bob, "of bob")).id;
    assert_eq!(ids_of(store, ada), [c, b, a]);
    write(store, |tx| tx.browser_sessions().touch(a, at(6)));
    assert_eq!(ids_of(store, ada), [a, c, b]);
    assert_eq!((ids_of(store, bob), ids_of(store, cid)), (vec![of_bob], vec![]));
}

/// See [`insert`](hexforge_domain::browser_session::port::BrowserSessions::insert).
pub fn a_new_session_replaces_the_least_recently_used_one(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| insert(store, a_user(name)).id);
    let of_bob = stored(store, a_browser_session(bob, "of bob")).id;
    let sessions: Vec<_> = write(store, |tx| {
        let mut sessions = Vec::new();
        for number in 0..MAX_SESSIONS {
            let new = a_browser_session(ada, &format!("token {number}"));
            sessions.push(tx.browser_sessions().insert(new)?.id);
        }
        Ok(sessions)
    });
    write(store, |tx| tx.browser_sessions().touch(sessions[0], at(1)));
    assert_eq!(ids_of(store, ada).len(), MAX_SESSIONS);
    // The new session stays, even if the clock went back.
    let new = NewBrowserSession { at: at(-60), ..a_browser_session(ada, "one more") };
    let newest = stored(store, new).id;
    let left = ids_of(store, ada);
    assert_eq!(left.len(), MAX_SESSIONS);
    assert!(left.contains(&newest) && left.contains(&sessions[0]) && !left.contains(&sessions[1]));
    assert_eq!(ids_of(store, bob), [of_bob]);
}

/// See [`touch`](hexforge_domain::browser_session::port::BrowserSessions::touch).
pub fn a_use_is_never_moved_back(store: &dyn Store) {
    let ada = insert(store, a_user("ada")).id;
    let session = stored(store, a_browser_session(ada, "one"));
    let other = stored(store, a_browser_session(ada, "two"));
    for (moment, last_used_at) in [(at(9), at(9)), (at(8), at(9)), (at(10), at(10))] {
        write(store, |tx| tx.browser_sessions().touch(session.id, moment));
        let expected = BrowserSession { last_used_at, ..session.clone() };
        let sessions = read(store, |tx| tx.browser_sessions().list(ada));
        assert_eq!(sessions, [expected, other.clone()]);
    }
    write(store, |tx| tx.browser_sessions().touch(BrowserSessionId(i64::MAX), at(9)));
}

/// A session is deleted by its id only for its own user.
pub fn a_session_is_deleted_by_its_user_or_its_hash(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| insert(store, a_user(name)).id);
    let [a, b, c] = ["a", "b", "c"].map(|token| stored(store, a_browser_session(ada, token)).id);
    let remove = |user, id| write(store, |tx| tx.browser_sessions().remove(user, id));
    assert!(!remove(bob, a));
    assert!(!remove(ada, BrowserSessionId(i64::MAX)));
    assert_eq!(ids_of(store, ada), [c, b, a]);
    assert!(remove(ada, a));
    assert!(!remove(ada, a));
    for token in ["b", "b", "unknown"] {
        let hash = a_browser_session(ada, token).hash;
        write(store, |tx| tx.browser_sessions().remove_by_hash(&hash));
    }
    assert_eq!(ids_of(store, ada), [c]);
}

/// See [`remove_all_of`](hexforge_domain::browser_session::port::BrowserSessions::remove_all_of).
pub fn all_sessions_of_a_user_are_deleted_except_one(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| insert(store, a_user(name)).id);
    let [_, b, _] = ["a", "b", "c"].map(|token| stored(store, a_browser_session(ada, token)).id);
    let of_bob = stored(store, a_browser_session(bob, "of bob")).id;
    write(store, |tx| tx.browser_sessions().remove_all_of(ada, Some(b)));
    assert_eq!((ids_of(store, ada), ids_of(store, bob)), (vec![b], vec![of_bob]));
    // The session of another user is no exception.
    write(store, |tx| tx.browser_sessions().remove_all_of(ada, Some(of_bob)));
    assert_eq!((ids_of(store, ada), ids_of(store, bob)), (vec![], vec![of_bob]));
    write(store, |tx| tx.browser_sessions().remove_all_of(bob, None));
    assert_eq!(ids_of(store, bob), []);
}

/// See [`remove_unused`](hexforge_domain::browser_session::port::BrowserSessions::remove_unused).
pub fn unused_sessions_are_deleted_by_their_last_use(store: &dyn Store) {
    let ada = insert(store, a_user("ada")).id;
    let made = |token: &str, moment, remembered| {
        let new = NewBrowserSession { at: at(moment), ..a_browser_session(ada, token) };
        stored(store, NewBrowserSession { remembered, ..new }).id
    };
    let [_, second, third, fourth] =
        [("a", 1), ("b", 2), ("c", 3), ("d", 4)].map(|(token, moment)| made(token, moment, false));
    let kept = made("remembered", 0, true);
    let remove = |remembered, by, limit| {
        write(store, |tx| tx.browser_sessions().remove_unused(remembered, at(by), limit))
    };
    assert_eq!(remove(false, 0, 10), 0);
    assert_eq!(remove(false, 3, 1), 1);
    assert_eq!(ids_of(store, ada), [fourth, third, second, kept]);
    assert_eq!(remove(false, 3, 10), 2);
    assert_eq!(ids_of(store, ada), [fourth, kept]);
    assert_eq!(remove(true, 0, 10), 1);
    assert_eq!(ids_of(store, ada), [fourth]);
}

/// A hash is unique among the sessions of all users.
pub fn a_token_is_stored_for_one_session(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| insert(store, a_user(name)).id);
    stored(store, a_browser_session(ada, "one"));
    assert_duplicate(store, "token", |tx| {
        tx.browser_sessions().insert(a_browser_session(bob, "one"))
    });
}
