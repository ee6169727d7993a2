//! Deletes the dependent rows of removed projects, groups, users and environments in batches.
//!
//! Rows that can be very numerous reference a root: a row of `project_roots`, `namespace_roots` or `user_roots`. A
//! trigger inserts the root together with the entity, and marks it when the entity is removed. The root is deleted
//! last, when no row references it any more. Dependent rows are deleted from the leaves up, so that no cascade
//! deletes more rows than the batch allows.

use hexforge_domain::id::{ForkNetworkId, NamespaceId, ProjectId, UserId};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::removal::Step;
use hexforge_domain::removal::port::Removals;

use crate::database::backend::{self, Backend};
use crate::database::tx::{DELETE_BUDGET, DieselTx};
use crate::query::sql::Sql;

/// The share of the budget that one entity uses even if it has no rows. So a batch of many empty entities takes no
/// longer than a batch of rows of one entity.
const LOOKUP_COST: i64 = 10;

/// The number of issues, labels, pipelines or notes that are handled together.
const BATCH: i64 = 200;

/// The dependent rows of one table: the table, its key, the column that references the owner, and the rows below them.
struct DependentRows {
    table: &'static str,
    key: &'static str,
    owner_column: &'static str,
    below: &'static [DependentRows],
}

const fn dependents(
    table: &'static str,
    key: &'static str,
    owner_column: &'static str,
) -> DependentRows {
    DependentRows { table, key, owner_column, below: &[] }
}

/// The notes of an owner, with the rows below them.
const fn notes_of(owner_column: &'static str) -> DependentRows {
    DependentRows { below: &OF_NOTES, ..dependents("notes", "id", owner_column) }
}

const OF_NOTES: [DependentRows; 2] =
    [dependents("awards", "id", "note_id"), dependents("todos", "id", "note_id")];

/// The dependent rows of an issue, except labels.
const OF_ISSUES: [DependentRows; 6] = [
    notes_of("issue_id"),
    dependents("events", "id", "issue_id"),
    dependents("awards", "id", "issue_id"),
    dependents("todos", "id", "issue_id"),
    dependents("issue_subscriptions", "issue_id, user_id", "issue_id"),
    dependents("issue_participants", "issue_id, user_id", "issue_id"),
];
const LABELS_OF_ISSUES: [DependentRows; 1] =
    [dependents("issue_labels", "issue_id, label_id", "issue_id")];
/// The dependent rows of a merge request, except labels.
const OF_MERGE_REQUESTS: [DependentRows; 7] = [
    notes_of("merge_request_id"),
    dependents("events", "id", "merge_request_id"),
    dependents("awards", "id", "merge_request_id"),
    dependents("todos", "id", "merge_request_id"),
    dependents("merge_request_versions", "id", "merge_request_id"),
    dependents("merge_request_subscriptions", "merge_request_id, user_id", "merge_request_id"),
    dependents("merge_request_participants", "merge_request_id, user_id", "merge_request_id"),
];
const LABELS_OF_MERGE_REQUESTS: [DependentRows; 1] =
    [dependents("merge_request_labels", "merge_request_id, label_id", "merge_request_id")];
const OF_LABELS: [DependentRows; 4] = [
    dependents("label_subscriptions", "label_id, user_id", "label_id"),
    dependents("board_lists", "id", "label_id"),
    dependents("issue_labels", "issue_id, label_id", "label_id"),
    dependents("merge_request_labels", "merge_request_id, label_id", "label_id"),
];
const OF_ENVIRONMENTS: [DependentRows; 1] = [dependents("deployments", "id", "environment_id")];
const OF_PIPELINES: [DependentRows; 4] = [
    dependents("builds", "id", "pipeline_id"),
    dependents("build_definitions", "id", "pipeline_id"),
    dependents("trigger_requests", "id", "pipeline_id"),
    dependents("ref_pipelines", "project_id, tag, reference", "pipeline_id"),
];
/// The dependent rows of a snippet.
const OF_SNIPPETS: [DependentRows; 3] = [
    notes_of("snippet_id"),
    dependents("events", "id", "snippet_id"),
    dependents("awards", "id", "snippet_id"),
];
const OF_LANES: [DependentRows; 1] = [dependents("deliveries", "id", "lane_id")];

