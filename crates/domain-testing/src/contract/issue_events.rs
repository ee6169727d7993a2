//! Events about issues; see [`Events`](hexforge_domain::event::port::Events).

use super::check::{insider, read, write};
use crate::builders::{a_day, a_member, a_project, a_user, an_event, an_issue, home_of};
use hexforge_domain::event::{EventAction, EventTarget, NewEvent};
use hexforge_domain::id::UserId;
use hexforge_domain::issue::NewIssue;
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;

/// Only viewers who may see a confidential issue see its events, in both feeds; the totals count no
/// others.
pub fn events_about_confidential_issues_are_visible_to_few(store: &dyn Store) {
    let [ada, bob, eve, rob] =
        ["ada", "bob", "eve", "rob"].map(|name| a_user(name).stored_in(store).id);
    let site = a_project("site", home_of(store, ada), ada).public().stored_in(store).id;
    write(store, |tx| {
        tx.project_members().insert(site, a_member(rob, AccessLevel::Reporter))?;
        tx.events().insert(an_event(site, ada))?;
        for confidential in [false, true] {
            let new =
                NewIssue { confidential, assignee: Some(bob), ..an_issue(site, ada, "an issue") };
            let issue = tx.issues().insert(new)?;
            for kind in ["Issue", "Note"] {
                let target = EventTarget {
                    kind: kind.into(),
                    id: Some(issue.id.0),
                    title: None,
                    belongs_to: Some(issue.id.into()),
                };
                let action = EventAction::Opened;
                let target = Some(target);
                tx.events().insert(NewEvent { action, target, ..an_event(site, ada) })?;
            }
        }
        Ok(())
    });
    let totals = |user: UserId, clearance| {
        let pages = read(store, |tx| {
            let events = tx.events();
            Ok([
                events.of_project(site, clearance, a_day(), Page::Whole)?,
                events.authored_by(ada, insider(user), clearance, a_day(), Page::Whole)?,
            ])
        });
        for page in &pages {
            assert_eq!(page.total, page.items.len() as u64);
        }
        pages.map(|page| page.total)
    };
    for (user, clearance, expected) in [
        (eve, Clearance::All, 5),
        (eve, Clearance::Own(eve), 3),
        (bob, Clearance::Own(bob), 5),
        (ada, Clearance::Own(ada), 5),
        (rob, Clearance::Own(rob), 3),
        (eve, Clearance::ByRole(eve), 3),
        (bob, Clearance::ByRole(bob), 5),
        (rob, Clearance::ByRole(rob), 5),
    ] {
        assert_eq!(totals(user, clearance), [expected; 2], "{clearance:?}");
    }
}
