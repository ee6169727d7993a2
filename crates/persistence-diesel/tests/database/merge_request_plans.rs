//! SQLite reads merge requests and the notes on them and on commits by indexes, and pages of lists in the order of an
//! index.

use crate::support::counted::Counted;
use crate::support::databases;
use crate::support::plans::{PAGE, assert_goes_by, plans, plans_in};
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{
    IssueId, LabelId, MergeRequestId, MergeRequestVersionId, NoteId, ProjectId, UserId,
};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::merge_request::Ends;
use hexforge_domain::merge_request::port::BranchEnd;
use hexforge_domain::merge_request::query::{
    MergeRequestFilter, MergeRequestOrder, RequestScope, StateFilter,
};
use hexforge_domain::note::port::NoteReader;
use hexforge_domain::note::{NoteSource, Noteable};
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::project::query::Viewer;
use hexforge_domain_testing::builders::{
    a_day, a_group, a_merge_request, a_moment, a_project, a_request_branch, a_user, at,
};
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::testing::TestDatabase;

const PROJECT: ProjectId = ProjectId(1);

fn all() -> MergeRequestFilter {
    MergeRequestFilter {
        descending: true,
        ..MergeRequestFilter::newest_first(RequestScope::Project(PROJECT))
    }
}

/// The indexes of each filter are in both orders. Totals are counters of the project.
#[test]
fn lists_of_merge_requests_go_by_the_index_of_their_order() {
    use MergeRequestOrder::{CreatedAt, UpdatedAt};
    for (states, order, index) in [
        (StateFilter::All, CreatedAt, "merge_requests_by_created_at"),
        (StateFilter::All, UpdatedAt, "merge_requests_by_updated_at"),
        (StateFilter::Open, CreatedAt, "merge_requests_open_by_created_at"),
        (StateFilter::Open, UpdatedAt, "merge_requests_open_by_updated_at"),
        (StateFilter::Closed, CreatedAt, "merge_requests_closed_by_created_at"),
        (StateFilter::Closed, UpdatedAt, "merge_requests_closed_by_updated_at"),
        (StateFilter::Merged, CreatedAt, "merge_requests_merged_by_created_at"),
        (StateFilter::Merged, UpdatedAt, "merge_requests_merged_by_updated_at"),
    ] {
        for descending in [false, true] {
            let filter = MergeRequestFilter { states, order, descending, ..all() };
            let plans = plans(|tx| tx.merge_requests().list(&filter, PAGE).map(drop));
            let [(_, page), (_, total)] = &plans[..] else { panic!("not two queries: {plans:?}") };
            assert!(page.contains(index), "{index}: {page}");
            assert!(!page.contains("USE TEMP B-TREE"), "{index}: {page}");
            assert!(total.starts_with("SEARCH iids"), "{total}");
        }
    }
    let filter = MergeRequestFilter { iids: Some(vec![1, 2]), ..all() };
    for (query, plan) in plans(|tx| tx.merge_requests().list(&filter, PAGE).map(drop)) {
        assert!(plan.contains("(project_id=? AND iid=?)"), "{plan}\n{query}");
    }
}

#[test]
fn open_merge_requests_of_a_branch_go_by_its_index() {
    let branch = a_request_branch("topic");
    let (source, target) =
        (BranchEnd::Source(PROJECT, &branch), BranchEnd::Target(PROJECT, &branch));
    let after = Some(MergeRequestId(1));
    assert_goes_by(
        "merge_requests_from_branch (source_project_id=? AND <expr>=? AND id>?)",
        |tx| tx.merge_requests().open_at(source, after, 9).map(drop),
    );
    assert_goes_by("merge_requests_into_branch (project_id=? AND <expr>=? AND id>?)", |tx| {
        tx.merge_requests().open_at(target, after, 9).map(drop)
    });
    assert_goes_by("merge_requests_into_branch (project_id=? AND <expr>=?", |tx| {
        tx.merge_requests().open_heads(PROJECT, &branch, 9).map(drop)
    });
    assert_goes_by("merge_requests_from_project (source_project_id=? AND id>?)", |tx| {
        tx.merge_requests().open_from_fork(PROJECT, after, 9).map(drop)
    });
    assert_goes_by("merge_requests_automatic (source_project_id=? AND <expr>=?", |tx| {
        tx.merge_requests().open_automatic(PROJECT, &branch, ObjectId::ZERO, 9).map(drop)
    });
    let ends = Ends {
        source_project: PROJECT,
        source_branch: branch.clone(),
        target_project: PROJECT,
        target_branch: branch.clone(),
    };
    let twins = plans(|tx| tx.merge_requests().open_twin(&ends, after).map(drop));
    assert!(twins[0].1.contains("merge_requests_open_twins"), "{twins:?}");
}

#[test]
fn versions_and_notes_go_by_the_index_of_their_order() {
    let request = MergeRequestId(1);
    assert_goes_by("merge_request_versions_in_order", |tx| {
        tx.merge_requests().versions(request)?;
        tx.merge_requests().newest_version(request).map(drop)
    });
    for (on, index) in [
        (Noteable::Issue(IssueId(1)), "notes_of_issue"),
        (Noteable::MergeRequest(request), "notes_of_merge_request"),
        (Noteable::Commit { project: PROJECT, id: ObjectId::ZERO }, "notes_of_commit"),
    ] {
        assert_goes_by(index, |tx| tx.notes().list(on, None, PAGE).map(drop));
        let viewer = Viewer { user: UserId(1), external: false };
        let reader = Some(NoteReader { viewer, today: a_day() });
        for (query, plan) in plans(|tx| tx.notes().list(on, reader, PAGE).map(drop)) {
            assert!(plan.contains(index), "{index}: {plan}\n{query}");
        }
    }
}

