//! Networks of sign-ins; see [`SignInAddresses`](hexforge_domain::sign_in::port::SignInAddresses).

use super::check::{read, write};
use crate::builders::{a_user, at};
use hexforge_domain::Timestamp;
use hexforge_domain::id::UserId;
use hexforge_domain::ports::store::Store;
use hexforge_domain::sign_in::MAX_NETWORKS;

fn remember(store: &dyn Store, user: UserId, network: &str, when: Timestamp, since: Timestamp) {
    write(store, |tx| tx.sign_in_addresses().remember(user, network, when, since));
}

fn is_known(store: &dyn Store, user: UserId, network: &str, since: Timestamp) -> bool {
    read(store, |tx| tx.sign_in_addresses().is_known(user, network, since))
}

/// See [`SignInAddresses::is_known`](hexforge_domain::sign_in::port::SignInAddresses::is_known).
pub fn a_network_is_known_to_the_user_who_signed_in_from_it(store: &dyn Store) {
    let (ada, bob) =
        write(store, |tx| Ok((a_user("ada").insert(tx)?.id, a_user("bob").insert(tx)?.id)));
    remember(store, ada, "home", at(10), at(0));
    for (user, network, since, known) in [
        (ada, "home", at(0), true),
        (ada, "home", at(10), true),
        (ada, "home", at(11), false),
        (ada, "Home", at(0), false),
        (ada, "", at(0), false),
        (bob, "home", at(0), false),
    ] {
        assert_eq!(is_known(store, user, network, since), known, "{user} {network} {since}");
    }
    remember(store, ada, "home", at(20), at(0));
    assert!(is_known(store, ada, "home", at(20)), "the last sign-in counts");
}

/// See [`SignInAddresses::remember`](hexforge_domain::sign_in::port::SignInAddresses::remember).
pub fn old_and_surplus_networks_are_deleted(store: &dyn Store) {
    let (ada, bob) =
        write(store, |tx| Ok((a_user("ada").insert(tx)?.id, a_user("bob").insert(tx)?.id)));
    remember(store, bob, "office", at(1), at(0));
    remember(store, ada, "old", at(1), at(0));
    remember(store, ada, "kept", at(5), at(5));
    assert!(!is_known(store, ada, "old", at(0)), "older than what is remembered");
    assert!(is_known(store, ada, "kept", at(0)));
    for n in 1..=MAX_NETWORKS {
        remember(store, ada, &format!("network {n}"), at(10 + n as i64), at(0));
    }
    assert!(!is_known(store, ada, "kept", at(0)), "more were seen after it");
    for n in 1..=MAX_NETWORKS {
        assert!(is_known(store, ada, &format!("network {n}"), at(0)), "{n}");
    }
    assert!(is_known(store, bob, "office", at(0)), "each user has networks of its own");
}
