//! Webhooks and their deliveries.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Answer, Forge, Receiver, on_every_store};
use serde_json::Value;

use super::support::{Browser, project, team};

on_every_store!(
    hooks_exist_only_for_masters,
    a_hook_is_added_changed_and_removed,
    a_hook_is_tested_and_a_delivery_is_sent_again,
);

const PAGE: &str = "/root/ship/hooks";

fn hooks(forge: &Forge, project: i64) -> Vec<Value> {
    let shown = forge.get(&format!("/projects/{project}/hooks")).token(ROOT).send().expect(200);
    shown.as_array().cloned().unwrap_or_default()
}

fn hooks_exist_only_for_masters(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    team(forge, &[id]);
    let form = [("url", "http://example.com/x"), ("push_events", "true")];
    forge.post(&format!("/projects/{id}/hooks")).token(ROOT).form(&form).send().expect(201);
    let hook = hooks(forge, id)[0]["id"].to_string();
    let pages = [PAGE.to_owned(), format!("{PAGE}/{hook}"), format!("{PAGE}/{hook}/deliveries/1")];
    for who in [None, Some("guest"), Some("reporter"), Some("developer")] {
        let browser = Browser::of(forge, who);
        for page in &pages {
            assert_eq!(browser.get(page).page(404).heading(), "Page not found", "{who:?} {page}");
        }
    }
    let developer = Browser::signed_in(forge, "developer");
    for action in [PAGE.to_owned(), format!("{PAGE}/{hook}"), format!("{PAGE}/{hook}/remove")] {
        let fields = [("url", "http://evil.test/")];
        assert_eq!(developer.post_from("/root/ship", &action, &fields).0.status, 403, "{action}");
    }
    assert_eq!(hooks(forge, id).len(), 1);
    for who in ["master", "root"] {
        let browser = Browser::signed_in(forge, who);
        assert_eq!(browser.get(PAGE).page(200).heading(), "Webhooks");
        assert_eq!(browser.get(&pages[1]).page(200).heading(), "Webhook");
        assert_eq!(browser.get(&pages[2]).0.status, 404, "it has no deliveries");
    }
}

fn a_hook_is_added_changed_and_removed(forge: &Forge) {
    let (id, _) = project(forge, "ship", "0");
    let root = Browser::signed_in(forge, "root");
    let page = root.get(PAGE).page(200);
    let labels = page.all("form[aria-label='Add webhook'] label");
    for label in [
        "URL",
        "Secret token",
        "Push events",
        "Tag push events",
        "Comments",
        "Issues events",
        "Merge request events",
        "Build events",
        "Pipeline events",
        "Wiki page events",
        "Enable SSL verification",
    ] {
        assert!(labels.iter().any(|known| known == label), "{label} in {labels:?}");
    }
    let bad = root.post_from(PAGE, PAGE, &[("url", "ftp://x"), ("issues_events", "1")]).page(422);
    assert_eq!(bad.attributes("input#url", "aria-invalid"), ["true"]);
    assert_eq!(bad.attributes("input#url", "value"), ["ftp://x"]);
    assert_eq!(bad.attributes("input#issues_events", "checked").len(), 1, "what was chosen stays");
    assert!(bad.attributes("input#push_events", "checked").is_empty());
    assert!(hooks(forge, id).is_empty());
    let fields = [("url", "http://me:pw@example.com/x"), ("token", "t"), ("note_events", "1")];
    root.post_from(PAGE, PAGE, &fields).redirects(303, PAGE);
    let made = hooks(forge, id).remove(0);
    assert_eq!((&made["note_events"], &made["push_events"]), (&true.into(), &false.into()));
    assert_eq!(made["enable_ssl_verification"], false);
    let list = root.get(PAGE).page(200);
    assert_eq!(list.all("ul[aria-label=Webhooks] a"), ["http://example.com/x"]);
    let one = list.attributes("ul[aria-label=Webhooks] a", "href").remove(0);
    let fields = [("url", "http://example.com/y"), ("push_events", "1")];
    root.post_from(&one, &one, &fields).redirects(303, &one);
    let changed = hooks(forge, id).remove(0);
    assert_eq!(changed["url"], "http://example.com/y");
    assert_eq!((&changed["note_events"], &changed["push_events"]), (&false.into(), &true.into()));
    assert_eq!(root.post_from(&one, &one, &[("url", "")]).0.status, 422);
    root.post_from(&one, &format!("{one}/remove"), &[]).redirects(303, PAGE);
    assert!(hooks(forge, id).is_empty());
    assert_eq!(root.get(&one).0.status, 404);
}

