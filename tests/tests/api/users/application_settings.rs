//! Application settings: rest_of_v3.md section 7. Their effects are in `application_settings_effects.rs`.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use hexforge_domain::application_settings::rule::SettingValue;
use hexforge_domain::ports::store::StoreError;
use hexforge_tests::forge::{MAX_UPLOAD, ROOT};
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::forbidden;
use crate::api::support::{assert_only_for_administrators, field_error, read_store};

on_every_store!(
    settings_are_shown_in_their_order,
    any_subset_is_changed_in_any_form,
    nulls_blanks_and_unknown_names_change_nothing,
    the_whole_object_may_be_sent_back,
    lists_are_replaced_and_emptied,
    each_refusal_has_its_text,
    all_problems_are_told_and_nothing_is_stored,
    rights_come_before_parameters,
    only_administrators_see_and_change_settings,
    a_stored_value_that_does_not_fit_is_treated_as_the_default,
);

const SETTINGS: &str = "/application/settings";

#[track_caller]
fn get(forge: &Forge) -> Value {
    forge.get(SETTINGS).token(ROOT).send().expect(200)
}

#[track_caller]
fn change(forge: &Forge, body: &Value) -> Value {
    forge.put(SETTINGS).token(ROOT).json(body).send().expect(200)
}

/// GET /application/settings
fn settings_are_shown_in_their_order(forge: &Forge) {
    let shown = get(forge);
    let expected = json!({
        "id": 1,
        "default_projects_limit": 100,
        "signup_enabled": true,
        "signin_enabled": true,
        "gravatar_enabled": true,
        "sign_in_text": null,
        "after_sign_up_text": null,
        "created_at": shown["created_at"],
        "updated_at": shown["created_at"],
        "home_page_url": null,
        "default_branch_protection": 2,
        "restricted_visibility_levels": [],
        "max_attachment_size": MAX_UPLOAD >> 20,
        "session_expire_delay": 10080,
        "default_project_visibility": 0,
        "default_snippet_visibility": 0,
        "default_group_visibility": null,
        "domain_whitelist": [],
        "domain_blacklist_enabled": false,
        "domain_blacklist": [],
        "user_oauth_applications": true,
        "after_sign_out_path": null,
        "container_registry_token_expire_delay": 5,
        "repository_storage": "default",
        "repository_storages": ["default"],
        "koding_enabled": false,
        "koding_url": null
    });
    assert_eq!(shown.to_string(), expected.to_string());
}

/// PUT /application/settings
fn any_subset_is_changed_in_any_form(forge: &Forge) {
    let mut expected = get(forge);
    for (name, value) in [
        ("default_projects_limit", json!(0)),
        ("signup_enabled", json!(false)),
        ("signin_enabled", json!(false)),
        ("gravatar_enabled", json!(false)),
        ("sign_in_text", json!("Welcome 🦀")),
        ("after_sign_up_text", json!("Thanks")),
        ("home_page_url", json!("https://example.com/home")),
        ("default_branch_protection", json!(3)),
        ("restricted_visibility_levels", json!([20, 10])),
        ("max_attachment_size", json!(2)),
        ("session_expire_delay", json!(0)),
        ("default_project_visibility", json!(10)),
        ("default_snippet_visibility", json!(20)),
        ("default_group_visibility", json!(0)),
        ("domain_whitelist", json!(["example.com", "*.test"])),
        ("domain_blacklist", json!(["spam.test"])),
        ("domain_blacklist_enabled", json!(true)),
        ("user_oauth_applications", json!(false)),
        ("after_sign_out_path", json!("http://example.com")),
        ("container_registry_token_expire_delay", json!(1)),
        ("koding_url", json!("http://koding.test")),
        ("koding_enabled", json!(true)),
    ] {
        forge.clock.advance(TimeDelta::seconds(1));
        expected[name] = value.clone();
        let changed = change(forge, &json!({ name: value }));
        assert_ne!(changed["updated_at"], expected["updated_at"], "{name}");
        expected["updated_at"] = changed["updated_at"].clone();
        assert_eq!(changed, expected, "{name}");
    }
    assert_eq!(get(forge), expected);
    let form = [("default_projects_limit", "7"), ("restricted_visibility_levels[]", "20")];
    let changed = forge.put(SETTINGS).token(ROOT).form(&form).send().expect(200);
    assert_eq!(changed["default_projects_limit"], 7);
    assert_eq!(changed["restricted_visibility_levels"], json!([20]));
    let query = [("signup_enabled", "yes"), ("restricted_visibility_levels[]", "0")];
    let changed = forge.put(SETTINGS).token(ROOT).query(&query).send().expect(200);
    assert_eq!(changed["signup_enabled"], true);
    assert_eq!(changed["restricted_visibility_levels"], json!([0]));
}

