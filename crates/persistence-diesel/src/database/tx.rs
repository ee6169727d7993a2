//! One transaction on one connection. It implements all ports.

use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Untyped};
use diesel::{QueryResult, RunQueryDsl};
use hexforge_domain::application_settings::port::SettingsStore;
use hexforge_domain::award::port::Awards;
use hexforge_domain::board::port::Boards;
use hexforge_domain::branch::port::Protections;
use hexforge_domain::broadcast::port::Broadcasts;
use hexforge_domain::browser_session::port::BrowserSessions;
use hexforge_domain::build::port::Builds;
use hexforge_domain::delivery::port::{Deliveries, DeliveryLog};
use hexforge_domain::deploy_key::port::DeployKeys;
use hexforge_domain::deployment::port::Deployments;
use hexforge_domain::environment::port::Environments;
use hexforge_domain::event::port::Events;
use hexforge_domain::group::port::Groups;
use hexforge_domain::issuable::port::Issuables;
use hexforge_domain::issue::port::Issues;
use hexforge_domain::label::port::{GroupLabels, Labels};
use hexforge_domain::lfs::port::LfsObjects;
use hexforge_domain::member::port::{AccessRequests, GroupMembers, ProjectMembers};
use hexforge_domain::merge_request::port::MergeRequests;
use hexforge_domain::milestone::port::Milestones;
use hexforge_domain::namespace::port::Namespaces;
use hexforge_domain::note::port::Notes;
use hexforge_domain::notification::port::NotificationSettings;
use hexforge_domain::outbox::port::Outbox;
use hexforge_domain::pack::port::Packs;
use hexforge_domain::paging::Page;
use hexforge_domain::pipeline::port::Pipelines;
use hexforge_domain::ports::store::{Mode, StoreError, Tx};
use hexforge_domain::project::port::{ProjectHooks, Projects, Shares, Stars};
use hexforge_domain::refs::port::Refs;
use hexforge_domain::removal::port::Removals;
use hexforge_domain::repository::port::RepositoryTasks;
use hexforge_domain::runner::port::Runners;
use hexforge_domain::search::Searches;
use hexforge_domain::service::port::Services;
use hexforge_domain::sign_in::port::{SignInAddresses, SignInFailures};
use hexforge_domain::snippet::port::Snippets;
use hexforge_domain::system_hook::port::SystemHooks;
use hexforge_domain::tag::port::Releases;
use hexforge_domain::todo::port::Todos;
use hexforge_domain::token::port::Tokens;
use hexforge_domain::trigger::port::Triggers;
use hexforge_domain::unique::sorted_unique;
use hexforge_domain::user::port::{Emails, Identities, Keys, Users};
use hexforge_domain::variable::port::Variables;

use crate::database::backend::Backend;
use crate::database::connection::DbConn;
use crate::database::error;
use crate::database::seal::Seals;
use crate::database::snapshot_cache::SnapshotCache;
use crate::query::page::{self, CountCost, CountQuery, Span, Totals};
use crate::query::sql::Sql;

/// The maximum number of ids in one statement. Both databases limit the number of parameters.
const MAX_IDS_PER_STATEMENT: usize = 10_000;

/// The maximum number of dependent rows that are deleted in the transaction that deletes their entity. Most
/// entities have fewer.
pub(crate) const DELETE_BUDGET: i64 = 1_000;

/// Implements every port of a transaction. Each implementation is in the file of its aggregate.
pub(crate) struct DieselTx<'c> {
    conn: &'c mut DbConn,
    pub(crate) totals: &'c Totals,
    /// Seals and opens secrets.
    pub(crate) seals: &'c Seals,
    pub(crate) mode: Mode,
    /// A statement failed. After that, PostgreSQL would report a commit as successful and keep nothing, and SQLite
    /// would keep the other statements. So the transaction is never committed.
    failed: bool,
    /// The connection is broken.
    lost: bool,
    /// A transaction was begun and not ended.
    open: bool,
    /// The transaction wrote to the outbox.
    pub(crate) has_outbox_rows: bool,
    /// Cached after the first query. A read transaction sees one snapshot, so the value stays valid.
    extent: Option<Extent>,
    /// The rows that were read, in a [snapshot](hexforge_domain::ports::store::ReadSnapshot).
    cache: Option<SnapshotCache>,
    /// The number of dependent rows that the transaction may still delete.
    pub(crate) delete_budget: i64,
}

