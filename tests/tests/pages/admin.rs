//! Administration.

use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, an_ssh_key, on_every_store};

use super::support::{Browser, user};

on_every_store!(
    administration_is_for_administrators,
    an_administrator_manages_users,
    an_administrator_manages_hooks_and_settings,
    a_message_is_shown_on_every_page,
    an_administrator_manages_keys_and_addresses_of_users,
    an_administrator_manages_runners,
);

/// All pages of administrators, with their headings.
const PAGES: [(&str, &str); 16] = [
    ("/admin", "Administration"),
    ("/admin/users", "Users"),
    ("/admin/users/new", "New user"),
    ("/admin/users/root", "Administrator"),
    ("/admin/users/root/edit", "Edit user"),
    ("/admin/users/root/keys", "Keys and emails"),
    ("/admin/labels", "Labels"),
    ("/admin/projects", "Projects"),
    ("/admin/groups", "Groups"),
    ("/admin/hooks", "System hooks"),
    ("/admin/runners", "Runners"),
    ("/admin/builds", "Builds"),
    ("/admin/deploy_keys", "Deploy keys"),
    ("/admin/broadcast_messages", "Messages"),
    ("/admin/application_settings", "Settings"),
    ("/admin/background_jobs", "Background jobs"),
];

fn administration_is_for_administrators(forge: &Forge) {
    user(forge, "ada");
    let root = Browser::signed_in(forge, "root");
    let others = [Browser::stranger(forge), Browser::signed_in(forge, "ada")];
    let more = [("/admin/health_check", "Health check"), ("/admin/system_info", "System info")];
    for (address, heading) in PAGES.into_iter().chain(more) {
        assert_eq!(root.get(address).page(200).heading(), heading, "{address}");
        for other in &others {
            assert_eq!(other.get(address).page(404).heading(), "Page not found", "{address}");
        }
    }
    let ada = &others[1];
    for (address, fields) in [
        ("/admin/users", &[("name", "Eve"), ("username", "eve")][..]),
        ("/admin/users/root/block", &[]),
        ("/admin/users/root/remove", &[("confirmation", "root")]),
        ("/admin/hooks", &[("url", "http://hook.test/")]),
        ("/admin/broadcast_messages", &[("message", "Hello")]),
        ("/admin/application_settings", &[("sent", "1")]),
    ] {
        let status = ada.post_from("/", address, fields).0.status;
        assert!([403, 404].contains(&status), "{address}: {status}");
    }
    let users = forge.get("/users").token(ROOT).send().expect(200);
    assert_eq!(users.as_array().map(Vec::len), Some(2));
    assert!(forge.get("/hooks").token(ROOT).send().expect(200) == serde_json::json!([]));
}

fn an_administrator_manages_users(forge: &Forge) {
    let root = Browser::signed_in(forge, "root");
    let form = root.get("/admin/users/new").page(200);
    let labels = form.all("form[aria-label='New user'] label");
    for label in ["Name", "Username", "Email", "Password", "Administrator", "External"] {
        assert!(labels.iter().any(|text| text == label), "{label}: {labels:?}");
    }
    assert_eq!(form.all("form[aria-label='New user'] button"), ["Create user"]);
    let good = [
        ("name", "Ada"),
        ("username", "ada"),
        ("email", "ada@home.test"),
        ("password", PASSWORD),
        ("external", "1"),
    ];
    let create =
        |fields: &[(&str, &str)]| root.post_from("/admin/users/new", "/admin/users", fields);
    let refused = create(&[("name", "Ada"), ("username", "a b"), ("email", "x")]).page(422);
    assert!(!refused.all("[role=alert] li").is_empty());
    assert_eq!(refused.attributes("input[name=username]", "value"), ["a b"]);
    create(&good).redirects(303, "/admin/users/ada");
    let taken = create(&good).page(422);
    assert_eq!(taken.all("[role=alert] li").len(), 1);
    assert_eq!(taken.attributes("input[name=password]", "value"), [""]);
    assert_eq!(taken.attributes("input[type=checkbox][checked]", "name"), ["external"]);
    let page = root.get("/admin/users/ada").page(200);
    assert_eq!(page.heading(), "Ada");
    assert_eq!(page.all("main button"), ["Block user", "Remove user"]);
    let table = root.get("/admin/users?search=ada").page(200);
    assert_eq!(table.all("table[aria-label=Users] tbody th"), ["Ada"]);
    assert!(table.all("table[aria-label=Users] tbody td").iter().any(|cell| cell == "External"));

    let ada = Browser::signed_in(forge, "ada");
    let (home, edit) = ("/admin/users/ada", "/admin/users/ada/edit");
    root.post_from(home, "/admin/users/ada/block", &[]).redirects(303, home);
    assert_eq!(ada.get("/profile").0.status, 302, "blocking ends sessions");
    let blocked = root.get("/admin/users?filter=blocked").page(200);
    assert_eq!(blocked.all("table[aria-label=Users] tbody th"), ["Ada"]);
    let page = root.get(home).page(200);
    assert_eq!(page.all("main button"), ["Unblock user", "Remove user"]);
    root.post_from(home, "/admin/users/ada/unblock", &[]).redirects(303, home);
    let fields = [("name", "Ada L"), ("username", "ada"), ("email", "ada@home.test")];
    root.post_from(edit, edit, &fields).redirects(303, home);
    assert_eq!(root.get(home).page(200).heading(), "Ada L");
    let refused = root.post_from(home, "/admin/users/ada/remove", &[("confirmation", "x")]);
    assert_eq!(refused.page(422).all("[role=alert] li"), ["Confirmation is not the username."]);
    assert_eq!(root.post("/admin/users/ada/remove", &[("confirmation", "ada")]).0.status, 403);
    assert_eq!(root.get(home).0.status, 200);
    root.post_from(home, "/admin/users/ada/remove", &[("confirmation", "ada")])
        .redirects(303, "/admin/users");
    assert_eq!(root.get(home).0.status, 404);
    assert!(root.get("/admin/users/root").page(200).all("main button").is_empty(), "not oneself");
    for (action, fault) in [("block", "block"), ("unblock", "block"), ("remove", "remove")] {
        let address = format!("/admin/users/root/{action}");
        let seen = root.post_from("/admin/users/root", &address, &[("confirmation", "root")]);
        let fault = format!("You cannot {fault} your own account.");
        assert_eq!(seen.page(422).all("[role=alert] li"), [fault]);
    }
    assert_eq!(root.get("/admin").0.status, 200);
}

