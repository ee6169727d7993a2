//! Refs and HEAD.

use diesel::prelude::*;
use diesel::sql_types::Text;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::refs::port::Refs;
use hexforge_domain::refs::{Ref, RepositoryState};

use crate::database::schema::{refs, repositories};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::sql::Sql;

/// The number of refs that one statement writes. Most pushes change one ref. The statements for one ref and for
/// this many refs are cached as prepared statements.
const STORED_AT_ONCE: usize = 100;

/// The number of names for which one statement looks for refs below them.
const LOOKED_BELOW_AT_ONCE: usize = 50;

type RefRow = (String, Vec<u8>, Option<Vec<u8>>);
type StateRow = (String, i64, i64);

const STATE: (repositories::head, repositories::refs_version, repositories::packs_version) =
    (repositories::head, repositories::refs_version, repositories::packs_version);

fn to_object_id(bytes: Vec<u8>) -> Result<ObjectId, StoreError> {
    let bytes = bytes.try_into().map_err(|_| StoreError::Corrupt("object id"))?;
    Ok(ObjectId::from_bytes(bytes))
}

fn to_ref((name, target, peeled): RefRow) -> Result<Ref, StoreError> {
    Ok(Ref { name, target: to_object_id(target)?, peeled: peeled.map(to_object_id).transpose()? })
}

fn to_state((head, refs_version, packs_version): StateRow) -> RepositoryState {
    RepositoryState { head, refs_version, packs_version }
}

impl DieselTx<'_> {
    fn read_refs(&mut self, rows: Vec<RefRow>) -> Result<Vec<Ref>, StoreError> {
        self.fail_on_error(rows.into_iter().map(to_ref).collect())
    }

    /// Increments the version that invalidates cached refs.
    fn increment_refs_version(&mut self, project: ProjectId) -> Result<(), StoreError> {
        let row = repositories::table.find(project.0);
        let raised = repositories::refs_version.eq(repositories::refs_version + 1);
        self.write(|conn| diesel::update(row).set(raised).execute(conn))
    }
}

