//! The settings of the own account.

use hexforge_tests::forge::PASSWORD;
use hexforge_tests::ssh_keys::an_ssh_key;
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, Page, user};

on_every_store!(
    settings_are_for_signed_in_users,
    a_user_changes_the_profile,
    a_user_manages_ssh_keys,
    a_user_manages_email_addresses,
    a_new_access_token_is_shown_once,
    a_user_chooses_notifications_and_colors,
    keyboard_shortcuts_are_switched_off,
    a_user_revokes_other_sessions,
    settings_of_others_are_out_of_reach,
);

/// All pages of the settings, with their headings.
const SETTINGS: [(&str, &str); 9] = [
    ("/profile", "Profile"),
    ("/profile/account", "Account"),
    ("/profile/password/edit", "Password"),
    ("/profile/emails", "Emails"),
    ("/profile/keys", "SSH keys"),
    ("/profile/personal_access_tokens", "Access tokens"),
    ("/profile/notifications", "Notifications"),
    ("/profile/preferences", "Preferences"),
    ("/profile/audit_log", "Sessions"),
];

fn status_of(page: &Page) -> Vec<String> {
    page.all("[role=status]")
}

fn settings_are_for_signed_in_users(forge: &Forge) {
    user(forge, "ada");
    let (stranger, ada) = (Browser::stranger(forge), Browser::signed_in(forge, "ada"));
    for (address, heading) in SETTINGS {
        let encoded = address.replace('/', "%2F");
        stranger.get(address).redirects(302, &format!("/users/sign_in?return_to={encoded}"));
        let page = ada.get(address).page(200);
        assert_eq!(page.heading(), heading, "{address}");
        assert_eq!(page.all("title"), [format!("{heading} · hexforge")]);
        let links = page.attributes("nav[aria-label=Settings] a", "href");
        assert_eq!(links, SETTINGS.map(|(address, _)| address));
        assert_eq!(page.all("nav[aria-label=Settings] a[aria-current=page]"), [heading]);
    }
}

fn a_user_changes_the_profile(forge: &Forge) {
    user(forge, "ada");
    let ada = Browser::signed_in(forge, "ada");
    let form = ada.get("/profile").page(200);
    let labels = form.all("form[aria-label=Profile] label");
    assert_eq!(&labels[..2], ["Name", "Location"]);
    assert_eq!(labels.last().map(String::as_str), Some("Bio"));
    assert_eq!(form.all("form[aria-label=Profile] button"), ["Save changes"]);
    let fields = [
        ("name", "Ada Lovelace"),
        ("bio", "Counts & <reckons>"),
        ("website_url", "javascript:alert(1)"),
        // Fields that only administrators change are ignored.
        ("username", "root2"),
        ("admin", "1"),
    ];
    ada.post_from("/profile", "/profile", &fields).redirects(303, "/profile");
    let after = ada.get("/profile").page(200);
    assert_eq!(status_of(&after), ["Your changes were saved."]);
    assert_eq!(after.attributes("input[name=name]", "value"), ["Ada Lovelace"]);
    assert_eq!(after.all("textarea[name=bio]"), ["Counts & <reckons>"]);
    let page = ada.get("/ada").page(200);
    assert_eq!(page.heading(), "Ada Lovelace");
    assert!(!page.1.contains("href=\"javascript"), "{}", page.1);
    assert_eq!(ada.get("/admin").page(404).heading(), "Page not found");

    let refused = ada.post_from("/profile", "/profile", &[("name", " "), ("bio", "kept")]);
    let refused = refused.page(422);
    assert_eq!(refused.all("[role=alert] li"), ["Name can't be blank."]);
    assert_eq!(refused.attributes("input[aria-invalid=true]", "name"), ["name"]);
    assert_eq!(refused.all("textarea[name=bio]"), ["kept"]);
    let forged = ada.post("/profile", &[("name", "Eve")]);
    assert_eq!(forged.page(403).heading(), "Not allowed");
    assert_eq!(ada.get("/ada").page(200).heading(), "Ada Lovelace");
}

