//! The queue of pending builds: selects the builds that a runner takes next.
//!
//! All queries use partial indexes on pending and on running builds. Builds wait for few distinct sets of tags.
//! Rust code decides which of these sets a runner accepts.

use diesel::RunQueryDsl;
use diesel::sql_types::Text;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::runner::{Reach, Runner};

use crate::ci::build::tags_from_text;
use crate::database::tx::DieselTx;
use crate::query::sql::Sql;

/// The maximum number of distinct tag sets that are read.
const MAX_TAG_SETS: i64 = 1000;

impl DieselTx<'_> {
    /// Returns the ids of pending builds for a runner. One query if no pending build matches the runner's tags, two
    /// otherwise.
    pub(crate) fn pending_for(
        &mut self,
        runner: &Runner,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError> {
        let tag_sets = self.pending_tag_sets()?;
        let mut accepted = Vec::new();
        for tag_set in tag_sets {
            let tags = self.fail_on_error(tags_from_text(&tag_set))?;
            if runner.takes(&tags) {
                accepted.push(tag_set);
            }
        }
        if accepted.is_empty() {
            return Ok(vec![]);
        }
        let query = match runner.reach() {
            Reach::Everywhere => for_shared_runner(accepted),
            Reach::OwnProjects => for_specific_runner(runner, accepted),
        };
        self.ids(query.sql(" LIMIT ").id(i64::from(limit)))
    }

    /// Returns the distinct tag sets of pending builds. It does one index look-up per tag set, however many builds
    /// are pending.
    fn pending_tag_sets(&mut self) -> Result<Vec<String>, StoreError> {
        let query = Sql::new(
            "WITH RECURSIVE kinds (tags) AS ( \
                 SELECT min(tags) FROM builds WHERE status = 'pending' AND kind = 'build' \
                 UNION ALL \
                 SELECT (SELECT min(next.tags) FROM builds next WHERE next.status = 'pending' \
                         AND next.kind = 'build' AND next.tags > kinds.tags) \
                 FROM kinds WHERE kinds.tags IS NOT NULL \
             ) SELECT tags FROM kinds WHERE tags IS NOT NULL LIMIT ",
        );
        self.run(|conn| query.id(MAX_TAG_SETS).rows::<Text>().load(conn))
    }
}

/// Selects the oldest build of each project. Projects with fewer running builds on shared runners come first.
fn for_shared_runner(tag_sets: Vec<String>) -> Sql {
    let mut comma = "";
    let tag_sets = tag_sets.into_iter().fold(
        Sql::new(
            "SELECT waiting.id FROM ( \
                 SELECT project_id, min(id) AS id FROM builds \
                 WHERE status = 'pending' AND kind = 'build' AND tags IN (",
        ),
        |sql, tag_set| sql.sql(std::mem::replace(&mut comma, ", ")).text(tag_set),
    );
    tag_sets.sql(
        ") GROUP BY project_id) AS waiting \
         JOIN projects ON projects.id = waiting.project_id \
             AND projects.builds_enabled AND projects.shared_runners_enabled \
         LEFT JOIN ( \
             SELECT running.project_id, count(*) AS builds FROM builds running \
             JOIN runners ON runners.id = running.runner_id AND runners.is_shared \
             WHERE running.status = 'running' AND running.kind = 'build' \
             GROUP BY running.project_id \
         ) AS busy ON busy.project_id = waiting.project_id \
         ORDER BY coalesce(busy.builds, 0), waiting.id",
    )
}

/// Selects the oldest build of each project that the runner is assigned to. It does one index look-up per project
/// and tag set.
fn for_specific_runner(runner: &Runner, tag_sets: Vec<String>) -> Sql {
    let mut word = "WITH kinds (tags) AS (VALUES (";
    let tag_sets = tag_sets.into_iter().fold(Sql::new(""), |sql, tag_set| {
        sql.sql(std::mem::replace(&mut word, "), (")).text(tag_set)
    });
    tag_sets
        .sql(
            ")) SELECT oldest.id FROM ( \
                 SELECT own.project_id, min(( \
                     SELECT min(waiting.id) FROM builds waiting \
                     WHERE waiting.project_id = own.project_id AND waiting.tags = kinds.tags \
                         AND waiting.status = 'pending' AND waiting.kind = 'build' \
                 )) AS id \
                 FROM runner_projects own \
                 JOIN projects ON projects.id = own.project_id AND projects.builds_enabled \
                 CROSS JOIN kinds \
                 WHERE own.runner_id = ",
        )
        .id(runner.id.0)
        .sql(" GROUP BY own.project_id) AS oldest WHERE oldest.id IS NOT NULL ORDER BY oldest.id")
}
