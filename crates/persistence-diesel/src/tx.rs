//! One transaction on one connection, giving out all ports.

use diesel::QueryResult;
use diesel::connection::SimpleConnection;
use hexforge_domain::event::port::Events;
use hexforge_domain::namespace::port::Namespaces;
use hexforge_domain::outbox::port::Outbox;
use hexforge_domain::ports::store::{Mode, StoreError, Tx};
use hexforge_domain::sign_in::port::SignInFailures;
use hexforge_domain::token::port::Tokens;
use hexforge_domain::user::port::{Emails, Identities, Keys, Users};

use crate::connection::DbConn;
use crate::error;
use crate::page::Totals;

/// Implements every port of a transaction; each in the file of its aggregate.
pub(crate) struct DieselTx<'c> {
    conn: &'c mut DbConn,
    pub(crate) totals: &'c Totals,
    pub(crate) mode: Mode,
    /// A statement failed. PostgreSQL would answer a later commit with success and keep nothing,
    /// SQLite would keep the rest: so nothing is committed on either.
    failed: bool,
    open: bool,
}

impl<'c> DieselTx<'c> {
    /// On a connection on which a transaction was just begun.
    pub fn begun(conn: &'c mut DbConn, totals: &'c Totals, mode: Mode) -> Self {
        Self { conn, totals, mode, failed: false, open: true }
    }

    /// Runs one statement. Every statement of every port goes through here.
    pub fn run<T>(
        &mut self,
        statement: impl FnOnce(&mut DbConn) -> QueryResult<T>,
    ) -> Result<T, StoreError> {
        statement(self.conn).map_err(|error| self.fail(error::translate(error)))
    }

    /// Notes that the transaction must not be committed.
    pub fn fail(&mut self, error: StoreError) -> StoreError {
        self.failed = true;
        error
    }

    pub fn commit(mut self) -> Result<(), StoreError> {
        if self.failed {
            return Err(StoreError::Aborted);
        }
        self.conn.batch_execute("COMMIT").map_err(error::translate)?;
        self.open = false;
        Ok(())
    }

    pub fn roll_back(mut self) -> Result<(), StoreError> {
        self.open = false;
        self.conn.batch_execute("ROLLBACK").map_err(error::translate)
    }
}

/// Whatever goes wrong, a panic included, no connection goes back to its pool with a transaction open.
impl Drop for DieselTx<'_> {
    fn drop(&mut self) {
        if self.open {
            // A connection on which even this fails is found broken by its pool.
            let _ = self.conn.batch_execute("ROLLBACK");
        }
    }
}

impl Tx for DieselTx<'_> {
    fn users(&mut self) -> &mut dyn Users {
        self
    }
    fn identities(&mut self) -> &mut dyn Identities {
        self
    }
    fn keys(&mut self) -> &mut dyn Keys {
        self
    }
    fn emails(&mut self) -> &mut dyn Emails {
        self
    }
    fn tokens(&mut self) -> &mut dyn Tokens {
        self
    }
    fn namespaces(&mut self) -> &mut dyn Namespaces {
        self
    }
    fn events(&mut self) -> &mut dyn Events {
        self
    }
    fn outbox(&mut self) -> &mut dyn Outbox {
        self
    }
    fn sign_in_failures(&mut self) -> &mut dyn SignInFailures {
        self
    }
}