/// The rows that reference the root of a project and whose own dependent rows are deleted already.
const OF_PROJECTS: [DependentRows; 14] = [
    dependents("project_hooks", "id", "project_id"),
    dependents("services", "id", "project_id"),
    dependents("boards", "id", "project_id"),
    dependents("milestones", "id", "project_id"),
    dependents("builds", "id", "project_id"),
    dependents("ref_pipelines", "project_id, tag, reference", "project_id"),
    dependents("triggers", "id", "project_id"),
    dependents("releases", "project_id, tag", "project_id"),
    dependents("stars", "project_id, user_id", "project_id"),
    dependents("access_requests", "id", "project_id"),
    dependents("notification_settings", "id", "project_id"),
    dependents("protected_branches", "project_id, pattern", "project_id"),
    dependents("refs", "project_id, name", "project_id"),
    dependents("repositories", "project_id", "project_id"),
];
/// The most numerous rows, which are deleted first.
const FIRST_OF_PROJECTS: [DependentRows; 3] = [
    dependents("events", "id", "project_id"),
    dependents("todos", "id", "project_id"),
    notes_of("project_id"),
];

/// The rows that reference the root of a namespace, besides its labels.
const OF_NAMESPACES: [DependentRows; 1] = [dependents("notification_settings", "id", "group_id")];

/// The rows of a user that no counter includes.
const OF_USERS: [DependentRows; 10] = [
    dependents("events", "id", "author_id"),
    dependents("awards", "id", "user_id"),
    dependents("todos", "id", "user_id"),
    dependents("todos", "id", "author_id"),
    dependents("notification_settings", "id", "user_id"),
    dependents("label_subscriptions", "label_id, user_id", "user_id"),
    dependents("issue_subscriptions", "issue_id, user_id", "user_id"),
    dependents("issue_participants", "issue_id, user_id", "user_id"),
    dependents("merge_request_subscriptions", "merge_request_id, user_id", "user_id"),
    dependents("merge_request_participants", "merge_request_id, user_id", "user_id"),
];
/// The rows that stay, and whose reference to the user becomes null.
const REFERENCES_TO_USERS: [DependentRows; 7] = [
    dependents("issues", "id", "updated_by_id"),
    dependents("merge_requests", "id", "updated_by_id"),
    dependents("merge_requests", "id", "merge_user_id"),
    dependents("notes", "id", "updated_by_id"),
    dependents("pipelines", "id", "user_id"),
    dependents("builds", "id", "user_id"),
    dependents("deployments", "id", "user_id"),
];

/// The kinds of roots. Each has a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Project,
    Namespace,
    User,
}

impl Root {
    fn table(self) -> &'static str {
        match self {
            Self::Project => "project_roots",
            Self::Namespace => "namespace_roots",
            Self::User => "user_roots",
        }
    }

    /// Selects the ids of the roots of removed entities.
    fn removed(self) -> Sql {
        Sql::new("SELECT task.id FROM ").sql(self.table()).sql(" AS task WHERE task.removed")
    }
}

/// The objects of a fork network.
const OF_LFS_NETWORKS: [DependentRows; 1] =
    [dependents("lfs_objects", "network_id, oid", "network_id")];

/// Selects the ids of fork networks without projects whose LFS objects are not removed yet.
fn removed_lfs_networks() -> Sql {
    Sql::new("SELECT task.id FROM lfs_networks AS task WHERE task.removed")
}

/// Selects the ids of removed environments.
fn removed_environments() -> Sql {
    Sql::new("SELECT task.id FROM environments AS task WHERE task.removed")
}

/// The name of the advisory lock that serializes removals.
const REMOVALS_LOCK: &str = "removals";