fn a_user_manages_ssh_keys(forge: &Forge) {
    user(forge, "ada");
    let (ada, key) = (Browser::signed_in(forge, "ada"), an_ssh_key(1));
    let keys = "/profile/keys";
    assert_eq!(
        ada.get(keys).page(200).all("form[aria-label='Add an SSH key'] label"),
        ["Key", "Title"]
    );
    let refused = ada.post_from(keys, keys, &[("key", "nonsense"), ("title", "laptop")]).page(422);
    assert_eq!(refused.attributes("[aria-invalid=true]", "name"), ["key"]);
    assert_eq!(refused.all("textarea[name=key]"), ["nonsense"]);
    assert_eq!(refused.attributes("input[name=title]", "value"), ["laptop"]);
    ada.post_from(keys, keys, &[("key", &key), ("title", "laptop")]).redirects(303, keys);
    let page = ada.get(keys).page(200);
    assert_eq!(page.all("ul[aria-label='SSH keys'] .title"), ["laptop"]);
    assert_eq!(page.all("ul[aria-label='SSH keys'] code").len(), 1);
    assert_eq!(page.all("ul[aria-label='SSH keys'] button"), ["Remove laptop"]);
    let address = page.attributes("ul[aria-label='SSH keys'] a", "href").remove(0);
    let shown = ada.get(&address).page(200);
    assert_eq!(shown.heading(), "laptop");
    assert_eq!(shown.all("pre"), [key.as_str()]);
    let twice = ada.post_from(keys, keys, &[("key", &key), ("title", "other")]).page(422);
    assert_eq!(twice.all("[role=alert] li"), ["Fingerprint has already been taken."]);
    let text = Browser::stranger(forge).get("/ada.keys");
    assert_eq!((text.0.status, text.0.text()), (200, format!("{key}\n").as_str()));
    ada.post_from(keys, &format!("{address}/remove"), &[]).redirects(303, keys);
    assert!(ada.get(keys).page(200).all("ul[aria-label='SSH keys'] li").is_empty());
    assert_eq!(ada.get(&address).0.status, 404);
    // A key without a title is named by its comment.
    ada.post_from(keys, keys, &[("key", &key)]).redirects(303, keys);
    assert_eq!(ada.get(keys).page(200).all(".title"), ["key-1@example.com"]);
}

fn a_user_manages_email_addresses(forge: &Forge) {
    user(forge, "ada");
    let (ada, emails) = (Browser::signed_in(forge, "ada"), "/profile/emails");
    ada.post_from(emails, emails, &[("email", "ada@work.test")]).redirects(303, emails);
    let page = ada.get(emails).page(200);
    let listed = page.all("ul[aria-label='Email addresses'] > li > p");
    assert_eq!(listed[1], "ada@work.test");
    assert!(listed[0].ends_with("primary"), "{listed:?}");
    assert_eq!(page.all("ul[aria-label='Email addresses'] button"), ["Remove ada@work.test"]);
    for (typed, message) in
        [("nonsense", "Email is invalid."), ("ada@work.test", "Email has already been taken.")]
    {
        let refused = ada.post_from(emails, emails, &[("email", typed)]).page(422);
        assert_eq!(refused.all("[role=alert] li"), [message]);
        assert_eq!(refused.attributes("input[name=email]", "value"), [typed]);
    }
    let action = page.attributes("ul[aria-label='Email addresses'] form", "action").remove(0);
    ada.post_from(emails, &action, &[]).redirects(303, emails);
    let left = ada.get(emails).page(200);
    assert!(left.all("ul[aria-label='Email addresses'] button").is_empty());
}

