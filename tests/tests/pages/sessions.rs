//! Signing in and out.

use chrono::TimeDelta;
use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, user};

on_every_store!(
    a_user_signs_in_and_out,
    a_wrong_password_keeps_the_name_and_the_target,
    sessions_are_no_tokens_and_tokens_open_no_pages,
    signing_in_makes_a_new_session_always,
    sessions_end_after_a_time_without_use,
    blocks_and_new_passwords_end_sessions,
    too_many_attempts_are_braked,
    any_target_is_returned_to_safely,
    cookies_open_uploads_and_avatars_but_no_repositories,
    redirects_have_the_headers_of_pages,
);

fn a_user_signs_in_and_out(forge: &Forge) {
    user(forge, "ada");
    let browser = Browser::stranger(forge);
    browser
        .get("/dashboard/projects")
        .redirects(302, "/users/sign_in?return_to=%2Fdashboard%2Fprojects");
    let form = browser.get("/users/sign_in?return_to=%2Fexplore").page(200);
    assert_eq!(form.heading(), "Sign in");
    assert_eq!(
        form.all("form[aria-label='Sign in'] label"),
        ["Username or email", "Password", "Remember me"]
    );
    let token = form.token();
    let fields = [
        ("authenticity_token", token.as_str()),
        ("login", "ada"),
        ("password", PASSWORD),
        ("return_to", "/explore"),
    ];
    let signed_in = browser.post("/users/sign_in", &fields);
    signed_in.redirects(303, "/explore");
    let cookie =
        signed_in.0.headers.iter().find(|(_, value)| value.starts_with("hexforge_session="));
    let (_, cookie) = cookie.expect("there is a session");
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert!(!cookie.contains("Max-Age") && !cookie.contains("Secure"), "{cookie}");
    let home = browser.get("/").page(200);
    assert_eq!(home.heading(), "Projects");
    assert_eq!(home.all("nav[aria-label=Account] button"), ["Sign out"]);
    browser.get("/users/sign_in").redirects(303, "/");
    let session = browser.cookie("hexforge_session").expect("it is kept");
    browser.post_from("/", "/users/sign_out", &[]).redirects(303, "/users/sign_in");
    let after = browser.get("/users/sign_in").page(200);
    assert_eq!(after.all("[role=status]"), ["You are signed out."]);
    assert!(
        browser.get("/users/sign_in").page(200).all("[role=status]").is_empty(),
        "it is shown once"
    );
    let old =
        forge.page("GET", "/dashboard").header("Cookie", &format!("hexforge_session={session}"));
    assert_eq!(old.send().status, 302, "the row decides");
}

fn a_wrong_password_keeps_the_name_and_the_target(forge: &Forge) {
    user(forge, "ada");
    let browser = Browser::stranger(forge);
    for (login, password) in [("ada", "wrong"), ("nobody", "wrong")] {
        let token = browser.get("/users/sign_in").page(200).token();
        let fields = [
            ("authenticity_token", token.as_str()),
            ("login", login),
            ("password", password),
            ("return_to", "/help"),
        ];
        let failed = browser.post("/users/sign_in", &fields).page(422);
        assert_eq!(failed.all("[role=alert]"), ["Invalid login or password."]);
        assert_eq!(failed.attributes("input[name=login]", "value"), [login]);
        assert_eq!(
            failed.attributes("form[aria-label='Sign in'] input[name=return_to]", "value"),
            ["/help"]
        );
        assert!(failed.attributes("input[name=password]", "value").is_empty());
        assert!(browser.cookie("hexforge_session").is_none());
    }
}

fn sessions_are_no_tokens_and_tokens_open_no_pages(forge: &Forge) {
    user(forge, "ada");
    let browser = Browser::signed_in(forge, "ada");
    let session = browser.cookie("hexforge_session").expect("she is signed in");
    assert_eq!(forge.get("/user").token(&session).send().status, 401);
    let cookie = format!("hexforge_session={session}");
    assert_eq!(forge.get("/user").header("Cookie", &cookie).send().status, 401);
    let token = forge.sign_in("root");
    let page = forge.page("GET", "/dashboard").token(&token).send();
    assert_eq!(page.status, 302);
}

/// Signs in with more fields, and returns the response.
fn sign_in(browser: &Browser<'_>, more: &[(&str, &str)]) -> super::support::Seen {
    let token = browser.get("/users/sign_in").page(200).token();
    let mut fields = vec![("authenticity_token", token.as_str()), ("login", "ada")];
    if !more.iter().any(|(name, _)| *name == "password") {
        fields.push(("password", PASSWORD));
    }
    fields.extend(more);
    browser.post("/users/sign_in", &fields)
}

