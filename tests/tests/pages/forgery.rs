//! Forms that another site may have sent change nothing.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, project, user};

on_every_store!(forged_forms_are_refused, messages_lead_only_to_this_service);

fn forged_forms_are_refused(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    user(forge, "ada");
    user(forge, "bob");
    let (ada, bob) = (Browser::signed_in(forge, "ada"), Browser::signed_in(forge, "bob"));
    let token = ada.get("/root/ship").page(200).token();
    let of_bob = bob.get("/root/ship").page(200).token();
    let stars = || {
        forge.get(&format!("/projects/{id}")).token(ROOT).send().expect(200)["star_count"].clone()
    };
    let form =
        |token: &str| forge.page("POST", "/root/ship/star").form(&[("authenticity_token", token)]);
    for request in [
        forge.page("POST", "/root/ship/star").form(&[]),
        form(""),
        form("AAAA"),
        form(&of_bob),
        form(&token).header("Origin", "http://evil.test"),
        form(&token).header("Origin", "null"),
        form(&token).header("Sec-Fetch-Site", "cross-site"),
        form(&token).header("Sec-Fetch-Site", "same-site"),
    ] {
        assert_eq!(ada.send(request).page(403).heading(), "Not allowed");
        assert_eq!(stars(), 0);
    }
    assert_ne!(ada.get("/root/ship").page(200).token(), token, "each page masks it anew");
    let own = form(&token).header("Sec-Fetch-Site", "same-origin");
    ada.send(own).redirects(303, "/root/ship");
    assert_eq!(stars(), 1);
    assert_eq!(Browser::stranger(forge).send(form(&token)).page(403).heading(), "Not allowed");
    assert_eq!(
        ada.get("/root/ship/star").page(404).heading(),
        "Page not found",
        "GET changes nothing"
    );
}

fn messages_lead_only_to_this_service(forge: &Forge) {
    let browser = Browser::stranger(forge);
    for (target, address) in [
        ("/explore?x=1", "/explore?x=1"),
        ("//evil.test", "/"),
        ("https://evil.test/", "/"),
        ("/\\evil.test", "/"),
    ] {
        let fields = [("color_scheme", "dark"), ("return_to", target)];
        browser.post("/-/color_scheme", &fields).redirects(303, address);
    }
    let page = browser.get("/explore").page(200);
    assert_eq!(page.attributes("html", "data-color-scheme"), ["dark"]);
}
