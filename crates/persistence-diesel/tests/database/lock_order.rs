//! Concurrent changes to the same few rows do not deadlock, and all counters stay correct.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::databases;
use hexforge_domain::id::{NamespaceId, ProjectId, RepositoryTaskId, UserId};
use hexforge_domain::issue::query::{Clearance, IssueFilter, IssueScope};
use hexforge_domain::issue::{Issue, IssueState, NewIssue};
use hexforge_domain::member::request::RequestSource;
use hexforge_domain::member::{AccessLevel, Membership};
use hexforge_domain::namespace::NamespacePath;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::project::query::{ProjectFilter, ProjectOrder, ProjectScope};
use hexforge_domain::project::{ProjectName, Starred};
use hexforge_domain::repository::task::RepositoryTask;
use hexforge_domain::user::{UserFilter, Username};
use hexforge_domain::visibility::Visibility;
use hexforge_domain_testing::builders::{
    a_branch, a_day, a_group, a_member, a_moment, a_note, a_project, a_protection, a_share, a_user,
    an_event, an_import, an_issue, at, insert_label,
};
use hexforge_persistence_diesel::Options;

const THREADS: u64 = 8;
const LONG: Duration = Duration::from_secs(2);

/// A pseudo-random number generator. Each thread has a fixed seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).expect("less than the sides")
    }

    fn pick<T: Copy>(&mut self, things: &[T]) -> Option<T> {
        if things.is_empty() { None } else { Some(things[self.roll(things.len())]) }
    }
}

/// The entities that a thread found before its next changes. Other threads may remove them meanwhile.
struct Entities {
    users: Vec<UserId>,
    groups: Vec<NamespaceId>,
    projects: Vec<ProjectId>,
    /// Claimed tasks. Other threads may have claimed them as well.
    tasks: Vec<(RepositoryTaskId, ProjectId)>,
}

fn find_entities(store: &dyn Store) -> Entities {
    let all = ProjectFilter {
        scope: ProjectScope::All,
        archived: None,
        visibility: None,
        search: None,
        order: ProjectOrder::Id,
        descending: false,
        builds_first: false,
        today: a_day(),
    };
    let claim = || -> Result<Option<RepositoryTask>, StoreError> {
        // The claim has already expired, so that several threads get the same task.
        store.write(|tx| tx.repository_tasks().claim(at(2), at(1)))
    };
    let tasks = [claim(), claim()].into_iter().flat_map(|task| task.expect("a worker may ask"));
    let tasks = tasks.map(|task| (task.id, task.project)).collect();
    let entities: Result<Entities, StoreError> = store.read(|tx| {
        let users = tx.users().list(&UserFilter::default(), Page::Whole)?.items;
        let spaces = tx.namespaces().list(None, None, Page::Whole)?.items;
        let projects = tx.projects().list(&all, Page::Whole)?.items;
        Ok(Entities {
            users: users.iter().map(|user| user.id).collect(),
            groups: spaces.iter().filter(|n| n.owner.is_none()).map(|n| n.id).collect(),
            projects: projects.iter().map(|project| project.id).collect(),
            tasks,
        })
    });
    entities.expect("reading succeeds")
}

