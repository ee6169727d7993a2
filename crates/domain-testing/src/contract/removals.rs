//! Stepwise removal of deleted projects, groups and users; see
//! [`Removals`](hexforge_domain::removal::port::Removals). A store may delete all rows at once:
//! then the cases check the state after the deletion.

use super::check::{insider, read, write};
use super::deliveries::{ALL, claim_lanes, insert_deliveries};
use crate::builders::{
    a_build, a_day, a_definition, a_deployment, a_group, a_hook, a_label, a_merge_request,
    a_milestone, a_moment, a_note, a_pipeline, a_project, a_protection, a_release, a_runner,
    a_user, an_environment, an_event, an_issue, at, home_of, insert_label,
};
use hexforge_domain::Timestamp;
use hexforge_domain::build::{Build, NewBuild, Silence};
use hexforge_domain::delivery::HookRef;
use hexforge_domain::environment::{ExternalUrl, NewEnvironment};
use hexforge_domain::id::{LabelId, ProjectId, UserId};
use hexforge_domain::issue::query::{Clearance, IssueFilter, IssueScope};
use hexforge_domain::issue::{Issue, NewIssue};
use hexforge_domain::label::VisibleCounts;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::project::query::ListAudience;
use hexforge_domain::project::{ProjectRef, Starred};
use hexforge_domain::removal::Step;
use hexforge_domain::runner::{NewRunner, Runner};
use hexforge_domain::trigger::Trigger;

/// More rows than any store deletes together with their owner.
const MANY: usize = 2_500;

/// Removes all remaining rows in steps of `limit` rows; returns the projects whose last rows were
/// removed.
fn remove_remaining_rows(store: &dyn Store, limit: u32) -> Vec<ProjectId> {
    let mut gone = Vec::new();
    for _ in 0..10 * MANY {
        match write(store, |tx| tx.removals().step(limit)) {
            Step::Nothing => {
                assert!(!read(store, |tx| tx.removals().pending()));
                return gone;
            }
            Step::Rows => (),
            Step::Project(project) => gone.push(project),
            Step::LfsNetwork(network) => write(store, |tx| tx.lfs_objects().forget(network)),
        }
    }
    panic!("there is no end to what is left");
}

fn insert_many_rows(tx: &mut dyn Tx, project: ProjectId, author: UserId) -> Result<(), StoreError> {
    for _ in 0..MANY {
        tx.events().insert(an_event(project, author))?;
    }
    Ok(())
}

/// Rows of a project that can be looked up without looking up the project first.
struct ProjectRows {
    issue: Issue,
    build: Build,
    trigger: Trigger,
    runner: Runner,
    hook: HookRef,
}

fn insert_rows_of_each_kind(
    tx: &mut dyn Tx,
    project: ProjectId,
    user: UserId,
) -> Result<ProjectRows, StoreError> {
    let label = insert_label(tx, project, "bug")?;
    let milestone = tx.milestones().insert(a_milestone(project, "1.0"))?;
    let new = NewIssue { milestone: Some(milestone.id), ..an_issue(project, user, "an issue") };
    let issue = tx.issues().insert(new)?;
    tx.issues().set_labels(issue.id, &[label.id])?;
    tx.notes().insert(a_note(project, issue.id, user, "a note"))?;
    let request = tx.merge_requests().insert(a_merge_request(project, user, "a request"))?;
    tx.merge_requests().set_labels(request.id, &[label.id])?;
    tx.notes().insert(a_note(project, request.id, user, "a note"))?;
    let pipeline = tx.pipelines().insert(a_pipeline(project))?;
    let definition = tx.builds().define(pipeline.id, &a_definition())?;
    let build = tx.builds().insert(a_build(&pipeline, definition, "test"))?;
    let trigger = tx.triggers().insert(project, a_moment())?;
    let runner = tx.runners().insert(NewRunner { shared: false, ..a_runner("a runner") })?;
    tx.runners().bind(runner.id, project)?;
    let hook = tx.project_hooks().insert(project, a_hook("http://example.com"), a_moment())?;
    tx.protections().put(project, &a_protection("master"))?;
    tx.releases().insert(project, &a_release("v1", "text"), a_moment())?;
    tx.stars().put(project, user, Starred::Yes, a_moment())?;
    Ok(ProjectRows { issue, build, trigger, runner, hook: HookRef::Project(hook.id) })
}

