//! Failed sign-ins; see [`SignInFailures`](hexforge_domain::sign_in::port::SignInFailures).

use super::check::{read, write};
use crate::builders::at;
use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::ports::store::Store;
use hexforge_domain::sign_in::Failures;

fn failures_since(since: Timestamp) -> Failures {
    Failures { count: 1, since, refused_until: None }
}

fn find_failures(store: &dyn Store, subject: &str) -> Option<Failures> {
    read(store, |tx| tx.sign_in_failures().find(subject))
}

/// Subjects are arbitrary texts and compared exactly.
pub fn failures_are_found_by_their_subject(store: &dyn Store) {
    let refused = Failures { count: 10, since: at(1), refused_until: Some(at(70)) };
    write(store, |tx| {
        tx.sign_in_failures().put("account:ada", refused)?;
        tx.sign_in_failures().put("address:2001:db8::1", failures_since(at(2)))?;
        tx.sign_in_failures().put("🦀", failures_since(at(3)))
    });
    assert_eq!(find_failures(store, "account:ada"), Some(refused));
    assert_eq!(find_failures(store, "address:2001:db8::1"), Some(failures_since(at(2))));
    assert_eq!(find_failures(store, "🦀"), Some(failures_since(at(3))));
    for stranger in ["account:Ada", "account:ad", "account:%", "account_ada", ""] {
        assert_eq!(find_failures(store, stranger), None, "{stranger:?}");
    }
}

/// See [`SignInFailures::put`](hexforge_domain::sign_in::port::SignInFailures::put).
pub fn stored_failures_are_replaced(store: &dyn Store) {
    write(store, |tx| tx.sign_in_failures().put("bob", failures_since(at(0))));
    for failures in [
        failures_since(at(1)),
        Failures { count: 10, since: at(1), refused_until: Some(at(70)) },
        Failures { count: 1_000_000, since: at(80), refused_until: None },
    ] {
        write(store, |tx| tx.sign_in_failures().put("ada", failures));
        assert_eq!(find_failures(store, "ada"), Some(failures));
    }
    assert_eq!(find_failures(store, "bob"), Some(failures_since(at(0))));
}

/// See [`SignInFailures::clear`](hexforge_domain::sign_in::port::SignInFailures::clear).
pub fn a_cleared_subject_is_forgotten_alone(store: &dyn Store) {
    write(store, |tx| {
        tx.sign_in_failures().put("ada", failures_since(at(0)))?;
        tx.sign_in_failures().put("bob", failures_since(at(0)))
    });
    for subject in ["ada", "ada", "stranger"] {
        write(store, |tx| tx.sign_in_failures().clear(subject));
    }
    assert_eq!(find_failures(store, "ada"), None);
    assert_eq!(find_failures(store, "bob"), Some(failures_since(at(0))));
    write(store, |tx| tx.sign_in_failures().put("ada", failures_since(at(1))));
    assert_eq!(find_failures(store, "ada"), Some(failures_since(at(1))));
}

/// See
/// [`SignInFailures::forget_before`](hexforge_domain::sign_in::port::SignInFailures::forget_before).
/// The limit is exclusive, and has microsecond precision.
pub fn counts_that_began_before_a_moment_are_forgotten(store: &dyn Store) {
    let micro = TimeDelta::microseconds(1);
    let half = at(10) + TimeDelta::milliseconds(500);
    for moment in [at(10), half, half + micro] {
        let all = [
            ("long ago", at(-86_400 * 365)),
            ("just before", moment - micro),
            ("then", moment),
            ("just after", moment + micro),
            ("later", at(86_400 * 365)),
        ];
        write(store, |tx| {
            for (subject, began) in all {
                let refused_until = Some(began + TimeDelta::minutes(1));
                let failures = Failures { count: 3, since: began, refused_until };
                tx.sign_in_failures().put(subject, failures)?;
            }
            tx.sign_in_failures().forget_before(moment)
        });
        for (subject, began) in all {
            assert_eq!(
                find_failures(store, subject).is_some(),
                began >= moment,
                "{subject}: {moment}"
            );
        }
    }
}
