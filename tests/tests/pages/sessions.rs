//! Signing in and out.

use hexforge_tests::forge::PASSWORD;
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, user};

on_every_store!(
    a_user_signs_in_and_out,
    a_wrong_password_keeps_the_name_and_the_target,
    sessions_are_no_tokens_and_tokens_open_no_pages,
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
