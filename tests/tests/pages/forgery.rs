//! Forms that another site may have sent change nothing.

use hexforge_tests::forge::{EXTERNAL_URL, PASSWORD, ROOT};
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, Seen, project, user};

on_every_store!(
    forged_forms_are_refused,
    every_form_is_refused_without_its_token_or_from_another_site,
    forms_of_strangers_are_bound_to_their_cookie,
    nothing_typed_is_lost_with_a_session,
    a_form_of_an_ended_session_is_sent_again,
    messages_lead_only_to_this_service,
);

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

/// The addresses of all forms of signed-in users, with values that exist.
fn forms() -> Vec<String> {
    let open = ["/users/sign_in", "/users/sign_up", "/-/color_scheme"];
    let list = hexforge_web_askama::list();
    let patterns = list.lines().filter_map(|line| line.strip_prefix("POST "));
    let address = |pattern: &str| {
        let value = |segment: &str| match segment.trim_end_matches(".git") {
            "{namespace}" => "root".to_owned(),
            "{project}" => "ship".to_owned(),
            "{username}" => "ada".to_owned(),
            "{path}" | "{group}" => "crew".to_owned(),
            "{name}" => "slack".to_owned(),
            "{action}" => "pause".to_owned(),
            "{rest...}" => "master/README.md".to_owned(),
            other if other.starts_with('{') => "1".to_owned(),
            other => other.to_owned(),
        };
        pattern.split('/').map(value).collect::<Vec<_>>().join("/")
    };
    patterns.filter(|pattern| !open.contains(pattern)).map(address).collect()
}

