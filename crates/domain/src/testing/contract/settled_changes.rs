//! Recorded changes of repositories; see [`SettledChanges`](crate::repository::port::SettledChanges).

use super::check::write;
use crate::ports::git::ChangeKey;
use crate::ports::store::Store;
use crate::testing::builders::at;
use chrono::TimeDelta;

fn key(name: &str) -> ChangeKey {
    ChangeKey(name.to_owned())
}

/// See [`SettledChanges::record`](crate::repository::port::SettledChanges::record).
pub fn a_change_is_recorded_once(store: &dyn Store) {
    let record = |name: &str| write(store, |tx| tx.settled_changes().record(&key(name), at(0)));
    for (name, first) in
        [("1-a", true), ("1-a", false), ("1-A", true), ("1-b", true), ("1-A", false)]
    {
        assert_eq!(record(name), first, "{name}");
    }
    write(store, |tx| {
        assert!(tx.settled_changes().record(&key("2"), at(1))?);
        assert!(!tx.settled_changes().record(&key("2"), at(2))?);
        Ok(())
    });
}

/// See [`SettledChanges::forget_before`](crate::repository::port::SettledChanges::forget_before).
pub fn changes_recorded_before_a_moment_are_forgotten(store: &dyn Store) {
    let moment = at(10) + TimeDelta::milliseconds(500);
    let micro = TimeDelta::microseconds(1);
    let all = [
        ("long ago", at(-86_400 * 365)),
        ("just before", moment - micro),
        ("then", moment),
        ("just after", moment + micro),
    ];
    write(store, |tx| {
        for (name, at) in all {
            tx.settled_changes().record(&key(name), at)?;
        }
        tx.settled_changes().forget_before(moment)
    });
    for (name, at) in all {
        let new = write(store, |tx| tx.settled_changes().record(&key(name), moment));
        assert_eq!(new, at < moment, "{name}");
    }
}
