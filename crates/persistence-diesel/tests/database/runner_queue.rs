//! The number of queries for a runner's request while 10,000 builds are pending.

use crate::support::counted::Counted;
use crate::support::databases;
use hexforge_domain::ci::status::Status;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::runner::{NewRunner, Runner};
use hexforge_domain_testing::builders::{
    a_build, a_definition, a_moment, a_pipeline, a_project, a_runner, a_user,
};
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_persistence_diesel::{DieselStore, Options};

const PROJECTS: usize = 100;

/// Copies each build 199 times: 100 builds of each project are pending then, and 100 have succeeded.
const MULTIPLY: &str = "\
    INSERT INTO builds (project_id, pipeline_id, definition_id, kind, name, stage, stage_index, status, \
        run_when, allow_failure, tags, superseded, created_at, updated_at) \
    WITH RECURSIVE copies (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM copies WHERE n < 200) \
    SELECT project_id, pipeline_id, definition_id, kind, name, stage, stage_index, \
        CASE WHEN n <= 100 THEN status ELSE 'success' END, \
        run_when, allow_failure, tags, superseded, created_at, updated_at \
    FROM builds CROSS JOIN copies;";

/// Fills the database. Returns a shared runner, and a runner of the last project.
fn fill_database(database: &TestDatabase) -> (Runner, Runner) {
    let store: DieselStore = database.open(Options::default());
    let store: &dyn Store = &store;
    let made: Result<_, StoreError> = store.write(|tx| fill(tx));
    let made = made.expect("it can be stored");
    database.execute(MULTIPLY);
    database.gather_statistics();
    made
}

fn fill(tx: &mut dyn Tx) -> Result<(Runner, Runner), StoreError> {
    let ada = a_user("ada").insert(tx)?;
    tx.namespaces().insert_personal(ada.id, ada.username.path(), a_moment())?;
    let home = tx.namespaces().personal(ada.id)?.expect("just made").id;
    let shared = tx.runners().insert(a_runner("shared"))?;
    let bound = tx.runners().insert(NewRunner { shared: false, ..a_runner("bound") })?;
    for number in 0..PROJECTS {
        let project = a_project(&format!("site-{number}"), home, ada.id).insert(tx)?;
        let pipeline = tx.pipelines().insert(a_pipeline(project.id))?;
        let definition = tx.builds().define(pipeline.id, &a_definition())?;
        let build = tx.builds().insert(a_build(&pipeline, definition, "rspec"))?;
        assert_eq!(build.status, Status::Pending);
        if number + 1 == PROJECTS {
            tx.runners().bind(bound.id, project.id)?;
        }
    }
    Ok((shared, bound))
}

#[test]
fn a_request_among_ten_thousand_takes_three_queries() {
    for database in databases() {
        let (shared, bound) = fill_database(&database);
        let counted = Counted::on(database);
        for runner in [&shared, &bound] {
            let (found, queries) = counted.read(|tx| tx.builds().next_for(runner, 8));
            assert_eq!(queries, 3, "the kinds of tags, the ids, the rows");
            assert_eq!(found.len(), if runner.shared { 8 } else { 1 });
        }
        let picky = Runner { run_untagged: false, ..shared };
        let (found, queries) = counted.read(|tx| tx.builds().next_for(&picky, 8));
        assert_eq!((found.len(), queries), (0, 1), "the kinds of tags");
    }
}