fn every_form_is_refused_without_its_token_or_from_another_site(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    user(forge, "ada");
    forge
        .post("/groups")
        .token(ROOT)
        .form(&[("name", "crew"), ("path", "crew")])
        .send()
        .expect(201);
    let root = Browser::signed_in(forge, "root");
    let token = root.get("/").page(200).token();
    let state = || {
        let paths = ["/projects", "/users", "/groups", "/user", "/application/settings", "/hooks"];
        let events = format!("/projects/{id}/events");
        let paths = paths.map(str::to_owned).into_iter();
        let all = paths.chain([events, "/broadcast_messages".to_owned()]);
        all.map(|path| forge.get(&path).token(ROOT).send().expect(200)).collect::<Vec<_>>()
    };
    let before = state();
    let forms = forms();
    assert!(forms.len() > 100, "{}", forms.len());
    let fields = |token: &str| {
        let fields = [("authenticity_token", token), ("confirmation", "root/ship"), ("name", "x")];
        fields.map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    for address in &forms {
        let form = |token: &str| {
            let fields = fields(token);
            let fields: Vec<_> = fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            forge.page("POST", address).form(&fields)
        };
        for request in [
            form(""),
            form(&token).header("Origin", "http://evil.test"),
            form(&token).header("Sec-Fetch-Site", "cross-site"),
        ] {
            let refused = root.send(request);
            assert_eq!(refused.0.status, 403, "{address}: {}", refused.0.text());
            assert_eq!(refused.page(403).heading(), "Not allowed", "{address}");
        }
    }
    assert_eq!(state(), before, "nothing was changed");
    // The same form is accepted from the own site.
    let fields = [("authenticity_token", token.as_str()), ("name", "Root")];
    let own = forge.page("POST", "/profile").form(&fields).header("Origin", EXTERNAL_URL);
    root.send(own.header("Sec-Fetch-Site", "none")).redirects(303, "/profile");
}

fn forms_of_strangers_are_bound_to_their_cookie(forge: &Forge) {
    user(forge, "ada");
    let (one, other) = (Browser::stranger(forge), Browser::stranger(forge));
    assert!(one.get("/explore").0.header("Set-Cookie").is_none(), "no cookie before the form");
    let seen = one.get("/users/sign_in");
    assert_eq!(seen.0.header("Cache-Control"), Some("no-store"));
    let cookie = seen.0.header("Set-Cookie").unwrap_or_default().to_owned();
    assert!(cookie.starts_with("hexforge_form="), "{cookie}");
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=7200"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    let first = seen.page(200).token();
    let second = one.get("/users/sign_in").page(200).token();
    assert_ne!(first, second, "each page masks it anew");
    let of_other = other.get("/users/sign_in").page(200).token();
    let request = |token: &str| {
        let fields = [("authenticity_token", token), ("login", "ada"), ("password", PASSWORD)];
        forge.page("POST", "/users/sign_in").form(&fields)
    };
    let refused = |seen: Seen| {
        assert_eq!(seen.page(403).heading(), "Not allowed");
        assert!(!seen.0.headers.iter().any(|(_, value)| value.contains("hexforge_session")));
    };
    refused(one.send(request("")));
    refused(one.send(request(&of_other)));
    refused(one.send(request(&first).header("Origin", "http://evil.test")));
    refused(one.send(request(&first).header("Sec-Fetch-Site", "same-site")));
    refused(Browser::stranger(forge).send(request(&first)));
    // A form in another tab stays valid.
    one.send(request(&first)).redirects(303, "/");
    assert_eq!(one.get("/profile").0.status, 200);
    // The form of a stranger is none of a session, and the other way around.
    let own = one.get("/profile").page(200).token();
    refused(other.send(request(&own)));
    assert_eq!(one.post("/profile", &[("authenticity_token", &of_other)]).0.status, 403);
}

fn nothing_typed_is_lost_with_a_session(forge: &Forge) {
    user(forge, "ada");
    let ada = Browser::signed_in(forge, "ada");
    let token = ada.get("/profile/keys").page(200).token();
    let session = ada.get("/profile/audit_log").page(200).token();
    ada.post("/users/sign_out", &[("authenticity_token", &session)])
        .redirects(303, "/users/sign_in");
    let ended = Browser::stranger(forge);
    let send = |fields: &[(&str, &str)]| {
        let fields: Vec<_> =
            fields.iter().copied().chain([("authenticity_token", token.as_str())]).collect();
        let request = forge.page("POST", "/profile/keys").form(&fields);
        ended.send(request.header("Referer", &format!("{EXTERNAL_URL}/profile/keys?page=2")))
    };
    let page = send(&[("title", "My <key>"), ("key", "ssh-rsa AAAA x"), ("password", "hunter2")]);
    let page = page.page(403);
    assert_eq!(page.all("main textarea[readonly]"), ["My <key>", "ssh-rsa AAAA x"]);
    assert!(!page.1.contains("hunter2"), "passwords are not shown");
    let sign_in = "/users/sign_in?return_to=%2Fprofile%2Fkeys%3Fpage%3D2";
    assert_eq!(page.attributes("main a", "href").first().map(String::as_str), Some(sign_in));
    // A page of another site is not returned to.
    let foreign = forge.page("POST", "/profile/keys").form(&[("title", "x")]);
    let foreign = ended.send(foreign.header("Referer", "http://evil.test/profile")).page(403);
    assert_eq!(foreign.attributes("main a", "href")[0], "/users/sign_in");
}

fn a_form_of_an_ended_session_is_sent_again(forge: &Forge) {
    user(forge, "ada");
    project(forge, "ship", "20");
    let (page, action) = (format!("{EXTERNAL_URL}/root/ship/issues/new"), "/root/ship/issues");
    let typed = [("title", "A <leak>"), ("description", "\nIn the\n*bow*")];
    let chosen = [("labels_shown", "1"), ("milestone_id", "0")];
    let fields: Vec<_> = typed.into_iter().chain(chosen).collect();
    let ended = |browser: &Browser<'_>, fields: &[(&str, &str)]| {
        browser.send(forge.page("POST", action).form(fields).header("Referer", &page)).page(403)
    };
    let seen = ended(&Browser::stranger(forge), &fields);
    assert_eq!(seen.all("form[aria-label='Send again'] textarea"), ["A <leak>", "In the *bow*"]);
    // Browsers drop the first newline of a text area.
    assert!(seen.1.contains("rows=\"4\">\n\nIn the\n"), "{}", seen.1);
    assert_eq!(seen.all("form[aria-label='Send again'] label"), ["Title", "Description"]);
    assert_eq!(seen.attributes("input[name=labels_shown]", "value"), ["1"]);
    assert_eq!(seen.attributes("input[name=form_page]", "value"), ["/root/ship/issues/new"]);
    let sign_in = "/users/sign_in?return_to=%2Froot%2Fship%2Fissues%2Fnew";
    assert_eq!(seen.attributes("main a[target=_blank]", "href"), [sign_in]);
    // The visitor has signed in meanwhile, in another tab.
    let ada = Browser::signed_in(forge, "ada");
    let again = ended(&ada, &fields);
    assert_eq!(again.attributes("main a[target=_blank]", "href"), Vec::<String>::new());
    let token = again.token();
    let fields: Vec<_> = fields.into_iter().chain([("authenticity_token", &*token)]).collect();
    ada.post(action, &fields).redirects(303, "/root/ship/issues/1");
    assert_eq!(ada.get("/root/ship/issues/1").page(200).heading(), "A <leak>");
}
