//! Protected branches: reference sections 2.4 and 2.5.

use hexforge_domain::branch::protection::{DeveloperRights, Protection};
use hexforge_domain::id::ProjectId;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{error, forbidden};
use crate::api::repositories::refs_support::{
    ProjectFixture, branch_json, filled_fixture, protect,
};
use crate::api::support::{message, queued_events, read_store};

on_every_store!(
    a_protection_is_made_changed_and_taken_away,
    flags_have_the_spellings_of_switches,
    wildcards_add_to_what_is_protected_exactly,
    protecting_is_for_masters_and_up,
    names_may_have_slashes_dots_and_suffixes,
    only_branches_can_be_protected,
);

/// A branch with these flags, as responses show it.
fn with_flags(fixture: &ProjectFixture, name: &str, flags: (bool, bool, bool)) -> Value {
    let mut branch = branch_json(fixture, name);
    branch["protected"] = json!(flags.0);
    branch["developers_can_push"] = json!(flags.1);
    branch["developers_can_merge"] = json!(flags.2);
    branch
}

fn protections(forge: &Forge, fixture: &ProjectFixture) -> Vec<Protection> {
    read_store(forge, |tx| tx.protections().list(ProjectId(fixture.project())))
}

/// PUT /projects/:id/repository/branches/:branch/protect,
/// PUT /projects/:id/repository/branches/:branch/unprotect
fn a_protection_is_made_changed_and_taken_away(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let told = queued_events(forge).len();
    for (action, fields, flags) in [
        ("protect", json!({}), (true, false, false)),
        ("protect", json!({}), (true, false, false)),
        ("protect", json!({"developers_can_push": true}), (true, true, false)),
        ("protect", json!({}), (true, true, false)),
        ("protect", json!({"developers_can_merge": true}), (true, true, true)),
        ("protect", json!({"developers_can_merge": null}), (true, true, true)),
        ("protect", json!({"developers_can_push": false}), (true, false, true)),
        ("unprotect", json!({}), (false, false, false)),
        ("unprotect", json!({}), (false, false, false)),
        // The new flags replace the old ones.
        ("protect", json!({}), (true, false, false)),
    ] {
        let path = format!("{}/feature/x/{action}", fixture.branches);
        let answer = forge.put(&path).token(fixture.token("master")).json(&fields).send();
        answer.expect(200);
        let expected = with_flags(&fixture, "feature/x", flags).to_string();
        assert_eq!(answer.text(), expected, "{action} {fields}");
        let read = forge.get(&format!("{}/feature/x", fixture.branches)).token(ROOT).send();
        assert_eq!(read.text(), expected, "{action} {fields}");
    }
    let pattern = "feature/x".to_owned();
    let expected = [Protection { pattern, developers: DeveloperRights::default() }];
    assert_eq!(protections(forge, &fixture), expected);
    assert_eq!(queued_events(forge).len(), told, "protections create no events");
}

/// PUT /projects/:id/repository/branches/:branch/protect
fn flags_have_the_spellings_of_switches(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let path = format!("{}/master/protect", fixture.branches);
    for (spelling, on) in [
        ("true", true),
        ("T", true),
        ("yes", true),
        ("Y", true),
        ("1", true),
        ("on", true),
        ("false", false),
        ("f", false),
        ("No", false),
        ("n", false),
        ("0", false),
        ("off", false),
    ] {
        let form = [("developers_can_push", spelling), ("developers_can_merge", spelling)];
        let answer = forge.put(&path).token(ROOT).form(&form).send().expect(200);
        assert_eq!(answer, with_flags(&fixture, "master", (true, on, on)), "{spelling}");
    }
    for strange in ["2", "nonsense", "truee"] {
        let form = [("developers_can_push", strange), ("developers_can_merge", "true")];
        let answer = forge.put(&path).token(ROOT).form(&form).send().expect(400);
        assert_eq!(answer, error("developers_can_push is invalid"), "{strange}");
    }
    // An empty value counts as missing.
    let form = [("developers_can_push", ""), ("developers_can_merge", "true")];
    let answer = forge.put(&path).token(ROOT).form(&form).send().expect(200);
    assert_eq!(answer, with_flags(&fixture, "master", (true, false, true)));
}

