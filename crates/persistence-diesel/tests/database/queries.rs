//! The number of queries for users does not depend on the length of a list, and readers do not wait for writers.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::counted::{Counted, PAGE};
use crate::support::databases;
use hexforge_domain::id::UserId;
use hexforge_domain::ports::secrets::Secrets;
use hexforge_domain::user::{Identity, UserFilter, UserState};
use hexforge_domain_testing::builders::{a_browser_session, a_moment, a_text, a_token, a_user};
use hexforge_domain_testing::fakes::FakeSecrets;

/// Inserts users with these numbers and an identity each. They are external and blocked, so that every list except
/// that of active users contains all of them.
fn add_users(counted: &Counted, numbers: std::ops::Range<usize>) {
    counted.write(|tx| {
        for number in numbers {
            let name = format!("user{number}");
            let mut user = a_user(&name).external().insert(tx)?;
            tx.namespaces().insert_personal(user.id, user.username.path(), a_moment())?;
            user.state = UserState::Blocked;
            tx.users().update(&user)?;
            let extern_uid = Some(a_text(&name));
            let identity = Identity { provider: a_text("directory"), extern_uid };
            tx.identities().put(user.id, &identity)?;
        }
        Ok(())
    });
}

fn filters() -> Vec<UserFilter> {
    let none = UserFilter::default;
    vec![
        none(),
        UserFilter { blocked: true, ..none() },
        UserFilter { external: true, ..none() },
        UserFilter { search: Some("user".into()), ..none() },
        UserFilter { search: Some("us".into()), ..none() },
        UserFilter { blocked: true, external: true, search: Some("EXAMPLE".into()), ..none() },
    ]
}

#[test]
fn a_list_of_users_takes_three_queries_however_long_it_is() {
    for database in databases() {
        let counted = Counted::on(database);
        for (numbers, total) in [(0..5, 5), (5..200, 200)] {
            add_users(&counted, numbers);
            for filter in filters() {
                let (page, queries) = counted.read(|tx| tx.users().list(&filter, PAGE));
                assert_eq!((page.items.len() as u64, page.total), (total.min(100), total));
                // The total, the ids, the rows. Totals above ten are cached, with one query for the change counter.
                let most = if total > 10 { 4 } else { 3 };
                assert_eq!(queries, most, "{filter:?}");
                let (again, queries) = counted.read(|tx| tx.users().list(&filter, PAGE));
                assert_eq!((again, queries), (page, 3), "{filter:?}");
            }
        }
    }
}

#[test]
fn a_page_of_full_users_takes_one_query_more() {
    for database in databases() {
        let counted = Counted::on(database);
        for (numbers, shown) in [(0..5, 5), (5..200, 100)] {
            add_users(&counted, numbers);
            let (identities, queries) = counted.read(|tx| {
                let users = tx.users().list(&UserFilter::default(), PAGE)?.items;
                let ids: Vec<UserId> = users.iter().map(|user| user.id).collect();
                tx.identities().of_users(&ids)
            });
            assert_eq!((identities.len(), queries), (shown, if shown > 10 { 5 } else { 4 }));
        }
    }
}

#[test]
fn signing_in_by_token_takes_one_query() {
    for database in databases() {
        let counted = Counted::on(database);
        counted.write(|tx| {
            let ada = a_user("ada").insert(tx)?;
            tx.browser_sessions().insert(a_browser_session(ada.id, "ada's token"))?;
            tx.tokens().insert(a_token(ada.id, "ada's token"))
        });
        let secrets = FakeSecrets::default();
        for (token, known) in [("ada's token", true), ("a guess", false)] {
            let hash = secrets.digest(token);
            let (holder, queries) = counted.read(|tx| tx.tokens().holder(&hash));
            assert_eq!((holder.is_some(), queries), (known, 1), "{token}");
            let (holder, queries) = counted.read(|tx| tx.browser_sessions().holder(&hash));
            assert_eq!((holder.is_some(), queries), (known, 1), "{token}");
        }
    }
}

#[test]
fn signing_in_by_name_or_address_takes_at_most_two_queries() {
    for database in databases() {
        let counted = Counted::on(database);
        add_users(&counted, 0..5);
        for (login, most) in [("USER1", 2), ("user1@example.com", 1)] {
            let (found, queries) = counted.read(|tx| tx.users().find_by_login(login));
            assert!(found.is_some(), "{login}");
            assert!(queries <= most, "{login}: {queries}");
        }
    }
}

#[test]
fn reading_does_not_wait_for_a_writer_that_holds_its_transaction() {
    const LONG: Duration = Duration::from_secs(20);
    for database in databases() {
        let counted = Counted::on(database);
        add_users(&counted, 0..1);
        let total = || counted.read(|tx| tx.users().list(&UserFilter::default(), PAGE)).0.total;
        let (holding, when_holding) = mpsc::channel();
        let (release, until_released) = mpsc::channel();
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                counted.write(move |tx| {
                    a_user("ada").insert(tx)?;
                    holding.send(()).expect("the reader waits for this");
                    Ok(until_released.recv_timeout(LONG).is_ok())
                })
            });
            when_holding.recv_timeout(LONG).expect("the writer gets its transaction");
            assert_eq!(total(), 1, "what is not committed is not seen");
            release.send(()).expect("the writer still holds its transaction");
            assert!(writer.join().expect("the writer does not panic"), "read while it was held");
        });
        assert_eq!(total(), 2);
    }
}