/// Returns the number of rows that are found, by kind.
fn count_found_rows(
    store: &dyn Store,
    (project, user): (ProjectId, UserId),
    of: &ProjectRows,
    later: Timestamp,
) -> Vec<u64> {
    let claims = claim_lanes(store, later, ALL).len() as u64;
    let locked = write(store, |tx| tx.pipelines().lock(of.build.pipeline));
    read(store, |tx| {
        let authored = IssueScope::AuthoredBy(user, ListAudience::Unrestricted);
        let authored = IssueFilter::newest_first(authored, Clearance::All, a_day());
        let events =
            tx.events().authored_by(user, insider(user), Clearance::All, a_day(), Page::Whole)?;
        Ok(vec![
            u64::from(tx.projects().find(&ProjectRef::Id(project))?.is_some()),
            u64::from(events.total > 0),
            tx.issues().list(&authored, Page::Whole)?.total,
            u64::from(tx.builds().find(of.build.id)?.is_some()),
            u64::from(locked.is_some()),
            tx.builds().silent_since(Silence { pending: later, running: later }, 10)?.len() as u64,
            tx.builds().next_for(&of.runner, 10)?.len() as u64,
            tx.runners().newest_projects(of.runner.id, None, 9)?.len() as u64,
            u64::from(tx.triggers().find(of.trigger.id)?.is_some()),
            tx.project_hooks().of_projects(&[project])?.len() as u64,
            claims,
        ])
    })
}

