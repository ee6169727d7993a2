//! Fake of the secondary e-mail addresses. Primary addresses are stored in the user rows.

use super::tx::FakeTx;
use hexforge_domain::id::{EmailId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::user::email::{EmailHolder, EmailRole};
use hexforge_domain::user::port::Emails;
use hexforge_domain::user::{Email, EmailAddress};

impl Emails for FakeTx {
    fn list(&mut self, user: UserId, page: Page) -> Result<Paged<Email>, StoreError> {
        let newest_first = self.tables.emails.iter().rev();
        Ok(page.slice(newest_first.filter(|email| email.user == user).cloned().collect()))
    }

    fn find(&mut self, user: UserId, id: EmailId) -> Result<Option<Email>, StoreError> {
        Ok(self.tables.emails.iter().find(|email| email.user == user && email.id == id).cloned())
    }

    fn holder(&mut self, address: &EmailAddress) -> Result<Option<EmailHolder>, StoreError> {
        let users = self.tables.users.values().map(|row| &row.user);
        let primary = users
            .filter(|user| user.email == *address)
            .map(|user| EmailHolder { user: user.id, role: EmailRole::Primary });
        let secondary = (self.tables.emails.iter())
            .filter(|email| email.address == *address)
            .map(|email| EmailHolder { user: email.user, role: EmailRole::Secondary });
        Ok(primary.chain(secondary).next())
    }

    fn insert(&mut self, user: UserId, address: &EmailAddress) -> Result<Email, StoreError> {
        self.require_user(user)?;
        if self.holder(address)?.is_some() {
            return self.refuse(StoreError::Duplicate("email"));
        }
        let email = Email { id: EmailId(self.next_id()), user, address: address.clone() };
        self.tables.emails.push(email.clone());
        Ok(email)
    }

    fn make_primary(&mut self, user: UserId, address: &EmailAddress) -> Result<(), StoreError> {
        if self.holder(address)?.is_some_and(|holder| holder.user != user) {
            return self.refuse(StoreError::Duplicate("email"));
        }
        let Some(row) = self.tables.users.get_mut(&user) else { return Ok(()) };
        let old = std::mem::replace(&mut row.user.email, address.clone());
        let before = self.tables.emails.len();
        self.tables.emails.retain(|email| email.address != *address);
        if self.tables.emails.len() < before {
            // The old primary address gets a new id, so that an id never refers to another address
            // later.
            Emails::insert(self, user, &old)?;
        }
        Ok(())
    }

    fn delete(&mut self, id: EmailId) -> Result<(), StoreError> {
        self.tables.emails.retain(|email| email.id != id);
        Ok(())
    }
}
