//! The pages of boards.

use hexforge_http_actix::Dialect;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Backend, Forge, ForgeOptions, on_every_store};

use super::issues::{issue, member};
use super::support::{Browser, Page, project, user};

on_every_store!(
    cards_are_moved_between_lists,
    only_reporters_change_a_board,
    owners_remove_lists_in_the_specification,
);

/// Lets a reporter and the owner remove a list through the page. Returns the statuses.
fn remove_lists(forge: &Forge) -> [u16; 2] {
    let (id, _) = project(forge, "ship", "20");
    member(forge, id, "ada", "20");
    let board = "/root/ship/boards";
    let remove = |username: &str| {
        let browser = Browser::signed_in(forge, username);
        let page = browser.get(board).page(200);
        // The backlog comes first.
        let list = page.attributes(".board section", "data-list").swap_remove(1);
        let one = page.attributes("form[aria-label='Add list']", "action").remove(0);
        let address = format!("{one}/{list}/delete");
        let status = browser.post_from(board, &address, &[]).0.status;
        let offers = page.all(".board button").iter().any(|name| name.starts_with("Remove list"));
        assert_eq!(offers, status == 303, "{username}");
        status
    };
    let label = forge.post(&format!("/projects/{id}/labels")).token(ROOT);
    assert!(label.form(&[("name", "bug"), ("color", "#ff0000")]).send().status < 300);
    let ada = Browser::signed_in(forge, "ada");
    let actions = ada.get(board).page(200).attributes("form[method=post]", "action");
    let default = actions.into_iter().find(|action| action.ends_with("/lists/default"));
    ada.post_from(board, &default.expect("the form exists"), &[]).redirects(303, board);
    ["ada", "root"].map(remove)
}

fn owners_remove_lists_in_the_specification(forge: &Forge) {
    assert_eq!(remove_lists(forge), [403, 303]);
}

#[test]
fn reporters_remove_lists_in_the_original() {
    for backend in [Backend::Fake, Backend::Sqlite, Backend::Postgres] {
        if let Some(forge) = Forge::start(ForgeOptions { backend, dialect: Dialect::Original }) {
            assert_eq!(remove_lists(&forge), [303, 303]);
        }
    }
}

/// The numbers of the cards in a list.
fn cards(page: &Page, list: &str) -> Vec<String> {
    page.attributes(&format!("section[aria-label='{list}'] li"), "data-iid")
}

fn cards_are_moved_between_lists(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    member(forge, id, "ada", "20");
    for title in ["One", "Two", "Three"] {
        issue(forge, id, &[("title", title)]);
    }
    issue(forge, id, &[("title", "Four"), ("labels", "bug")]);
    let ada = Browser::signed_in(forge, "ada");
    let board = "/root/ship/boards";
    ada.get("/root/ship/board").redirects(301, board);
    let get = || ada.get(board).page(200);
    let page = get();
    assert_eq!(page.heading(), "Board");
    assert_eq!(page.attributes(".board section", "aria-label"), ["Backlog", "Done"]);
    assert_eq!(cards(&page, "Backlog"), ["4", "3", "2", "1"]);
    let script = page.attributes("script", "src").remove(0);
    let script = ada.get(&script).0;
    assert_eq!(
        (script.status, script.header("Content-Type")),
        (200, Some("text/javascript; charset=utf-8"))
    );
    let action = |name: &str| {
        let forms = get().attributes("form[method=post]", "action");
        forms.into_iter().find(|action| action.ends_with(name)).expect("the form exists")
    };
    let default = action("/lists/default");
    ada.post_from(board, &default, &[]).redirects(303, board);
    assert_eq!(
        get().attributes(".board section", "aria-label"),
        ["Backlog", "To Do", "Doing", "Done"]
    );
    let [_, todo, doing, _] =
        get().attributes(".board section", "data-list").try_into().expect("4");
    let one = default.trim_end_matches("/lists/default").to_owned();
    let choices = get().attributes("form[aria-label='Add list'] option", "value");
    let add = |label: &str| ada.post_from(board, &format!("{one}/lists"), &[("label_id", label)]);
    add(&choices[0]).redirects(303, board);
    assert_eq!(add("999999").0.status, 422);
    assert_eq!(cards(&get(), "bug"), ["4"]);
    assert_eq!(cards(&get(), "Backlog"), ["3", "2", "1"]);
    let card = get().all("section[aria-label=Backlog] li[data-iid='1'] button");
    assert_eq!(card, ["Move #1"]);
    assert_eq!(get().attributes("li[data-iid='1']", "draggable"), ["true"]);
    let go = |iid: &str, from: &str, to: &str| {
        let fields = [("iid", iid), ("from", from), ("to", to)];
        ada.post_from(board, &format!("{one}/move"), &fields)
    };
    go("1", "backlog", &todo).redirects(303, board);
    assert_eq!(cards(&get(), "To Do"), ["1"]);
    go("1", &todo, &doing).redirects(303, board);
    assert_eq!((cards(&get(), "To Do"), cards(&get(), "Doing")), (vec![], vec!["1".to_owned()]));
    go("1", &doing, "done").redirects(303, board);
    let page = get();
    assert_eq!((cards(&page, "Done"), cards(&page, "Doing")), (vec!["1".to_owned()], vec![]));
    let issue = ada.get("/root/ship/issues/1").page(200);
    assert_eq!(
        (issue.all(".state"), issue.all("aside .chip")),
        (vec!["Closed".to_owned()], vec![])
    );
    go("1", "done", "backlog").redirects(303, board);
    assert_eq!(cards(&get(), "Backlog"), ["3", "2", "1"]);
    assert_eq!(go("1", "backlog", "999999").0.status, 404);
    assert_eq!(go("99", "backlog", "done").0.status, 404);
    assert_eq!(go("1", "x", "done").0.status, 422);
    let list = format!("{one}/lists/{doing}");
    ada.post_from(board, &format!("{list}/move"), &[("position", "0")]).redirects(303, board);
    assert_eq!(
        get().attributes(".board section", "aria-label"),
        ["Backlog", "Doing", "To Do", "bug", "Done"]
    );
    assert_eq!(ada.post_from(board, &format!("{list}/move"), &[("position", "9")]).0.status, 422);
    Browser::signed_in(forge, "root")
        .post_from(board, &format!("{list}/delete"), &[])
        .redirects(303, board);
    assert_eq!(
        get().attributes(".board section", "aria-label"),
        ["Backlog", "To Do", "bug", "Done"]
    );
    assert_eq!(ada.get(&one).0.status, 200);
    assert_eq!(ada.get("/root/ship/boards/999999").0.status, 404);
}

fn only_reporters_change_a_board(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    issue(forge, id, &[("title", "One")]);
    issue(forge, id, &[("title", "Secret"), ("confidential", "true")]);
    user(forge, "ada");
    let (ada, root) = (Browser::signed_in(forge, "ada"), Browser::signed_in(forge, "root"));
    let board = "/root/ship/boards";
    let page = ada.get(board).page(200);
    assert_eq!(cards(&page, "Backlog"), ["1"]);
    assert!(page.all("main button").is_empty());
    assert!(page.attributes("li[data-iid]", "draggable").is_empty());
    let forms = root.get(board).page(200).attributes("main form", "action");
    for form in forms {
        let fields = [("iid", "1"), ("from", "backlog"), ("to", "done")];
        let status = ada.post_from(board, &form, &fields).0.status;
        assert_eq!(status, 403, "{form}");
    }
    assert_eq!(cards(&root.get(board).page(200), "Backlog"), ["2", "1"]);
    assert_eq!(Browser::stranger(forge).get(board).0.status, 404);
}
