//! The number of queries for lists of issues does not depend on their length, and both query strategies give the
//! same lists.

use crate::support::counted::{Counted, PAGE};
use crate::support::databases;
use hexforge_domain::id::{LabelId, ProjectId, UserId};
use hexforge_domain::issue::NewIssue;
use hexforge_domain::issue::query::{Clearance, IssueFilter, IssueScope, LabelFilter};
use hexforge_domain::paging::Page;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::project::query::{ListAudience, Viewer};
use hexforge_domain_testing::builders::{
    a_day, a_milestone, a_moment, a_project, a_user, an_issue_at, at, insert_label,
};

/// Inserts a project of ada's with a label.
fn insert_project(counted: &Counted) -> (ProjectId, UserId, LabelId) {
    counted.write(|tx| {
        let ada = a_user("ada").insert(tx)?;
        tx.namespaces().insert_personal(ada.id, ada.username.path(), a_moment())?;
        let home = tx.namespaces().personal(ada.id)?.expect("just made").id;
        let project = a_project("site", home, ada.id).insert(tx)?;
        Ok((project.id, ada.id, insert_label(tx, project.id, "bug")?.id))
    })
}

#[test]
fn a_list_of_issues_takes_few_queries_and_is_in_order_however_long_it_is() {
    for database in databases() {
        let counted = Counted::on(database);
        let (project, ada, bug) = insert_project(&counted);
        let (wish, milestone) = counted.write(|tx| {
            let goal = tx.milestones().insert(a_milestone(project, "1.0"))?.id;
            Ok((insert_label(tx, project, "wish")?.id, Some(goal)))
        });
        let scope = IssueScope::Project(project);
        let all = IssueFilter::newest_first(scope, Clearance::Own(ada), a_day());
        let labels = Some(LabelFilter::Any(vec!["bug".into(), "none".into()]));
        let labelled = IssueFilter { labels, ..all.clone() };
        let home = counted.read(|tx| tx.projects().find(&ProjectRef::Id(project))).0;
        let home = home.expect("just made").namespace;
        let viewer = Viewer { user: ada, external: false };
        let in_group = |filter: &IssueFilter| IssueFilter {
            scope: IssueScope::Group(home, ListAudience::Viewer(viewer)),
            ..filter.clone()
        };
        let (several, goal) =
            (LabelFilter::All(vec!["bug".into(), "wish".into()]), "1.0".to_owned());
        let several = IssueFilter { labels: Some(several), milestone: Some(goal), ..all.clone() };
        let one = Some(LabelFilter::All(vec!["bug".into()]));
        let one = IssueFilter { labels: one, ..all.clone() };
        let for_goal = IssueFilter { milestone: Some("1.0".into()), ..all.clone() };
        let own = IssueScope::AuthoredBy(ada, ListAudience::Viewer(viewer));
        let own = IssueFilter { scope: own, ..several.clone() };
        let others = [
            in_group(&all),
            in_group(&labelled),
            in_group(&several),
            in_group(&one),
            in_group(&for_goal),
            labelled,
            several,
            one,
            for_goal,
            own,
        ];
        // The second list is long enough for the strategy that walks an index.
        for (numbers, total) in [(0..5_i64, 5_u64), (5..1_005, 1_005)] {
            counted.write(|tx| {
                for number in numbers {
                    // The times are not in the order in which issues are inserted.
                    let moment = at(number * 7 % 1_005);
                    let new = NewIssue { milestone, ..an_issue_at(project, ada, moment) };
                    let issue = tx.issues().insert(new)?;
                    tx.issues().set_labels(issue.id, &[bug, wish])?;
                }
                Ok(())
            });
            for filter in others.iter().chain([&all]) {
                let (page, queries) = counted.read(|tx| tx.issues().list(filter, PAGE));
                // Three for the total, the ids and the rows; one to choose the strategy of a long list; two for the
                // ids of labels and of milestones. The end of the list of a project tells its total.
                assert_eq!(page.total, total);
                assert!((2..=6).contains(&queries), "{queries} of {filter:?}");
                let moments: Vec<_> = page.items.iter().map(|issue| issue.created_at).collect();
                assert!(moments.is_sorted_by(|newer, older| newer >= older), "{filter:?}");
                assert_eq!(moments.len() as u64, total.min(100));
            }
            let last = Page::Numbered { number: total, size: 1 };
            for other in &others {
                for page in [last, Page::Numbered { number: 1, size: 3 }] {
                    let (both, _) = counted.read(|tx| {
                        Ok((tx.issues().list(&all, page)?, tx.issues().list(other, page)?))
                    });
                    assert_eq!(both.0, both.1, "{other:?}");
                }
            }
        }
        let (found, _) = counted.read(|tx| tx.labels().find(project, bug));
        assert_eq!(found.map(|label| label.counts.open), Some(1_005));
    }
}
