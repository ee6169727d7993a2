//! Projects.

pub(crate) mod row;

use chrono::{NaiveDate, TimeDelta};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Integer};
use hexforge_domain::Timestamp;
use hexforge_domain::branch::BranchName;
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::project::ProjectRole;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::port::Projects;
use hexforge_domain::project::query::ProjectFilter;
use hexforge_domain::project::{
    AdminSettings, Archived, BuildSettings, CoverageExpression, NamespaceWithOwner, NewProject,
    Project, ProjectHeader, ProjectName, ProjectPath, ProjectRef, ProjectWithNamespace, Starred,
};
use hexforge_domain::text::Secret;
use hexforge_domain::unique::sorted_unique;
use hexforge_domain::user::User;

use crate::database::backend;
use crate::database::schema::{
    copied_repositories, namespaces, project_settings, projects, runners_tokens, stars, users,
};
use crate::database::seal::Purpose;
use crate::database::snapshot_cache::{Rows, SnapshotCache};
use crate::database::time::to_naive;
use crate::database::tx::DieselTx;
use crate::groups::namespace::NamespaceRow;
use crate::query::access::{self, RoleRow};
use crate::query::among::AmongValues;
use crate::query::page;
use crate::query::sql::Sql;
use crate::users::user::UserRow;
use row::{
    AdminSettingsRow, HeaderRow, ProjectRow, ProjectValues, RepositoryVersion, RowWithNamespace,
    to_build_settings,
};

/// Selects the row of a project by id or path, with these columns.
macro_rules! find_by_ref {
    ($tx:expr, $project:expr, $columns:expr, $row:ty) => {
        match $project {
            ProjectRef::Id(id) => $tx.read_row(|conn| {
                each_backend!(conn, c => projects::table
                    .find(id.0)
                    .select($columns)
                    .get_result::<$row>(c)
                    .optional())
            }),
            ProjectRef::Path { namespace, path }
                if backend::contains_nul(namespace) || backend::contains_nul(path) =>
            {
                Ok(None)
            }
            // Paths are unique ignoring case, so at most one row matches.
            ProjectRef::Path { namespace, path } => $tx.read_row(|conn| {
                let home = namespaces::table
                    .filter(namespaces::path_folded.eq(namespace.to_ascii_lowercase()))
                    .select(namespaces::id);
                each_backend!(conn, c => projects::table
                    .filter(projects::namespace_id.eq_any(home))
                    .filter(projects::path_folded.eq(path.to_ascii_lowercase()))
                    .select($columns)
                    .get_result::<$row>(c)
                    .optional())
            }),
        }
    };
}

impl DieselTx<'_> {
    /// Returns the projects with these ids, in the order of the ids.
    pub(crate) fn projects_by_id(&mut self, ids: &[i64]) -> Result<Vec<Project>, StoreError> {
        self.cached_rows(
            ids,
            |cache| &mut cache.projects,
            |project: &Project| project.id.0,
            |tx, ids| {
                let mut rows: Vec<ProjectRow> = tx.by_ids(ids, |conn, ids| {
                    let rows = projects::table.filter(projects::id.among(ids));
                    rows.select(ProjectRow::as_select()).load(conn)
                })?;
                page::arrange(&mut rows, ids, |row| row.id);
                tx.convert_rows(rows)
            },
        )
    }

    /// Returns the project of a reference if the snapshot has read it, by this or another reference.
    fn cached_project<T: Clone>(
        &mut self,
        reference: &ProjectRef,
        rows: fn(&mut SnapshotCache) -> &mut Rows<T>,
    ) -> Option<T> {
        let cache = self.cache()?;
        let id = cache.project_id(reference)?;
        rows(cache).get(&id).cloned().flatten()
    }
}

