//! Concurrent changes of the issues of one project: no gaps, no duplicates, no server errors.

use std::thread;

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::Value;

use crate::api::groups::group_support::{new_project, path_of_project, project_now};
use crate::api::support::id_of;
use crate::api::tracker::tracker_support::{
    field_values, label_counts, new_issue, new_label, path_of_issue,
};

on_every_store!(
    a_hundred_issues_written_at_once_have_a_hundred_numbers,
    lists_moved_and_removed_at_once_end_without_gaps,
    a_label_renamed_and_removed_while_issues_use_it,
    a_board_asked_for_at_once_is_made_once,
);

/// POST /projects/:id/issues
fn a_hundred_issues_written_at_once_have_a_hundred_numbers(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let project = new_project(forge, &ada, "Ship", &[]);
    let path = path_of_project(&project);
    let (ada, place) = (ada.as_str(), path.as_str());
    let mut numbers: Vec<i64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..100)
            .map(|number| {
                scope.spawn(move || {
                    let label = format!("label {}", number % 3);
                    let more = [("labels", label.as_str())];
                    new_issue(forge, ada, place, "an issue", &more)["iid"].as_i64()
                })
            })
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().expect("a number")).collect()
    });
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=100).collect::<Vec<i64>>());
    assert_eq!(project_now(forge, id_of(&project))["open_issues_count"], 100);
    let total: i64 = (0..3).map(|n| label_counts(forge, ada, &path, &format!("label {n}")).0).sum();
    assert_eq!(total, 100);
}

/// PUT /projects/:id/boards/:board_id/lists/:list_id,
/// DELETE /projects/:id/boards/:board_id/lists/:list_id
fn lists_moved_and_removed_at_once_end_without_gaps(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let path = path_of_project(&new_project(forge, &ada, "Ship", &[]));
    let boards = forge.get(&format!("{path}/boards")).token(&ada).send().expect(200);
    let lists = format!("{path}/boards/{}/lists", id_of(&boards[0]));
    let made: Vec<Value> = (0..8)
        .map(|number| {
            let label = id_of(&new_label(forge, &ada, &path, &number.to_string())).to_string();
            forge.post(&lists).token(&ada).form(&[("label_id", &label)]).send().expect(200)
        })
        .collect();
    thread::scope(|scope| {
        for (number, list) in made.iter().enumerate() {
            let (one, ada) = (format!("{lists}/{}", id_of(list)), ada.as_str());
            scope.spawn(move || {
                for turn in 0..5 {
                    let to = ((number * 3 + turn * 5) % 8).to_string();
                    let answer = forge.put(&one).token(ada).form(&[("position", &to)]).send();
                    assert!([200, 400].contains(&answer.status), "{}", answer.status);
                }
                if number % 4 == 0 {
                    forge.delete(&one).token(ada).send().expect(200);
                }
            });
        }
    });
    let left = forge.get(&lists).token(&ada).send().expect(200);
    let places: Vec<i64> =
        field_values(&left, "position").into_iter().filter_map(Value::as_i64).collect();
    assert_eq!(places, [0, 1, 2, 3, 4, 5]);
}

/// PUT /projects/:id/labels, DELETE /projects/:id/labels, PUT /projects/:id/issues/:issue_id
fn a_label_renamed_and_removed_while_issues_use_it(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let path = path_of_project(&new_project(forge, &ada, "Ship", &[]));
    let issues = [1, 2, 3].map(|_| new_issue(forge, &ada, &path, "an issue", &[("labels", "bug")]));
    let (ada, labels) = (ada.as_str(), format!("{path}/labels"));
    thread::scope(|scope| {
        for issue in &issues {
            scope.spawn(move || {
                for turn in 0..6 {
                    let state = if turn % 2 == 0 { "close" } else { "reopen" };
                    let form = [("labels", "bug,other"), ("state_event", state)];
                    let answer = forge.put(&path_of_issue(issue)).token(ada).form(&form).send();
                    assert_eq!(answer.status, 200);
                }
            });
        }
        scope.spawn(|| {
            for turn in 0..6 {
                let answer = if turn % 2 == 0 {
                    let form = [("name", "bug"), ("new_name", "defect")];
                    forge.put(&labels).token(ada).form(&form).send()
                } else {
                    forge.delete(&labels).token(ada).form(&[("name", "defect")]).send()
                };
                assert!([200, 400, 404].contains(&answer.status), "{}", answer.status);
            }
        });
    });
    let list = forge.get(&format!("{path}/issues")).token(ROOT).send().expect(200);
    for label in forge.get(&labels).token(ROOT).send().expect(200).as_array().expect("a list") {
        let has = |issue: &&Value| {
            issue["labels"].as_array().is_some_and(|labels| labels.contains(&label["name"]))
        };
        let with: Vec<&Value> = list.as_array().expect("a list").iter().filter(has).collect();
        let closed = with.iter().filter(|issue| issue["state"] == "closed").count();
        assert_eq!(label["closed_issues_count"], closed, "{label}");
        assert_eq!(label["open_issues_count"], with.len() - closed, "{label}");
    }
}

/// GET /projects/:id/boards
fn a_board_asked_for_at_once_is_made_once(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let path = path_of_project(&new_project(forge, &ada, "Ship", &[]));
    let (ada, boards) = (ada.as_str(), format!("{path}/boards"));
    let ids: Vec<i64> = thread::scope(|scope| {
        let ask = || id_of(&forge.get(&boards).token(ada).send().expect(200)[0]);
        let threads: Vec<_> = (0..10).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a board")).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}