impl Removals for DieselTx<'_> {
    fn begin(&mut self) -> Result<(), StoreError> {
        self.run(|conn| backend::lock_name(conn, REMOVALS_LOCK))
    }

    fn pending(&mut self) -> Result<bool, StoreError> {
        for root in [Root::Project, Root::Namespace, Root::User] {
            if !self.ids(root.removed().sql(" LIMIT 1"))?.is_empty() {
                return Ok(true);
            }
        }
        for others in [removed_environments(), removed_lfs_networks()] {
            if !self.ids(others.sql(" LIMIT 1"))?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn step(&mut self, limit: u32) -> Result<Step, StoreError> {
        self.delete_budget = i64::from(limit);
        if let Some(project) = self.lock_root(Root::Project, None)? {
            let gone = self.remove_project_rows(project)?;
            return Ok(if gone { Step::Project(ProjectId(project)) } else { Step::Rows });
        }
        // Copies of group labels are in projects, so projects are finished before namespaces.
        if self.ids(Root::Project.removed().sql(" LIMIT 1"))?.is_empty()
            && let Some(namespace) = self.lock_root(Root::Namespace, None)?
        {
            self.remove_namespace_rows(namespace)?;
            return Ok(Step::Rows);
        }
        if let Some(user) = self.lock_root(Root::User, None)? {
            self.remove_user_rows(user)?;
            return Ok(Step::Rows);
        }
        if let Some(environment) = self.lock_removed(removed_environments())? {
            self.remove_environment_rows(environment)?;
            return Ok(Step::Rows);
        }
        if let Some(network) = self.lock_removed(removed_lfs_networks())? {
            let is_empty = self.remove_rows(&OF_LFS_NETWORKS, || Sql::new(" = ").id(network))?;
            let freed = Step::LfsNetwork(ForkNetworkId(network));
            return Ok(if is_empty { freed } else { Step::Rows });
        }
        Ok(Step::Nothing)
    }
}

impl DieselTx<'_> {
    /// Deletes the dependent rows of removed projects, within the budget of the transaction. Returns true if no row
    /// is left.
    pub(crate) fn remove_below_projects(&mut self, ids: &[i64]) -> Result<bool, StoreError> {
        for id in ids {
            let is_gone = self.delete_budget > 0
                && self.lock_root(Root::Project, Some(*id))?.is_some()
                && self.remove_project_rows(*id)?;
            if !is_gone {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Like [`remove_below_projects`](Self::remove_below_projects), for a namespace whose projects have no rows
    /// left.
    pub(crate) fn remove_below_namespace(&mut self, id: NamespaceId) -> Result<(), StoreError> {
        match self.delete_budget > 0 && self.lock_root(Root::Namespace, Some(id.0))?.is_some() {
            true => self.remove_namespace_rows(id.0),
            false => Ok(()),
        }
    }

    /// Like [`remove_below_projects`](Self::remove_below_projects), for a user.
    pub(crate) fn remove_below_user(&mut self, id: UserId) -> Result<(), StoreError> {
        match self.delete_budget > 0 && self.lock_root(Root::User, Some(id.0))?.is_some() {
            true => self.remove_user_rows(id.0),
            false => Ok(()),
        }
    }

    /// Locks the first of the removed environments or fork networks that a query selects. Only one transaction at a
    /// time deletes the rows of removed entities, because a deployment may belong to a removed user too.
    fn lock_removed(&mut self, removed: Sql) -> Result<Option<i64>, StoreError> {
        if !self.run(|conn| backend::try_lock_name(conn, REMOVALS_LOCK))? {
            return Ok(None);
        }
        let removed = removed.sql(" ORDER BY task.id LIMIT 1");
        let removed = removed.sql(backend::skip_locked_clause(self.backend()));
        Ok(self.ids(removed)?.into_iter().next())
    }

    /// Deletes an environment and its deployments, within the budget of the transaction. Returns true if no row is
    /// left.
    pub(crate) fn remove_environment_rows(&mut self, id: i64) -> Result<bool, StoreError> {
        if !self.remove_rows(&OF_ENVIRONMENTS, || Sql::new(" = ").id(id))? {
            return Ok(false);
        }
        self.execute(Sql::new("DELETE FROM environments WHERE id = ").id(id))?;
        Ok(true)
    }

    /// Returns the first ids of projects in a namespace, as many as one transaction can remove.
    pub(crate) fn first_projects_in(&mut self, namespace: Sql) -> Result<Vec<i64>, StoreError> {
        let some = Sql::new("SELECT id FROM projects WHERE namespace_id IN (").then(namespace);
        self.ids(some.sql(") ORDER BY id LIMIT ").id(DELETE_BUDGET / LOOKUP_COST))
    }

    /// Locks the root of a removed entity, so that no row can reference it until the transaction ends. Skips a root
    /// while another transaction adds a reference. Only one transaction at a time locks roots, because a row may
    /// reference two of them.
    fn lock_root(&mut self, root: Root, id: Option<i64>) -> Result<Option<i64>, StoreError> {
        if !self.run(|conn| backend::try_lock_name(conn, REMOVALS_LOCK))? {
            return Ok(None);
        }
        let removed = match id {
            Some(id) => root.removed().sql(" AND task.id = ").id(id),
            None => root.removed().sql(" ORDER BY task.id LIMIT 1"),
        };
        let found = self.ids(removed.sql(backend::skip_locked_clause(self.backend())))?;
        Ok(found.into_iter().next())
    }

    /// Deletes the rows of a removed project, within the budget. Returns true if none is left.
    fn remove_project_rows(&mut self, id: i64) -> Result<bool, StoreError> {
        self.delete_budget -= LOOKUP_COST;
        let project = || Sql::new(" = ").id(id);
        let done = self.remove_lanes_of_project(id)?
            && self.remove_rows(&FIRST_OF_PROJECTS, project)?
            && self.remove_issues_of_project(id)?
            && self.remove_merge_requests_of_project(id)?
            && self.remove_all_of("labels", "project_id", id, &[&OF_LABELS])?
            && self.remove_all_of("environments", "project_id", id, &[&OF_ENVIRONMENTS])?
            && self.remove_all_of("pipelines", "project_id", id, &[&OF_PIPELINES])?
            && self.remove_all_of("snippets", "project_id", id, &[&OF_SNIPPETS])?
            && self.remove_rows(&OF_PROJECTS, project)?;
        if done {
            self.leave_fork_network(id)?;
            self.remove_root(Root::Project, id)?;
        }
        Ok(done)
    }

    /// Deletes the lanes and deliveries of a project's hooks and services.
    fn remove_lanes_of_project(&mut self, project: i64) -> Result<bool, StoreError> {
        // Services are locked before their lanes, as by a transaction that inserts deliveries.
        self.lock_rows(
            Sql::new("SELECT id FROM services WHERE project_id = ")
                .id(project)
                .sql(" ORDER BY id FOR UPDATE"),
        )?;
        for lanes_of in [
            "SELECT id FROM hook_lanes WHERE project_hook_id IN \
             (SELECT id FROM project_hooks WHERE project_id = ",
            "SELECT id FROM hook_lanes WHERE service_id IN \
             (SELECT id FROM services WHERE project_id = ",
        ] {
            loop {
                let lanes = Sql::new(lanes_of).id(project).sql(") LIMIT ").id(BATCH);
                let lanes = self.ids(lanes)?;
                if lanes.is_empty() {
                    break;
                }
                if !self.remove_batch("hook_lanes", lanes, &[&OF_LANES])? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn remove_issues_of_project(&mut self, project: i64) -> Result<bool, StoreError> {
        self.remove_all_of("issues", "project_id", project, &[&OF_ISSUES, &LABELS_OF_ISSUES])
    }

    fn remove_merge_requests_of_project(&mut self, project: i64) -> Result<bool, StoreError> {
        let below: [&[DependentRows]; 2] = [&OF_MERGE_REQUESTS, &LABELS_OF_MERGE_REQUESTS];
        self.remove_all_of("merge_requests", "project_id", project, &below)
    }

    fn remove_namespace_rows(&mut self, id: i64) -> Result<(), StoreError> {
        self.delete_budget -= LOOKUP_COST;
        let group = || Sql::new(" = ").id(id);
        if self.remove_all_of("group_labels", "group_id", id, &[])?
            && self.remove_rows(&OF_NAMESPACES, group)?
        {
            self.remove_root(Root::Namespace, id)?;
        }
        Ok(())
    }

    fn remove_user_rows(&mut self, id: i64) -> Result<(), StoreError> {
        self.delete_budget -= LOOKUP_COST;
        let user = || Sql::new(" = ").id(id);
        let done = self.remove_issues_of_user("author_id", id)?
            && self.remove_issues_of_user("assignee_id", id)?
            && self.remove_merge_requests_of_user("author_id", id)?
            && self.remove_merge_requests_of_user("assignee_id", id)?
            && self.remove_all_of("snippets", "author_id", id, &[&OF_SNIPPETS])?
            && self.remove_notes_of_user(id)?
            && self.remove_rows(&OF_USERS, user)?
            && self.clear_user_references(id)?;
        if done {
            self.remove_root(Root::User, id)?;
        }
        Ok(())
    }

    /// Deletes the issues of which a removed user is author or assignee, and updates the counters that include
    /// them.
    fn remove_issues_of_user(
        &mut self,
        owner_column: &'static str,
        user: i64,
    ) -> Result<bool, StoreError> {
        loop {
            let ids = self.next_ids("issues", owner_column, user)?;
            if ids.is_empty() {
                return Ok(true);
            }
            if !self.try_lock_projects_of("issues", &ids)? {
                return Ok(false);
            }
            let these = || Sql::new(" IN (").ids(ids.clone()).sql(")");
            if !self.remove_rows(&OF_ISSUES, these)? {
                return Ok(false);
            }
            let ids = self.truncate_to_budget(ids);
            let count = ids.len();
            let going = Sql::new("issues.id IN (").ids(ids).sql(")");
            self.subtract_open_issues(&going)?;
            self.remove_issues(&going)?;
            if !self.spend_budget(count) {
                return Ok(false);
            }
        }
    }

    /// Deletes the merge requests of which a removed user is author or assignee, and updates the counters that include
    /// them.
    fn remove_merge_requests_of_user(
        &mut self,
        owner_column: &'static str,
        user: i64,
    ) -> Result<bool, StoreError> {
        loop {
            let ids = self.next_ids("merge_requests", owner_column, user)?;
            if ids.is_empty() {
                return Ok(true);
            }
            if !self.try_lock_projects_of("merge_requests", &ids)? {
                return Ok(false);
            }
            let these = || Sql::new(" IN (").ids(ids.clone()).sql(")");
            if !self.remove_rows(&OF_MERGE_REQUESTS, these)? {
                return Ok(false);
            }
            let ids = self.truncate_to_budget(ids);
            let count = ids.len();
            self.remove_merge_requests(&Sql::new("merge_requests.id IN (").ids(ids).sql(")"))?;
            if !self.spend_budget(count) {
                return Ok(false);
            }
        }
    }

    /// Deletes the notes of a removed user on issues, merge requests and commits of others.
    fn remove_notes_of_user(&mut self, user: i64) -> Result<bool, StoreError> {
        loop {
            let ids = self.next_ids("notes", "author_id", user)?;
            if ids.is_empty() {
                return Ok(true);
            }
            if !self.try_lock_projects_of("notes", &ids)? {
                return Ok(false);
            }
            if !self.remove_rows(&OF_NOTES, || Sql::new(" IN (").ids(ids.clone()).sql(")"))? {
                return Ok(false);
            }
            let ids = self.truncate_to_budget(ids);
            let these = || Sql::new("notes.id IN (").ids(ids.clone()).sql(")");
            self.subtract_notes(these())?;
            self.execute(Sql::new("DELETE FROM notes WHERE ").then(these()))?;
            if !self.spend_budget(ids.len()) {
                return Ok(false);
            }
        }
    }

    /// Sets the references to a removed user to null in rows that stay.
    fn clear_user_references(&mut self, user: i64) -> Result<bool, StoreError> {
        for DependentRows { table, owner_column, .. } in REFERENCES_TO_USERS {
            loop {
                let ids = self.next_ids(table, owner_column, user)?;
                if ids.is_empty() {
                    break;
                }
                if !self.try_lock_projects_of(table, &ids)? {
                    return Ok(false);
                }
                let count = ids.len();
                self.execute(
                    Sql::new("UPDATE ")
                        .sql(table)
                        .sql(" SET ")
                        .sql(owner_column)
                        .sql(" = NULL WHERE id IN (")
                        .ids(ids)
                        .sql(")"),
                )?;
                if !self.spend_budget(count) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Locks the projects of these rows, as every change inside a project does first. The transaction may already hold
    /// the lock of the removed user, so it must not wait for a lock. Returns false if another transaction holds one of
    /// the projects.
    ///
    /// If a transaction changes a row twice, PostgreSQL checks all its foreign keys and waits for the referenced
    /// rows. So the namespaces and the fork sources of the projects are locked too.
    fn try_lock_projects_of(
        &mut self,
        table: &'static str,
        ids: &[i64],
    ) -> Result<bool, StoreError> {
        if self.backend() == Backend::Sqlite {
            return Ok(true);
        }
        let of_rows = |column: &'static str| {
            Sql::new("SELECT ")
                .sql(column)
                .sql(" FROM projects WHERE id IN (SELECT project_id FROM ")
                .sql(table)
                .sql(" WHERE id IN (")
                .ids(ids.to_vec())
                .sql("))")
        };
        let wanted = [
            ("namespaces", "namespace_id", " FOR KEY SHARE OF task SKIP LOCKED"),
            ("projects", "forked_from_id", " FOR KEY SHARE OF task SKIP LOCKED"),
            ("projects", "id", backend::skip_locked_clause(Backend::Postgres)),
        ];
        for (referred, column, lock) in wanted {
            let rows = Sql::new("SELECT task.id FROM ")
                .sql(referred)
                .sql(" AS task WHERE task.id IN (")
                .then(of_rows(column))
                .sql(")");
            let held = self.ids(rows.clone().sql(lock))?;
            if held.len() != self.ids(rows)?.len() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Deletes all rows of a table that belong to one entity, with their dependent rows. Returns true if none is
    /// left.
    fn remove_all_of(
        &mut self,
        table: &'static str,
        owner_column: &'static str,
        id: i64,
        below: &[&[DependentRows]],
    ) -> Result<bool, StoreError> {
        loop {
            let ids = self.next_ids(table, owner_column, id)?;
            if ids.is_empty() {
                return Ok(true);
            }
            if !self.remove_batch(table, ids, below)? {
                return Ok(false);
            }
        }
    }

    /// Deletes these rows of a table, with their dependent rows. Returns true if the transaction may delete more.
    fn remove_batch(
        &mut self,
        table: &'static str,
        ids: Vec<i64>,
        below: &[&[DependentRows]],
    ) -> Result<bool, StoreError> {
        let these = || Sql::new(" IN (").ids(ids.clone()).sql(")");
        for rows in below {
            if !self.remove_rows(rows, these)? {
                return Ok(false);
            }
        }
        let ids = self.truncate_to_budget(ids);
        let count = ids.len();
        self.execute(Sql::new("DELETE FROM ").sql(table).sql(" WHERE id IN (").ids(ids).sql(")"))?;
        Ok(self.spend_budget(count))
    }

    /// Deletes dependent rows of the owners that a condition selects. Returns true if none is left.
    fn remove_rows(
        &mut self,
        all: &[DependentRows],
        owner: impl Fn() -> Sql,
    ) -> Result<bool, StoreError> {
        for DependentRows { table, key, owner_column, below } in all {
            let some = Sql::new("SELECT ")
                .sql(key)
                .sql(" FROM ")
                .sql(table)
                .sql(" WHERE ")
                .sql(owner_column)
                .then(owner())
                .sql(" LIMIT ");
            if !below.is_empty() {
                if !self.remove_batches(table, &some, below)? {
                    return Ok(false);
                }
                continue;
            }
            let some = some.id(self.delete_budget.max(0));
            let removed = self.execute_counting(
                Sql::new("DELETE FROM ")
                    .sql(table)
                    .sql(" WHERE (")
                    .sql(key)
                    .sql(") IN (")
                    .then(some)
                    .sql(")"),
            )?;
            self.delete_budget -= removed;
            if self.delete_budget <= 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Deletes the rows that a query with an open `LIMIT` selects, with their dependent rows. Returns true if none is
    /// left.
    fn remove_batches(
        &mut self,
        table: &'static str,
        query: &Sql,
        below: &[DependentRows],
    ) -> Result<bool, StoreError> {
        loop {
            let ids = self.ids(query.clone().id(BATCH.min(self.delete_budget.max(1))))?;
            if ids.is_empty() {
                return Ok(true);
            }
            if !self.remove_batch(table, ids, &[below])? {
                return Ok(false);
            }
        }
    }

    /// Returns the ids of the next rows of a table that belong to one entity, at most a batch.
    fn next_ids(
        &mut self,
        table: &'static str,
        owner_column: &'static str,
        id: i64,
    ) -> Result<Vec<i64>, StoreError> {
        let all = Sql::new("SELECT id FROM ")
            .sql(table)
            .sql(" WHERE ")
            .sql(owner_column)
            .sql(" = ")
            .id(id);
        self.ids(all.sql(" LIMIT ").id(BATCH.min(self.delete_budget.max(1))))
    }

    /// Truncates ids to the remaining budget. Their dependent rows are deleted already and count too.
    fn truncate_to_budget(&self, mut ids: Vec<i64>) -> Vec<i64> {
        ids.truncate(usize::try_from(self.delete_budget).unwrap_or_default());
        ids
    }

    /// Subtracts deleted rows from the budget. Returns true if the transaction may delete more.
    fn spend_budget(&mut self, removed: usize) -> bool {
        self.delete_budget -= i64::try_from(removed).unwrap_or(i64::MAX);
        self.delete_budget > 0
    }

    fn remove_root(&mut self, root: Root, id: i64) -> Result<(), StoreError> {
        self.execute(Sql::new("DELETE FROM ").sql(root.table()).sql(" WHERE id = ").id(id))
    }
}
