//! Issues; see [`Issues`](hexforge_domain::issue::port::Issues).

use super::check::{project as project_now, read, write};
use super::issuables::details_of;
use super::labels::{a_project_with_owner, reload};
use crate::builders::{
    a_day, a_milestone, a_note, a_project, a_title, a_user, an_event, an_issue, at, day, home_of,
    label_in,
};
use hexforge_domain::event::{EventAction, EventTarget, NewEvent};
use hexforge_domain::id::{IssueId, LabelId, ProjectId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::issue::{Issue, IssueState, NewIssue};
use hexforge_domain::label::LabelCounts;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::project::Project;
use hexforge_domain::subscription::Subscribed;
use hexforge_domain::text::LongText;
use std::thread;

fn open_issues(store: &dyn Store, project: ProjectId) -> u32 {
    project_now(store, project).open_issues_count
}

/// All fields are read back as they were written, also after an update.
pub fn an_issue_has_every_field(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let goal = write(store, |tx| tx.milestones().insert(a_milestone(project, "1.0"))).id;
    let new = NewIssue {
        assignee: Some(bob),
        milestone: Some(goal),
        description: LongText::parse("Don't \"quote\" 🦀").ok(),
        confidential: true,
        due_date: Some(day(3)),
        created_at: at(-100),
        ..an_issue(project, ada, "it breaks 🦀")
    };
    let made = write(store, |tx| tx.issues().insert(new.clone()));
    let expected = Issue {
        id: made.id,
        iid: 1,
        project,
        author: ada,
        assignee: Some(bob),
        milestone: Some(goal),
        updated_by: None,
        moved_to: None,
        title: new.title,
        description: new.description,
        state: IssueState::Opened,
        confidential: true,
        due_date: new.due_date,
        user_notes_count: 0,
        created_at: at(-100),
        updated_at: new.at,
    };
    assert_eq!(made, expected);
    assert_eq!(read(store, |tx| tx.issues().find(project, made.id)), Some(expected));
    let other = write(store, |tx| tx.issues().insert(an_issue(project, bob, "other")));
    let changed = Issue {
        assignee: None,
        milestone: None,
        updated_by: Some(bob),
        moved_to: Some(other.id),
        title: a_title("it broke"),
        description: None,
        state: IssueState::Closed,
        confidential: false,
        due_date: None,
        created_at: at(-50),
        updated_at: at(50),
        ..made
    };
    write(store, |tx| tx.issues().update(&changed));
    read(store, |tx| {
        assert_eq!(tx.issues().find(project, changed.id)?, Some(changed.clone()));
        assert_eq!(tx.issues().find(ProjectId(i64::MAX), changed.id)?, None);
        assert_eq!(
            tx.issues().find_all(&[changed.id, IssueId(i64::MAX)])?,
            std::slice::from_ref(&changed)
        );
        Ok(())
    });
}

/// Numbers are unique also after deletions and rolled back transactions.
pub fn numbers_are_given_once_in_each_project(store: &dyn Store) {
    let ((project, ada), (other, bob)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let insert = |project, author| {
        write(store, |tx| tx.issues().insert(an_issue(project, author, "an issue")))
    };
    let [one, two] = [1, 2].map(|number| {
        let issue = insert(project, ada);
        assert_eq!(issue.iid, number);
        issue
    });
    assert_eq!(insert(other, bob).iid, 1);
    write(store, |tx| {
        tx.issues().delete(two.id)?;
        tx.issues().delete(one.id)
    });
    let failed: Result<(), StoreError> = store.write(|tx| {
        tx.issues().insert(an_issue(project, ada, "never was"))?;
        Err(StoreError::Busy)
    });
    assert!(failed.is_err());
    assert_eq!(insert(project, ada).iid, 3);
}

/// Each concurrent insert gets its own number, and no number is skipped.
pub fn issues_made_at_once_have_numbers_without_gaps(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let mut numbers: Vec<i64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..5)
            .map(|_| {
                scope.spawn(|| {
                    let insert = |_| {
                        write(store, |tx| {
                            tx.projects().lock(project)?;
                            tx.issues().insert(an_issue(project, ada, "an issue"))
                        })
                        .iid
                    };
                    (0..10).map(insert).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no thread fails")).collect()
    });
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=50).collect::<Vec<i64>>());
    assert_eq!(open_issues(store, project), 50);
}

/// The counter is right after each kind of change.
pub fn open_issues_of_a_project_are_counted(store: &dyn Store) {
    let ((project, ada), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let insert = |confidential| {
        let new = NewIssue { confidential, ..an_issue(project, ada, "an issue") };
        write(store, |tx| tx.issues().insert(new))
    };
    let (one, two) = (insert(false), insert(true));
    assert_eq!((open_issues(store, project), open_issues(store, other)), (2, 0));
    let set = |issue: &Issue, state, expected| {
        write(store, |tx| tx.issues().update(&Issue { state, ..issue.clone() }));
        assert_eq!(open_issues(store, project), expected, "{state:?}");
    };
    set(&one, IssueState::Closed, 1);
    set(&one, IssueState::Closed, 1);
    set(&one, IssueState::Reopened, 2);
    set(&one, IssueState::Opened, 2);
    set(&two, IssueState::Closed, 1);
    write(store, |tx| tx.issues().delete(two.id));
    assert_eq!(open_issues(store, project), 1);
    write(store, |tx| tx.issues().delete(one.id));
    write(store, |tx| tx.issues().delete(one.id));
    assert_eq!(open_issues(store, project), 0);
}

/// Open and closed issues, confidential or not, are counted separately, also after changes of
/// labels and issues.
pub fn issues_with_a_label_are_counted_by_kind(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [bug, wish] = ["bug", "wish"].map(|title| label_in(store, project, title));
    let issue = write(store, |tx| {
        let issue = tx.issues().insert(an_issue(project, ada, "an issue"))?;
        let other = tx.issues().insert(an_issue(project, ada, "another"))?;
        tx.issues().set_labels(issue.id, &[bug.id, wish.id, bug.id])?;
        tx.issues().set_labels(other.id, &[bug.id])?;
        Ok(issue)
    });
    let assert_counts = |bugs: [u32; 4], wishes: [u32; 4]| {
        let counts = |label| {
            let LabelCounts { open, closed, open_confidential, closed_confidential } =
                reload(store, label).counts;
            [open, closed, open_confidential, closed_confidential]
        };
        assert_eq!((counts(&bug), counts(&wish)), (bugs, wishes));
    };
    assert_counts([2, 0, 0, 0], [1, 0, 0, 0]);
    let update = |state, confidential| {
        write(store, |tx| tx.issues().update(&Issue { state, confidential, ..issue.clone() }));
    };
    update(IssueState::Closed, false);
    assert_counts([1, 1, 0, 0], [0, 1, 0, 0]);
    update(IssueState::Closed, true);
    assert_counts([1, 0, 0, 1], [0, 0, 0, 1]);
    update(IssueState::Reopened, true);
    assert_counts([1, 0, 1, 0], [0, 0, 1, 0]);
    let set = |labels: &[LabelId]| write(store, |tx| tx.issues().set_labels(issue.id, labels));
    set(&[wish.id]);
    assert_counts([1, 0, 0, 0], [0, 0, 1, 0]);
    set(&[]);
    assert_counts([1, 0, 0, 0], [0, 0, 0, 0]);
    set(&[bug.id, wish.id]);
    update(IssueState::Opened, false);
    assert_counts([2, 0, 0, 0], [1, 0, 0, 0]);
    write(store, |tx| tx.issues().delete(issue.id));
    assert_counts([1, 0, 0, 0], [0, 0, 0, 0]);
}

/// The counters of a stale project do not overwrite the stored ones.
pub fn updating_a_project_does_not_overwrite_the_count_of_issues(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let before: Project = project_now(store, project);
    write(store, |tx| {
        tx.issues().insert(an_issue(project, ada, "an issue"))?;
        tx.projects().update(&before)
    });
    assert_eq!(open_issues(store, project), 1);
}

/// Labels are ordered by issue, then by the bytes of the title.
pub fn labels_of_issues_come_by_title(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [beta, alpha, zeta] =
        ["beta", "alpha", "Zeta"].map(|title| label_in(store, project, title).id);
    let issues = write(store, |tx| {
        let mut issues = Vec::new();
        for labels in [&[beta, alpha, zeta][..], &[], &[beta]] {
            let issue = tx.issues().insert(an_issue(project, ada, "an issue"))?.id;
            tx.issues().set_labels(issue, labels)?;
            issues.push(issue);
        }
        Ok(issues)
    });
    let found = read(store, |tx| tx.issues().labels_of(&issues));
    let found: Vec<_> = found.iter().map(|(i, l, title)| (*i, *l, title.as_str())).collect();
    let expected = [
        (issues[0], zeta, "Zeta"),
        (issues[0], alpha, "alpha"),
        (issues[0], beta, "beta"),
        (issues[2], beta, "beta"),
    ];
    assert_eq!(found, expected);
    assert_eq!(read(store, |tx| tx.issues().labels_of(&[])), []);
}

fn event_on(project: ProjectId, author: hexforge_domain::id::UserId, issue: IssueId) -> NewEvent {
    let target = EventTarget {
        kind: "Issue".into(),
        id: Some(issue.0),
        title: None,
        belongs_to: Some(issue.into()),
    };
    NewEvent { action: EventAction::Opened, target: Some(target), ..an_event(project, author) }
}

/// Rows of other issues are kept.
pub fn a_deleted_issue_takes_everything_along(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [gone, stays] = write(store, |tx| {
        let mut issues = Vec::new();
        for title in ["gone", "stays"] {
            let issue = tx.issues().insert(an_issue(project, ada, title))?.id;
            tx.notes().insert(a_note(project, issue, ada, "a note"))?;
            tx.issuables().subscribe(issue.into(), ada, Subscribed::Yes)?;
            tx.issuables().participate(issue.into(), ada)?;
            tx.events().insert(event_on(project, ada, issue))?;
            issues.push(issue);
        }
        let mut moved = tx.issues().find(project, issues[1])?.expect("it was just made");
        moved.moved_to = Some(issues[0]);
        tx.issues().update(&moved)?;
        tx.issues().delete(issues[0])?;
        Ok([issues[0], issues[1]])
    });
    for (issue, expected) in [(gone, false), (stays, true)] {
        let details = details_of(store, ada, &[issue.into()]).pop().map(|(_, one)| one);
        let details = details.unwrap_or_default();
        assert_eq!((details.subscription.is_some(), details.participates), (expected, expected));
    }
    read(store, |tx| {
        assert_eq!(tx.issues().find(project, gone)?, None);
        assert_eq!(tx.issues().find(project, stays)?.and_then(|issue| issue.moved_to), None);
        for (issue, expected) in [(gone, 0), (stays, 1)] {
            assert_eq!(tx.notes().list(issue.into(), None, Page::Whole)?.total, expected);
        }
        let events = tx.events().of_project(project, Clearance::All, a_day(), Page::Whole)?;
        assert_eq!(events.total, 1);
        Ok(())
    });
}

/// See [`Users::delete`](hexforge_domain::user::port::Users::delete).
pub fn issues_and_notes_of_a_deleted_user_are_deleted_and_not_counted(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let home = a_project("home", home_of(store, bob), bob).stored_in(store).id;
    let bug = label_in(store, project, "bug");
    let stays = write(store, |tx| {
        let stays = tx.issues().insert(an_issue(project, ada, "stays"))?;
        let written = tx.issues().insert(an_issue(project, bob, "written"))?;
        let to_do = NewIssue { assignee: Some(bob), ..an_issue(project, ada, "to do") };
        let to_do = tx.issues().insert(to_do)?;
        let done = Issue { state: IssueState::Closed, confidential: true, ..to_do };
        tx.issues().update(&done)?;
        for issue in [stays.id, written.id, done.id] {
            tx.issues().set_labels(issue, &[bug.id])?;
        }
        tx.issues().insert(an_issue(home, bob, "at home"))?;
        tx.issues().insert(an_issue(home, ada, "at home"))?;
        for author in [ada, bob, bob] {
            tx.notes().insert(a_note(project, stays.id, author, "a note"))?;
        }
        let system = hexforge_domain::note::NewNote {
            system: true,
            ..a_note(project, stays.id, bob, "closed")
        };
        tx.notes().insert(system)?;
        tx.events().insert(event_on(project, ada, written.id))?;
        Ok(stays.id)
    });
    let counts = reload(store, &bug).counts;
    assert_eq!((counts.open, counts.closed_confidential), (2, 1));
    write(store, |tx| tx.users().delete(bob));
    assert_eq!(open_issues(store, project), 1);
    assert_eq!(reload(store, &bug).counts, LabelCounts { open: 1, ..LabelCounts::default() });
    read(store, |tx| {
        let issue = tx.issues().find(project, stays)?.expect("ada is there");
        assert_eq!(issue.user_notes_count, 1);
        assert_eq!(tx.notes().list(stays.into(), None, Page::Whole)?.total, 1);
        let events = tx.events().of_project(project, Clearance::All, a_day(), Page::Whole)?;
        assert_eq!(events.total, 0);
        Ok(())
    });
}

/// Only issues of the project are found.
pub fn issues_are_found_by_their_numbers(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let (other, _) = a_project_with_owner(store, "bob");
    let issues: Vec<Issue> = ["one", "two", "three"]
        .map(|title| write(store, |tx| tx.issues().insert(an_issue(project, ada, title))))
        .into();
    let found = |project, iids: &[i64]| {
        let mut found = read(store, |tx| tx.issues().find_by_iids(project, iids));
        found.sort_by_key(|issue| issue.iid);
        found
    };
    assert_eq!(found(project, &[3, 1, 9]), [issues[0].clone(), issues[2].clone()]);
    assert_eq!(found(project, &[]), []);
    assert_eq!(found(other, &[1]), []);
}