impl Projects for DieselTx<'_> {
    fn find(&mut self, project: &ProjectRef) -> Result<Option<Project>, StoreError> {
        if let Some(found) = self.cached_project(project, |cache| &mut cache.projects) {
            return Ok(Some(found));
        }
        let found: Option<Project> =
            find_by_ref!(self, project, ProjectRow::as_select(), ProjectRow)?;
        if let (Some(found), Some(cache)) = (&found, self.cache()) {
            cache.remember_project(project, found.id);
            cache.projects.insert(found.id.0, Some(found.clone()));
        }
        Ok(found)
    }

    fn find_with_namespace(
        &mut self,
        reference: &ProjectRef,
        reader: Option<UserId>,
    ) -> Result<Option<(ProjectWithNamespace, Starred)>, StoreError> {
        let reader = reader.map_or(0, |reader| reader.0);
        let columns = (
            ProjectRow::as_select(),
            NamespaceRow::as_select(),
            Option::<UserRow>::as_select(),
            stars::user_id.nullable(),
            RepositoryVersion,
        );
        let joined = || {
            projects::table
                .inner_join(namespaces::table)
                .left_join(users::table.on(namespaces::owner_id.eq(users::id.nullable())))
                .left_join(
                    stars::table
                        .on(stars::project_id.eq(projects::id).and(stars::user_id.eq(reader))),
                )
                .select(columns)
        };
        let found: Option<RowWithNamespace> = match reference {
            ProjectRef::Id(id) => self.run(|conn| {
                joined()
                    .filter(projects::id.eq(id.0))
                    .get_result::<RowWithNamespace>(conn)
                    .optional()
            })?,
            ProjectRef::Path { namespace, path }
                if backend::contains_nul(namespace) || backend::contains_nul(path) =>
            {
                None
            }
            // Paths are unique ignoring case, so at most one row matches.
            ProjectRef::Path { namespace, path } => self.run(|conn| {
                joined()
                    .filter(namespaces::path_folded.eq(namespace.to_ascii_lowercase()))
                    .filter(projects::path_folded.eq(path.to_ascii_lowercase()))
                    .get_result::<RowWithNamespace>(conn)
                    .optional()
            })?,
        };
        let Some((project, namespace, owner, starred, repository_version)) = found else {
            return Ok(None);
        };
        let convert = || {
            let place = NamespaceWithOwner {
                namespace: namespace.try_into()?,
                owner: owner.map(User::try_from).transpose()?,
            };
            Ok(ProjectWithNamespace { project: project.try_into()?, place })
        };
        let found: ProjectWithNamespace = self.fail_on_error(convert())?;
        let starred = if starred.is_some() { Starred::Yes } else { Starred::No };
        if let Some(cache) = self.cache() {
            let ProjectWithNamespace { project, place: NamespaceWithOwner { namespace, owner } } =
                &found;
            cache.remember_project(reference, project.id);
            cache.projects.insert(project.id.0, Some(project.clone()));
            let Project { id, visibility, archived, .. } = *project;
            let path = project.path.clone();
            let header = ProjectHeader { id, path, visibility, archived, repository_version };
            cache.headers.insert(id.0, Some(header));
            cache.namespaces.insert(namespace.id.0, Some(namespace.clone()));
            let owner = owner.iter().map(|owner| (owner.id.0, Some(owner.clone())));
            cache.users.extend(owner);
        }
        Ok(Some((found, starred)))
    }

    fn header(&mut self, project: &ProjectRef) -> Result<Option<ProjectHeader>, StoreError> {
        if let Some(found) = self.cached_project(project, |cache| &mut cache.headers) {
            return Ok(Some(found));
        }
        // The path was looked up before.
        let cached_id = self.cache().and_then(|cache| cache.project_id(project));
        let by_id = cached_id.map(|id| ProjectRef::Id(ProjectId(id)));
        let reference = by_id.as_ref().unwrap_or(project);
        let found: Option<ProjectHeader> =
            find_by_ref!(self, reference, HeaderRow::as_select(), HeaderRow)?;
        if let (Some(found), Some(cache)) = (&found, self.cache()) {
            cache.remember_project(project, found.id);
            cache.headers.insert(found.id.0, Some(found.clone()));
        }
        Ok(found)
    }

    fn lock(&mut self, id: ProjectId) -> Result<Option<Project>, StoreError> {
        // Some updates of a project make PostgreSQL check the foreign key to its namespace, which locks the
        // namespace.
        self.lock_rows(
            Sql::new("SELECT id FROM namespaces WHERE id = (SELECT namespace_id FROM projects WHERE id = ")
                .id(id.0)
                .sql(") FOR KEY SHARE"),
        )?;
        self.read_row(|conn| {
            load_locked!(
                conn,
                projects::table.find(id.0).select(ProjectRow::as_select()),
                ProjectRow,
                exclusive
            )
        })
    }

    fn lock_all(&mut self, ids: &[ProjectId]) -> Result<Vec<Project>, StoreError> {
        let ids = sorted_unique(ids.iter().copied());
        let project_ids = ids.iter().map(|id| id.0).collect();
        self.lock_rows(
            Sql::new(
                "SELECT id FROM namespaces WHERE id IN \
                 (SELECT namespace_id FROM projects WHERE id IN (",
            )
            .ids(project_ids)
            .sql(")) ORDER BY id FOR KEY SHARE"),
        )?;
        let mut locked = Vec::with_capacity(ids.len());
        for id in ids {
            locked.extend(Projects::lock(self, id)?);
        }
        Ok(locked)
    }

    fn find_all(&mut self, ids: &[ProjectId]) -> Result<Vec<Project>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        self.projects_by_id(&ids)
    }

    fn list(&mut self, filter: &ProjectFilter, page: Page) -> Result<Paged<Project>, StoreError> {
        self.list_projects(filter, page)
    }

    fn role(
        &mut self,
        project: ProjectId,
        user: UserId,
        today: NaiveDate,
    ) -> Result<ProjectRole, StoreError> {
        let key = (project, user, today);
        if let Some(role) = self.cache().and_then(|cache| cache.roles.get(&key).copied()) {
            return Ok(role);
        }
        let is_user = |column: &'static str| Sql::new(column).sql(" = ").id(user.0);
        let query = access::roles(project, is_user, today);
        let rows: Vec<RoleRow> =
            self.run(|conn| query.rows::<(BigInt, Integer, Bool)>().load(conn))?;
        let role = access::combine_roles(rows.iter());
        if let Some(cache) = self.cache() {
            cache.roles.insert(key, role);
        }
        Ok(role)
    }

    fn authorized_among(
        &mut self,
        user: UserId,
        projects: &[ProjectId],
        today: NaiveDate,
    ) -> Result<Vec<ProjectId>, StoreError> {
        let project_ids: Vec<i64> = projects.iter().map(|id| id.0).collect();
        let authorized = Sql::with([("authorized", access::authorized(user, today))])
            .sql("SELECT projects.id FROM projects WHERE projects.id IN (")
            .few_ids(&project_ids)
            .sql(") AND projects.id IN (SELECT id FROM authorized)");
        Ok(self.ids(authorized)?.into_iter().map(ProjectId).collect())
    }

    fn find_clashing(
        &mut self,
        namespace: NamespaceId,
        name: &ProjectName,
        path: &ProjectPath,
    ) -> Result<Vec<Project>, StoreError> {
        self.read_rows(|conn| {
            let inside = projects::namespace_id.eq(namespace.0);
            let same_name = inside.and(projects::name.eq(name.as_str()));
            let same_path = inside.and(projects::path_folded.eq(path.folded()));
            projects::table
                .filter(same_name.or(same_path))
                .select(ProjectRow::as_select())
                .load(conn)
        })
    }

    fn count_in(&mut self, namespace: NamespaceId) -> Result<u64, StoreError> {
        let count: i64 = self.run(|conn| {
            projects::table.filter(projects::namespace_id.eq(namespace.0)).count().get_result(conn)
        })?;
        Ok(count.unsigned_abs())
    }

    fn count_personal(&mut self, owners: &[UserId]) -> Result<Vec<(UserId, u64)>, StoreError> {
        let owners: Vec<i64> = owners.iter().map(|owner| owner.0).collect();
        let counted: Vec<(i64, i64)> = self.by_ids(&owners, |conn, owners| {
            namespaces::table
                .filter(namespaces::owner_id.among(owners))
                .select((namespaces::owner_id.assume_not_null(), namespaces::personal_projects))
                .load(conn)
        })?;
        Ok(counted.into_iter().map(|(owner, n)| (UserId(owner), n.unsigned_abs())).collect())
    }

    fn was_created_as_fork(&mut self, project: ProjectId) -> Result<bool, StoreError> {
        self.run(|conn| {
            diesel::select(diesel::dsl::exists(copied_repositories::table.find(project.0)))
                .get_result(conn)
        })
    }

    fn insert(&mut self, new: NewProject) -> Result<Project, StoreError> {
        let mut project = Project {
            id: ProjectId(0),
            namespace: new.namespace,
            creator: Some(new.creator),
            name: new.name,
            path: new.path,
            description: new.description,
            visibility: new.visibility,
            archived: Archived::No,
            features: new.features,
            star_count: 0,
            forks_count: 0,
            open_issues_count: 0,
            external_tracker: false,
            forked_from: new.forked_from,
            import_url: new.import_url,
            default_branch: None,
            avatar: new.avatar,
            created_at: new.at,
            updated_at: new.at,
            last_activity_at: new.at,
        };
        let values = ProjectValues::from(&project);
        let id = self.run(|conn| {
            diesel::insert_into(projects::table)
                // The token is stored in `runners_tokens`.
                .values((values, projects::runners_token.eq("")))
                .returning(projects::id)
                .get_result(conn)
        })?;
        project.id = ProjectId(id);
        if let Some(source) = new.forked_from {
            self.run(|conn| {
                diesel::insert_into(copied_repositories::table)
                    .values(copied_repositories::project_id.eq(id))
                    .execute(conn)
            })?;
            self.join_fork_network(project.id, source)?;
        }
        Projects::set_runners_token(self, project.id, &new.runners_token)?;
        Ok(project)
    }

    fn update(&mut self, project: &Project) -> Result<(), StoreError> {
        let values = ProjectValues::from(project);
        self.write(|conn| {
            diesel::update(projects::table.find(project.id.0)).set(values).execute(conn)
        })
    }

    fn set_default_branch(
        &mut self,
        project: ProjectId,
        branch: Option<&BranchName>,
    ) -> Result<(), StoreError> {
        let value = projects::default_branch.eq(branch.map(BranchName::as_str));
        self.write(|conn| diesel::update(projects::table.find(project.0)).set(value).execute(conn))
    }

    fn set_avatar(&mut self, project: ProjectId, file: Option<&str>) -> Result<(), StoreError> {
        let value = projects::avatar.eq(file);
        self.write(|conn| diesel::update(projects::table.find(project.0)).set(value).execute(conn))
    }

    fn runners_token(&mut self, project: ProjectId) -> Result<Option<Secret>, StoreError> {
        let row = runners_tokens::table.find(project.0).select(runners_tokens::sealed);
        let stored: Option<String> = self.run(|conn| row.get_result(conn).optional())?;
        self.fail_on_error(self.seals.open_opt(Purpose::RunnersToken, stored.as_deref()))
    }

    fn set_runners_token(&mut self, project: ProjectId, token: &Secret) -> Result<(), StoreError> {
        let sealed = self.fail_on_error(self.seals.seal(Purpose::RunnersToken, token.reveal()))?;
        let proof = self.fail_on_error(self.seals.runners_token_proof(token.reveal()))?;
        let values = (runners_tokens::sealed.eq(sealed), runners_tokens::proof.eq(proof));
        self.write(|conn| {
            each_backend!(conn, c => diesel::insert_into(runners_tokens::table)
                .values((runners_tokens::project_id.eq(project.0), values.clone()))
                .on_conflict(runners_tokens::project_id)
                .do_update()
                .set(values)
                .execute(c))
        })
    }

    fn coverage_expression(
        &mut self,
        project: ProjectId,
    ) -> Result<Option<CoverageExpression>, StoreError> {
        let row = project_settings::table.find(project.0);
        let found: Option<Option<String>> = self.run(|conn| {
            row.select(project_settings::coverage_expression).get_result(conn).optional()
        })?;
        Ok(found.flatten().map(CoverageExpression::stored))
    }

    fn set_coverage_expression(
        &mut self,
        project: ProjectId,
        expression: Option<&CoverageExpression>,
    ) -> Result<(), StoreError> {
        let key = project_settings::project_id.eq(project.0);
        let value =
            project_settings::coverage_expression.eq(expression.map(CoverageExpression::as_str));
        self.write(|conn| {
            each_backend!(conn, c => diesel::insert_into(project_settings::table)
                .values((key, value))
                .on_conflict(project_settings::project_id)
                .do_update()
                .set(value)
                .execute(c))
        })
    }

    fn build_settings(&mut self, project: ProjectId) -> Result<BuildSettings, StoreError> {
        let row = project_settings::table.find(project.0);
        let columns = (project_settings::build_timeout, project_settings::build_git_fetch);
        let found: Option<(Option<i32>, Option<bool>)> =
            self.run(|conn| row.select(columns).get_result(conn).optional())?;
        Ok(to_build_settings(found.unwrap_or_default()))
    }

    fn admin_settings(&mut self, project: ProjectId) -> Result<AdminSettings, StoreError> {
        let rows = projects::table
            .left_join(runners_tokens::table.on(runners_tokens::project_id.eq(projects::id)))
            .left_join(project_settings::table.on(project_settings::project_id.eq(projects::id)))
            .filter(projects::id.eq(project.0));
        let token = runners_tokens::sealed.nullable();
        let settings = (
            project_settings::coverage_expression.nullable(),
            project_settings::build_timeout.nullable(),
            project_settings::build_git_fetch.nullable(),
        );
        let found: Option<AdminSettingsRow> =
            self.run(|conn| rows.select((token, settings)).get_result(conn).optional())?;
        let Some((sealed, (coverage, timeout, git_fetch))) = found else {
            return Ok(AdminSettings::default());
        };
        let opened = self.seals.open_opt(Purpose::RunnersToken, sealed.as_deref());
        Ok(AdminSettings {
            runners_token: self.fail_on_error(opened)?,
            coverage_expression: coverage.map(CoverageExpression::stored),
            build: to_build_settings((timeout, git_fetch)),
        })
    }

    fn set_build_settings(
        &mut self,
        project: ProjectId,
        settings: BuildSettings,
    ) -> Result<(), StoreError> {
        let key = project_settings::project_id.eq(project.0);
        let values = (
            project_settings::build_timeout.eq(settings.timeout.seconds()),
            project_settings::build_git_fetch.eq(settings.git_fetch),
        );
        self.write(|conn| {
            each_backend!(conn, c => diesel::insert_into(project_settings::table)
                .values((key, values))
                .on_conflict(project_settings::project_id)
                .do_update()
                .set(values)
                .execute(c))
        })
    }

    fn record_activity(&mut self, project: ProjectId, at: Timestamp) -> Result<(), StoreError> {
        let an_hour_ago = to_naive(at - TimeDelta::hours(1));
        let row =
            projects::table.find(project.0).filter(projects::last_activity_at.le(an_hour_ago));
        let value = projects::last_activity_at.eq(to_naive(at));
        self.write(|conn| diesel::update(row).set(value).execute(conn))
    }

    fn lower_forks(&mut self, project: ProjectId, at: Timestamp) -> Result<(), StoreError> {
        let found: Option<i32> = self.run(|conn| {
            projects::table
                .find(project.0)
                .select(projects::visibility_level)
                .get_result(conn)
                .optional()
        })?;
        let Some(level) = found else { return Ok(()) };
        // A fork of a fork must not be more visible than the project either.
        let higher = Sql::new(
            "WITH RECURSIVE forks (id) AS (SELECT projects.id FROM projects WHERE forked_from_id = ",
        )
        .id(project.0)
        .sql(
            " UNION SELECT projects.id FROM projects JOIN forks ON forked_from_id = forks.id) \
             SELECT projects.id FROM projects WHERE id IN (SELECT id FROM forks) \
             AND visibility_level > ",
        )
        .id(i64::from(level))
        .sql(" ORDER BY projects.id");
        self.lock_rows(higher.clone().sql(" FOR NO KEY UPDATE"))?;
        let ids = self.ids(higher)?;
        let values = (projects::visibility_level.eq(level), projects::updated_at.eq(to_naive(at)));
        self.by_ids(&ids, |conn, ids| {
            let forks = projects::table.filter(projects::id.eq_any(ids));
            diesel::update(forks).set(values).execute(conn).map(|_| Vec::<()>::new())
        })?;
        Ok(())
    }

    fn is_fork_of(&mut self, project: ProjectId, source: ProjectId) -> Result<bool, StoreError> {
        let sources = Sql::new(
            "WITH RECURSIVE sources (id) AS (SELECT forked_from_id FROM projects WHERE id = ",
        )
        .id(project.0)
        .sql(
            " UNION SELECT forked_from_id FROM projects JOIN sources ON projects.id = sources.id) \
             SELECT id FROM sources WHERE id = ",
        )
        .id(source.0);
        Ok(!self.ids(sources)?.is_empty())
    }

    fn delete(&mut self, project: ProjectId) -> Result<(), StoreError> {
        self.lock_projects(Sql::new("id = ").id(project.0), None)?;
        self.run(|conn| diesel::delete(projects::table.find(project.0)).execute(conn))?;
        self.remove_below_projects(&[project.0])?;
        Ok(())
    }
}