/// PUT /application/settings: "Blank strings and nulls are not given."
fn nulls_blanks_and_unknown_names_change_nothing(forge: &Forge) {
    let set = json!({"sign_in_text": "Hello", "default_group_visibility": 10, "domain_whitelist": ["a.b"]});
    let before = change(forge, &set);
    forge.clock.advance(TimeDelta::seconds(1));
    for body in [
        json!({}),
        json!({"sign_in_text": null, "default_group_visibility": null, "domain_whitelist": null}),
        json!({"sign_in_text": "", "default_group_visibility": " ", "domain_whitelist": ""}),
        json!({"id": 7, "created_at": "2001-01-01", "no_such_setting": {"a": []}}),
        json!({"sign_in_text": "Hello"}),
    ] {
        assert_eq!(change(forge, &body), before, "{body}");
    }
    assert_eq!(forge.put(SETTINGS).token(ROOT).send().expect(200), before);
}

/// PUT /application/settings: one client sends the whole object back, with its nulls.
fn the_whole_object_may_be_sent_back(forge: &Forge) {
    let before = get(forge);
    assert_eq!(change(forge, &before), before);
    let mut wanted = before.clone();
    wanted["signup_enabled"] = json!(false);
    let after = change(forge, &wanted);
    wanted["updated_at"] = after["updated_at"].clone();
    assert_eq!(after, wanted);
}

/// PUT /application/settings: "an empty JSON array, or one blank `name[]=`, empties a list".
fn lists_are_replaced_and_emptied(forge: &Forge) {
    let set = json!({"restricted_visibility_levels": ["20", 0], "domain_whitelist": ["b", " a "]});
    let lists = |shown: &Value| {
        (shown["restricted_visibility_levels"].clone(), shown["domain_whitelist"].clone())
    };
    let full = (json!([20, 0]), json!(["b", "a"]));
    let empty = (json!([]), json!([]));
    assert_eq!(lists(&change(forge, &set)), full);
    let arrays = json!({"restricted_visibility_levels": [], "domain_whitelist": []});
    assert_eq!(lists(&change(forge, &arrays)), empty);
    assert_eq!(lists(&change(forge, &set)), full);
    let form = [("restricted_visibility_levels[]", ""), ("domain_whitelist[]", "")];
    let emptied = forge.put(SETTINGS).token(ROOT).form(&form).send();
    assert_eq!(lists(&emptied.expect(200)), empty);
}

/// PUT /application/settings: the table of 7.2.
fn each_refusal_has_its_text(forge: &Forge) {
    let before = get(forge);
    let unlisted = "is not included in the list";
    let domains: Vec<String> = (0..1001).map(|number| format!("d{number}.test")).collect();
    for (name, value, text) in [
        ("restricted_visibility_levels", json!([5]), "'5' is not a valid visibility level"),
        ("restricted_visibility_levels", json!("x"), "'x' is not a valid visibility level"),
        ("restricted_visibility_levels", json!({"a": 1}), "is invalid"),
        ("restricted_visibility_levels", json!([[20]]), "is invalid"),
        ("max_attachment_size", json!(0), "must be greater than 0"),
        ("max_attachment_size", json!(-5), "must be greater than 0"),
        ("max_attachment_size", json!("many"), "is not a number"),
        ("max_attachment_size", json!(1.5), "must be an integer"),
        ("max_attachment_size", json!([1]), "is not a number"),
        ("max_attachment_size", json!(4097), "must be less than or equal to 4096"),
        ("container_registry_token_expire_delay", json!(0), "must be greater than 0"),
        ("session_expire_delay", json!(-1), "must be greater than or equal to 0"),
        ("session_expire_delay", json!(1u64 << 40), "must be less than or equal to 2147483647"),
        ("default_projects_limit", json!(-1), "must be greater than or equal to 0"),
        ("default_projects_limit", json!({}), "is not a number"),
        ("max_artifacts_size", json!(0), "must be greater than 0"),
        ("home_page_url", json!("example.com"), "must be a valid URL"),
        ("home_page_url", json!("javascript:alert(1)"), "must be a valid URL"),
        ("after_sign_out_path", json!("/"), "must be a valid URL"),
        ("sign_in_text", json!("x".repeat(65_537)), "is too long (maximum is 65536 characters)"),
        ("sign_in_text", json!(["x"]), "is invalid"),
        ("sign_in_text", json!("a\u{0}b"), "is invalid"),
        ("default_branch_protection", json!(4), unlisted),
        ("default_project_visibility", json!(5), unlisted),
        ("default_group_visibility", json!("public"), unlisted),
        ("default_snippet_visibility", json!(-10), unlisted),
        ("signup_enabled", json!("maybe"), unlisted),
        ("gravatar_enabled", json!([]), unlisted),
        ("enabled_git_access_protocol", json!("ftp"), unlisted),
        ("domain_whitelist", json!(domains), "is too long (maximum is 1000 entries)"),
        ("domain_blacklist", json!(["x".repeat(256)]), "is too long (maximum is 255 characters)"),
        ("repository_storages", json!(["default", "x"]), "can't include: x"),
        ("repository_storages", json!([]), "can't be blank"),
    ] {
        let refused = forge.put(SETTINGS).token(ROOT).json(&json!({ name: value })).send();
        assert_eq!(refused.expect(400), field_error(name, text), "{name}");
    }
    for (name, value, answer) in [
        ("koding_enabled", json!(true), field_error("koding_url", "can't be blank")),
        (
            "domain_blacklist_enabled",
            json!(true),
            field_error(
                "domain_blacklist",
                "Domain blacklist cannot be empty if Blacklist is enabled.",
            ),
        ),
        ("repository_storage", json!("x"), field_error("repository_storages", "can't include: x")),
    ] {
        let refused = forge.put(SETTINGS).token(ROOT).json(&json!({ name: value })).send();
        assert_eq!(refused.expect(400), answer, "{name}");
    }
    assert_eq!(get(forge), before);
}