fn an_administrator_manages_hooks_and_settings(forge: &Forge) {
    let (root, hooks) = (Browser::signed_in(forge, "root"), "/admin/hooks");
    let refused = root.post_from(hooks, hooks, &[("url", "ftp://x"), ("tag_push_events", "1")]);
    let refused = refused.page(422);
    assert_eq!(refused.attributes("input[name=url]", "value"), ["ftp://x"]);
    assert_eq!(refused.attributes("input[checked]", "name"), ["tag_push_events"]);
    root.post_from(hooks, hooks, &[("url", "http://hook.test/"), ("push_events", "1")])
        .redirects(303, hooks);
    let page = root.get(hooks).page(200);
    assert_eq!(page.all("ul[aria-label='System hooks'] .title"), ["http://hook.test/"]);
    let actions = page.attributes("ul[aria-label='System hooks'] form", "action");
    assert!(actions[0].ends_with("/test"), "{actions:?}");
    root.post_from(hooks, &actions[0], &[]).redirects(303, hooks);
    assert_eq!(root.get(hooks).page(200).all("[role=status]"), ["A sample was sent to the hook."]);
    let remove = &actions[1];
    root.post_from(hooks, remove, &[]).redirects(303, hooks);
    assert!(root.get(hooks).page(200).all("ul[aria-label='System hooks'] li").is_empty());

    let address = "/admin/application_settings";
    let form = root.get(address).page(200);
    let selected = form.attributes("form[aria-label=Settings] option[selected]", "value");
    assert_eq!(selected.len(), 5, "{selected:?}");
    let refused = root.post_from(address, address, &[("sent", "1"), ("max_attachment_size", "x")]);
    let refused = refused.page(422);
    assert_eq!(refused.attributes("input[name=max_attachment_size]", "value"), ["x"]);
    assert_eq!(refused.attributes("[aria-invalid=true]", "name"), ["max_attachment_size"]);
    let fields = [
        ("sent", "1"),
        ("max_attachment_size", "7"),
        ("signin_enabled", "1"),
        ("restricted_visibility_levels", "10"),
        ("domain_whitelist", "a.test\n\nb.test"),
    ];
    root.post_from(address, address, &fields).redirects(303, address);
    let stored = forge.get("/application/settings").token(ROOT).send().expect(200);
    assert_eq!(stored["max_attachment_size"], 7);
    assert_eq!(stored["gravatar_enabled"], false, "it was not checked");
    assert_eq!(stored["signin_enabled"], true);
    assert_eq!(stored["restricted_visibility_levels"], serde_json::json!([10]));
    assert_eq!(stored["domain_whitelist"], serde_json::json!(["a.test", "b.test"]));
}

