//! Batches of deliveries: reads the data to send, and writes the outcomes.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use hexforge_domain::delivery::lane::Sent;
use hexforge_domain::delivery::{DeliveryKey, HookRequest, PayloadFormat};
use hexforge_domain::id::DeliveryId;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::text::Secret;

use crate::database::backend;
use crate::database::seal::Purpose;
use crate::database::time::to_naive;
use crate::database::tx::DieselTx;
use crate::hooks::delivery::to_i32;
use crate::query::sql::Sql;

/// The number of outcomes that one statement writes. It has ten parameters for each, and both databases limit their
/// number.
const AT_ONCE: usize = 500;

impl DieselTx<'_> {
    /// See [`Deliveries::requests`](hexforge_domain::delivery::port::Deliveries::requests). One query. It sums up the
    /// lengths first, so that only returned bodies are loaded.
    pub(crate) fn read_requests(
        &mut self,
        ids: Vec<i64>,
        most: u32,
    ) -> Result<Vec<(DeliveryId, HookRequest)>, StoreError> {
        type Row = (BigInt, Text, Text, Text, Nullable<Text>, Nullable<Text>, Nullable<Bool>, Bool);
        type Found =
            (i64, String, String, String, Option<String>, Option<String>, Option<bool>, bool);
        let query = Sql::new(
            "SELECT deliveries.id, deliveries.key, deliveries.event, hook_payloads.body, \
             coalesce(project_hooks.url, system_hooks.url, services.url), \
             coalesce(project_hooks.token, system_hooks.token), \
             coalesce(project_hooks.enable_ssl_verification, system_hooks.enable_ssl_verification, TRUE), \
             hook_lanes.service_id IS NOT NULL FROM (SELECT deliveries.id, row_number() OVER (ORDER BY deliveries.id) AS place, \
             sum(length(hook_payloads.body)) OVER (ORDER BY deliveries.id) AS length \
             FROM deliveries JOIN hook_payloads ON hook_payloads.id = deliveries.payload_id \
             WHERE deliveries.due_at IS NOT NULL AND deliveries.id IN (",
        )
        .ids(ids)
        .sql(
            ")) AS measured JOIN deliveries ON deliveries.id = measured.id \
             JOIN hook_payloads ON hook_payloads.id = deliveries.payload_id \
             JOIN hook_lanes ON hook_lanes.id = deliveries.lane_id \
             LEFT JOIN project_hooks ON project_hooks.id = hook_lanes.project_hook_id \
             LEFT JOIN system_hooks ON system_hooks.id = hook_lanes.system_hook_id \
             LEFT JOIN services ON services.id = hook_lanes.service_id WHERE measured.place = 1 OR measured.length <= ",
        )
        .id(i64::from(most))
        .sql(" ORDER BY deliveries.id");
        let found: Vec<Found> = self.run(|conn| query.rows::<Row>().load(conn))?;
        let seals = self.seals;
        let request = |(id, key, event, body, url, token, verify, is_form): Found| {
            let (url, verify) = (url?, verify?);
            let opened = seals.open(Purpose::HookUrl, &url).and_then(|url| {
                Ok((Secret::new(url), seals.open_opt(Purpose::HookToken, token.as_deref())?))
            });
            // A damaged row is treated like a deleted hook, so that it does not block the hooks of others.
            let (url, token) = opened.ok()?;
            let key = DeliveryKey::stored(key);
            let format = if is_form { PayloadFormat::Form } else { PayloadFormat::Json };
            Some((DeliveryId(id), HookRequest { key, event, body, format, url, token, verify }))
        };
        Ok(found.into_iter().filter_map(request).collect())
    }

    /// Writes the outcomes of deliveries.
    pub(crate) fn write_outcomes(&mut self, sent: &[&Sent]) -> Result<(), StoreError> {
        for sent in sent.chunks(AT_ONCE) {
            let mut word = "(";
            // The number of rows varies, so the prepared statement is not cached.
            let mut rows = Sql::uncached();
            for sent in sent {
                let url =
                    self.fail_on_error(self.seals.seal(Purpose::HookUrl, &sent.attempt.url))?;
                rows = append_row(rows.sql(word), sent, url);
                word = ", (";
            }
            self.execute(
                Sql::new(
                    "UPDATE deliveries SET state = new.column2, tries = new.column3, \
                     due_at = new.column4, tried_at = new.column5, url = new.column6, \
                     millis = new.column7, status = new.column8, answer = new.column9, \
                     error = new.column10 FROM (VALUES ",
                )
                .then(rows)
                .sql(") AS new WHERE deliveries.id = new.column1"),
            )?;
        }
        Ok(())
    }
}

/// Appends a row of values. Nulls are cast to their type, because PostgreSQL cannot infer the type of a column of
/// nulls.
fn append_row(rows: Sql, sent: &Sent, url: String) -> Sql {
    let attempt = &sent.attempt;
    let text = |rows: Sql, text: Option<&str>| match text {
        Some(text) => rows.text(backend::without_nul(text)),
        None => rows.sql("CAST(NULL AS TEXT)"),
    };
    let rows = rows.id(sent.id.0).sql(", ").text(sent.state.as_str().to_owned());
    let rows = rows.sql(", ").number(to_i32(sent.tries)).sql(", ");
    let rows = match sent.state.due() {
        Some(due) => rows.moment(to_naive(due)),
        None => rows.sql("CAST(NULL AS TIMESTAMP)"),
    };
    let rows = rows.sql(", ").moment(to_naive(attempt.at)).sql(", ");
    let rows = rows.text(url).sql(", ");
    let rows = rows.number(to_i32(attempt.millis)).sql(", ");
    let rows = match attempt.status {
        Some(status) => rows.number(i32::from(status)),
        None => rows.sql("CAST(NULL AS INTEGER)"),
    };
    let rows = text(rows.sql(", "), attempt.answer.as_deref()).sql(", ");
    text(rows, attempt.error.as_deref()).sql(")")
}
