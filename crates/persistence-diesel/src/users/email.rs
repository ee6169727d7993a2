//! E-mail addresses.

use diesel::prelude::*;
use hexforge_domain::id::{EmailId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::user::email::{EmailHolder, EmailRole};
use hexforge_domain::user::port::Emails;
use hexforge_domain::user::{Email, EmailAddress};

use crate::database::backend;
use crate::database::schema::{emails, users};
use crate::database::tx::DieselTx;
use crate::query::page;
use crate::query::search;

#[derive(Queryable)]
struct EmailRow {
    id: i64,
    user_id: i64,
    email: String,
    is_primary: bool,
}

impl From<EmailRow> for Email {
    fn from(row: EmailRow) -> Self {
        Email {
            id: EmailId(row.id),
            user: UserId(row.user_id),
            address: EmailAddress::stored(row.email),
        }
    }
}

impl DieselTx<'_> {
    fn email_row(&mut self, address: &EmailAddress) -> Result<Option<EmailRow>, StoreError> {
        self.run(|conn| {
            emails::table.filter(emails::email.eq(address.as_str())).get_result(conn).optional()
        })
    }

    /// Locks an e-mail address until the transaction ends. An address is written to two tables, and new accounts
    /// write to them in the opposite order. Without the lock, two transactions could deadlock.
    pub(crate) fn lock_address(&mut self, address: &EmailAddress) -> Result<(), StoreError> {
        self.run(|conn| backend::lock_name(conn, &format!("address {}", address.as_str())))
    }

    /// Writes the primary address to the row of the user and to its search text.
    fn write_primary(&mut self, user: UserId, address: &EmailAddress) -> Result<(), StoreError> {
        let (name, username): (String, String) = self.run(|conn| {
            users::table.find(user.0).select((users::name, users::username)).get_result(conn)
        })?;
        let text = search::text(&[&name, address.as_str(), &username]);
        let values = (users::email.eq(address.as_str()), users::search_text.eq(text));
        self.write(|conn| diesel::update(users::table.find(user.0)).set(values).execute(conn))
    }
}

impl Emails for DieselTx<'_> {
    fn list(&mut self, user: UserId, page: Page) -> Result<Paged<Email>, StoreError> {
        let total: i64 = self.run(|conn| {
            emails::table
                .filter(emails::user_id.eq(user.0))
                .filter(diesel::dsl::not(emails::is_primary))
                .count()
                .get_result(conn)
        })?;
        let rows: Vec<EmailRow> = self.run(|conn| {
            emails::table
                .filter(emails::user_id.eq(user.0))
                .filter(diesel::dsl::not(emails::is_primary))
                .order(emails::id.desc())
                .limit(page::limit(page))
                .offset(page::offset(page))
                .load(conn)
        })?;
        Ok(Paged {
            items: rows.into_iter().map(Email::from).collect(),
            total: total.unsigned_abs(),
        })
    }

    fn find(&mut self, user: UserId, id: EmailId) -> Result<Option<Email>, StoreError> {
        let row: Option<EmailRow> = self.run(|conn| {
            emails::table
                .find(id.0)
                .filter(emails::user_id.eq(user.0))
                .filter(diesel::dsl::not(emails::is_primary))
                .get_result(conn)
                .optional()
        })?;
        Ok(row.map(Email::from))
    }

    fn holder(&mut self, address: &EmailAddress) -> Result<Option<EmailHolder>, StoreError> {
        let row = self.email_row(address)?;
        Ok(row.map(|row| EmailHolder {
            user: UserId(row.user_id),
            role: if row.is_primary { EmailRole::Primary } else { EmailRole::Secondary },
        }))
    }

    fn insert(&mut self, user: UserId, address: &EmailAddress) -> Result<Email, StoreError> {
        let values = (
            emails::user_id.eq(user.0),
            emails::email.eq(address.as_str()),
            emails::is_primary.eq(false),
        );
        let id = self.run(|conn| {
            diesel::insert_into(emails::table).values(values).returning(emails::id).get_result(conn)
        })?;
        Ok(Email { id: EmailId(id), user, address: address.clone() })
    }

    fn make_primary(&mut self, user: UserId, address: &EmailAddress) -> Result<(), StoreError> {
        let primary = emails::table.filter(emails::user_id.eq(user.0)).filter(emails::is_primary);
        self.lock_address(address)?;
        match self.email_row(address)? {
            Some(row) if row.user_id == user.0 && row.is_primary => return Ok(()),
            Some(row) if row.user_id == user.0 => {
                // The old primary address is reset first, because a user has only one.
                self.run(|conn| {
                    diesel::update(primary).set(emails::is_primary.eq(false)).execute(conn)
                })?;
                self.run(|conn| {
                    diesel::update(emails::table.find(row.id))
                        .set(emails::is_primary.eq(true))
                        .execute(conn)
                })?;
            }
            Some(_) => return Err(self.fail(StoreError::Duplicate("email"))),
            None => {
                let value = emails::email.eq(address.as_str());
                self.run(|conn| diesel::update(primary).set(value).execute(conn))?;
            }
        }
        self.write_primary(user, address)
    }

    fn delete(&mut self, id: EmailId) -> Result<(), StoreError> {
        let secondary = emails::table.find(id.0).filter(diesel::dsl::not(emails::is_primary));
        self.write(|conn| diesel::delete(secondary).execute(conn))
    }
}