fn a_new_access_token_is_shown_once(forge: &Forge) {
    user(forge, "ada");
    let (ada, tokens) = (Browser::signed_in(forge, "ada"), "/profile/personal_access_tokens");
    for (name, day, message) in [
        ("", "", "Name can't be blank."),
        ("x", "soon", "Expires at is not a date: write 2030-12-31."),
        ("x", "2001-01-01", "Expires at must be in the future."),
    ] {
        let refused = ada.post_from(tokens, tokens, &[("name", name), ("expires_at", day)]);
        let refused = refused.page(422);
        assert_eq!(refused.all("[role=alert] li"), [message]);
        assert_eq!(refused.attributes("input[name=expires_at]", "value"), [day]);
    }
    let fields = [("name", "robot"), ("expires_at", "2999-01-01")];
    ada.post_from(tokens, tokens, &fields).redirects(303, tokens);
    let seen = ada.get(tokens);
    assert_eq!(seen.0.header("Cache-Control"), Some("no-store"));
    let page = seen.page(200);
    assert_eq!(page.all("label[for=new-token]"), ["Your new access token"]);
    let secret = page.attributes("#new-token[readonly]", "value").remove(0);
    let shown = forge.get("/user").token(&secret).send().expect(200);
    assert_eq!(shown["username"], "ada");
    let again = ada.get(tokens);
    assert_eq!(again.0.header("Cache-Control"), Some("private, no-cache"));
    let again = again.page(200);
    assert!(!again.1.contains(&secret), "it is shown once");
    let table = "table[aria-label='Active tokens']";
    assert_eq!(again.all(&format!("{table} th[scope=row]")), ["robot"]);
    assert_eq!(again.all(&format!("{table} button")), ["Revoke robot"]);
    let action = again.attributes(&format!("{table} form"), "action").remove(0);
    user(forge, "bob");
    let bob = Browser::signed_in(forge, "bob");
    assert_eq!(bob.post_from(tokens, &action, &[]).0.status, 404, "it is the token of ada");
    ada.post_from(tokens, &action, &[]).redirects(303, tokens);
    assert_eq!(forge.get("/user").token(&secret).send().status, 401);
    assert!(ada.get(tokens).page(200).all(table).is_empty());
}

fn a_user_chooses_notifications_and_colors(forge: &Forge) {
    user(forge, "ada");
    let (ada, address) = (Browser::signed_in(forge, "ada"), "/profile/notifications");
    let fields = [("level", "custom"), ("events", "0"), ("events", "10")];
    ada.post_from(address, address, &fields).redirects(303, address);
    let page = ada.get(address).page(200);
    assert_eq!(page.all("#level option[selected]"), ["Custom"]);
    assert_eq!(page.attributes("input[name=events][checked]", "value"), ["0", "10"]);
    let fields = [("level", "watch"), ("notification_email", "eve@evil.test")];
    let refused = ada.post_from(address, address, &fields).page(422);
    assert_eq!(refused.all("[role=alert] li"), ["Notification email is not an email you own."]);
    assert_eq!(refused.all("#level option[selected]"), ["Watch"]);

    // A project or group has its own settings.
    let (id, _) = super::support::project(forge, "ship", "20");
    let of_project = "/profile/notifications?of=root%2Fship";
    let levels = ada.get(of_project).page(200).all("#level option");
    assert_eq!(levels[0], "Global");
    let fields = [("of", "root/ship"), ("level", "disabled")];
    ada.post_from(of_project, address, &fields).redirects(303, of_project);
    assert_eq!(ada.get(of_project).page(200).all("#level option[selected]"), ["Disabled"]);
    assert_eq!(ada.get(address).page(200).all("#level option[selected]"), ["Custom"]);
    super::support::project(forge, "hidden", "0");
    for path in ["root/hidden", "root/none", "nobody", "1"] {
        assert_eq!(ada.get(&format!("{address}?of={path}")).0.status, 404, "{id} {path}");
    }

    let address = "/profile/preferences";
    ada.post_from(address, address, &[("colors", "dark")]).redirects(303, address);
    let page = ada.get(address).page(200);
    assert_eq!(page.attributes("html", "data-color-scheme"), ["dark"]);
    assert_eq!(page.all("#colors option[selected]"), ["Dark"]);
}

