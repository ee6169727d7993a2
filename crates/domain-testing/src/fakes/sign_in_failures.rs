//! Fake of the failed sign-ins.

use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::sign_in::Failures;
use hexforge_domain::sign_in::port::SignInFailures;

impl SignInFailures for FakeTx {
    fn find(&mut self, subject: &str) -> Result<Option<Failures>, StoreError> {
        Ok(self.tables.sign_in_failures.get(subject).copied())
    }

    fn put(&mut self, subject: &str, failures: Failures) -> Result<(), StoreError> {
        self.tables.sign_in_failures.insert(subject.to_owned(), failures);
        Ok(())
    }

    fn clear(&mut self, subject: &str) -> Result<(), StoreError> {
        self.tables.sign_in_failures.remove(subject);
        Ok(())
    }

    fn forget_before(&mut self, moment: Timestamp) -> Result<(), StoreError> {
        self.tables.sign_in_failures.retain(|_, failures| failures.since >= moment);
        Ok(())
    }
}
