//! The recorded changes of repositories in memory.

use super::tx::FakeTx;
use crate::Timestamp;
use crate::ports::git::ChangeKey;
use crate::ports::store::StoreError;
use crate::repository::port::SettledChanges;
use std::collections::btree_map::Entry;

impl SettledChanges for FakeTx {
    fn record(&mut self, change: &ChangeKey, at: Timestamp) -> Result<bool, StoreError> {
        match self.tables.settled_changes.entry(change.0.clone()) {
            Entry::Occupied(_) => Ok(false),
            Entry::Vacant(free) => {
                free.insert(at);
                Ok(true)
            }
        }
    }

    fn forget_before(&mut self, before: Timestamp) -> Result<(), StoreError> {
        self.tables.settled_changes.retain(|_, at| *at >= before);
        Ok(())
    }
}