/// Creates a database with a merge request, so that queries for rows run too.
fn with_a_merge_request() -> TestDatabase {
    let database = TestDatabase::migrated_sqlite();
    let store = database.open(Options::default());
    let store: &dyn Store = &store;
    let made: Result<(), StoreError> = store.write(|tx| {
        let ada = a_user("ada").insert(tx)?.id;
        let group = a_group("team").insert(tx)?.id;
        let project = a_project("site", group, ada).public().insert(tx)?.id;
        assert_eq!((ada, project), (UserId(1), PROJECT));
        tx.merge_requests().insert(a_merge_request(project, ada, "a request")).map(drop)
    });
    made.expect("an empty store can be filled");
    database
}

/// Each pair of a source and a subject of a mention has an index of its own.
#[test]
fn nothing_about_merge_requests_and_mentions_scans_a_table() {
    let (user, request) = (UserId(1), MergeRequestId(1));
    let labels: Vec<LabelId> = (1..=3).map(LabelId).collect();
    let database = with_a_merge_request();
    let found = plans_in(&database, |tx| {
        tx.merge_requests().find(PROJECT, request)?;
        tx.merge_requests().find_all(&[request])?;
        tx.merge_requests().find_by_iids(PROJECT, &[1, 2])?;
        tx.merge_requests().list(&all(), PAGE)?;
        tx.merge_requests().labels_of(&[request])?;
        tx.merge_requests().open_counts(&labels, None)?;
        tx.merge_requests().open_counts(&labels, Some(user))?;
        tx.merge_requests().version(request, MergeRequestVersionId(1))?;
        let on = Issuable::MergeRequest(request);
        tx.issuables().details(user, &[on])?;
        tx.issuables().subscription(user, on)?;
        tx.awards().of_discussion(on.into(), &[NoteId(1)], 100)?;
        let commit = Noteable::Commit { project: PROJECT, id: ObjectId::ZERO };
        let reader = Some(NoteReader { viewer: Viewer { user, external: false }, today: a_day() });
        tx.notes().find(commit, NoteId(1), reader)?;
        let subjects = [IssueId(1).into(), request.into(), commit];
        for source in [
            NoteSource::Issue { project: PROJECT, issue: IssueId(9) },
            NoteSource::MergeRequest { project: PROJECT, merge_request: request },
            NoteSource::Commit { project: PROJECT, id: ObjectId::ZERO },
        ] {
            tx.notes().mentioned_by(source, &subjects)?;
        }
        Ok(())
    });
    for (query, plan) in &found {
        for step in plan.split("; ").filter(|step| step.starts_with("SCAN")) {
            let read = [
                "SCAN own",
                "SCAN vote",
                "SCAN CONSTANT ROW",
                "SCAN (subquery",
                "SCAN authorized",
                "SCAN reported",
                "SCAN counted",
            ];
            let is_small = read.iter().any(|read| step.starts_with(read));
            assert!(is_small, "{step}: {query}");
        }
    }
    for on in ["issue", "merge_request", "commit"] {
        for by in ["issue", "merge_request", "commit"] {
            let index = format!("notes_on_{on}_by_{by}");
            assert!(found.iter().any(|(_, plan)| plan.contains(&index)), "{index}");
        }
    }
}

/// Two queries, and one for the total unless the page shows the end of the list.
#[test]
fn a_list_of_merge_requests_takes_three_queries_however_long_it_is() {
    for database in databases() {
        let counted = Counted::on(database);
        let project = counted.write(|tx| {
            let ada = a_user("ada").insert(tx)?;
            tx.namespaces().insert_personal(ada.id, ada.username.path(), a_moment())?;
            let home = tx.namespaces().personal(ada.id)?.expect("just made").id;
            a_project("site", home, ada.id).insert(tx)
        });
        let author = project.creator.expect("ada made it");
        for (numbers, total) in [(0..5_i64, 5_u64), (5..1_005, 1_005)] {
            let insert = |tx: &mut dyn Tx| {
                for number in numbers.clone() {
                    let mut new = a_merge_request(project.id, author, "a request");
                    new.at = at(number * 7 % 1_005);
                    tx.merge_requests().insert(new)?;
                }
                Ok(())
            };
            counted.write(insert);
            for states in [StateFilter::All, StateFilter::Open] {
                let filter = MergeRequestFilter {
                    scope: RequestScope::Project(project.id),
                    states,
                    ..all()
                };
                let (page, queries) = counted.read(|tx| tx.merge_requests().list(&filter, PAGE));
                assert_eq!((page.total, queries.min(3), queries.max(3)), (total, queries, 3));
                let moments: Vec<_> = page.items.iter().map(|found| found.created_at).collect();
                assert!(moments.is_sorted_by(|newer, older| newer >= older));
            }
        }
    }
}
