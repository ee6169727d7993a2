//! Fake of the stepwise removal. In memory all rows are deleted at once, so no rows are ever left.

use super::tx::FakeTx;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::removal::Step;
use hexforge_domain::removal::port::Removals;

impl Removals for FakeTx {
    fn begin(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn pending(&mut self) -> Result<bool, StoreError> {
        Ok(false)
    }

    fn step(&mut self, _limit: u32) -> Result<Step, StoreError> {
        Ok(Step::Nothing)
    }
}
