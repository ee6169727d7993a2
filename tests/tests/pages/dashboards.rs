//! The dashboards: todos, milestones, labels and activity in all projects of the visitor.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::issues::{issue, member};
use super::support::{Browser, project, user};

on_every_store!(
    dashboards_need_a_user,
    todos_are_listed_filtered_and_done,
    milestones_and_labels_of_own_projects_are_listed,
);

const PAGES: [(&str, &str); 7] = [
    ("activity", "Activity"),
    ("issues", "Issues"),
    ("merge_requests", "Merge requests"),
    ("milestones", "Milestones"),
    ("todos", "Todos"),
    ("labels", "Labels"),
    ("snippets", "Snippets"),
];

fn dashboards_need_a_user(forge: &Forge) {
    user(forge, "ada");
    let (stranger, ada) = (Browser::stranger(forge), Browser::signed_in(forge, "ada"));
    for (page, heading) in PAGES {
        let address = format!("/dashboard/{page}");
        let back = format!("/users/sign_in?return_to=%2Fdashboard%2F{page}");
        stranger.get(&address).redirects(302, &back);
        let shown = ada.get(&address).page(200);
        assert_eq!(shown.heading(), heading);
        assert_eq!(shown.all("title"), [format!("{heading} · hexforge")]);
        assert_eq!(
            shown.all("nav[aria-label=Dashboard] a"),
            ["Activity", "Milestones", "Todos", "Labels", "Snippets"]
        );
        assert_eq!(shown.all(".empty").len(), 1, "{page} says that it is empty");
    }
    assert_eq!(
        ada.get("/dashboard/activity").page(200).all("main a[href='/dashboard.atom']"),
        ["Feed"]
    );
}

fn todos_are_listed_filtered_and_done(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    let ada = member(forge, id, "ada", "20").to_string();
    user(forge, "bob");
    issue(forge, id, &[("title", "Engine <b>"), ("assignee_id", ada.as_str())]);
    issue(forge, id, &[("title", "Sail"), ("description", "ask @ada")]);
    let (ada, bob) = (Browser::signed_in(forge, "ada"), Browser::signed_in(forge, "bob"));
    let list = "/dashboard/todos";
    let titles = |query: &str| {
        let page = ada.get(&format!("{list}{query}")).page(200);
        page.all("ul[aria-label=Todos] li p a:nth-child(2)")
    };
    assert_eq!(titles(""), ["Sail", "Engine <b>"]);
    for (query, expected) in [
        ("?action=assigned", vec!["Engine <b>"]),
        ("?action=mentioned&type=Issue", vec!["Sail"]),
        ("?type=MergeRequest", vec![]),
        ("?state=done", vec![]),
        ("?state=x&type=x&action=x&page=x", vec!["Sail", "Engine <b>"]),
    ] {
        assert_eq!(titles(query), expected, "{query}");
    }
    let page = ada.get(list).page(200);
    assert_eq!(page.all("main .tabs li a"), ["To do", "Done"]);
    assert!(page.all("main button").contains(&"Mark root/ship#2 as done".to_owned()));
    let done = page.attributes("ul[aria-label=Todos] form", "action").remove(0);
    assert_eq!(bob.post_from(list, &done, &[]).0.status, 404, "it is not his");
    assert_eq!(ada.post(&done, &[]).0.status, 403, "there is no token");
    ada.post_from(list, &done, &[]).redirects(303, list);
    ada.post_from(list, &done, &[]).redirects(303, list);
    assert_eq!(
        (titles(""), titles("?state=done")),
        (vec!["Engine <b>".to_owned()], vec!["Sail".to_owned()])
    );
    let all = format!("{list}/done");
    ada.post_from(list, &all, &[]).redirects(303, list);
    assert!(titles("").is_empty());
    let page = ada.get(list).page(200);
    assert!(!page.all("main button").contains(&"Mark all as done".to_owned()));
}

fn milestones_and_labels_of_own_projects_are_listed(forge: &Forge) {
    let ((ship, _), (boat, _), (other, _)) =
        (project(forge, "ship", "20"), project(forge, "boat", "0"), project(forge, "other", "20"));
    for id in [ship, boat, other] {
        let milestone = forge.post(&format!("/projects/{id}/milestones")).token(ROOT);
        milestone.form(&[("title", &format!("Goal {id}"))]).send().expect(201);
        let label = forge.post(&format!("/projects/{id}/labels")).token(ROOT);
        label.form(&[("name", "bug"), ("color", "#ff0000")]).send().expect(200);
        let label = forge.post(&format!("/projects/{id}/labels")).token(ROOT);
        label.form(&[("name", &format!("own {id}")), ("color", "#ff0000")]).send().expect(200);
    }
    let ada = member(forge, ship, "ada", "10").to_string();
    let add = forge.post(&format!("/projects/{boat}/members")).token(ROOT);
    add.form(&[("user_id", ada.as_str()), ("access_level", "20")]).send().expect(201);
    let ada = Browser::signed_in(forge, "ada");
    let page = ada.get("/dashboard/milestones").page(200);
    assert_eq!(
        page.all("ul[aria-label=Milestones] .title a"),
        [format!("Goal {boat}"), format!("Goal {ship}")]
    );
    assert_eq!(page.all("main > p.muted"), ["2 milestones"]);
    let link = page.attributes("ul[aria-label=Milestones] .title a", "href").remove(0);
    assert_eq!(ada.get(&link).0.status, 200);
    assert!(ada.get("/dashboard/milestones?state=closed").page(200).all(".title a").is_empty());
    let page = ada.get("/dashboard/labels").page(200);
    let mut expected = vec!["bug".to_owned(), format!("own {ship}"), format!("own {boat}")];
    expected.sort();
    assert_eq!(page.all("ul[aria-label=Labels] .chip"), expected);
    let link = page.attributes("ul[aria-label=Labels] .chip", "href").remove(0);
    assert_eq!(ada.get(&link).page(200).heading(), "Issues");
}
