//! The number of queries for lists of pipelines, builds and runners does not depend on their length.

use crate::support::counted::{Counted, PAGE};
use crate::support::databases;
use hexforge_domain::build::BuildFilter;
use hexforge_domain::ci::status::Status;
use hexforge_domain::id::ProjectId;
use hexforge_domain::pipeline::PipelineScope;
use hexforge_domain::runner::query::RunnerFilter;
use hexforge_domain_testing::builders::{
    a_build, a_commit_id, a_definition, a_moment, a_pipeline, a_project, a_runner, a_user,
};

/// Inserts a project of ada's.
fn insert_project(counted: &Counted) -> ProjectId {
    counted.write(|tx| {
        let ada = a_user("ada").insert(tx)?;
        tx.namespaces().insert_personal(ada.id, ada.username.path(), a_moment())?;
        let home = tx.namespaces().personal(ada.id)?.expect("just made").id;
        Ok(a_project("site", home, ada.id).insert(tx)?.id)
    })
}

#[test]
fn a_list_of_pipelines_or_builds_takes_at_most_three_queries_however_long_it_is() {
    for database in databases() {
        let counted = Counted::on(database);
        let project = insert_project(&counted);
        for (more, total) in [(3, 3_u64), (300, 303)] {
            counted.write(|tx| {
                for _ in 0..more {
                    let pipeline = tx.pipelines().insert(a_pipeline(project))?;
                    let definition = tx.builds().define(pipeline.id, &a_definition())?;
                    tx.builds().insert(a_build(&pipeline, definition, "rspec"))?;
                }
                Ok(())
            });
            // Its ids and its rows, and its total unless the page shows the end of the list.
            let most = if total < 100 { 2 } else { 3 };
            for scope in [PipelineScope::All, PipelineScope::Active] {
                let (page, queries) = counted.read(|tx| tx.pipelines().list(project, scope, PAGE));
                assert_eq!((page.total, queries), (total, most), "{scope:?}");
                assert_eq!(page.items.len() as u64, total.min(100));
            }
            // All pipelines are of one branch.
            let (page, queries) =
                counted.read(|tx| tx.pipelines().list(project, PipelineScope::Branches, PAGE));
            assert_eq!((page.total, queries), (1, 2));
            let pending = Some(vec![Status::Pending]);
            for filter in [
                BuildFilter::default(),
                BuildFilter { statuses: pending, commit: Some(a_commit_id(1)) },
            ] {
                let (page, queries) = counted.read(|tx| tx.builds().list(project, &filter, PAGE));
                assert_eq!((page.total, queries), (total, most), "{filter:?}");
                let ids: Vec<_> = page.items.iter().map(|build| build.id).collect();
                assert!(ids.is_sorted_by(|newer, older| newer > older));
            }
        }
    }
}

#[test]
fn a_list_of_runners_takes_four_queries_however_long_it_is() {
    for database in databases() {
        let counted = Counted::on(database);
        let project = insert_project(&counted);
        for (more, total) in [(3, 3_u64), (300, 303)] {
            counted.write(|tx| {
                for _ in 0..more {
                    let runner = tx.runners().insert(a_runner("one"))?.id;
                    tx.runners().bind(runner, project)?;
                }
                Ok(())
            });
            let (page, queries) = counted.read(|tx| tx.runners().list(&RunnerFilter::ALL, PAGE));
            assert_eq!((page.total, queries), (total, 3), "its total, its ids, its rows");
            let ids: Vec<_> = page.items.iter().map(|runner| runner.id).collect();
            let (bound, queries) = counted.read(|tx| tx.runners().projects_of(&ids));
            assert_eq!((bound.len(), queries), (ids.len(), 1), "their projects");
        }
    }
}
