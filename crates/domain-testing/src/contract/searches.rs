//! Searches by title; see [`Searches`](hexforge_domain::search::Searches).

use super::check::{insider, outsider, read, write};
use crate::builders::{a_day, a_merge_request, a_milestone, a_project, a_user, an_issue, home_of};
use hexforge_domain::id::UserId;
use hexforge_domain::issue::NewIssue;
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::ports::store::Store;
use hexforge_domain::search::{SearchedKind, TitleSearch};

/// Only what the reader may see is found, newest first.
pub fn titles_are_found_where_the_reader_may_see_them(store: &dyn Store) {
    let (ada, bob) = (a_user("ada").stored_in(store).id, a_user("bob").stored_in(store).id);
    let home = home_of(store, ada);
    let site = a_project("site", home, ada).public().stored_in(store).id;
    let vault = a_project("vault", home, ada).stored_in(store).id;
    let issue = |project, title: &str, confidential| {
        let new = NewIssue { confidential, ..an_issue(project, ada, title) };
        write(store, |tx| tx.issues().insert(new.clone())).id.0
    };
    let open = issue(site, "Broken Door", false);
    issue(site, "Window", false);
    let secret = issue(site, "the door again", true);
    let hidden = issue(vault, "A door", false);
    let milestone = |project, title: &str| {
        write(store, |tx| tx.milestones().insert(a_milestone(project, title))).id.0
    };
    let (first, second) = (milestone(site, "Doors"), milestone(vault, "doors 2"));
    let request = |project, title: &str| {
        write(store, |tx| tx.merge_requests().insert(a_merge_request(project, ada, title))).id.0
    };
    let (shown, private) = (request(site, "New door"), request(vault, "Old door"));
    let nobody = (outsider(UserId(0)), Clearance::Nothing);
    let herself = (insider(ada), Clearance::ByRole(ada));
    let other = (insider(bob), Clearance::ByRole(bob));
    for (kind, (viewer, clearance), project, expected) in [
        (SearchedKind::Issues, nobody, None, vec![open]),
        (SearchedKind::Issues, other, None, vec![open]),
        (SearchedKind::Issues, herself, None, vec![hidden, secret, open]),
        (SearchedKind::Issues, herself, Some(vault), vec![hidden]),
        (SearchedKind::Issues, nobody, Some(vault), vec![]),
        (SearchedKind::Milestones, nobody, None, vec![first]),
        (SearchedKind::Milestones, herself, None, vec![second, first]),
        (SearchedKind::MergeRequests, nobody, None, vec![shown]),
        (SearchedKind::MergeRequests, herself, None, vec![private, shown]),
        (SearchedKind::MergeRequests, herself, Some(site), vec![shown]),
    ] {
        let text = "DOOR".to_owned();
        let mut search =
            TitleSearch { kind, text, project, viewer, clearance, today: a_day(), limit: 9 };
        assert_eq!(read(store, |tx| tx.searches().by_title(&search)), expected, "{search:?}");
        search.limit = 1;
        let one = &expected[..expected.len().min(1)];
        assert_eq!(read(store, |tx| tx.searches().by_title(&search)), one, "{search:?}");
        search.text = "100%".to_owned();
        assert!(read(store, |tx| tx.searches().by_title(&search)).is_empty(), "{search:?}");
    }
}