/// Figures about all projects and groups that list queries need first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// The number of changes to lists so far.
    pub changes: i64,
    /// The highest project id: an upper bound of the number of projects.
    pub projects: i64,
}

impl<'c> DieselTx<'c> {
    /// Wraps a connection. The caller has just begun a transaction on it, if the mode has transactions.
    pub fn new(conn: &'c mut DbConn, totals: &'c Totals, seals: &'c Seals, mode: Mode) -> Self {
        let open = mode != Mode::Autocommit;
        Self {
            conn,
            totals,
            seals,
            mode,
            failed: false,
            lost: false,
            open,
            has_outbox_rows: false,
            extent: None,
            cache: None,
            delete_budget: DELETE_BUDGET,
        }
    }

    /// Goes on with the cache of the snapshot, which has the rows of earlier reads.
    pub fn resume(&mut self, cache: SnapshotCache) {
        self.extent = cache.extent;
        self.cache = Some(cache);
    }

    /// Returns the cache of the snapshot; `None` outside of one.
    pub fn cache(&mut self) -> Option<&mut SnapshotCache> {
        self.cache.as_mut()
    }

    /// Leaves the transaction open for the next read of the snapshot, and returns the cache. If a statement failed,
    /// rolls back and returns `None`.
    pub fn suspend(mut self) -> Option<SnapshotCache> {
        if self.failed {
            return None;
        }
        self.open = false;
        let mut cache = self.cache.take()?;
        cache.extent = self.extent;
        Some(cache)
    }

    /// Runs one statement. Every statement of every port goes through here.
    pub fn run<T>(
        &mut self,
        statement: impl FnOnce(&mut DbConn) -> QueryResult<T>,
    ) -> Result<T, StoreError> {
        statement(self.conn).map_err(|error| self.fail(error::translate(error)))
    }

    /// Runs a statement that changes rows.
    pub fn write(
        &mut self,
        statement: impl FnOnce(&mut DbConn) -> QueryResult<usize>,
    ) -> Result<(), StoreError> {
        self.run(statement).map(drop)
    }

    /// Returns the database that the transaction runs on.
    pub fn backend(&self) -> Backend {
        Backend::of(self.conn)
    }

    /// Returns the ids that a query selects, in its order.
    pub fn ids(&mut self, query: Sql) -> Result<Vec<i64>, StoreError> {
        self.run(|conn| query.rows::<BigInt>().load(conn))
    }

    /// Returns the ids that a search selects, ascending and each once, or `None` if there are more than `max`. The
    /// search may select an id several times.
    pub fn few_ids(&mut self, search: Sql, max: usize) -> Result<Option<Vec<i64>>, StoreError> {
        let limit = max * 4;
        let found = self.ids(search.sql(" LIMIT ").id(limit as i64))?;
        let is_complete = found.len() < limit;
        let found = sorted_unique(found);
        Ok((is_complete && found.len() <= max).then_some(found))
    }

    /// Runs a statement that returns no rows.
    pub fn execute(&mut self, statement: Sql) -> Result<(), StoreError> {
        self.write(|conn| statement.rows::<Untyped>().execute(conn))
    }

    /// Like [`execute`](Self::execute), and returns the number of changed rows.
    pub fn execute_counting(&mut self, statement: Sql) -> Result<i64, StoreError> {
        let rows = self.run(|conn| statement.rows::<Untyped>().execute(conn))?;
        Ok(i64::try_from(rows).unwrap_or(i64::MAX))
    }

    /// Returns the length of the list whose rows the query selects. `name` is the cache key and must be unique for
    /// each list.
    pub fn total(&mut self, name: &str, query: &Sql) -> Result<u64, StoreError> {
        self.total_at(CountCost::PerRow, name, query)
    }

    fn total_at(&mut self, cost: CountCost, name: &str, query: &Sql) -> Result<u64, StoreError> {
        let totals = self.totals;
        totals.total(name, cost, |limit| self.count(query, limit))
    }

    /// Returns the total of a list, for a page that has `rows` rows. Counts the list only if the page does not show its
    /// end.
    pub fn total_beside(
        &mut self,
        page: Page,
        rows: usize,
        name: impl FnOnce() -> String,
        query: &Sql,
    ) -> Result<u64, StoreError> {
        match page::length_at_end(page, rows) {
            Some(length) => Ok(length),
            None => self.total(&name(), query),
        }
    }