/// PUT /application/settings
fn all_problems_are_told_and_nothing_is_stored(forge: &Forge) {
    let before = get(forge);
    let body = json!({
        "sign_in_text": "stored?", "max_attachment_size": 0, "default_projects_limit": "x",
        "koding_enabled": true,
    });
    let refused = forge.put(SETTINGS).token(ROOT).json(&body).send();
    let expected = json!({"message": {
        "default_projects_limit": ["is not a number"],
        "max_attachment_size": ["must be greater than 0"],
        "koding_url": ["can't be blank"],
    }});
    assert_eq!(refused.expect(400), expected);
    assert_eq!(get(forge), before);
}

/// PUT /application/settings
fn rights_come_before_parameters(forge: &Forge) {
    let (_, normal) = forge.user("normal");
    let body = json!({"max_attachment_size": 0});
    let refused = forge.put(SETTINGS).token(&normal).json(&body).send();
    assert_eq!(refused.expect(403), forbidden());
}

/// GET /application/settings, PUT /application/settings
fn only_administrators_see_and_change_settings(forge: &Forge) {
    let path = SETTINGS.to_owned();
    assert_only_for_administrators(forge, &[("GET", path.clone()), ("PUT", path)]);
}

/// Another release may have stored a value that this one does not allow. No request fails because of it.
fn a_stored_value_that_does_not_fit_is_treated_as_the_default(forge: &Forge) {
    let initial = get(forge);
    let store = |changed: &[(&str, SettingValue)]| {
        let changed: BTreeMap<String, SettingValue> =
            changed.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let stored: Result<(), StoreError> = forge
            .app
            .store
            .write(|tx| tx.application_settings().update(&changed, forge.app.clock.now()));
        stored.expect("the store of the server can be written");
    };
    store(&[
        ("max_attachment_size", SettingValue::Integer(5000)),
        ("default_project_visibility", SettingValue::Integer(7)),
        ("gravatar_enabled", SettingValue::Text("maybe".to_owned())),
        ("sign_in_text", SettingValue::Text("Hello".to_owned())),
    ]);
    forge.get("/user").token(ROOT).send().expect(200);
    let shown = get(forge);
    for name in ["max_attachment_size", "default_project_visibility", "gravatar_enabled"] {
        assert_eq!(shown[name], initial[name], "{name}");
    }
    assert_eq!(shown["sign_in_text"], "Hello", "the others are in effect");
    // They can be changed, also to the value that is in effect.
    let size = &initial["max_attachment_size"];
    let body = json!({"max_attachment_size": size, "gravatar_enabled": false});
    assert_eq!(change(forge, &body)["gravatar_enabled"], false);
    let kept = read_store(forge, |tx| tx.application_settings().get()).changed;
    let names: Vec<&str> = kept.keys().map(String::as_str).collect();
    assert_eq!(names, ["default_project_visibility", "gravatar_enabled", "sign_in_text"]);
    assert_eq!(kept["gravatar_enabled"], SettingValue::Switch(false));
}
