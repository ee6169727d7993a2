//! Group labels; see [`GroupLabels`](hexforge_domain::label::port::GroupLabels).

use super::check::{assert_duplicate, assert_pages, insider, read, write};
use crate::builders::{
    a_day, a_group, a_label, a_member, a_project, a_user, an_issue, at, insert_label, join_project,
};
use hexforge_domain::id::{LabelId, NamespaceId, ProjectId, UserId};
use hexforge_domain::issue::{IssueState, NewIssue};
use hexforge_domain::label::{GroupLabel, Label, LabelTitle, VisibleCounts};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::project::Project;
use hexforge_domain::project::query::ListAudience;

/// Creates a group with two public projects.
fn a_team(store: &dyn Store) -> (UserId, NamespaceId, [ProjectId; 2]) {
    let ada = a_user("ada").stored_in(store).id;
    let team = a_group("team").owner(ada).stored_in(store).id;
    let [one, two] =
        ["one", "two"].map(|name| a_project(name, team, ada).public().stored_in(store).id);
    (ada, team, [one, two])
}

fn insert_group_label(store: &dyn Store, group: NamespaceId, title: &str) -> GroupLabel {
    write(store, |tx| tx.group_labels().insert(group, a_label(title)))
}

/// Returns titles and ids of the labels as a project shows them.
fn list_labels(store: &dyn Store, project: ProjectId) -> Vec<(String, LabelId)> {
    let labels = read(store, |tx| tx.labels().list(project, Page::Whole));
    let shown = |label: Label| (label.title.as_str().to_owned(), label.shown_id());
    labels.items.into_iter().map(shown).collect()
}

fn find_in_project(store: &dyn Store, project: ProjectId, title: &str) -> Label {
    let label = read(store, |tx| tx.labels().find_by_title(project, title));
    label.expect("the label is there")
}

/// Existing and later projects get the labels of the group; a project label with the same title is
/// kept.
pub fn all_projects_of_a_group_have_its_labels(store: &dyn Store) {
    let (ada, team, [one, two]) = a_team(store);
    let own = write(store, |tx| insert_label(tx, two, "bug"));
    let bug = insert_group_label(store, team, "bug");
    let idea = insert_group_label(store, team, "idea");
    assert_pages(store, &[bug.clone(), idea.clone()], |tx, page| {
        tx.group_labels().list(team, page)
    });
    assert_eq!(read(store, |tx| tx.group_labels().find_by_title(team, "idea")), Some(idea.clone()));
    assert_eq!(read(store, |tx| tx.group_labels().find_by_title(team, "Idea")), None);
    let shown = |label: &GroupLabel| (label.title.as_str().to_owned(), label.id);
    assert_eq!(list_labels(store, one), [shown(&bug), shown(&idea)]);
    assert_eq!(list_labels(store, two), [("bug".to_owned(), own.id), shown(&idea)]);
    let found = read(store, |tx| tx.labels().find(one, bug.id)).expect("by the group's id");
    assert_eq!((found.of_group, found.project), (Some(bug.id), one));
    assert_eq!(read(store, |tx| tx.labels().find(one, found.id)), None, "its own id is not shown");
    assert_eq!(read(store, |tx| tx.labels().find(two, bug.id)), None);
    let three = a_project("three", team, ada).stored_in(store).id;
    write(store, |tx| tx.group_labels().adapt_to_group(three));
    write(store, |tx| tx.group_labels().adapt_to_group(three));
    assert_eq!(list_labels(store, three), [shown(&bug), shown(&idea)]);
    write(store, |tx| {
        tx.labels().delete(own.id)?;
        tx.group_labels().adapt_to_group(two)
    });
    assert_eq!(list_labels(store, two), [shown(&bug), shown(&idea)]);
    assert_duplicate(store, "title", |tx| tx.group_labels().insert(team, a_label("bug")));
    write(store, |tx| tx.groups().delete(team));
    assert_eq!(read(store, |tx| tx.group_labels().list(team, Page::Whole)).total, 0);
}

/// Issues keep the renamed label.
pub fn a_renamed_label_of_a_group_is_renamed_everywhere(store: &dyn Store) {
    let (ada, team, [one, two]) = a_team(store);
    let bug = insert_group_label(store, team, "bug");
    write(store, |tx| insert_label(tx, two, "own"));
    let copy = find_in_project(store, one, "bug");
    let issue = write(store, |tx| {
        let issue = tx.issues().insert(an_issue(one, ada, "an issue"))?.id;
        tx.issues().set_labels(issue, &[copy.id])?;
        Ok(issue)
    });
    let titled = |title: &str| GroupLabel {
        title: LabelTitle::parse(title).expect("a title"),
        ..bug.clone()
    };
    assert!(read(store, |tx| tx.group_labels().is_title_used_in_projects(team, "own")));
    assert!(!read(store, |tx| tx.group_labels().is_title_used_in_projects(team, "bug")));
    assert_duplicate(store, "title", |tx| tx.group_labels().update(&titled("own"), at(1)));
    insert_group_label(store, team, "idea");
    assert_duplicate(store, "title", |tx| tx.group_labels().update(&titled("idea"), at(1)));
    write(store, |tx| tx.group_labels().update(&titled("defect"), at(1)));
    let found = read(store, |tx| tx.group_labels().find_by_title(team, "defect"));
    assert_eq!(found, Some(titled("defect")));
    let has = read(store, |tx| tx.issues().labels_of(&[issue]));
    assert_eq!(has.len(), 1);
    assert_eq!((has[0].1, has[0].2.as_str()), (copy.id, "defect"));
    assert_eq!(find_in_project(store, two, "defect").shown_id(), bug.id);
}

