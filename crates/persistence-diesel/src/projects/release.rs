//! Releases.

use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::tag::port::Releases;
use hexforge_domain::tag::{Release, TagName};
use hexforge_domain::unique::sorted_unique;

use crate::database::schema::releases;
use crate::database::time::to_naive;
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;

fn to_release((tag, description): (String, String)) -> Release {
    Release { tag: TagName::stored(tag), description }
}

impl Releases for DieselTx<'_> {
    fn of_tags(
        &mut self,
        project: ProjectId,
        tags: &[&TagName],
    ) -> Result<Vec<Release>, StoreError> {
        let tags = sorted_unique(tags.iter().map(|tag| tag.as_str()));
        let rows: Vec<(String, String)> = self.by_ids(&tags, |conn, tags| {
            releases::table
                .filter(releases::project_id.eq(project.0))
                .filter(releases::tag.among(tags))
                .select((releases::tag, releases::description))
                .load(conn)
        })?;
        Ok(rows.into_iter().map(to_release).collect())
    }

    fn find(&mut self, project: ProjectId, tag: &TagName) -> Result<Option<Release>, StoreError> {
        let row: Option<(String, String)> = self.run(|conn| {
            releases::table
                .find((project.0, tag.as_str()))
                .select((releases::tag, releases::description))
                .get_result(conn)
                .optional()
        })?;
        Ok(row.map(to_release))
    }

    fn insert(
        &mut self,
        project: ProjectId,
        release: &Release,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let values = (
            releases::project_id.eq(project.0),
            releases::tag.eq(release.tag.as_str()),
            releases::description.eq(&release.description),
            releases::created_at.eq(to_naive(at)),
            releases::updated_at.eq(to_naive(at)),
        );
        self.write(|conn| diesel::insert_into(releases::table).values(values).execute(conn))
    }

    fn update(
        &mut self,
        project: ProjectId,
        release: &Release,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let row = releases::table.find((project.0, release.tag.as_str()));
        let values =
            (releases::description.eq(&release.description), releases::updated_at.eq(to_naive(at)));
        Ok(self.run(|conn| diesel::update(row).set(values).execute(conn))? > 0)
    }

    fn remove(&mut self, project: ProjectId, tag: &TagName) -> Result<(), StoreError> {
        let row = releases::table.find((project.0, tag.as_str()));
        self.write(|conn| diesel::delete(row).execute(conn))
    }
}
