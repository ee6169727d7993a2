//! Comparisons of two revisions.

use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, project, user};

on_every_store!(
    two_branches_are_compared,
    revisions_are_chosen_in_a_form,
    branches_lead_to_a_merge_request,
    hidden_projects_are_not_compared,
);

fn two_branches_are_compared(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.git(&["checkout", "-q", "-b", "topic/one"]);
    tree.write("new.txt", "x\n").commit("Topic work");
    tree.git(&["checkout", "-q", "master"]);
    tree.write("other.txt", "y\n").commit("Master work");
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let page = browser.get("/root/ship/compare/master...topic/one").page(200);
    assert_eq!(page.heading(), "Compare");
    assert_eq!(page.all("ul[aria-label=Commits] .title a"), ["Topic work"]);
    assert!(page.1.contains("1 changed file with 1 addition and 0 deletions"), "{}", page.1);
    assert_eq!(page.all("nav[aria-label='Changed files'] a"), ["new.txt"]);
    assert_eq!(page.attributes("form[aria-label=Compare] input[name=from]", "value"), ["master"]);
    assert_eq!(page.attributes("form[aria-label=Compare] input[name=to]", "value"), ["topic/one"]);
    // Two dots compare the files themselves, so what only `master` has is removed.
    let direct = browser.get("/root/ship/compare/master..topic%2Fone").page(200);
    assert_eq!(direct.all("nav[aria-label='Changed files'] a"), ["new.txt", "other.txt"]);
    for same in ["master...master", "topic/one...master~1"] {
        let page = browser.get(&format!("/root/ship/compare/{same}")).page(200);
        assert!(
            page.all("main p").contains(&"There isn't anything to compare.".to_owned()),
            "{same}"
        );
        assert!(page.all("ul[aria-label=Commits]").is_empty());
    }
}

fn revisions_are_chosen_in_a_form(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.git(&["branch", "topic"]);
    forge.fill(id, &tree);
    let browser = Browser::stranger(forge);
    let form = browser.get("/root/ship/compare").page(200);
    assert_eq!(form.all("form[aria-label=Compare] label"), ["From", "To"]);
    assert_eq!(form.all("form[aria-label=Compare] button"), ["Compare"]);
    assert_eq!(form.attributes("datalist option", "value"), ["master", "topic"]);
    browser
        .get("/root/ship/compare?from=master&to=topic%2Fone")
        .redirects(303, "/root/ship/compare/master...topic/one");
    let missing = browser.get("/root/ship/compare/master...nope").page(404);
    assert_eq!(missing.heading(), "Compare");
    assert_eq!(missing.all("[role=alert]"), ["There is no branch, tag or commit “nope”."]);
    assert_eq!(missing.attributes("input[name=to]", "value"), ["nope"]);
    assert_eq!(browser.get("/root/ship/compare/master").page(404).heading(), "Page not found");
}

fn branches_lead_to_a_merge_request(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.git(&["checkout", "-q", "-b", "topic"]);
    tree.write("new.txt", "x\n").commit("Topic work");
    forge.fill(id, &tree);
    user(forge, "ada");
    let address = "/root/ship/compare/master...topic";
    let link = |browser: &Browser<'_>, address: &str| {
        browser.get(address).page(200).attributes("main a[href*='merge_requests/new']", "href")
    };
    assert!(link(&Browser::stranger(forge), address).is_empty());
    assert!(link(&Browser::signed_in(forge, "ada"), address).is_empty(), "she may not push");
    let root = Browser::signed_in(forge, "root");
    assert_eq!(
        link(&root, address),
        ["/root/ship/merge_requests/new?merge_request%5Bsource_branch%5D=topic&\
          merge_request%5Btarget_branch%5D=master"]
    );
    assert!(link(&root, "/root/ship/compare/master...topic~0").is_empty(), "not a branch");
}

fn hidden_projects_are_not_compared(forge: &Forge) {
    project(forge, "ship", "0");
    for address in ["/root/ship/compare", "/root/ship/compare/master...master"] {
        let page = Browser::stranger(forge).get(address).page(404);
        assert_eq!(page.heading(), "Page not found");
    }
}