/// GET /projects/:id/repository/branches, PUT /projects/:id/repository/branches/:branch/unprotect
fn wildcards_add_to_what_is_protected_exactly(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for name in ["feature/y/z", "stable-1", "1-stable"] {
        fixture.tree.git_bare(&["branch", name, "master"]);
    }
    protect(forge, &fixture, "feature/*", false, true);
    protect(forge, &fixture, "*-stable", true, false);
    let expected: Vec<Value> = [
        ("1-stable", (true, true, false)),
        ("feature/x", (true, false, true)),
        ("feature/y/z", (true, false, true)),
        ("master", (false, false, false)),
        ("stable-1", (false, false, false)),
    ]
    .iter()
    .map(|(name, flags)| with_flags(&fixture, name, *flags))
    .collect();
    let list = forge.get(&fixture.branches).token(ROOT).send();
    assert_eq!(list.expect(200), Value::from(expected));
    let put = |action: &str| {
        let path = format!("{}/feature/x/{action}", fixture.branches);
        forge.put(&path).token(ROOT).send().expect(200)
    };
    let both = put("protect?developers_can_push=true");
    assert_eq!(both, with_flags(&fixture, "feature/x", (true, true, true)));
    // Only the exact protection is removed.
    for _ in 0..2 {
        assert_eq!(put("unprotect"), with_flags(&fixture, "feature/x", (true, false, true)));
    }
    let patterns: Vec<String> =
        protections(forge, &fixture).into_iter().map(|protection| protection.pattern).collect();
    assert_eq!(patterns, ["*-stable", "feature/*"]);
}

/// PUT /projects/:id/repository/branches/:branch/protect,
/// PUT /projects/:id/repository/branches/:branch/unprotect
fn protecting_is_for_masters_and_up(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for action in ["protect", "unprotect"] {
        let path = format!("{}/master/{action}", fixture.branches);
        for who in ["guest", "reporter", "developer"] {
            let refused = forge.put(&path).token(fixture.token(who)).send();
            assert_eq!(refused.expect(403), forbidden(), "{who} {action}");
        }
        for who in ["master", "owner", "root"] {
            forge.put(&path).token(fixture.token(who)).send().expect(200);
        }
    }
    assert_eq!(protections(forge, &fixture), []);
}

/// PUT /projects/:id/repository/branches/:branch/protect
fn names_may_have_slashes_dots_and_suffixes(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for name in ["with.1.2", "a/protect", "protect", "unprotect", "a*b"] {
        if name != "a*b" {
            fixture.tree.git_bare(&["branch", name, "master"]);
        }
    }
    for (path, name) in [
        ("feature/x", "feature/x"),
        ("feature%2Fx", "feature/x"),
        ("with.1.2", "with.1.2"),
        ("a/protect", "a/protect"),
        ("a%2Fprotect", "a/protect"),
        ("protect", "protect"),
        ("unprotect", "unprotect"),
    ] {
        for (action, protected) in [("protect", true), ("unprotect", false)] {
            let path = format!("{}/{path}/{action}", fixture.branches);
            let answer = forge.put(&path).token(ROOT).send().expect(200);
            assert_eq!(answer, with_flags(&fixture, name, (protected, false, false)), "{path}");
        }
    }
}

/// PUT /projects/:id/repository/branches/:branch/protect,
/// PUT /projects/:id/repository/branches/:branch/unprotect
fn only_branches_can_be_protected(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for name in ["missing", "v1.0.0", "HEAD", "feature", "..", "feature/*", "*", "%00", "-x"] {
        for action in ["protect", "unprotect"] {
            let path = format!("{}/{name}/{action}", fixture.branches);
            let answer = forge.put(&path).token(ROOT).send().expect(404);
            assert_eq!(answer, message("404 Branch Not Found"), "{path}");
        }
    }
    assert_eq!(protections(forge, &fixture), []);
}
