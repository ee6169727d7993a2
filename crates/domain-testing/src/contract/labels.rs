//! Labels; see [`Labels`](hexforge_domain::label::port::Labels).

use super::check::{assert_duplicate, assert_pages, read, write};
use crate::builders::{a_label, a_project, a_user, an_issue, at, home_of, insert_label, label_in};
use hexforge_domain::id::{LabelId, ProjectId, UserId};
use hexforge_domain::issue::NewIssue;
use hexforge_domain::label::{
    Color, ColorRule, Label, LabelCounts, LabelTitle, Priority, VisibleCounts,
};
use hexforge_domain::label::{LabelDescription, NewLabel};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::subscription::Subscribed;

/// Creates a user with a project.
pub(super) fn a_project_with_owner(store: &dyn Store, name: &str) -> (ProjectId, UserId) {
    let user = a_user(name).stored_in(store).id;
    (a_project("site", home_of(store, user), user).stored_in(store).id, user)
}

/// Reads the current row of a label.
pub(super) fn reload(store: &dyn Store, label: &Label) -> Label {
    read(store, |tx| tx.labels().find(label.project, label.id)).expect("the label is there")
}

/// All fields are read back as they were written, also after an update.
pub fn a_label_has_every_field(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let new = NewLabel {
        color: Color::parse("#fF0000", ColorRule::Long).expect("a colour"),
        description: LabelDescription::parse("Don't \"quote\" 🦀").ok(),
        priority: Priority::parse(i64::MAX).ok(),
        ..a_label("to do 🦀")
    };
    let made =
        write(store, |tx| tx.labels().insert_all(project, vec![new.clone(), a_label("bare")]));
    let found = |title: &str| read(store, |tx| tx.labels().find_by_title(project, title));
    let label = found("to do 🦀").expect("it was made");
    assert_eq!(made, [found("bare").expect("it was made"), label.clone()]);
    let expected = Label {
        id: label.id,
        project,
        of_group: None,
        title: new.title,
        color: new.color,
        description: new.description,
        priority: new.priority,
        counts: LabelCounts::default(),
    };
    assert_eq!(label, expected);
    let bare = found("bare").expect("it was made");
    assert_eq!((bare.color.as_str(), bare.description, bare.priority), ("#428BCA", None, None));
    let changed = Label {
        title: LabelTitle::parse("done").expect("a title"),
        color: Color::default(),
        description: None,
        priority: Priority::parse(0).ok(),
        ..label
    };
    write(store, |tx| tx.labels().update(&changed, at(1)));
    assert_eq!(reload(store, &changed), changed);
    assert_eq!(found("to do 🦀"), None);
    assert_eq!(found("Done"), None);
    assert_eq!(found("do\0ne"), None);
    let elsewhere = read(store, |tx| tx.labels().find(ProjectId(i64::MAX), changed.id));
    assert_eq!(elsewhere, None);
    let all = read(store, |tx| tx.labels().find_all(&[changed.id, LabelId(i64::MAX)]));
    assert_eq!(all, [changed]);
}

