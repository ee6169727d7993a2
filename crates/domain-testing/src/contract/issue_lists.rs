//! Lists of issues; see [`Issues::list`](hexforge_domain::issue::port::Issues::list).

use super::check::{assert_pages, insider, outsider, read, write};
use super::labels::a_project_with_owner;
use super::world::a_world;
use crate::builders::{
    a_day, a_member, a_milestone, a_user, an_issue, an_issue_at, at, day, label_in,
};
use hexforge_domain::id::{IssueId, UserId};
use hexforge_domain::issue::query::{Clearance, IssueFilter, IssueOrder, IssueScope, LabelFilter};
use hexforge_domain::issue::{Issue, IssueState, NewIssue};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::project::query::ListAudience;

fn unfiltered(scope: IssueScope) -> IssueFilter {
    IssueFilter::newest_first(scope, Clearance::All, a_day())
}

/// Equal values are ordered by id.
pub fn issues_are_listed_in_every_order(store: &dyn Store) {
    let ((project, ada), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let issues: Vec<Issue> = [(1, 40), (3, 30), (2, 50), (2, 20), (3, 10)]
        .into_iter()
        .map(|(created, updated)| {
            write(store, |tx| {
                tx.issues().insert(an_issue_at(other, ada, at(created)))?;
                let new = NewIssue { at: at(updated), ..an_issue_at(project, ada, at(created)) };
                tx.issues().insert(new)
            })
        })
        .collect();
    for (order, places) in
        [(IssueOrder::CreatedAt, [0, 2, 3, 1, 4]), (IssueOrder::UpdatedAt, [4, 3, 1, 0, 2])]
    {
        for descending in [false, true] {
            let mut expected = places.map(|place: usize| issues[place].clone());
            if descending {
                expected.reverse();
            }
            let filter =
                IssueFilter { order, descending, ..unfiltered(IssueScope::Project(project)) };
            assert_pages(store, &expected, |tx, page| tx.issues().list(&filter, page));
        }
    }
}

fn list_iids(store: &dyn Store, filter: &IssueFilter) -> Vec<i64> {
    let found = read(store, |tx| tx.issues().list(filter, Page::Whole));
    assert_eq!(found.total, found.items.len() as u64);
    let mut numbers: Vec<i64> = found.items.iter().map(|issue| issue.iid).collect();
    numbers.sort_unstable();
    numbers
}

/// All conditions are combined with AND.
pub fn issues_are_found_by_state_label_milestone_and_number(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [bug, wish] = ["bug", "wish"].map(|title| label_in(store, project, title).id);
    let goal = write(store, |tx| tx.milestones().insert(a_milestone(project, "1.0"))).id;
    write(store, |tx| {
        for (labels, milestone, state) in [
            (&[bug][..], Some(goal), IssueState::Opened),
            (&[bug, wish], None, IssueState::Closed),
            (&[wish], Some(goal), IssueState::Reopened),
            (&[], None, IssueState::Opened),
        ] {
            let new = NewIssue { milestone, ..an_issue(project, ada, "an issue") };
            let issue = tx.issues().insert(new)?;
            tx.issues().set_labels(issue.id, labels)?;
            tx.issues().update(&Issue { state, ..issue })?;
        }
        Ok(())
    });
    let any = |titles: &[&str]| {
        Some(LabelFilter::Any(titles.iter().map(|title| (*title).to_owned()).collect()))
    };
    let all = |titles: &[&str]| {
        Some(LabelFilter::All(titles.iter().map(|title| (*title).to_owned()).collect()))
    };
    for scope in
        [IssueScope::Project(project), IssueScope::AuthoredBy(ada, ListAudience::Unrestricted)]
    {
        let filter = unfiltered(scope);
        for (open, labels, milestone, iid, expected) in [
            (None, None, None, None, vec![1, 2, 3, 4]),
            (Some(true), None, None, None, vec![1, 3, 4]),
            (Some(false), None, None, None, vec![2]),
            (None, any(&["bug"]), None, None, vec![1, 2]),
            (None, any(&["bug", "wish"]), None, None, vec![1, 2, 3]),
            (None, any(&["Bug"]), None, None, vec![]),
            (None, any(&[]), None, None, vec![]),
            (None, all(&["bug", "wish"]), None, None, vec![2]),
            (None, all(&["bug", "none"]), None, None, vec![]),
            (Some(true), any(&["bug", "none"]), None, None, vec![1]),
            (None, None, Some("1.0"), None, vec![1, 3]),
            (None, None, Some("2.0"), None, vec![]),
            (None, any(&["wish"]), Some("1.0"), None, vec![3]),
            (None, None, None, Some(2), vec![2]),
            (Some(true), None, None, Some(2), vec![]),
            (None, None, None, Some(i64::MAX), vec![]),
        ] {
            let milestone = milestone.map(str::to_owned);
            let filter = IssueFilter { open, labels, milestone, iid, ..filter.clone() };
            assert_eq!(list_iids(store, &filter), expected, "{filter:?}");
        }
    }
    assert_eq!(list_iids(store, &unfiltered(IssueScope::Milestone(project, goal))), [1, 3]);
}

/// All conditions are combined with AND, and the count agrees with the list.
pub fn issues_are_found_by_people_text_and_missing_labels(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let bug = label_in(store, project, "bug").id;
    write(store, |tx| {
        for (title, author, assignee, labels) in [
            ("Engine 100% slow", ada, Some(bob), &[bug][..]),
            ("Paint it", bob, Some(ada), &[]),
            ("engine room", bob, None, &[bug]),
        ] {
            let new = NewIssue { author, assignee, ..an_issue(project, ada, title) };
            let issue = tx.issues().insert(new)?;
            tx.issues().set_labels(issue.id, labels)?;
        }
        Ok(())
    });
    let filter = unfiltered(IssueScope::Project(project));
    let text = |text: &str| Some(text.to_owned());
    for (author, assignee, search, without, expected) in [
        (Some(bob), None, None, vec![], vec![2, 3]),
        (None, Some(bob), None, vec![], vec![1]),
        (Some(bob), Some(ada), None, vec![], vec![2]),
        (None, None, text("ENGINE"), vec![], vec![1, 3]),
        (None, None, text("0%"), vec![], vec![1]),
        (None, None, text("%"), vec![], vec![1]),
        (None, None, text("nothing"), vec![], vec![]),
        (None, None, None, vec!["bug".to_owned()], vec![2]),
        (Some(bob), None, text("engine"), vec!["other".to_owned()], vec![3]),
    ] {
        let filter =
            IssueFilter { author, assignee, search, without_labels: without, ..filter.clone() };
        assert_eq!(list_iids(store, &filter), expected, "{filter:?}");
        let count = read(store, |tx| tx.issues().count(&filter));
        assert_eq!(count, expected.len() as u64, "{filter:?}");
        let labels = Some(LabelFilter::Any(vec!["bug".to_owned()]));
        let labelled = IssueFilter { labels, ..filter };
        let expected: Vec<i64> = expected.into_iter().filter(|iid| *iid != 2).collect();
        assert_eq!(list_iids(store, &labelled), expected, "{labelled:?}");
    }
    let assigned = unfiltered(IssueScope::AssignedTo(ada, ListAudience::Unrestricted));
    assert_eq!(list_iids(store, &assigned), [2]);
    assert_eq!(list_iids(store, &IssueFilter { open: Some(false), ..assigned }), Vec::<i64>::new());
}

/// Authors, assignees and reporters see confidential issues.
pub fn confidential_issues_are_listed_for_those_who_may_see_them(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let [bob, eve, rob, gus] =
        ["bob", "eve", "rob", "gus"].map(|name| a_user(name).stored_in(store).id);
    write(store, |tx| {
        use hexforge_domain::member::AccessLevel::{Guest, Reporter};
        tx.project_members().insert(project, a_member(rob, Reporter))?;
        tx.project_members().insert(project, a_member(gus, Guest))?;
        for (author, assignee, confidential) in
            [(ada, None, false), (bob, None, true), (ada, Some(eve), true)]
        {
            let new = NewIssue { assignee, confidential, ..an_issue(project, author, "an issue") };
            tx.issues().insert(new)?;
        }
        Ok(())
    });
    for (clearance, expected) in [
        (Clearance::All, vec![1, 2, 3]),
        (Clearance::Nothing, vec![1]),
        (Clearance::Own(bob), vec![1, 2]),
        (Clearance::Own(eve), vec![1, 3]),
        (Clearance::Own(rob), vec![1]),
        (Clearance::ByRole(bob), vec![1, 2]),
        (Clearance::ByRole(eve), vec![1, 3]),
        (Clearance::ByRole(gus), vec![1]),
        (Clearance::ByRole(rob), vec![1, 2, 3]),
        (Clearance::ByRole(ada), vec![1, 2, 3]),
    ] {
        let filter = IssueFilter { clearance, ..unfiltered(IssueScope::Project(project)) };
        assert_eq!(list_iids(store, &filter), expected, "{clearance:?}");
    }
}

/// Returns the names of the projects in which a list has an issue.
fn list_project_names(
    store: &dyn Store,
    world: &super::world::World,
    filter: &IssueFilter,
) -> Vec<String> {
    let found = read(store, |tx| tx.issues().list(filter, Page::Whole)).items;
    let mut issues: Vec<(IssueId, _)> = found.iter().map(|i| (i.id, i.project)).collect();
    issues.sort_unstable();
    let name = |id| {
        let project = world.projects.iter().find(|project| project.id == id);
        project.expect("it is one of the world's").name.as_str().to_owned()
    };
    issues.into_iter().map(|(_, project)| name(project)).collect()
}

/// Issues of hidden projects and of projects with issues disabled are never listed; confidential
/// ones need a reporter.
pub fn issues_of_an_author_and_of_a_group_are_those_of_visible_projects(store: &dyn Store) {
    let world = a_world(store);
    write(store, |tx| {
        for project in &world.projects {
            tx.issues().insert(an_issue(project.id, world.bob, "an issue"))?;
            let secret = an_issue(project.id, world.bob, "a secret");
            tx.issues().insert(NewIssue { confidential: true, ..secret })?;
        }
        let mut off = world.project("public").clone();
        off.features.issues = false;
        tx.projects().update(&off)
    });
    let list = |viewer: ListAudience, user: UserId, days, group| {
        let scope = match group {
            None => IssueScope::AuthoredBy(world.bob, viewer),
            Some(group) => IssueScope::Group(group, viewer),
        };
        let clearance = Clearance::ByRole(user);
        let filter = IssueFilter { today: day(days), clearance, ..unfiltered(scope) };
        list_project_names(store, &world, &filter).join(" ")
    };
    // In projects in which ada is at least a reporter, she sees both issues.
    assert_eq!(
        list(ListAudience::Viewer(insider(world.ada)), world.ada, 0, None),
        "home home member in-team in-team team-internal team-internal team-public team-public \
         in-guild in-guild shared shared shared-internal shared-internal shared-public \
         shared-public internal"
    );
    assert_eq!(
        list(ListAudience::Viewer(outsider(world.eve)), world.eve, 0, None),
        "team-public shared-public"
    );
    let everywhere = list(ListAudience::Unrestricted, world.bob, 0, None);
    assert_eq!(everywhere.split(' ').count(), (world.projects.len() - 1) * 2);
    let team = Some(world.team);
    assert_eq!(
        list(ListAudience::Viewer(insider(world.ada)), world.ada, 0, team),
        "in-team in-team team-internal team-internal team-public team-public"
    );
    assert_eq!(
        list(ListAudience::Viewer(insider(world.eve)), world.eve, 0, team),
        "team-internal team-public"
    );
    assert_eq!(list(ListAudience::Viewer(insider(world.ada)), world.ada, 0, Some(world.past)), "");
    assert_eq!(
        list(ListAudience::Viewer(insider(world.ada)), world.ada, -1, Some(world.past)),
        "in-past in-past"
    );
}
