//! Labels of groups, and their copies in the projects of the group.

use std::collections::HashMap;

use chrono::NaiveDate;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use hexforge_domain::Timestamp;
use hexforge_domain::id::{LabelId, NamespaceId, ProjectId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::label::port::GroupLabels;
use hexforge_domain::label::{
    Color, GroupLabel, LabelDescription, LabelTitle, NewLabel, VisibleCounts,
};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::query::{ListAudience, Viewer};

use crate::database::backend::{self, Backend};
use crate::database::schema::{group_labels, labels};
use crate::database::time::to_naive;
use crate::database::tx::DieselTx;
use crate::query::access;
use crate::query::page;
use crate::query::sql::Sql;
use crate::query::title_start;

#[derive(Queryable, Selectable)]
#[diesel(table_name = group_labels)]
struct GroupLabelRow {
    id: i64,
    group_id: i64,
    title: String,
    color: String,
    description: Option<String>,
}

impl TryFrom<GroupLabelRow> for GroupLabel {
    type Error = StoreError;

    fn try_from(row: GroupLabelRow) -> Result<Self, StoreError> {
        let description = row.description.map(|text| LabelDescription::parse(&text)).transpose();
        Ok(GroupLabel {
            id: LabelId(row.id),
            group: NamespaceId(row.group_id),
            title: LabelTitle::stored(row.title),
            color: Color::stored(row.color),
            description: description.map_err(|_| StoreError::Corrupt("description"))?,
        })
    }
}

/// The condition that an issue has the label. It equals the condition of a partial index word for word, so that the
/// index is used.
const USED: &str = "open_issues + closed_issues + open_confidential + closed_confidential > 0";

impl DieselTx<'_> {
    /// Returns a new label id, which no label has had.
    fn next_label_id(&mut self) -> Result<i64, StoreError> {
        let next = match self.backend() {
            Backend::Postgres => Sql::new("SELECT nextval(pg_get_serial_sequence('labels', 'id'))"),
            Backend::Sqlite => {
                self.execute(Sql::new(
                    "INSERT INTO sqlite_sequence (name, seq) SELECT 'labels', 0 \
                     WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'labels')",
                ))?;
                self.execute(Sql::new(
                    "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'labels'",
                ))?;
                Sql::new("SELECT seq FROM sqlite_sequence WHERE name = 'labels'")
            }
        };
        self.run(|conn| next.rows::<BigInt>().get_result(conn))
    }

    /// Inserts the missing copies of group labels into the projects that match a condition.
    fn insert_missing_copies(&mut self, which: Sql) -> Result<(), StoreError> {
        self.execute(
            Sql::new(
                "INSERT INTO labels (project_id, group_label_id, title, color, description, \
                 created_at, updated_at) SELECT projects.id, of_group.id, of_group.title, \
                 of_group.color, of_group.description, of_group.created_at, of_group.updated_at \
                 FROM projects JOIN group_labels AS of_group \
                 ON of_group.group_id = projects.namespace_id WHERE ",
            )
            .then(which)
            .sql(
                " AND NOT EXISTS (SELECT 1 FROM labels AS own \
                 WHERE own.project_id = projects.id AND own.title_start = of_group.title_start \
                 AND own.title = of_group.title)",
            ),
        )
    }

    /// Locks the projects of a group, by ascending id.
    fn lock_projects_of_group(&mut self, group: NamespaceId) -> Result<(), StoreError> {
        self.lock_rows(
            Sql::new("SELECT id FROM projects WHERE namespace_id = ")
                .id(group.0)
                .sql(" ORDER BY id FOR UPDATE"),
        )
    }
}

/// The condition that a row of `projects` is in a group.
fn in_group(group: NamespaceId) -> Sql {
    Sql::new("projects.namespace_id = ").id(group.0)
}