/// Makes one random change. `new` is an unused name.
fn make_random_change(
    tx: &mut dyn Tx,
    entities: &Entities,
    dice: &mut Dice,
    new: &str,
) -> Result<(), StoreError> {
    let kind = dice.roll(23);
    let (user, other) = (dice.pick(&entities.users), dice.pick(&entities.users));
    let (group, project) = (dice.pick(&entities.groups), dice.pick(&entities.projects));
    let (Some(user), Some(other), Some(group), Some(project)) = (user, other, group, project)
    else {
        return insert_entities(tx, new);
    };
    // These changes lock the project first and need it to exist.
    if matches!(kind, 3 | 15 | 16 | 18 | 19) && tx.projects().lock(project)?.is_none() {
        return Ok(());
    }
    match kind {
        // Few users, so that threads change the same rows.
        0 | 1 if entities.users.len() < 8 => insert_entities(tx, new),
        0 | 1 => Ok(()),
        2 => {
            let starred = if dice.roll(2) == 0 { Starred::Yes } else { Starred::No };
            tx.stars().put(project, user, starred, a_moment())
        }
        3 => {
            tx.stars().put(project, user, Starred::Yes, a_moment())?;
            tx.events().insert(an_event(project, user)).map(drop)
        }
        4 => {
            tx.events().insert(an_event(project, user))?;
            tx.projects().record_activity(project, a_moment())
        }
        5 if dice.roll(3) == 0 => {
            // Makes a project a fork of another one, or removes that relation.
            let source = dice.pick(&entities.projects).filter(|source| *source != project);
            let locked = tx.projects().lock_all(&[project, source.unwrap_or(project)])?;
            let found = locked.into_iter().find(|found| found.id == project);
            let Some(mut found) = found else { return Ok(()) };
            found.forked_from = source.filter(|_| found.forked_from.is_none());
            tx.projects().update(&found)
        }
        5 => {
            let Some(home) = tx.namespaces().personal(user)? else { return Ok(()) };
            let made = a_project(new, home.id, user).public().forked_from(project).insert(tx)?;
            tx.project_members().insert(made.id, a_member(user, AccessLevel::Master))?;
            tx.events().insert(an_event(made.id, user)).map(drop)
        }
        6 => {
            tx.groups().lock(group)?;
            a_project(new, group, user).insert(tx)?;
            Ok(())
        }
        7 => {
            let Some(mut found) = tx.projects().lock(project)? else { return Ok(()) };
            found.name = ProjectName::parse(new).expect("letters and digits");
            found.visibility = Visibility::Internal;
            tx.projects().update(&found)?;
            tx.projects().lower_forks(project, a_moment())
        }
        8 => {
            tx.removals().begin()?;
            tx.projects().lock(project)?;
            tx.projects().delete(project)
        }
        9 => {
            let Some(mut found) = tx.users().lock(user)? else { return Ok(()) };
            found.username = Username::parse(new).expect("letters and digits");
            tx.users().update(&found)?;
            let path = NamespacePath::parse(new).expect("letters and digits");
            tx.namespaces().rename_personal(user, &path, a_moment())
        }
        10 => {
            tx.removals().begin()?;
            tx.users().lock(user)?;
            tx.users().delete(user)
        }
        11 => {
            if tx.project_members().find(project, other)?.is_none() {
                tx.project_members().insert(project, a_member(other, AccessLevel::Guest))?;
            } else {
                tx.project_members().delete(project, other)?;
            }
            tx.events().insert(an_event(project, other)).map(drop)
        }
        12 => {
            tx.groups().lock(group)?;
            match tx.group_members().find(group, other)? {
                None => tx.group_members().insert(group, a_member(other, AccessLevel::Owner)),
                Some(member) => {
                    let level = AccessLevel::Guest;
                    tx.group_members().update(group, Membership { level, ..member })
                }
            }
        }
        13 => tx.repository_tasks().insert(project, &an_import(user), a_moment()).map(drop),
        14 => {
            let Some((task, project)) = dice.pick(&entities.tasks) else { return Ok(()) };
            match dice.roll(3) {
                0 => tx.repository_tasks().fail(task, "no answer", None),
                // A finished task also inserts an event, in either order.
                1 => {
                    tx.repository_tasks().finish(task)?;
                    tx.events().insert(an_event(project, user)).map(drop)
                }
                _ => {
                    tx.events().insert(an_event(project, user))?;
                    tx.repository_tasks().finish(task)
                }
            }
        }
        15 => {
            tx.projects().set_default_branch(project, Some(&a_branch("master")))?;
            tx.protections().put(project, &a_protection("master"))?;
            tx.events().insert(an_event(project, user)).map(drop)
        }
        16 => {
            let source = RequestSource::Project(project);
            if tx.access_requests().find(source, other)?.is_none() {
                return tx.access_requests().insert(source, other, a_moment());
            }
            tx.access_requests().delete(source, other)?;
            if tx.project_members().find(project, other)?.is_none() {
                tx.project_members().insert(project, a_member(other, AccessLevel::Guest))?;
            }
            tx.events().insert(an_event(project, other)).map(drop)
        }
        17 => write_issue(tx, project, user, other),
        18 | 19 => change_issue(tx, project, user, dice),
        20 => tx.removals().step(50).map(drop),
        _ => match dice.roll(3) {
            0 => {
                tx.removals().begin()?;
                tx.groups().lock(group)?;
                tx.groups().delete(group)
            }
            _ => {
                tx.groups().prevent_deletion(group)?;
                tx.projects().lock(project)?;
                tx.shares().insert(a_share(project, group, AccessLevel::Guest)).map(drop)
            }
        },
    }
}

/// Inserts an issue of a user, with a label and another user as assignee.
fn write_issue(
    tx: &mut dyn Tx,
    project: ProjectId,
    user: UserId,
    other: UserId,
) -> Result<(), StoreError> {
    if tx.projects().lock(project)?.is_none() {
        return Ok(());
    }
    let label = match tx.labels().find_by_title(project, "bug")? {
        Some(label) => label,
        None => insert_label(tx, project, "bug")?,
    };
    let new = NewIssue { assignee: Some(other), ..an_issue(project, user, "an issue") };
    let issue = tx.issues().insert(new)?;
    tx.issues().set_labels(issue.id, &[label.id])?;
    tx.issuables().participate(issue.id.into(), user)?;
    tx.events().insert(an_event(project, user))?;
    tx.projects().record_activity(project, a_moment())
}