fn a_message_is_shown_on_every_page(forge: &Forge) {
    let (root, stranger) = (Browser::signed_in(forge, "root"), Browser::stranger(forge));
    let address = "/admin/broadcast_messages";
    let shown = || stranger.get("/explore").page(200).all("[aria-label=Messages] p");
    assert!(shown().is_empty());
    let refused = root.post_from(address, address, &[("message", " ")]).page(422);
    assert_eq!(refused.all("[role=alert] li"), ["Message can't be blank."]);
    let fields = [("message", "x"), ("ends_at", "never")];
    let refused = root.post_from(address, address, &fields).page(422);
    assert_eq!(refused.attributes("[aria-invalid=true]", "name"), ["ends_at"]);
    root.post_from(address, address, &[("message", "Pause at <noon>")]).redirects(303, address);
    assert_eq!(shown(), ["Pause at <noon>"]);
    assert_eq!(root.get("/profile").page(200).all("[aria-label=Messages] p"), ["Pause at <noon>"]);
    let old =
        [("message", "Old"), ("starts_at", "2001-01-01T00:00"), ("ends_at", "2001-01-02T00:00")];
    root.post_from(address, address, &old).redirects(303, address);
    assert_eq!(shown(), ["Pause at <noon>"], "the other one has ended");
    let page = root.get(address).page(200);
    assert_eq!(page.all("table[aria-label=Messages] tbody th").len(), 2);
    let links = page.attributes("table[aria-label=Messages] a", "href");
    let edit = links.last().expect("the first message");
    let form = root.get(edit).page(200);
    assert_eq!(form.all("textarea#message"), ["Pause at <noon>"]);
    assert_eq!(form.attributes("input#color", "value"), ["#E75E40"]);
    let refused = root.post_from(edit, edit, &[("message", "x"), ("color", "red")]).page(422);
    assert_eq!(refused.attributes("[aria-invalid=true]", "name"), ["color"]);
    root.post_from(edit, edit, &[("message", "Pause later")]).redirects(303, address);
    assert_eq!(shown(), ["Pause later"]);
    for form in page.attributes("table[aria-label=Messages] form", "action") {
        root.post_from(address, &form, &[]).redirects(303, address);
    }
    assert!(shown().is_empty());
}

fn an_administrator_manages_keys_and_addresses_of_users(forge: &Forge) {
    user(forge, "ada");
    let (root, page) = (Browser::signed_in(forge, "root"), "/admin/users/ada/keys");
    let refused = root.post_from(page, page, &[("title", "x"), ("key", "nonsense")]).page(422);
    assert_eq!(refused.all("textarea#key"), ["nonsense"]);
    let key = an_ssh_key(3);
    root.post_from(page, page, &[("title", "laptop"), ("key", &key)]).redirects(303, page);
    let emails = "/admin/users/ada/emails";
    let refused = root.post_from(page, emails, &[("email", "x")]).page(422);
    assert_eq!(refused.attributes("input#email", "value"), ["x"]);
    root.post_from(page, emails, &[("email", "ada@work.test")]).redirects(303, page);
    let shown = root.get(page).page(200);
    assert_eq!(shown.all("main li button"), ["Remove laptop", "Remove ada@work.test"]);
    let ada = Browser::signed_in(forge, "ada");
    assert_eq!(ada.get("/profile/keys").page(200).all(".title"), ["laptop"]);
    for action in shown.attributes("main li form", "action") {
        assert_eq!(ada.post_from("/profile", &action, &[]).0.status, 403, "{action}");
        root.post_from(page, &action, &[]).redirects(303, page);
    }
    assert!(root.get(page).page(200).all("main li button").is_empty());
}

fn an_administrator_manages_runners(forge: &Forge) {
    let (root, page) = (Browser::signed_in(forge, "root"), "/admin/runners");
    let seen = root.get(page);
    assert_eq!(seen.0.header("Cache-Control"), Some("no-store"), "the page has a secret");
    // The token of this server is in its settings, so the page does not know it.
    assert!(seen.page(200).attributes("input#runner-token", "value").is_empty());
    let token = hexforge_tests::forge::RUNNERS;
    let runner = hexforge_tests::Runner::register(forge.address, token, &[("description", "big")]);
    let one = format!("{page}/{}", runner.id);
    let cells = || root.get(page).page(200).all("table[aria-label=Runners] tbody tr > *");
    assert_eq!(cells()[1..4], ["Shared", "", "Active"]);
    for (action, state) in [("pause", "Paused"), ("resume", "Active")] {
        root.post_from(page, &format!("{one}/{action}"), &[]).redirects(303, page);
        assert_eq!(cells()[3], state);
    }
    let edit = format!("{one}/edit");
    assert_eq!(root.get(&edit).page(200).attributes("input#description", "value"), ["big"]);
    let fields = [("description", "small"), ("tags", "b, a"), ("locked", "1")];
    root.post_from(&edit, &edit, &fields).redirects(303, page);
    assert_eq!(cells()[2..4], ["a, b", "Paused"], "it was not checked");
    root.post_from(page, &format!("{page}/token"), &[]).redirects(303, page);
    root.post_from(page, &format!("{one}/remove"), &[]).redirects(303, page);
    assert!(cells().is_empty());
    user(forge, "ada");
    let ada = Browser::signed_in(forge, "ada");
    assert_eq!(ada.get(&edit).page(404).heading(), "Page not found");
}
