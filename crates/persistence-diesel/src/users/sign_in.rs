//! Failed sign-ins, and networks of successful ones.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::id::UserId;
use hexforge_domain::ports::store::{Mode, StoreError};
use hexforge_domain::sign_in::port::{SignInAddresses, SignInFailures};
use hexforge_domain::sign_in::{Failures, MAX_NETWORKS};

use crate::database::backend;
use crate::database::schema::{sign_in_addresses, sign_in_failures};
use crate::database::time::{to_naive, to_naive_opt, to_utc, to_utc_opt};
use crate::database::tx::DieselTx;

impl SignInFailures for DieselTx<'_> {
    fn find(&mut self, subject: &str) -> Result<Option<Failures>, StoreError> {
        match self.mode {
            Mode::Write => self.run(|conn| backend::lock_name(conn, subject))?,
            Mode::Read | Mode::Autocommit => (),
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
            since: to_utc(since),
            refused_until: to_utc_opt(refused_until),
        }))
    }

    fn put(&mut self, subject: &str, failures: Failures) -> Result<(), StoreError> {
        let values = (
            sign_in_failures::failures.eq(i32::try_from(failures.count).unwrap_or(i32::MAX)),
            sign_in_failures::since.eq(to_naive(failures.since)),
            sign_in_failures::refused_until.eq(to_naive_opt(failures.refused_until)),
        );
        self.write(|conn| {
            each_backend!(conn, c => diesel::insert_into(sign_in_failures::table)
                .values((sign_in_failures::subject.eq(subject), values))
                .on_conflict(sign_in_failures::subject)
                .do_update()
                .set(values)
                .execute(c))
        })
    }

    fn clear(&mut self, subject: &str) -> Result<(), StoreError> {
        self.write(|conn| diesel::delete(sign_in_failures::table.find(subject)).execute(conn))
    }

    fn forget_before(&mut self, moment: Timestamp) -> Result<(), StoreError> {
        let old = sign_in_failures::table.filter(sign_in_failures::since.lt(to_naive(moment)));
        self.write(|conn| diesel::delete(old).execute(conn))
    }
}

impl SignInAddresses for DieselTx<'_> {
    fn is_known(
        &mut self,
        user: UserId,
        network: &str,
        since: Timestamp,
    ) -> Result<bool, StoreError> {
        let seen = sign_in_addresses::table
            .find((user.0, network))
            .filter(sign_in_addresses::seen_at.ge(to_naive(since)))
            .select(sign_in_addresses::user_id);
        let found: Option<i64> = self.run(|conn| seen.get_result(conn).optional())?;
        Ok(found.is_some())
    }

    fn remember(
        &mut self,
        user: UserId,
        network: &str,
        at: Timestamp,
        since: Timestamp,
    ) -> Result<(), StoreError> {
        let seen = sign_in_addresses::seen_at.eq(to_naive(at));
        let key = (sign_in_addresses::user_id.eq(user.0), sign_in_addresses::network.eq(network));
        self.run(|conn| {
            each_backend!(conn, c => diesel::insert_into(sign_in_addresses::table)
                .values((key, seen))
                .on_conflict((sign_in_addresses::user_id, sign_in_addresses::network))
                .do_update()
                .set(seen)
                .execute(c))
        })?;
        let newest_first = sign_in_addresses::table
            .filter(sign_in_addresses::user_id.eq(user.0))
            .order((sign_in_addresses::seen_at.desc(), sign_in_addresses::network))
            .select((sign_in_addresses::network, sign_in_addresses::seen_at));
        let all: Vec<(String, NaiveDateTime)> = self.run(|conn| newest_first.load(conn))?;
        let old = all.into_iter().enumerate();
        let old = old.filter(|(place, (_, seen))| *place >= MAX_NETWORKS || to_utc(*seen) < since);
        for (_, (network, _)) in old {
            let row = sign_in_addresses::table.find((user.0, network));
            self.run(|conn| diesel::delete(row).execute(conn))?;
        }
        Ok(())
    }
}