/// Closes, reopens, removes or comments on a random issue.
fn change_issue(
    tx: &mut dyn Tx,
    project: ProjectId,
    user: UserId,
    dice: &mut Dice,
) -> Result<(), StoreError> {
    let issues = all_issues(tx, project)?;
    if issues.is_empty() {
        return Ok(());
    }
    let issue = issues[dice.roll(issues.len())].clone();
    match dice.roll(4) {
        0 => tx.issues().delete(issue.id),
        1 => tx.notes().insert(a_note(project, issue.id, user, "a note")).map(drop),
        roll => {
            let state = if roll == 2 { IssueState::Closed } else { IssueState::Reopened };
            tx.issues().update(&Issue { state, updated_by: Some(user), ..issue })
        }
    }
}

fn all_issues(tx: &mut dyn Tx, project: ProjectId) -> Result<Vec<Issue>, StoreError> {
    let scope = IssueScope::Project(project);
    let filter = IssueFilter::newest_first(scope, Clearance::All, a_day());
    Ok(tx.issues().list(&filter, Page::Whole)?.items)
}

/// Inserts a user with a project, and a group with a fork of it.
fn insert_entities(tx: &mut dyn Tx, new: &str) -> Result<(), StoreError> {
    let user = a_user(&format!("u{new}")).insert(tx)?;
    tx.namespaces().insert_personal(user.id, user.username.path(), a_moment())?;
    let home = tx.namespaces().personal(user.id)?.expect("just made");
    let source = a_project(&format!("h{new}"), home.id, user.id).public().insert(tx)?;
    let group = a_group(&format!("g{new}")).owner(user.id).insert(tx)?;
    a_project(&format!("f{new}"), group.id, user.id).forked_from(source.id).insert(tx).map(drop)
}

#[test]
fn nobody_waits_for_somebody_who_waits_for_them() {
    for database in databases() {
        let store = database.open(Options::default());
        let store: &dyn Store = &store;
        let inserted: Result<(), StoreError> =
            store.write(|tx| (0..5).try_for_each(|n| insert_entities(tx, &format!("first{n}"))));
        inserted.expect("an empty store takes everything");
        let (until, done) = (Instant::now() + LONG, AtomicU64::new(0));
        thread::scope(|scope| {
            for number in 1..=THREADS {
                let done = &done;
                scope.spawn(move || {
                    let mut dice = Dice(number * 7919);
                    while Instant::now() < until {
                        let entities = find_entities(store);
                        for _ in 0..10 {
                            let new = format!("n{}", done.fetch_add(1, Ordering::Relaxed));
                            match store
                                .write(|tx| make_random_change(tx, &entities, &mut dice, &new))
                            {
                                // Another thread may have removed or inserted the row meanwhile.
                                Ok(()) | Err(StoreError::Gone | StoreError::Duplicate(_)) => (),
                                Err(error) => panic!("{error:?}"),
                            }
                        }
                    }
                });
            }
        });
        assert_counters_are_right(store);
    }
}

/// Checks all counters against stars, forks, issues, labels and notes.
fn assert_counters_are_right(store: &dyn Store) {
    let entities = find_entities(store);
    let counted: Result<(), StoreError> = store.read(|tx| {
        for (user, counter) in tx.projects().count_personal(&entities.users)? {
            let home = tx.namespaces().personal(user)?.expect("every user has one");
            assert_eq!(counter, tx.projects().count_in(home.id)?, "{user}");
        }
        let all = tx.projects().find_all(&entities.projects)?;
        for project in &all {
            let mut stars = 0;
            for user in &entities.users {
                stars += u32::from(tx.stars().find(project.id, *user)? == Starred::Yes);
            }
            assert_eq!(project.star_count, stars, "{project:?}");
            let forks = all.iter().filter(|fork| fork.forked_from == Some(project.id)).count();
            assert_eq!(project.forks_count as usize, forks, "{project:?}");
            let issues = all_issues(tx, project.id)?;
            let open = issues.iter().filter(|issue| issue.state.is_open()).count();
            assert_eq!(project.open_issues_count as usize, open, "{project:?}");
            if let Some(bug) = tx.labels().find_by_title(project.id, "bug")? {
                let counts = (bug.counts.open as usize, bug.counts.closed as usize);
                assert_eq!(counts, (open, issues.len() - open), "{project:?}");
            }
            for issue in issues {
                let notes = tx.notes().list(issue.id.into(), None, Page::Whole)?.total;
                assert_eq!(u64::from(issue.user_notes_count), notes, "{issue:?}");
            }
        }
        Ok(())
    });
    counted.expect("reading succeeds");
}
