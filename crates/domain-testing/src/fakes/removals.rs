//! Fake of the stepwise removal. In memory all rows are deleted at once, so only the files of LFS objects are ever
//! left.

use super::tx::FakeTx;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::removal::Step;
use hexforge_domain::removal::port::Removals;

impl Removals for FakeTx {
    fn begin(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn pending(&mut self) -> Result<bool, StoreError> {
        Ok(!self.tables.freed_networks.is_empty())
    }

    fn step(&mut self, _limit: u32) -> Result<Step, StoreError> {
        let freed = self.tables.freed_networks.first();
        Ok(freed.map_or(Step::Nothing, |network| Step::LfsNetwork(*network)))
    }
}