impl GroupLabels for DieselTx<'_> {
    /// One query, and one for the total unless the page shows the end of the list.
    fn list(&mut self, group: NamespaceId, page: Page) -> Result<Paged<GroupLabel>, StoreError> {
        let all = Sql::new("SELECT id FROM group_labels WHERE group_id = ").id(group.0);
        let items: Vec<_> = self.read_rows(|conn| {
            group_labels::table
                .filter(group_labels::group_id.eq(group.0))
                .order((group_labels::title_start, group_labels::title))
                .limit(page::limit(page))
                .offset(page::offset(page))
                .select(GroupLabelRow::as_select())
                .load(conn)
        })?;
        let total =
            self.total_beside(page, items.len(), || format!("labels of group {group}"), &all)?;
        Ok(Paged { items, total })
    }

    fn find_by_title(
        &mut self,
        group: NamespaceId,
        title: &str,
    ) -> Result<Option<GroupLabel>, StoreError> {
        if backend::contains_nul(title) {
            return Ok(None);
        }
        self.read_row(|conn| {
            group_labels::table
                .filter(group_labels::group_id.eq(group.0))
                .filter(group_labels::title_start.eq(title_start::prefix(title)))
                .filter(group_labels::title.eq(title))
                .select(GroupLabelRow::as_select())
                .get_result(conn)
                .optional()
        })
    }

    fn insert(&mut self, group: NamespaceId, new: NewLabel) -> Result<GroupLabel, StoreError> {
        self.lock_projects_of_group(group)?;
        let id = self.next_label_id()?;
        let values = (
            group_labels::id.eq(id),
            group_labels::group_id.eq(group.0),
            group_labels::title.eq(new.title.as_str()),
            group_labels::color.eq(new.color.as_str()),
            group_labels::description.eq(new.description.as_ref().map(LabelDescription::as_str)),
            group_labels::created_at.eq(to_naive(new.at)),
            group_labels::updated_at.eq(to_naive(new.at)),
        );
        self.run(|conn| diesel::insert_into(group_labels::table).values(values).execute(conn))?;
        self.insert_missing_copies(in_group(group))?;
        Ok(GroupLabel {
            id: LabelId(id),
            group,
            title: new.title,
            color: new.color,
            description: new.description,
        })
    }

    fn update(&mut self, label: &GroupLabel, at: Timestamp) -> Result<(), StoreError> {
        self.lock_projects_of_group(label.group)?;
        let description = label.description.as_ref().map(LabelDescription::as_str);
        let values = (
            group_labels::title.eq(label.title.as_str()),
            group_labels::color.eq(label.color.as_str()),
            group_labels::description.eq(description),
            group_labels::updated_at.eq(to_naive(at)),
        );
        let row = group_labels::table.find(label.id.0);
        self.run(|conn| diesel::update(row).set(values).execute(conn))?;
        let values = (
            labels::title.eq(label.title.as_str()),
            labels::color.eq(label.color.as_str()),
            labels::description.eq(description),
            labels::updated_at.eq(to_naive(at)),
        );
        let rows = labels::table.filter(labels::group_label_id.eq(label.id.0));
        self.run(|conn| diesel::update(rows).set(values).execute(conn))?;
        // Inserts the copies that were missing because a project's own label had the old title.
        self.insert_missing_copies(in_group(label.group))
    }

    fn is_title_used_in_projects(
        &mut self,
        group: NamespaceId,
        title: &str,
    ) -> Result<bool, StoreError> {
        if backend::contains_nul(title) {
            return Ok(false);
        }
        let own = Sql::new(
            "SELECT labels.id FROM projects JOIN labels ON labels.project_id = projects.id WHERE ",
        )
        .then(in_group(group))
        .sql(" AND labels.group_label_id IS NULL AND labels.title_start = ")
        .text(title_start::prefix(title).to_owned())
        .sql(" AND labels.title = ")
        .text(title.to_owned())
        .sql(" LIMIT 1");
        Ok(!self.ids(own)?.is_empty())
    }

    fn delete(&mut self, id: LabelId) -> Result<(), StoreError> {
        let group: Option<i64> = self.run(|conn| {
            group_labels::table.find(id.0).select(group_labels::group_id).first(conn).optional()
        })?;
        let Some(group) = group else { return Ok(()) };
        self.lock_projects_of_group(NamespaceId(group))?;
        let copies =
            Sql::new("label_id IN (SELECT id FROM labels WHERE group_label_id = ").id(id.0);
        self.close_position_gap(copies.sql(")"))?;
        let rows = labels::table.filter(labels::group_label_id.eq(id.0));
        self.run(|conn| diesel::delete(rows).execute(conn))?;
        self.write(|conn| diesel::delete(group_labels::table.find(id.0)).execute(conn))
    }

    fn adapt_to_group(&mut self, project: ProjectId) -> Result<(), StoreError> {
        let foreign = || {
            Sql::new("project_id = ")
                .id(project.0)
                .sql(
                    " AND group_label_id IS NOT NULL AND group_label_id NOT IN \
                 (SELECT of_group.id FROM group_labels AS of_group \
                 JOIN projects ON projects.namespace_id = of_group.group_id WHERE projects.id = ",
                )
                .id(project.0)
                .sql(")")
        };
        self.execute(
            Sql::new("UPDATE labels SET group_label_id = NULL WHERE (")
                .sql(USED)
                .sql(
                    " OR EXISTS (SELECT 1 FROM merge_request_labels AS has WHERE has.label_id = labels.id) \
                     OR EXISTS (SELECT 1 FROM board_lists \
                     WHERE board_lists.label_id = labels.id AND board_lists.deleted_at IS NULL)) AND ",
                )
                .then(foreign()),
        )?;
        self.execute(Sql::new("DELETE FROM labels WHERE ").then(foreign()))?;
        self.insert_missing_copies(Sql::new("projects.id = ").id(project.0))
    }

    /// At most two queries: the counters that the viewer may see, and the viewer's own confidential issues.
    fn counts(
        &mut self,
        labels: &[LabelId],
        viewer: ListAudience,
        today: NaiveDate,
    ) -> Result<Vec<(LabelId, VisibleCounts)>, StoreError> {
        if labels.is_empty() {
            return Ok(vec![]);
        }
        let viewer = viewer.restricted_to();
        let ids: Vec<i64> = labels.iter().map(|label| label.0).collect();
        let sums = visible_counts(&ids, viewer, today);
        let rows: Vec<(i64, i64, i64)> =
            self.run(|conn| sums.rows::<(BigInt, BigInt, BigInt)>().load(conn))?;
        let mut counts: HashMap<i64, VisibleCounts> = HashMap::new();
        let number = |count: i64| u32::try_from(count).unwrap_or(0);
        for (label, open, closed) in rows {
            counts.insert(label, VisibleCounts { open: number(open), closed: number(closed) });
        }
        if let Some(viewer) = viewer {
            let own = own_confidential(&ids, viewer, today);
            let rows: Vec<(i64, bool)> =
                self.run(|conn| own.rows::<(BigInt, Bool)>().load(conn))?;
            for (label, open) in rows {
                let count = counts.entry(label).or_default();
                *(if open { &mut count.open } else { &mut count.closed }) += 1;
            }
        }
        Ok(counts.into_iter().map(|(label, count)| (LabelId(label), count)).collect())
    }
}