fn keyboard_shortcuts_are_switched_off(forge: &Forge) {
    user(forge, "ada");
    let (ada, address) = (Browser::signed_in(forge, "ada"), "/profile/preferences");
    let has_script = |page: &Page| {
        let scripts = page.attributes("head script", "src");
        scripts.iter().any(|script| script.starts_with("/-/assets/keys."))
    };
    let page = ada.get(address).page(200);
    assert!(has_script(&page), "{}", page.1);
    assert_eq!(page.attributes("#shortcuts[checked]", "name"), ["shortcuts"]);
    let off = [("colors", "system")];
    ada.post_from(address, address, &off).redirects(303, address);
    let page = ada.get(address).page(200);
    assert!(!has_script(&page), "{}", page.1);
    assert!(page.attributes("#shortcuts[checked]", "name").is_empty());
    let help = ada.get("/help/shortcuts").page(200);
    assert_eq!(help.all("main .notice"), ["Keyboard shortcuts are switched off in this browser."]);
    let on = [("colors", "system"), ("shortcuts", "1")];
    ada.post_from(address, address, &on).redirects(303, address);
    assert!(has_script(&ada.get(address).page(200)));
    assert!(has_script(&Browser::stranger(forge).get("/explore").page(200)));
}

fn a_user_revokes_other_sessions(forge: &Forge) {
    user(forge, "ada");
    let (ada, other) = (Browser::signed_in(forge, "ada"), Browser::signed_in(forge, "ada"));
    let address = "/profile/audit_log";
    let page = ada.get(address).page(200);
    let table = "table[aria-label=Sessions]";
    assert_eq!(page.all(&format!("{table} tbody tr")).len(), 2);
    assert_eq!(page.all(&format!("{table} button")), ["Revoke"], "not the present one");
    assert!(page.1.contains("This session"), "{}", page.1);
    let action = page.attributes(&format!("{table} form"), "action").remove(0);
    ada.post_from(address, &action, &[]).redirects(303, address);
    assert_eq!(other.get("/profile").0.status, 302, "its session has ended");
    assert_eq!(ada.get(address).page(200).all(&format!("{table} tbody tr")).len(), 1);
    assert_eq!(ada.post_from(address, &action, &[]).0.status, 404);
}

fn settings_of_others_are_out_of_reach(forge: &Forge) {
    for name in ["ada", "bob"] {
        user(forge, name);
    }
    let (ada, bob) = (Browser::signed_in(forge, "ada"), Browser::signed_in(forge, "bob"));
    ada.post_from("/profile/keys", "/profile/keys", &[("key", &an_ssh_key(1)), ("title", "x")]);
    let key = ada.get("/profile/keys").page(200).attributes(".list a", "href").remove(0);
    assert_eq!(bob.get(&key).0.status, 404);
    assert_eq!(bob.post_from("/profile/keys", &format!("{key}/remove"), &[]).0.status, 404);
    let other = Browser::signed_in(forge, "ada");
    let session = ada.get("/profile/audit_log").page(200);
    let revoke = session.attributes("table form", "action").remove(0);
    assert_eq!(bob.post_from("/profile/audit_log", &revoke, &[]).0.status, 404);
    assert_eq!(other.get("/profile").0.status, 200);
    assert_eq!(ada.get(&key).0.status, 200);
    // A new password ends the other session.
    let address = "/profile/password/edit";
    let fields = [
        ("current_password", PASSWORD),
        ("password", "another long one"),
        ("password_confirmation", "another long one"),
    ];
    ada.post_from(address, address, &fields).redirects(303, address);
    assert_eq!(other.get("/profile").0.status, 302);
}
