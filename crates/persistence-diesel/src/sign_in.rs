//! Failed sign-ins.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::ports::store::{Mode, StoreError};
use hexforge_domain::sign_in::Failures;
use hexforge_domain::sign_in::port::SignInFailures;

use crate::backend;
use crate::schema::sign_in_failures;
use crate::time::{moment, moment_opt, stored, stored_opt};
use crate::tx::DieselTx;

impl SignInFailures for DieselTx<'_> {
    fn find(&mut self, subject: &str) -> Result<Option<Failures>, StoreError> {
        match self.mode {
            Mode::Write => self.run(|conn| backend::hold(conn, subject))?,
            Mode::Read | Mode::Glance => (),
        }
        let found: Option<(i32, NaiveDateTime, Option<NaiveDateTime>)> = self.run(|conn| {
            sign_in_failures::table
                .find(subject)
                .select((
                    sign_in_failures::failures,
                    sign_in_failures::since,
                    sign_in_failures::refused_until,
                ))
                .get_result(conn)
                .optional()
        })?;
        Ok(found.map(|(count, since, refused_until)| Failures {
            count: count.unsigned_abs(),
            since: moment(since),
            refused_until: moment_opt(refused_until),
        }))
    }

    fn put(&mut self, subject: &str, failures: Failures) -> Result<(), StoreError> {
        let values = (
            sign_in_failures::failures.eq(i32::try_from(failures.count).unwrap_or(i32::MAX)),
            sign_in_failures::since.eq(stored(failures.since)),
            sign_in_failures::refused_until.eq(stored_opt(failures.refused_until)),
        );
        self.run(|conn| {
            each_backend!(conn, c => diesel::insert_into(sign_in_failures::table)
                .values((sign_in_failures::subject.eq(subject), values))
                .on_conflict(sign_in_failures::subject)
                .do_update()
                .set(values)
                .execute(c))
        })?;
        Ok(())
    }

    fn clear(&mut self, subject: &str) -> Result<(), StoreError> {
        self.run(|conn| diesel::delete(sign_in_failures::table.find(subject)).execute(conn))?;
        Ok(())
    }

    fn forget_before(&mut self, moment: Timestamp) -> Result<(), StoreError> {
        let old = sign_in_failures::table.filter(sign_in_failures::since.lt(stored(moment)));
        self.run(|conn| diesel::delete(old).execute(conn))?;
        Ok(())
    }
}