/// From its deletion on, no rows of a project are found, and its name is free again.
pub fn a_removed_project_is_hidden_before_its_rows_are_deleted(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let home = home_of(store, ada);
    let project = a_project("site", home, ada).public().stored_in(store).id;
    let other = a_project("other", home, ada).public().stored_in(store).id;
    let all = write(store, |tx| {
        insert_many_rows(tx, project, bob)?;
        insert_rows_of_each_kind(tx, project, bob)
    });
    insert_deliveries(store, all.hook, &[1, 2, 3], at(0));
    let seen = |moment| count_found_rows(store, (project, bob), &all, at(moment));
    assert_eq!(seen(1_000_000), [1; 11]);
    insert_deliveries(store, all.hook, &[4], at(0));

    write(store, |tx| tx.projects().delete(project));
    assert_eq!(seen(2_000_000), [0; 11]);
    assert!(!read(store, |tx| tx.deliveries().any_due(at(2_000_000))));
    let again = a_project("site", home, ada).public().stored_in(store).id;
    assert_ne!(again, project);
    write(store, |tx| insert_many_rows(tx, other, bob));
    for id in remove_remaining_rows(store, 100) {
        assert_eq!(id, project);
    }
    assert_eq!(seen(3_000_000), [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let kept = read(store, |tx| {
        assert_eq!(tx.issues().find_all(&[all.issue.id])?, []);
        tx.events().of_project(other, Clearance::All, a_day(), Page::Whole)
    });
    assert_eq!(kept.total, MANY as u64);
}

/// The projects and labels of the group are deleted too. A new group with the same name has none of
/// them.
pub fn a_removed_group_is_hidden_before_its_rows_are_deleted(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let team = a_group("team").stored_in(store);
    let site = a_project("site", team.id, ada).public().stored_in(store).id;
    let label = write(store, |tx| {
        insert_many_rows(tx, site, ada)?;
        let label = tx.group_labels().insert(team.id, a_label("bug"))?;
        tx.group_labels().adapt_to_group(site)?;
        Ok(label.id)
    });
    write(store, |tx| tx.groups().delete(team.id));
    let again = a_group("team").stored_in(store);
    read(store, |tx| {
        assert_eq!(tx.namespaces().find(team.id)?, None);
        assert_eq!(tx.projects().find(&ProjectRef::Id(site))?, None);
        assert_eq!(tx.group_labels().list(again.id, Page::Whole)?.total, 0);
        Ok(())
    });
    for id in remove_remaining_rows(store, 300) {
        assert_eq!(id, site);
    }
    write(store, |tx| tx.group_labels().insert(again.id, a_label("bug")));
    assert_eq!(read(store, |tx| tx.labels().find_all(&[label])), []);
}

/// The counters change together with the removed rows of a user, and rows of other users are kept.
pub fn a_removed_user_is_hidden_before_its_rows_are_deleted(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let project = a_project("site", home_of(store, bob), bob).public().stored_in(store).id;
    let (label, his, request) = write(store, |tx| {
        let label = insert_label(tx, project, "bug")?.id;
        let his = tx.issues().insert(an_issue(project, bob, "by bob"))?;
        tx.issues().set_labels(his.id, &[label])?;
        for _ in 0..MANY {
            tx.notes().insert(a_note(project, his.id, ada, "a note"))?;
        }
        tx.notes().insert(a_note(project, his.id, bob, "a note"))?;
        let request = tx.merge_requests().insert(a_merge_request(project, bob, "by bob"))?;
        for number in 0..MANY {
            tx.notes().insert(a_note(project, request.id, ada, "a note"))?;
            if number % 10 == 0 {
                let hers = tx.merge_requests().insert(a_merge_request(project, ada, "by ada"))?;
                tx.merge_requests().set_labels(hers.id, &[label])?;
            }
        }
        for number in 0..3 {
            let by_her = an_issue(project, ada, "by ada");
            let for_her = NewIssue { assignee: Some(ada), ..an_issue(project, bob, "for ada") };
            for new in [by_her, for_her] {
                let issue = tx.issues().insert(NewIssue { confidential: number == 0, ..new })?;
                tx.issues().set_labels(issue.id, &[label])?;
            }
        }
        let pipeline = tx.pipelines().insert(a_pipeline(project))?;
        let definition = tx.builds().define(pipeline.id, &a_definition())?;
        let build = a_build(&pipeline, definition, "test");
        tx.builds().insert(NewBuild { user: Some(ada), ..build })?;
        Ok((label, his.id, request))
    });
    write(store, |tx| tx.users().delete(ada));
    assert_eq!(read(store, |tx| tx.users().find(ada)), None);
    let again = a_user("ada").stored_in(store).id;
    assert_ne!(again, ada);

    assert_eq!(remove_remaining_rows(store, 70), []);
    let one = VisibleCounts { open: 1, closed: 0 };
    read(store, |tx| {
        let issue = tx.issues().find(project, his)?.expect("it is not hers");
        assert_eq!(issue.user_notes_count, 1);
        let found = tx.projects().find(&ProjectRef::Id(project))?.expect("it is not hers");
        assert_eq!(found.open_issues_count, 1);
        let all = IssueFilter::newest_first(IssueScope::Project(project), Clearance::All, a_day());
        assert_eq!(tx.issues().list(&all, Page::Whole)?.total, 1);
        assert_eq!(counts(tx, label)?, one);
        assert_eq!(tx.merge_requests().find(project, request.id)?.as_ref(), Some(&request));
        let open = tx.merge_requests().open_counts(&[label], None)?;
        assert!(open.iter().all(|(_, count)| *count == 0), "{open:?}");
        Ok(())
    });
}

fn counts(tx: &mut dyn Tx, label: LabelId) -> Result<VisibleCounts, StoreError> {
    let label = tx.labels().find_all(&[label])?.pop().expect("it is not hers");
    Ok(label.counts.all())
}

/// The name and the URL of a removed environment are free at once.
pub fn a_removed_environment_is_hidden_before_its_rows_are_deleted(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let project = a_project("site", home_of(store, ada), ada).stored_in(store).id;
    let url = ExternalUrl::parse("http://example.com").expect("a valid URL");
    let new = || NewEnvironment {
        external_url: Some(url.clone()),
        ..an_environment(project, "production")
    };
    let (gone, kept, first) = write(store, |tx| {
        let pipeline = tx.pipelines().insert(a_pipeline(project))?;
        let definition = tx.builds().define(pipeline.id, &a_definition())?;
        let build = tx.builds().insert(a_build(&pipeline, definition, "deploy"))?;
        let gone = tx.environments().insert(new())?;
        let other = tx.environments().insert(an_environment(project, "other"))?;
        let first = tx.deployments().insert(a_deployment(&gone, &build))?;
        for _ in 1..MANY {
            tx.deployments().insert(a_deployment(&gone, &build))?;
        }
        let kept = tx.deployments().insert(a_deployment(&other, &build))?;
        Ok((gone, kept, first))
    });
    write(store, |tx| tx.environments().delete(gone.id));
    let assert_hidden = || {
        read(store, |tx| {
            assert_eq!(tx.environments().find(project, gone.id)?, None);
            assert_eq!(tx.environments().find_all(&[gone.id])?, []);
            assert_eq!(tx.environments().find_by_name(project, "production")?, None);
            assert_eq!(tx.environments().find_by_url(project, url.as_str())?, None);
            assert_eq!(tx.environments().list(project, Page::Whole)?.total, 1);
            assert_eq!(tx.deployments().find(project, first.id)?, None);
            let listed = tx.deployments().list(project, Page::Whole)?;
            assert_eq!((listed.items, listed.total), (vec![kept.clone()], 1));
            Ok(())
        });
    };
    assert_hidden();
    assert_eq!(remove_remaining_rows(store, 100), []);
    assert_hidden();
    write(store, |tx| tx.environments().insert(new()));
}
