//! Limits the number of connections, in total and per address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use hexforge_domain::network::caller_network;

/// Counts open connections, and knows the limits.
pub(crate) struct Admission {
    max_total: usize,
    max_per_address: usize,
    open: Mutex<OpenConnections>,
}

#[derive(Default)]
struct OpenConnections {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// An admitted connection. It is counted until this value is dropped.
pub(crate) struct Admitted {
    admission: Arc<Admission>,
    address: IpAddr,
}

impl Admission {
    pub(crate) fn new(max_total: usize, max_per_address: usize) -> Arc<Self> {
        Arc::new(Self { max_total, max_per_address, open: Mutex::default() })
    }

    /// Admits one more connection, unless a limit is reached.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Admitted> {
        let address = caller_network(address);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let of_address = open.by_address.get(&address).copied().unwrap_or_default();
        if open.total >= self.max_total || of_address >= self.max_per_address {
            return None;
        }
        open.total += 1;
        open.by_address.insert(address, of_address + 1);
        Some(Admitted { admission: Arc::clone(self), address })
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut open = self.admission.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.total -= 1;
        if let Some(of_address) = open.by_address.get_mut(&self.address) {
            *of_address -= 1;
            if *of_address == 0 {
                open.by_address.remove(&self.address);
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
    fn connections_are_limited_in_total_and_per_address() {
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
    fn an_ipv6_network_counts_as_one_address() {
        let admission = Admission::new(10, 1);
        let _one = admission.admit(address("2001:db8::1")).expect("there is room");
        assert!(admission.admit(address("2001:db8::2")).is_none());
        assert!(admission.admit(address("2001:db8:0:1::1")).is_some());
        assert_eq!(
            admission.open.lock().expect("unused").by_address.len(),
            1,
            "a closed connection is forgotten"
        );
    }
}