/// The common table expressions that [`access::visible`] and `reported` conditions refer to.
fn visibility_ctes(viewer: Viewer, today: NaiveDate) -> impl Iterator<Item = (&'static str, Sql)> {
    let reported = access::reported_cte(Clearance::ByRole(viewer.user), today);
    [Some(access::authorized_cte(viewer, today)), reported].into_iter().flatten()
}

/// The `FROM` and `WHERE` clauses for the copies of group labels that an issue has, in visible projects with enabled
/// issues.
fn used_copies(ids: &[i64], viewer: Option<Viewer>) -> Sql {
    let rows = Sql::new(" FROM labels JOIN projects ON projects.id = labels.project_id WHERE ")
        .sql(USED)
        .sql(" AND projects.issues_enabled AND labels.group_label_id IN (")
        .few_ids(ids)
        .sql(")");
    match viewer {
        Some(viewer) => rows.sql(" AND ").then(access::visible(viewer)),
        None => rows,
    }
}

/// Selects each group label with the numbers of its open and closed issues that the viewer may see.
fn visible_counts(ids: &[i64], viewer: Option<Viewer>, today: NaiveDate) -> Sql {
    let all = viewer.is_none();
    let sum = |open: &'static str, confidential: &'static str| {
        let sum = Sql::new(", CAST(sum(").sql(open).sql(" + CASE WHEN ");
        let sum = sum.sql(if all { "TRUE" } else { "projects.id IN (SELECT id FROM reported)" });
        sum.sql(" THEN ").sql(confidential).sql(" ELSE 0 END) AS BIGINT)")
    };
    Sql::with(viewer.into_iter().flat_map(|viewer| visibility_ctes(viewer, today)))
        .sql("SELECT labels.group_label_id")
        .then(sum("open_issues", "open_confidential"))
        .then(sum("closed_issues", "closed_confidential"))
        .then(used_copies(ids, viewer))
        .sql(" GROUP BY labels.group_label_id")
}

/// The viewer's own confidential issues (as author or assignee) in projects where the viewer is not a reporter.
/// Each row has the label and whether the issue is open.
fn own_confidential(ids: &[i64], viewer: Viewer, today: NaiveDate) -> Sql {
    let of = |column: &'static str| {
        Sql::new(
            "SELECT labels.group_label_id AS label, issues.id AS issue, \
             issues.state <> 'closed' AS is_open",
        )
        .sql(
            " FROM labels JOIN projects ON projects.id = labels.project_id \
                 JOIN issues ON issues.project_id = projects.id AND issues.confidential AND ",
        )
        .sql(column)
        .id(viewer.user.0)
        .sql(
            " JOIN issue_labels AS has ON has.issue_id = issues.id \
                 AND has.label_id = labels.id WHERE ",
        )
        .sql(USED)
        .sql(" AND projects.issues_enabled AND labels.group_label_id IN (")
        .few_ids(ids)
        .sql(") AND projects.id NOT IN (SELECT id FROM reported) AND ")
        .then(access::visible(viewer))
    };
    Sql::with(visibility_ctes(viewer, today))
        .sql("SELECT own.label, own.is_open FROM (")
        .then(of("issues.author_id = "))
        .sql(" UNION ")
        .then(of("issues.assignee_id = "))
        .sql(") AS own")
}