impl Refs for DieselTx<'_> {
    fn state(&mut self, project: ProjectId) -> Result<Option<RepositoryState>, StoreError> {
        self.cached_row(
            project.0,
            |cache| &mut cache.repositories,
            |tx| {
                let row: Option<StateRow> = tx.run(|conn| {
                    repositories::table.find(project.0).select(STATE).get_result(conn).optional()
                })?;
                Ok(row.map(to_state))
            },
        )
    }

    fn lock(&mut self, project: ProjectId) -> Result<RepositoryState, StoreError> {
        let find = |tx: &mut Self| {
            tx.run(|conn| {
                load_locked!(conn, repositories::table.find(project.0).select(STATE), StateRow)
            })
        };
        if let Some(row) = find(self)? {
            return Ok(to_state(row));
        }
        self.execute(
            Sql::new("INSERT INTO repositories (project_id, head, refs_version, packs_version) SELECT id, ")
                .text(RepositoryState::FIRST_HEAD.to_owned())
                .sql(", 0, 0 FROM projects WHERE id = ")
                .id(project.0)
                .sql(" ON CONFLICT DO NOTHING"),
        )?;
        match find(self)? {
            Some(row) => Ok(to_state(row)),
            None => Err(self.fail(StoreError::Gone)),
        }
    }

    fn find(&mut self, project: ProjectId, names: &[&str]) -> Result<Vec<Ref>, StoreError> {
        let rows: Vec<RefRow> = self.by_ids(names, |conn, names| {
            refs::table
                .filter(refs::project_id.eq(project.0))
                .filter(refs::name.among(names))
                .select((refs::name, refs::target, refs::peeled))
                .load(conn)
        })?;
        self.read_refs(rows)
    }

    fn folders_among(
        &mut self,
        project: ProjectId,
        names: &[&str],
    ) -> Result<Vec<String>, StoreError> {
        let mut folders = Vec::new();
        for names in names.chunks(LOOKED_BELOW_AT_ONCE) {
            let mut query = Sql::uncached();
            for (place, name) in names.iter().enumerate() {
                let word = if place == 0 { "SELECT " } else { " UNION ALL SELECT " };
                // `0` follows `/` in byte order, so the range contains all names below the folder.
                query = query
                    .sql(word)
                    .text((*name).to_owned())
                    .sql(" WHERE EXISTS (SELECT 1 FROM refs WHERE project_id = ")
                    .id(project.0)
                    .sql(" AND name > ")
                    .text(format!("{name}/"))
                    .sql(" AND name < ")
                    .text(format!("{name}0"))
                    .sql(")");
            }
            folders.extend(self.run(|conn| query.rows::<Text>().load::<String>(conn))?);
        }
        Ok(folders)
    }

    fn list(&mut self, project: ProjectId) -> Result<Vec<Ref>, StoreError> {
        let rows: Vec<RefRow> = self.run(|conn| {
            refs::table
                .filter(refs::project_id.eq(project.0))
                .order(refs::name)
                .select((refs::name, refs::target, refs::peeled))
                .load(conn)
        })?;
        self.read_refs(rows)
    }

    fn put(&mut self, project: ProjectId, refs: &[Ref]) -> Result<(), StoreError> {
        for refs in refs.chunks(STORED_AT_ONCE) {
            let is_cached = [1, STORED_AT_ONCE].contains(&refs.len());
            let start = if is_cached { Sql::new("") } else { Sql::uncached() };
            let start = start.sql("INSERT INTO refs (project_id, name, target, peeled) VALUES ");
            let statement = refs.iter().enumerate().fold(start, |sql, (place, one)| {
                sql.sql(if place == 0 { "(" } else { ", (" })
                    .id(project.0)
                    .sql(", ")
                    .text(one.name.clone())
                    .sql(", ")
                    .bytes(Some(one.target.as_bytes()))
                    .sql(", ")
                    .bytes(one.peeled.as_ref().map(|id| &id.as_bytes()[..]))
                    .sql(")")
            });
            self.execute(statement.sql(
                " ON CONFLICT (project_id, name) DO UPDATE \
                 SET target = excluded.target, peeled = excluded.peeled",
            ))?;
        }
        self.increment_refs_version(project)
    }

    fn remove(&mut self, project: ProjectId, names: &[&str]) -> Result<(), StoreError> {
        for names in names.chunks(STORED_AT_ONCE) {
            self.run(|conn| {
                let of_project = refs::table.filter(refs::project_id.eq(project.0));
                diesel::delete(of_project.filter(refs::name.among(names))).execute(conn)
            })?;
        }
        self.increment_refs_version(project)
    }

    fn set_head(&mut self, project: ProjectId, head: &str) -> Result<(), StoreError> {
        let row = repositories::table.find(project.0);
        let head = repositories::head.eq(head);
        let raised = repositories::refs_version.eq(repositories::refs_version + 1);
        self.write(|conn| diesel::update(row).set((head, raised)).execute(conn))
    }

    fn projects_in_files(
        &mut self,
        after: ProjectId,
        limit: i64,
    ) -> Result<Vec<ProjectId>, StoreError> {
        // The condition equals that of the partial index, so that the index is used.
        let query = Sql::new(
            "SELECT project_id FROM repositories \
             WHERE (refs_version < 0 OR packs_version < 0) AND project_id > ",
        );
        let ids = self.ids(query.id(after.0).sql(" ORDER BY project_id LIMIT ").id(limit))?;
        Ok(ids.into_iter().map(ProjectId).collect())
    }

    fn copy(&mut self, source: ProjectId, target: ProjectId) -> Result<(), StoreError> {
        let Some(state) = Refs::state(self, source)? else { return Ok(()) };
        self.execute(
            Sql::new("INSERT INTO refs (project_id, name, target, peeled) SELECT CAST(")
                .id(target.0)
                .sql(" AS BIGINT), name, target, peeled FROM refs WHERE project_id = ")
                .id(source.0)
                // `0` follows `/` in byte order, so these ranges contain all names below the folders.
                .sql(
                    " AND (name > 'refs/heads/' AND name < 'refs/heads0' \
                     OR name > 'refs/tags/' AND name < 'refs/tags0')",
                ),
        )?;
        Refs::set_head(self, target, &state.head)
    }
}