fn session_of(browser: &Browser<'_>) -> String {
    browser.cookie("hexforge_session").expect("the browser has a session")
}

fn status_with(forge: &Forge, session: &str) -> u16 {
    let cookie = format!("hexforge_session={session}");
    forge.page("GET", "/profile").header("Cookie", &cookie).send().status
}

fn signing_in_makes_a_new_session_always(forge: &Forge) {
    user(forge, "ada");
    let ada = Browser::signed_in(forge, "ada");
    let first = session_of(&ada);
    // The form is sent again with the old session, as from a tab that was open.
    let form = forge.page("GET", "/users/sign_in").send();
    let pair = form.header("Set-Cookie").and_then(|cookie| cookie.split(';').next());
    let pair = pair.expect("the form has a cookie").to_owned();
    let token = super::support::Seen(form).page(200).token();
    let fields = [("authenticity_token", token.as_str()), ("login", "ada"), ("password", PASSWORD)];
    let cookies = format!("{pair}; hexforge_session={first}");
    let again = forge.page("POST", "/users/sign_in").form(&fields).header("Cookie", &cookies);
    let again = again.send();
    assert_eq!(again.status, 303);
    assert_eq!(status_with(forge, &first), 302, "the session before has ended");
    // A session that somebody else chose is not taken.
    let chosen = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let cookies = format!("{pair}; hexforge_session={chosen}");
    let fixed = forge.page("POST", "/users/sign_in").form(&fields).header("Cookie", &cookies);
    let fixed = fixed.send();
    assert_eq!(fixed.status, 303);
    assert!(!fixed.headers.iter().any(|(_, value)| value.contains(chosen)));
    assert_eq!(status_with(forge, chosen), 302);
}

fn sessions_end_after_a_time_without_use(forge: &Forge) {
    user(forge, "ada");
    let (short, long) = (Browser::stranger(forge), Browser::stranger(forge));
    sign_in(&short, &[]).redirects(303, "/");
    let remembered = sign_in(&long, &[("remember_me", "1")]);
    remembered.redirects(303, "/");
    let cookies = remembered.0.headers.iter().map(|(_, value)| value);
    let mut of_session = cookies.filter(|cookie| cookie.starts_with("hexforge_session="));
    assert!(of_session.next().is_some_and(|cookie| cookie.contains("Max-Age=1209600")));
    forge.clock.advance(TimeDelta::days(6));
    assert_eq!(short.get("/profile").0.status, 200);
    forge.clock.advance(TimeDelta::days(6));
    assert_eq!(short.get("/profile").0.status, 200, "use extends it");
    assert_eq!(long.get("/profile").0.status, 200);
    forge.clock.advance(TimeDelta::days(8));
    assert_eq!(short.get("/profile").0.status, 302, "seven days");
    assert_eq!(long.get("/profile").0.status, 200);
    forge.clock.advance(TimeDelta::days(15));
    assert_eq!(long.get("/profile").0.status, 302, "fourteen days");
}

fn blocks_and_new_passwords_end_sessions(forge: &Forge) {
    let id = user(forge, "ada");
    let ada = Browser::signed_in(forge, "ada");
    let path = format!("/users/{id}");
    let fields = [("password", "a new long password")];
    forge.put(&path).token(ROOT).form(&fields).send().expect(200);
    assert_eq!(ada.get("/profile").0.status, 302, "an administrator changed the password");
    forge.put(&path).token(ROOT).form(&[("password", PASSWORD)]).send().expect(200);
    let ada = Browser::signed_in(forge, "ada");
    forge.put(&format!("{path}/block")).token(ROOT).send().expect(200);
    assert_eq!(ada.get("/profile").0.status, 302, "she is blocked");
    assert_eq!(sign_in(&Browser::stranger(forge), &[]).0.status, 422);
    forge.put(&format!("{path}/unblock")).token(ROOT).send().expect(200);
    assert_eq!(ada.get("/profile").0.status, 302, "the session is gone for good");
    let ada = Browser::signed_in(forge, "ada");
    forge.delete(&path).token(ROOT).send().expect(200);
    assert_eq!(ada.get("/profile").0.status, 302, "the account is gone");
}