/// Upper case sorts first, and labels of other projects are not listed.
pub fn labels_are_listed_by_title_byte_by_byte(store: &dyn Store) {
    let ((project, _), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let titles = ["alpha", "Zeta", "beta", "a b", "éclair"];
    for title in titles {
        label_in(store, project, title);
    }
    label_in(store, other, "alpha");
    let named = |title: &str| read(store, |tx| tx.labels().find_by_title(project, title));
    let sorted = ["Zeta", "a b", "alpha", "beta", "éclair"].map(named);
    let expected: Vec<Label> = sorted.into_iter().flatten().collect();
    assert_pages(store, &expected, |tx, page| tx.labels().list(project, page));
    let of_both = read(store, |tx| tx.labels().list_of(&[project, other], 4));
    let titles: Vec<&str> = of_both.iter().map(|label| label.title.as_str()).collect();
    assert_eq!(titles, ["Zeta", "a b", "alpha", "alpha"]);
    assert_eq!(read(store, |tx| tx.labels().list_of(&[project], 9)), expected);
    assert_eq!(read(store, |tx| tx.labels().list_of(&[], 9)), []);
    let asked = ["éclair", "alpha", "none"].map(|title| LabelTitle::parse(title).expect("a title"));
    let found = read(store, |tx| tx.labels().find_by_titles(project, &asked));
    assert_eq!(found, [expected[2].clone(), expected[4].clone()]);
    assert_eq!(read(store, |tx| tx.labels().find_by_titles(project, &[])), []);
}

/// Titles are case-sensitive, and unique per project only.
pub fn titles_of_labels_are_unique_in_a_project(store: &dyn Store) {
    let ((project, _), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let bug = label_in(store, project, "bug");
    label_in(store, other, "bug");
    label_in(store, project, "Bug");
    assert_duplicate(store, "title", |tx| insert_label(tx, project, "bug"));
    let title = LabelTitle::parse("Bug").expect("a title");
    let renamed = Label { title, ..bug };
    assert_duplicate(store, "title", |tx| tx.labels().update(&renamed, at(1)));
}

/// Issues refer to labels by id, not by title.
pub fn issues_keep_a_renamed_label(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bug = label_in(store, project, "bug");
    let issue = write(store, |tx| {
        let issue = tx.issues().insert(an_issue(project, ada, "it breaks"))?;
        tx.issues().set_labels(issue.id, &[bug.id])?;
        let title = LabelTitle::parse("defect").expect("a title");
        tx.labels().update(&Label { title, ..bug.clone() }, at(1))?;
        Ok(issue.id)
    });
    let labels = read(store, |tx| tx.issues().labels_of(&[issue]));
    assert_eq!(labels.len(), 1);
    assert_eq!((labels[0].1, labels[0].2.as_str()), (bug.id, "defect"));
    assert_eq!(reload(store, &bug).counts.open, 1);
}

/// Issues are kept, and the positions of board lists stay consecutive.
pub fn a_deleted_label_is_gone_from_everything(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [one, two, three] = ["one", "two", "three"].map(|title| label_in(store, project, title));
    let (issue, board) = write(store, |tx| {
        let issue = tx.issues().insert(an_issue(project, ada, "it breaks"))?;
        tx.issues().set_labels(issue.id, &[one.id, two.id])?;
        tx.labels().subscribe(one.id, ada, Subscribed::Yes)?;
        let board = tx.boards().insert(project)?;
        for label in [&one, &two, &three] {
            tx.boards().insert_list(board.id, label.id, at(0))?;
        }
        tx.labels().delete(one.id)?;
        Ok((issue.id, board.id))
    });
    read(store, |tx| {
        assert_eq!(tx.labels().find(project, one.id)?, None);
        let left: Vec<LabelId> = tx.issues().labels_of(&[issue])?.iter().map(|l| l.1).collect();
        assert_eq!(left, [two.id]);
        assert_eq!(tx.labels().subscribed(ada, &[one.id, two.id])?, []);
        let lists = tx.boards().lists(board, Page::Whole)?.items;
        let places: Vec<_> = lists.iter().map(|list| (list.label, list.position)).collect();
        assert_eq!(places, [(two.id, 0), (three.id, 1)]);
        Ok(())
    });
    label_in(store, project, "one");
}

/// Subscriptions of other users do not change, and repeating a subscription has no effect.
pub fn subscriptions_to_labels_are_those_of_one_user(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let [one, two] = ["one", "two"].map(|title| label_in(store, project, title).id);
    let hears = |user| read(store, |tx| tx.labels().subscribed(user, &[one, two]));
    for (subscribed, expected) in [
        (Subscribed::No, vec![]),
        (Subscribed::Yes, vec![one]),
        (Subscribed::Yes, vec![one]),
        (Subscribed::No, vec![]),
        (Subscribed::No, vec![]),
    ] {
        write(store, |tx| tx.labels().subscribe(one, ada, subscribed));
        assert_eq!((hears(ada), hears(bob)), (expected, vec![]), "{subscribed:?}");
    }
}

/// Issues count for the author and for the assignee, and once for a user who is both.
pub fn confidential_issues_with_a_label_are_counted_for_those_they_concern(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [bob, eve] = ["bob", "eve"].map(|name| a_user(name).stored_in(store).id);
    let [bug, free] = ["bug", "free"].map(|title| label_in(store, project, title).id);
    write(store, |tx| {
        for (author, assignee, confidential, closed) in [
            (ada, None, true, false),
            (ada, Some(bob), true, false),
            (bob, Some(bob), true, true),
            (eve, None, false, false),
        ] {
            let new = NewIssue { assignee, confidential, ..an_issue(project, author, "secret") };
            let mut issue = tx.issues().insert(new)?;
            tx.issues().set_labels(issue.id, &[bug])?;
            if closed {
                issue.state = hexforge_domain::issue::IssueState::Closed;
                tx.issues().update(&issue)?;
            }
        }
        Ok(())
    });
    let seen = |user| {
        let found = read(store, |tx| tx.labels().count_confidential(project, user, &[bug, free]));
        let of = |label| found.iter().find(|(id, _)| *id == label).map(|(_, counts)| *counts);
        assert_eq!(of(free).unwrap_or_default(), VisibleCounts::default());
        of(bug).unwrap_or_default()
    };
    assert_eq!(seen(ada), VisibleCounts { open: 2, closed: 0 });
    assert_eq!(seen(bob), VisibleCounts { open: 1, closed: 1 });
    assert_eq!(seen(eve), VisibleCounts::default());
    assert_eq!(read(store, |tx| tx.labels().count_confidential(project, ada, &[])), []);
}
