//! The room that uploads in progress take up.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::id::ForkNetworkId;

/// The bytes that uploads in progress reserved, by fork network. Each process counts its own uploads, so that a process
/// that is killed leaves no reservation. Clones share the counts.
#[derive(Clone, Debug, Default)]
pub struct LfsReservations(Arc<Mutex<BTreeMap<ForkNetworkId, u64>>>);

/// The reservation of an upload, which ends when it is dropped.
#[derive(Debug)]
pub struct LfsReservation {
    all: LfsReservations,
    network: ForkNetworkId,
    bytes: u64,
}

impl LfsReservations {
    /// Begins a reservation of no bytes.
    pub fn begin(&self, network: ForkNetworkId) -> LfsReservation {
        LfsReservation { all: self.clone(), network, bytes: 0 }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ForkNetworkId, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LfsReservation {
    /// The bytes that are reserved for this upload.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reserves `more` bytes. Returns the number of bytes that other uploads to the fork network have reserved. If
    /// several uploads need the same quota, the first reservation gets it.
    pub fn grow(&mut self, more: u64) -> u64 {
        let mut networks = self.all.lock();
        let total = networks.entry(self.network).or_default();
        let others = *total - self.bytes;
        *total += more;
        self.bytes += more;
        others
    }
}

impl Drop for LfsReservation {
    fn drop(&mut self) {
        let mut networks = self.all.lock();
        if let Some(total) = networks.get_mut(&self.network) {
            *total -= self.bytes;
            if *total == 0 {
                networks.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reservation_learns_what_others_reserved_before() {
        let (all, network) = (LfsReservations::default(), ForkNetworkId(1));
        let mut first = all.begin(network);
        let mut second = all.clone().begin(network);
        let mut apart = all.begin(ForkNetworkId(2));
        assert_eq!((first.grow(10), second.grow(5), apart.grow(1)), (0, 10, 0));
        assert_eq!((first.grow(20), second.grow(0)), (5, 30));
        assert_eq!((first.bytes(), second.bytes()), (30, 5));
        drop(first);
        assert_eq!(second.grow(1), 0);
        drop(second);
        drop(apart);
        assert!(all.lock().is_empty(), "networks without uploads take no memory");
    }
}