    /// Returns the ids of a page of the list whose rows a query selects, and the length of the list. One query, and one
    /// more for the total unless the page shows the end of the list.
    pub fn page_of(
        &mut self,
        query: Sql,
        order: &'static str,
        page: Page,
        name: impl FnOnce() -> String,
    ) -> Result<(Vec<i64>, u64), StoreError> {
        self.page_at(CountCost::PerRow, query, order, page, name)
    }

    /// Like [`page_of`](Self::page_of), for a list whose rows cost this much to count.
    pub fn page_at(
        &mut self,
        cost: CountCost,
        query: Sql,
        order: &'static str,
        page: Page,
        name: impl FnOnce() -> String,
    ) -> Result<(Vec<i64>, u64), StoreError> {
        let ids = self.ids(query.clone().sql(order).page(page))?;
        let total = match page::length_at_end(page, ids.len()) {
            Some(length) => length,
            None => self.total_at(cost, &name(), &query)?,
        };
        Ok((ids, total))
    }

    /// Like [`total`](Self::total), for a list whose count reads more rows than the list has.
    pub fn expensive_total(&mut self, name: &str, query: &Sql) -> Result<u64, StoreError> {
        let totals = self.totals;
        totals.expensive_total(name, || self.count(query, None))
    }

    /// Like [`total`](Self::total), for a list of projects, groups or users. A change counter shows whether a cached
    /// total of such a list is still exact.
    pub fn tracked_total(
        &mut self,
        name: &str,
        cost: CountCost,
        query: &Sql,
    ) -> Result<u64, StoreError> {
        if self.mode != Mode::Read {
            // In other modes the rows may differ from what other transactions see, now or later.
            return self.total(name, query);
        }
        let totals = self.totals;
        totals.tracked_total(name, cost, |question| match question {
            CountQuery::Rows(limit) => self.count(query, limit),
            CountQuery::Changes => self.extent().map(|extent| extent.changes),
        })
    }

    /// Returns the rows of a page, counted from the nearer end of the list. `counted_as` is the name of the list's
    /// total. A page is read from the last row only while the cached total is exact.
    pub fn span(&mut self, page: Page, total: u64, counted_as: &str) -> Result<Span, StoreError> {
        if let Some(span) = Span::backward(page, total)
            && self.mode == Mode::Read
            && self.totals.is_exact(counted_as, self.extent()?.changes)
        {
            return Ok(span);
        }
        Ok(Span::forward(page))
    }

    /// Returns the figures of [`Extent`]. Costs one query, unless cached.
    pub fn extent(&mut self) -> Result<Extent, StoreError> {
        if let (Some(extent), Mode::Read) = (self.extent, self.mode) {
            return Ok(extent);
        }
        let query = Sql::new(
            "SELECT (SELECT CAST(coalesce(sum(changes), 0) AS BIGINT) FROM list_changes), \
             (SELECT coalesce(max(id), 0) FROM projects)",
        );
        let (changes, projects) =
            self.run(|conn| query.rows::<(BigInt, BigInt)>().get_result(conn))?;
        Ok(*self.extent.insert(Extent { changes, projects }))
    }

    /// Counts the rows of a query. With a limit, counting stops there.
    pub fn count(&mut self, query: &Sql, limit: Option<i64>) -> Result<i64, StoreError> {
        let count = query.clone().counted(limit);
        self.run(|conn| count.rows::<BigInt>().get_result(conn))
    }

    /// Loads the rows with these ids or names. Costs one query, unless there are more ids than any page has.
    pub fn by_ids<K, T>(
        &mut self,
        ids: &[K],
        load: impl Fn(&mut DbConn, &[K]) -> QueryResult<Vec<T>>,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = Vec::with_capacity(ids.len());
        for ids in ids.chunks(MAX_IDS_PER_STATEMENT) {
            rows.extend(self.run(|conn| load(conn, ids))?);
        }
        Ok(rows)
    }

    /// Locks the rows that a query selects, in its order. The query contains the lock clause. SQLite needs no row
    /// locks because it has one writer at a time.
    pub fn lock_rows(&mut self, rows: Sql) -> Result<(), StoreError> {
        match self.backend() {
            Backend::Sqlite => Ok(()),
            Backend::Postgres => self.ids(rows).map(drop),
        }
    }

