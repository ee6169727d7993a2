//! Milestones; see [`Milestones`](hexforge_domain::milestone::port::Milestones).

use super::check::{assert_duplicate, assert_pages, read, write};
use super::labels::a_project_with_owner;
use crate::builders::{a_milestone, a_moment, a_title, an_issue, at, day};
use hexforge_domain::issue::{Issue, NewIssue};
use hexforge_domain::milestone::{Milestone, MilestoneFilter, MilestoneState, NewMilestone};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::text::LongText;

/// All fields are read back as they were written, also after an update.
pub fn a_milestone_has_every_field(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let new = NewMilestone {
        description: LongText::parse("the first 🦀").ok(),
        start_date: Some(day(3)),
        due_date: Some(day(7)),
        ..a_milestone(project, "1.0")
    };
    let made = write(store, |tx| tx.milestones().insert(new.clone()));
    let expected = Milestone {
        id: made.id,
        iid: 1,
        project,
        title: new.title,
        description: new.description,
        state: MilestoneState::Active,
        start_date: new.start_date,
        due_date: new.due_date,
        created_at: a_moment(),
        updated_at: a_moment(),
    };
    assert_eq!(made, expected);
    let changed = Milestone {
        title: a_title("1.1"),
        description: None,
        state: MilestoneState::Closed,
        start_date: None,
        due_date: None,
        updated_at: at(5),
        ..made
    };
    write(store, |tx| tx.milestones().update(&changed));
    read(store, |tx| {
        assert_eq!(tx.milestones().find(project, changed.id)?, Some(changed.clone()));
        assert_eq!(tx.milestones().find_by_title(project, "1.1")?, Some(changed.clone()));
        assert_eq!(tx.milestones().find_by_title(project, "1.0")?, None);
        assert_eq!(tx.milestones().find_all(&[changed.id])?, std::slice::from_ref(&changed));
        Ok(())
    });
}

/// Only milestones of one project are listed, filtered by state and numbers.
pub fn milestones_are_listed_newest_first(store: &dyn Store) {
    let ((project, _), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let mut made: Vec<Milestone> = Vec::new();
    for number in 1..=4 {
        let title = format!("v{number}");
        let mut one = write(store, |tx| tx.milestones().insert(a_milestone(project, &title)));
        write(store, |tx| tx.milestones().insert(a_milestone(other, &title)));
        if number % 2 == 0 {
            one.state = MilestoneState::Closed;
            write(store, |tx| tx.milestones().update(&one));
        }
        assert_eq!(one.iid, number);
        made.insert(0, one);
    }
    let [four, three, two, one] = &made[..] else { panic!("four were made") };
    let of_both = [project, other];
    read(store, |tx| {
        let all = MilestoneFilter::default();
        let found = tx.milestones().list_of(&of_both, &all, Page::Whole)?;
        assert_eq!((found.total, found.items.len()), (8, 8));
        assert!(found.items.is_sorted_by(|one, next| one.id > next.id), "newest first");
        assert_eq!(tx.milestones().list_of(&[project], &all, Page::Whole)?.items, made);
        assert_eq!(tx.milestones().list_of(&[], &all, Page::Whole)?.total, 0);
        Ok(())
    });
    for (state, iids, expected) in [
        (None, None, vec![four, three, two, one]),
        (Some(MilestoneState::Active), None, vec![three, one]),
        (Some(MilestoneState::Closed), None, vec![four, two]),
        (None, Some(vec![1, 4, 9]), vec![four, one]),
        (Some(MilestoneState::Active), Some(vec![1, 4]), vec![one]),
        (None, Some(vec![]), vec![]),
    ] {
        let filter = MilestoneFilter { state, iids };
        let expected: Vec<Milestone> = expected.into_iter().cloned().collect();
        assert_pages(store, &expected, |tx, page| tx.milestones().list(project, &filter, page));
    }
}

/// Another project may use the same title.
pub fn titles_of_milestones_are_unique_in_a_project(store: &dyn Store) {
    let ((project, _), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let one = write(store, |tx| tx.milestones().insert(a_milestone(project, "one")));
    write(store, |tx| tx.milestones().insert(a_milestone(project, "two")));
    write(store, |tx| tx.milestones().insert(a_milestone(other, "one")));
    assert_duplicate(store, "title", |tx| tx.milestones().insert(a_milestone(project, "one")));
    let renamed = Milestone { title: a_title("two"), ..one };
    assert_duplicate(store, "title", |tx| tx.milestones().update(&renamed));
}

/// Issues of a deleted milestone lose it, and its title is free.
pub fn issues_lose_a_deleted_milestone(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [goal, other] = ["1.0", "2.0"]
        .map(|title| write(store, |tx| tx.milestones().insert(a_milestone(project, title))).id);
    let [one, two] = [goal, other].map(|milestone| {
        let new = NewIssue { milestone: Some(milestone), ..an_issue(project, ada, "an issue") };
        write(store, |tx| tx.issues().insert(new)).id
    });
    write(store, |tx| tx.milestones().delete(goal));
    read(store, |tx| {
        assert_eq!(tx.milestones().find(project, goal)?, None);
        assert!(tx.milestones().find(project, other)?.is_some());
        let milestone_of = |issue: Option<Issue>| issue.and_then(|issue| issue.milestone);
        assert_eq!(milestone_of(tx.issues().find(project, one)?), None);
        assert_eq!(milestone_of(tx.issues().find(project, two)?), Some(other));
        Ok(())
    });
    write(store, |tx| tx.milestones().insert(a_milestone(project, "1.0")));
}