/// The lists of all boards stay consecutive.
pub fn a_deleted_label_of_a_group_is_gone_from_all_projects(store: &dyn Store) {
    let (ada, team, projects) = a_team(store);
    let bug = insert_group_label(store, team, "bug");
    for project in projects {
        write(store, |tx| {
            let label = tx.labels().find(project, bug.id)?.expect("it is there").id;
            let (before, after) =
                (insert_label(tx, project, "a")?.id, insert_label(tx, project, "z")?.id);
            let board = tx.boards().insert(project)?.id;
            for label in [before, label, after] {
                tx.boards().insert_list(board, label, at(1))?;
            }
            let issue = tx.issues().insert(an_issue(project, ada, "an issue"))?.id;
            tx.issues().set_labels(issue, &[label, after])
        });
    }
    write(store, |tx| tx.group_labels().delete(bug.id));
    for project in projects {
        let titles: Vec<String> =
            list_labels(store, project).into_iter().map(|(title, _)| title).collect();
        assert_eq!(titles, ["a", "z"]);
        let board = read(store, |tx| tx.boards().find(project)).expect("a board").id;
        let lists = read(store, |tx| tx.boards().lists(board, Page::Whole)).items;
        let places: Vec<i32> = lists.iter().map(|list| list.position).collect();
        assert_eq!(places, [0, 1]);
    }
    assert_eq!(read(store, |tx| tx.group_labels().list(team, Page::Whole)).total, 0);
}

/// All projects visible to the viewer count, with the confidential issues that it may see.
pub fn issues_with_a_label_of_a_group_are_counted_in_all_its_projects(store: &dyn Store) {
    let (ada, team, [one, two]) = a_team(store);
    let shut = a_project("shut", team, ada).stored_in(store).id;
    let [bob, rob, eve] = ["bob", "rob", "eve"].map(|name| a_user(name).stored_in(store).id);
    join_project(store, one, a_member(rob, AccessLevel::Reporter));
    let bug = insert_group_label(store, team, "bug");
    let unused = insert_group_label(store, team, "unused");
    for (project, confidential, closed) in [
        (one, false, false),
        (one, true, false),
        (one, true, true),
        (two, false, true),
        (two, true, false),
        (shut, false, false),
    ] {
        write(store, |tx| {
            let label = tx.labels().find(project, bug.id)?.expect("it is there").id;
            let new = NewIssue { confidential, assignee: Some(bob), ..an_issue(project, ada, "x") };
            let issue = tx.issues().insert(new)?;
            tx.issues().set_labels(issue.id, &[label])?;
            let state = if closed { IssueState::Closed } else { IssueState::Opened };
            tx.issues().update(&hexforge_domain::issue::Issue { state, ..issue })
        });
    }
    let counts = |viewer: Option<UserId>| {
        let ids = [bug.id, unused.id];
        let audience =
            viewer.map_or(ListAudience::Unrestricted, |user| ListAudience::Viewer(insider(user)));
        let counts = read(store, |tx| tx.group_labels().counts(&ids, audience, a_day()));
        let of = |id: LabelId| {
            let found = counts.iter().find(|(label, _)| *label == id);
            found.map(|(_, counts)| *counts).unwrap_or_default()
        };
        assert_eq!(of(unused.id), VisibleCounts::default());
        (of(bug.id).open, of(bug.id).closed)
    };
    assert_eq!(counts(None), (4, 2));
    assert_eq!(counts(Some(ada)), (4, 2));
    assert_eq!(counts(Some(bob)), (3, 2), "all but those of the project that it does not see");
    assert_eq!(counts(Some(rob)), (2, 2));
    assert_eq!(counts(Some(eve)), (1, 1));
}

/// Used labels become labels of the project; the new group adds its own.
pub fn a_project_that_changes_groups_keeps_what_it_uses(store: &dyn Store) {
    let (ada, team, [one, _]) = a_team(store);
    let crew = a_group("crew").owner(ada).stored_in(store).id;
    for title in ["bug", "idea", "listed", "same"] {
        insert_group_label(store, team, title);
    }
    let new = insert_group_label(store, crew, "new");
    let same = insert_group_label(store, crew, "same");
    let used = find_in_project(store, one, "bug");
    write(store, |tx| {
        let issue = tx.issues().insert(an_issue(one, ada, "an issue"))?.id;
        tx.issues().set_labels(issue, &[used.id])?;
        let board = tx.boards().insert(one)?.id;
        let listed = tx.labels().find_by_title(one, "listed")?.expect("it is there").id;
        tx.boards().insert_list(board, listed, at(1))?;
        let project = tx.projects().lock(one)?.expect("it is there");
        tx.projects().update(&Project { namespace: crew, ..project })?;
        tx.group_labels().adapt_to_group(one)
    });
    let now = list_labels(store, one);
    let titles: Vec<&str> = now.iter().map(|(title, _)| title.as_str()).collect();
    assert_eq!(titles, ["bug", "listed", "new", "same"]);
    assert_eq!(now[0].1, used.id);
    assert_eq!((now[2].1, now[3].1), (new.id, same.id));
    let kept = find_in_project(store, one, "bug");
    assert_eq!((kept.of_group, kept.counts.open), (None, 1));
}
