//! Deletes the dependent rows of removed projects, groups and users in batches.
//!
//! Rows that can be very numerous reference a root: a row of `project_roots`, `namespace_roots` or `user_roots`. A
//! trigger inserts the root together with the entity, and marks it when the entity is removed. The root is deleted
//! last, when no row references it any more. Dependent rows are deleted from the leaves up, so that no cascade
//! deletes more rows than the batch allows.

use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::removal::Step;
use hexforge_domain::removal::port::Removals;

use crate::database::backend::{self, Backend};
use crate::database::tx::{DieselTx, LEFTOVERS_AT_ONCE};
use crate::query::sql::Sql;

/// The cost of looking for the rows of one entity, in rows. So a batch of many empty entities takes no longer than
/// one full entity.
const LOOKING: i64 = 10;

/// The number of issues, labels, pipelines or notes that are handled together.
const TOGETHER: i64 = 200;

/// Dependent rows: their table, its key, and the column that references the owner.
struct Rows {
    table: &'static str,
    key: &'static str,
    of: &'static str,
}

const fn rows(table: &'static str, key: &'static str, of: &'static str) -> Rows {
    Rows { table, key, of }
}

/// The dependent rows of an issue, except labels.
const OF_ISSUES: [Rows; 5] = [
    rows("notes", "id", "issue_id"),
    rows("events", "id", "issue_id"),
    rows("awards", "id", "issue_id"),
    rows("issue_subscriptions", "issue_id, user_id", "issue_id"),
    rows("issue_participants", "issue_id, user_id", "issue_id"),
];
const LABELS_OF_ISSUES: [Rows; 1] = [rows("issue_labels", "issue_id, label_id", "issue_id")];
const OF_LABELS: [Rows; 3] = [
    rows("label_subscriptions", "label_id, user_id", "label_id"),
    rows("board_lists", "id", "label_id"),
    rows("issue_labels", "issue_id, label_id", "label_id"),
];
const OF_PIPELINES: [Rows; 4] = [
    rows("builds", "id", "pipeline_id"),
    rows("build_definitions", "id", "pipeline_id"),
    rows("trigger_requests", "id", "pipeline_id"),
    rows("ref_pipelines", "project_id, tag, reference", "pipeline_id"),
];
const OF_LANES: [Rows; 1] = [rows("deliveries", "id", "lane_id")];

/// The rows that reference the root of a project and whose own dependent rows are deleted already.
const OF_PROJECTS: [Rows; 12] = [
    rows("project_hooks", "id", "project_id"),
    rows("boards", "id", "project_id"),
    rows("milestones", "id", "project_id"),
    rows("builds", "id", "project_id"),
    rows("ref_pipelines", "project_id, tag, reference", "project_id"),
    rows("triggers", "id", "project_id"),
    rows("releases", "project_id, tag", "project_id"),
    rows("stars", "project_id, user_id", "project_id"),
    rows("access_requests", "id", "project_id"),
    rows("protected_branches", "project_id, pattern", "project_id"),
    rows("refs", "project_id, name", "project_id"),
    rows("repositories", "project_id", "project_id"),
];
/// The most numerous rows, which are deleted first.
const FIRST_OF_PROJECTS: [Rows; 2] =
    [rows("events", "id", "project_id"), rows("notes", "id", "project_id")];

