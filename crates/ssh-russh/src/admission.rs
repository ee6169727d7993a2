//! Limits the number of connections, in total and per address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use hexforge_domain::network::caller_network;

/// Counts open connections.
pub(crate) struct Admission {
    most: usize,
    most_of_one: usize,
    now: Mutex<Now>,
}

#[derive(Default)]
struct Now {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// An admitted connection. It is counted until this value is dropped.
pub(crate) struct Admitted {
    admission: Arc<Admission>,
    address: IpAddr,
}

impl Admission {
    pub(crate) fn new(most: usize, most_of_one: usize) -> Arc<Self> {
        Arc::new(Self { most, most_of_one, now: Mutex::default() })
    }

    /// Admits one more connection, unless a limit is reached.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Admitted> {
        let address = caller_network(address);
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let of_one = now.by_address.get(&address).copied().unwrap_or_default();
        if now.all >= self.most || of_one >= self.most_of_one {
            return None;
        }
        now.all += 1;
        now.by_address.insert(address, of_one + 1);
        Some(Admitted { admission: Arc::clone(self), address })
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut now = self.admission.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.all -= 1;
        if let Some(of_one) = now.by_address.get_mut(&self.address) {
            *of_one -= 1;
            if *of_one == 0 {
                now.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn there_is_room_for_some_of_one_and_some_of_all() {
        let admission = Admission::new(3, 2);
        let admit = |text| admission.admit(address(text));
        let first = admit("10.0.0.1").expect("there is room");
        let _second = admit("::ffff:10.0.0.1").expect("there is room");
        assert!(admit("10.0.0.1").is_none(), "two of one address are there");
        let _third = admit("10.0.0.2").expect("there is room");
        assert!(admit("10.0.0.3").is_none(), "three are there");
        drop(first);
        let _fourth = admit("10.0.0.3").expect("there is room again");
    }

    #[test]
    fn a_network_of_six_counts_as_one() {
        let admission = Admission::new(10, 1);
        let _one = admission.admit(address("2001:db8::1")).expect("there is room");
        assert!(admission.admit(address("2001:db8::2")).is_none());
        assert!(admission.admit(address("2001:db8:0:1::1")).is_some());
        assert_eq!(
            admission.now.lock().expect("unused").by_address.len(),
            1,
            "who left is forgotten"
        );
    }
}