    /// Runs a query and converts its rows.
    pub fn read_rows<R, T: TryFrom<R, Error = StoreError>>(
        &mut self,
        query: impl FnOnce(&mut DbConn) -> QueryResult<Vec<R>>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = self.run(query)?;
        self.convert_rows(rows)
    }

    /// Runs a query for at most one row and converts the row.
    pub fn read_row<R, T: TryFrom<R, Error = StoreError>>(
        &mut self,
        query: impl FnOnce(&mut DbConn) -> QueryResult<Option<R>>,
    ) -> Result<Option<T>, StoreError> {
        let row = self.run(query)?;
        self.fail_on_error(row.map(T::try_from).transpose())
    }

    /// Converts rows. A row that cannot be converted marks the transaction as failed.
    pub fn convert_rows<R, T: TryFrom<R, Error = StoreError>>(
        &mut self,
        rows: Vec<R>,
    ) -> Result<Vec<T>, StoreError> {
        self.fail_on_error(rows.into_iter().map(T::try_from).collect())
    }

    /// Returns true if the connection is broken.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// Returns the result of work that runs no statement. An error marks the transaction as failed.
    pub fn fail_on_error<T>(&mut self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        result.map_err(|error| self.fail(error))
    }

    /// Marks the transaction as failed, so that it cannot be committed.
    pub fn fail(&mut self, error: StoreError) -> StoreError {
        self.failed = true;
        self.lost |= matches!(error, StoreError::Unreachable(_));
        error
    }

    /// Commits. Returns true if the transaction wrote to the outbox.
    pub fn commit(mut self) -> Result<bool, StoreError> {
        if self.failed {
            return Err(StoreError::Aborted);
        }
        if self.open {
            self.conn.batch_execute("COMMIT").map_err(error::translate)?;
            self.open = false;
        }
        Ok(self.has_outbox_rows)
    }

    pub fn roll_back(mut self) -> Result<(), StoreError> {
        if !std::mem::take(&mut self.open) {
            return Ok(());
        }
        let ended = self.conn.batch_execute("ROLLBACK").map_err(error::translate);
        // The caller already has the error of the failed statement. A full disk or a lost connection may have ended
        // the transaction, and an error of ROLLBACK would only hide that. The pool drops broken connections.
        if self.failed { Ok(()) } else { ended }
    }
}

/// Rolls back on every exit, including a panic, so that no connection returns to its pool with an open transaction.
impl Drop for DieselTx<'_> {
    fn drop(&mut self) {
        if self.open {
            // If ROLLBACK fails, the pool finds the connection broken.
            let _ = self.conn.batch_execute("ROLLBACK");
        }
    }
}

/// Implements [`Tx`]: the transaction itself is each of the ports.
macro_rules! ports {
    ($($method:ident: $port:ident,)*) => {
        impl Tx for DieselTx<'_> {
            $(fn $method(&mut self) -> &mut dyn $port {
                self
            })*
        }
    };
}

ports! {
    users: Users,
    identities: Identities,
    keys: Keys,
    deploy_keys: DeployKeys,
    emails: Emails,
    tokens: Tokens,
    browser_sessions: BrowserSessions,
    namespaces: Namespaces,
    groups: Groups,
    group_members: GroupMembers,
    projects: Projects,
    project_members: ProjectMembers,
    access_requests: AccessRequests,
    stars: Stars,
    shares: Shares,
    project_hooks: ProjectHooks,
    services: Services,
    protections: Protections,
    releases: Releases,
    repository_tasks: RepositoryTasks,
    refs: Refs,
    packs: Packs,
    lfs_objects: LfsObjects,
    system_hooks: SystemHooks,
    application_settings: SettingsStore,
    searches: Searches,
    broadcasts: Broadcasts,
    labels: Labels,
    group_labels: GroupLabels,
    milestones: Milestones,
    issues: Issues,
    merge_requests: MergeRequests,
    issuables: Issuables,
    awards: Awards,
    todos: Todos,
    snippets: Snippets,
    notes: Notes,
    notification_settings: NotificationSettings,
    boards: Boards,
    events: Events,
    outbox: Outbox,
    deliveries: Deliveries,
    delivery_log: DeliveryLog,
    sign_in_failures: SignInFailures,
    sign_in_addresses: SignInAddresses,
    pipelines: Pipelines,
    builds: Builds,
    runners: Runners,
    triggers: Triggers,
    variables: Variables,
    environments: Environments,
    deployments: Deployments,
    removals: Removals,
}