/// The rows of a user that no counter includes.
const OF_USERS: [Rows; 5] = [
    rows("events", "id", "author_id"),
    rows("awards", "id", "user_id"),
    rows("label_subscriptions", "label_id, user_id", "user_id"),
    rows("issue_subscriptions", "issue_id, user_id", "user_id"),
    rows("issue_participants", "issue_id, user_id", "user_id"),
];
/// The rows that stay, and whose reference to the user becomes null.
const AFTER_USERS: [Rows; 4] = [
    rows("issues", "id", "updated_by_id"),
    rows("notes", "id", "updated_by_id"),
    rows("pipelines", "id", "user_id"),
    rows("builds", "id", "user_id"),
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

/// The name of the advisory lock that serializes removals.
const REMOVALS: &str = "removals";

impl Removals for DieselTx<'_> {
    fn begin(&mut self) -> Result<(), StoreError> {
        self.run(|conn| backend::hold(conn, REMOVALS))
    }

    fn pending(&mut self) -> Result<bool, StoreError> {
        for root in [Root::Project, Root::Namespace, Root::User] {
            if !self.ids(root.removed().sql(" LIMIT 1"))?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn step(&mut self, limit: u32) -> Result<Step, StoreError> {
        self.leftovers = i64::from(limit);
        if let Some(project) = self.take_root(Root::Project, None)? {
            let gone = self.finish_project(project)?;
            return Ok(if gone { Step::Project(ProjectId(project)) } else { Step::Rows });
        }
        // Copies of group labels are in projects, so projects are finished before namespaces.
        if self.ids(Root::Project.removed().sql(" LIMIT 1"))?.is_empty()
            && let Some(namespace) = self.take_root(Root::Namespace, None)?
        {
            self.finish_namespace(namespace)?;
            return Ok(Step::Rows);
        }
        if let Some(user) = self.take_root(Root::User, None)? {
            self.finish_user(user)?;
            return Ok(Step::Rows);
        }
        Ok(Step::Nothing)
    }
}

impl DieselTx<'_> {
    /// Deletes the dependent rows of removed projects, within the budget of the transaction. Returns true if no row
    /// is left.
    pub(crate) fn remove_below_projects(&mut self, ids: &[i64]) -> Result<bool, StoreError> {
        for id in ids {
            let is_gone = self.leftovers > 0
                && self.take_root(Root::Project, Some(*id))?.is_some()
                && self.finish_project(*id)?;
            if !is_gone {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Like [`remove_below_projects`](Self::remove_below_projects), for a namespace whose projects have no rows
    /// left.
    pub(crate) fn remove_below_namespace(&mut self, id: NamespaceId) -> Result<(), StoreError> {
        match self.leftovers > 0 && self.take_root(Root::Namespace, Some(id.0))?.is_some() {
            true => self.finish_namespace(id.0),
            false => Ok(()),
        }
    }

    /// Like [`remove_below_projects`](Self::remove_below_projects), for a user.
    pub(crate) fn remove_below_user(&mut self, id: UserId) -> Result<(), StoreError> {
        match self.leftovers > 0 && self.take_root(Root::User, Some(id.0))?.is_some() {
            true => self.finish_user(id.0),
            false => Ok(()),
        }
    }

    /// Returns the ids of some projects in a namespace: as many as one transaction can finish.
    pub(crate) fn some_projects_in(&mut self, namespace: Sql) -> Result<Vec<i64>, StoreError> {
        let some = Sql::new("SELECT id FROM projects WHERE namespace_id IN (").then(namespace);
        self.ids(some.sql(") ORDER BY id LIMIT ").id(LEFTOVERS_AT_ONCE / LOOKING))
    }

    /// Locks the root of a removed entity, so that no row can reference it until the transaction ends. Skips a root
    /// while another transaction adds a reference. Only one transaction at a time locks roots, because a row may
    /// reference two of them.
    fn take_root(&mut self, root: Root, id: Option<i64>) -> Result<Option<i64>, StoreError> {
        if !self.run(|conn| backend::try_hold(conn, REMOVALS))? {
            return Ok(None);
        }
        let removed = match id {
            Some(id) => root.removed().sql(" AND task.id = ").id(id),
            None => root.removed().sql(" ORDER BY task.id LIMIT 1"),
        };
        let found = self.ids(removed.sql(backend::skipping_locked(self.backend())))?;
        Ok(found.into_iter().next())
    }

    /// Deletes the rows of a removed project. Returns true if none is left.
    fn finish_project(&mut self, id: i64) -> Result<bool, StoreError> {
        self.leftovers -= LOOKING;
        let project = || Sql::new(" = ").id(id);
        let done = self.remove_lanes_of(id)?
            && self.remove_rows(&FIRST_OF_PROJECTS, project)?
            && self.remove_issues_below(id)?
            && self.remove_with_all("labels", "project_id", id, &[&OF_LABELS])?
            && self.remove_with_all("pipelines", "project_id", id, &[&OF_PIPELINES])?
            && self.remove_rows(&OF_PROJECTS, project)?;
        if done {
            self.remove_root(Root::Project, id)?;
        }
        Ok(done)
    }

    /// Deletes the lanes and deliveries of a project's hooks.
    fn remove_lanes_of(&mut self, project: i64) -> Result<bool, StoreError> {
        let hooks = || {
            Sql::new(" IN (SELECT id FROM project_hooks WHERE project_id = ").id(project).sql(")")
        };
        loop {
            let lanes = self.ids(
                Sql::new("SELECT id FROM hook_lanes WHERE project_hook_id")
                    .then(hooks())
                    .sql(" LIMIT ")
                    .id(TOGETHER),
            )?;
            if lanes.is_empty() {
                return Ok(true);
            }
            if !self.remove_together("hook_lanes", lanes, &[&OF_LANES])? {
                return Ok(false);
            }
        }
    }

    fn remove_issues_below(&mut self, project: i64) -> Result<bool, StoreError> {
        self.remove_with_all("issues", "project_id", project, &[&OF_ISSUES, &LABELS_OF_ISSUES])
    }

    fn finish_namespace(&mut self, id: i64) -> Result<(), StoreError> {
        self.leftovers -= LOOKING;
        if self.remove_with_all("group_labels", "group_id", id, &[])? {
            self.remove_root(Root::Namespace, id)?;
        }
        Ok(())
    }

    fn finish_user(&mut self, id: i64) -> Result<(), StoreError> {
        self.leftovers -= LOOKING;
        let user = || Sql::new(" = ").id(id);
        let done = self.remove_writings_by("author_id", id)?
            && self.remove_writings_by("assignee_id", id)?
            && self.remove_notes_by(id)?
            && self.remove_rows(&OF_USERS, user)?
            && self.forget_user(id)?;
        if done {
            self.remove_root(Root::User, id)?;
        }
        Ok(())
    }

    /// Deletes the issues of which a removed user is author or assignee, and updates the counters that include
    /// them.
    fn remove_writings_by(&mut self, of: &'static str, user: i64) -> Result<bool, StoreError> {
        loop {
            let ids = self.some("issues", of, user)?;
            if ids.is_empty() {
                return Ok(true);
            }
            if !self.hold_projects_of("issues", &ids)? {
                return Ok(false);
            }
            let these = || Sql::new(" IN (").ids(ids.clone()).sql(")");
            if !self.remove_rows(&OF_ISSUES, these)? {
                return Ok(false);
            }
            let ids = self.as_many_as_may_go(ids);
            let count = ids.len();
            let going = Sql::new("issues.id IN (").ids(ids).sql(")");
            self.uncount_open(&going)?;
            self.remove_issues(&going)?;
            if !self.went(count) {
                return Ok(false);
            }
        }
    }

    /// Deletes the notes of a removed user on issues of others.
    fn remove_notes_by(&mut self, user: i64) -> Result<bool, StoreError> {
        loop {
            let ids = self.some("notes", "author_id", user)?;
            if ids.is_empty() {
                return Ok(true);
            }
            if !self.hold_projects_of("notes", &ids)? {
                return Ok(false);
            }
            let these = || Sql::new("notes.id IN (").ids(ids.clone()).sql(")");
            self.uncount_notes(these())?;
            self.execute(Sql::new("DELETE FROM notes WHERE ").then(these()))?;
            if !self.went(ids.len()) {
                return Ok(false);
            }
        }
    }

    /// Sets the references to a removed user to null in rows that stay.
    fn forget_user(&mut self, user: i64) -> Result<bool, StoreError> {
        for Rows { table, of, .. } in AFTER_USERS {
            loop {
                let ids = self.some(table, of, user)?;
                if ids.is_empty() {
                    break;
                }
                if !self.hold_projects_of(table, &ids)? {
                    return Ok(false);
                }
                let count = ids.len();
                self.execute(
                    Sql::new("UPDATE ")
                        .sql(table)
                        .sql(" SET ")
                        .sql(of)
                        .sql(" = NULL WHERE id IN (")
                        .ids(ids)
                        .sql(")"),
                )?;
                if !self.went(count) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Locks the projects of some rows first, like every change inside a project. The transaction may already hold
    /// the lock of the removed user, so it waits for no lock. Returns false if another transaction holds one of
    /// them.
    ///
    /// If a transaction changes a row twice, PostgreSQL checks all its foreign keys and waits for the referenced
    /// rows. So the namespaces and the fork sources of the projects are locked too.
    fn hold_projects_of(&mut self, table: &'static str, ids: &[i64]) -> Result<bool, StoreError> {
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
            ("projects", "id", backend::skipping_locked(Backend::Postgres)),
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
    fn remove_with_all(
        &mut self,
        table: &'static str,
        of: &'static str,
        id: i64,
        below: &[&[Rows]],
    ) -> Result<bool, StoreError> {
        loop {
            let ids = self.some(table, of, id)?;
            if ids.is_empty() {
                return Ok(true);
            }
            if !self.remove_together(table, ids, below)? {
                return Ok(false);
            }
        }
    }

    /// Deletes these rows of a table, with their dependent rows. Returns true if the transaction may delete more.
    fn remove_together(
        &mut self,
        table: &'static str,
        ids: Vec<i64>,
        below: &[&[Rows]],
    ) -> Result<bool, StoreError> {
        let these = || Sql::new(" IN (").ids(ids.clone()).sql(")");
        for rows in below {
            if !self.remove_rows(rows, these)? {
                return Ok(false);
            }
        }
        let ids = self.as_many_as_may_go(ids);
        let count = ids.len();
        self.execute(Sql::new("DELETE FROM ").sql(table).sql(" WHERE id IN (").ids(ids).sql(")"))?;
        Ok(self.went(count))
    }

    /// Deletes dependent rows of the owners that a condition selects. Returns true if none is left.
    fn remove_rows(&mut self, all: &[Rows], owner: impl Fn() -> Sql) -> Result<bool, StoreError> {
        for Rows { table, key, of } in all {
            let some = Sql::new("SELECT ").sql(key).sql(" FROM ").sql(table).sql(" WHERE ").sql(of);
            let some = some.then(owner()).sql(" LIMIT ").id(self.leftovers.max(0));
            let removed = self.changed(
                Sql::new("DELETE FROM ")
                    .sql(table)
                    .sql(" WHERE (")
                    .sql(key)
                    .sql(") IN (")
                    .then(some)
                    .sql(")"),
            )?;
            self.leftovers -= removed;
            if self.leftovers <= 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the ids of some rows of a table that belong to one entity.
    fn some(
        &mut self,
        table: &'static str,
        of: &'static str,
        id: i64,
    ) -> Result<Vec<i64>, StoreError> {
        let all = Sql::new("SELECT id FROM ").sql(table).sql(" WHERE ").sql(of).sql(" = ").id(id);
        self.ids(all.sql(" LIMIT ").id(TOGETHER.min(self.leftovers.max(1))))
    }

    /// Truncates ids to the remaining budget. Their dependent rows are deleted already and count too.
    fn as_many_as_may_go(&self, mut ids: Vec<i64>) -> Vec<i64> {
        ids.truncate(usize::try_from(self.leftovers).unwrap_or_default());
        ids
    }

    /// Subtracts deleted rows from the budget. Returns true if the transaction may delete more.
    fn went(&mut self, removed: usize) -> bool {
        self.leftovers -= i64::try_from(removed).unwrap_or(i64::MAX);
        self.leftovers > 0
    }

    fn remove_root(&mut self, root: Root, id: i64) -> Result<(), StoreError> {
        self.execute(Sql::new("DELETE FROM ").sql(root.table()).sql(" WHERE id = ").id(id))
    }
}