fn too_many_attempts_are_braked(forge: &Forge) {
    user(forge, "ada");
    let browser = Browser::stranger(forge);
    let wrong = || sign_in(&browser, &[("password", "wrong"), ("return_to", "/help")]);
    let braked = (0..50).map(|_| wrong()).find(|seen| seen.0.status == 429);
    let braked = braked.expect("the brake takes hold");
    let seconds = braked.0.header("Retry-After").expect("it says when").to_owned();
    let page = braked.page(429);
    assert_eq!(
        page.all("[role=alert]"),
        [format!("Too many attempts. Try again in {seconds} seconds.")]
    );
    assert_eq!(page.attributes("input[name=login]", "value"), ["ada"]);
    assert_eq!(page.attributes("form[aria-label='Sign in'] [name=return_to]", "value"), ["/help"]);
    assert!(browser.cookie("hexforge_session").is_none());
    // The interface has the same brake, and other spellings do not escape it.
    let call = forge.post("/session").form(&[("login", "ada"), ("password", "wrong")]).send();
    assert_eq!(call.status, 429, "{}", call.text());
    for login in ["ADA", " ada ", "ada@example.com"] {
        let seen = sign_in(&browser, &[("login", login), ("password", "wrong")]);
        assert_eq!(seen.0.status, 429, "{login}");
    }
}

fn any_target_is_returned_to_safely(forge: &Forge) {
    user(forge, "ada");
    for (target, address) in [
        ("/ada/ü x?q=\u{1f680}", "/ada/%C3%BC%20x?q=%F0%9F%9A%80"),
        ("/a\"b<c>", "/a%22b%3Cc%3E"),
        ("//evil.test", "/"),
        ("/\\evil.test", "/"),
        ("/\tx", "/"),
        ("/x\r\nSet-Cookie: a=b", "/"),
        ("https://evil.test", "/"),
        ("/\u{85}x", "/"),
    ] {
        let browser = Browser::stranger(forge);
        sign_in(&browser, &[("return_to", target)]).redirects(303, address);
    }
    let browser = Browser::stranger(forge);
    for address in ["//evil.test/", "//evil.test/x/", "/%2F/evil.test/", "///evil.test//x///"] {
        let location = browser.get(address).0.header("Location").unwrap_or("/").to_owned();
        assert!(!location.starts_with("//"), "{address}: {location}");
    }
}

fn cookies_open_uploads_and_avatars_but_no_repositories(forge: &Forge) {
    let (id, tree) = super::support::project(forge, "ship", "0");
    tree.write("logo.png", "\u{89}PNG");
    tree.commit("A logo");
    forge.fill(id, &tree);
    let upload = forge.post(&format!("/projects/{id}/uploads")).token(ROOT);
    let file = upload.form_data(&[("name=\"file\"; filename=\"a.png\"", b"x")]).send().expect(201);
    let file = format!("/root/ship{}", file["url"].as_str().expect("uploads have addresses"));
    let (root, stranger) = (Browser::signed_in(forge, "root"), Browser::stranger(forge));
    user(forge, "ada");
    let ada = Browser::signed_in(forge, "ada");
    for address in [file.as_str(), "/root/ship/avatar"] {
        let shown = root.get(address).0;
        assert_eq!(shown.status, 200, "{address}: {:?}", shown.body);
        assert_eq!(shown.header("Cache-Control"), Some("private"));
        assert_eq!(ada.get(address).0.status, 404, "{address}");
        assert_eq!(stranger.get(address).0.status, 404, "{address}");
    }
    for address in [
        "/root/ship.git/info/refs?service=git-upload-pack".to_owned(),
        format!("/api/v3/projects/{id}"),
        format!("/api/v3/projects/{id}/repository/tree"),
        "/api/v3/user".to_owned(),
    ] {
        assert_eq!(root.get(&address).0.status, 401, "{address}");
    }
}

fn redirects_have_the_headers_of_pages(forge: &Forge) {
    user(forge, "ada");
    let ada = Browser::signed_in(forge, "ada");
    for address in ["/u/ada", "/groups", "/public", "/help/unknown", "/users/sign_in", "/explore/"]
    {
        let seen = ada.get(address).0;
        assert!((301..=303).contains(&seen.status), "{address}");
        let policy = seen.header("Content-Security-Policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'"), "{address}: {policy}");
        assert_eq!(seen.header("X-Content-Type-Options"), Some("nosniff"), "{address}");
        assert_eq!(seen.header("Referrer-Policy"), Some("same-origin"), "{address}");
        assert_eq!(seen.header("Cross-Origin-Opener-Policy"), Some("same-origin"), "{address}");
        assert_eq!(seen.header("Cache-Control"), Some("private, no-cache"), "{address}");
    }
    for address in ["/ada.atom", "/dashboard.atom", "/search/autocomplete?term=a"] {
        let seen = ada.get(address).0;
        assert_eq!(seen.status, 200, "{address}");
        let cache = seen.header("Cache-Control").unwrap_or_default();
        assert!(cache.contains("private"), "{address}: {cache}");
    }
}