fn a_hook_is_tested_and_a_delivery_is_sent_again(forge: &Forge) {
    let receiver = Receiver::new();
    let (id, _) = project(forge, "ship", "0");
    let root = Browser::signed_in(forge, "root");
    let url = receiver.url("/hook");
    root.post_from(PAGE, PAGE, &[("url", &url), ("note_events", "1")]).redirects(303, PAGE);
    let one = format!("{PAGE}/{}", hooks(forge, id)[0]["id"]);
    assert!(root.get(&one).page(200).all("table[aria-label=Deliveries]").is_empty());
    root.post_from(&one, &format!("{one}/test"), &[]).redirects(303, &one);
    forge.deliver();
    let sent = receiver.take_only();
    assert_eq!(sent.json()["object_kind"], "push");
    assert_eq!(sent.json()["commits"][0]["message"], "First & <best>\n\nThe body.\n");
    let page = root.get(&one).page(200);
    assert_eq!(page.all("table[aria-label=Deliveries] th"), ["Event", "State", "Tries", "Time"]);
    assert_eq!(page.all("table[aria-label=Deliveries] td:nth-child(2)"), ["delivered (200)"]);
    assert_eq!(page.all("table[aria-label=Deliveries] a"), ["Push Hook"]);
    assert!(page.all("main p.notice:not([role])").is_empty(), "nothing failed");
    let delivery = page.attributes("table[aria-label=Deliveries] a", "href").remove(0);
    let shown = root.get(&delivery).page(200);
    assert_eq!(shown.heading(), "Delivery");
    assert!(shown.all("section[aria-label=Request] pre")[0].contains("\"object_kind\""));
    assert!(shown.all("section[aria-label=Response]")[0].contains("Status 200"));
    receiver.answer(Answer::status(400));
    root.post_from(&delivery, &delivery, &[]).redirects(303, &delivery);
    forge.deliver();
    assert_eq!(receiver.take_only().json(), sent.json(), "the same payload");
    let page_of_hook = root.get(&one).page(200);
    let state = page_of_hook.all("table[aria-label=Deliveries] td:nth-child(2)");
    assert_eq!(state.len(), 1);
    assert!(state[0].ends_with("(400)"), "{state:?}");
    let trouble = page_of_hook.all("main p.notice:not([role])");
    assert!(trouble[0].starts_with("The last delivery failed, since"), "{trouble:?}");
    receiver.answer(Answer::status(503));
    root.post_from(&one, &format!("{one}/test"), &[]).redirects(303, &one);
    assert!(
        root.get(&one).page(200).all("main p.notice:not([role])")[0]
            .starts_with("The last delivery")
    );
    forge.deliver();
    let trouble = root.get(&one).page(200).all("main p.notice:not([role])");
    assert!(trouble[0].starts_with("The last 2 deliveries failed, since"), "{trouble:?}");
    assert!(trouble[0].contains("Next try:"), "{trouble:?}");
    let made = forge.post("/projects").token(ROOT).form(&[("name", "empty")]).send().expect(201);
    let hooks_of = format!("/projects/{}/hooks", made["id"]);
    let made = forge.post(&hooks_of).token(ROOT).form(&[("url", &url)]).send().expect(201);
    let empty = format!("/root/empty/hooks/{}", made["id"]);
    let refused = root.post_from(&empty, &format!("{empty}/test"), &[]).page(422);
    assert!(refused.all("[role=alert]")[0].contains("no commits"));
}
