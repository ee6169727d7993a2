//! Dependencies between crates point inwards only: which of our crates may depend on which, and which crate wraps which
//! library. They are read from `cargo metadata`, so no further tools are needed.

#[path = "layering/errors.rs"]
mod errors;

use std::process::Command;

use serde_json::{Value, json};

const TESTS: &str = "hexforge-tests";

/// The fakes and the contract tests of the ports.
const FAKES: &str = "hexforge-domain-testing";

const BENCHMARK: &str = "hexforge-bench";

/// Our crates, and which of our other crates each may depend on.
const ARROWS: [(&str, &[&str]); 18] = [
    ("hexforge-domain", &[]),
    (FAKES, &["hexforge-domain"]),
    ("hexforge-application", &["hexforge-domain"]),
    // Only with the feature `testing`.
    ("hexforge-persistence-diesel", &["hexforge-domain", FAKES]),
    ("hexforge-delivery-reqwest", &["hexforge-domain"]),
    ("hexforge-git-gix", &["hexforge-domain"]),
    ("hexforge-pack-store", &["hexforge-domain"]),
    ("hexforge-blobs-object-store", &["hexforge-domain", "hexforge-pack-store"]),
    ("hexforge-yaml-saphyr", &["hexforge-domain"]),
    ("hexforge-io-bridge", &["hexforge-domain"]),
    // A client of the server, which it knows only by the wire.
    ("hexforge-runner", &[]),
    ("hexforge-http-edge", &["hexforge-application", "hexforge-domain", "hexforge-io-bridge"]),
    (
        "hexforge-http-actix",
        &["hexforge-application", "hexforge-domain", "hexforge-http-edge", "hexforge-io-bridge"],
    ),
    ("hexforge-web-askama", &["hexforge-application", "hexforge-domain", "hexforge-http-edge"]),
    ("hexforge-ssh-russh", &["hexforge-application", "hexforge-domain", "hexforge-io-bridge"]),
    (
        "hexforge-server",
        &[
            "hexforge-application",
            "hexforge-blobs-object-store",
            "hexforge-delivery-reqwest",
            "hexforge-domain",
            "hexforge-git-gix",
            "hexforge-http-actix",
            "hexforge-pack-store",
            "hexforge-persistence-diesel",
            "hexforge-runner",
            "hexforge-yaml-saphyr",
            "hexforge-ssh-russh",
            "hexforge-web-askama",
        ],
    ),
    (
        TESTS,
        &[
            "hexforge-application",
            "hexforge-blobs-object-store",
            "hexforge-delivery-reqwest",
            "hexforge-domain",
            FAKES,
            "hexforge-git-gix",
            "hexforge-http-actix",
            "hexforge-pack-store",
            "hexforge-persistence-diesel",
            "hexforge-server",
            "hexforge-yaml-saphyr",
            "hexforge-ssh-russh",
            "hexforge-web-askama",
        ],
    ),
    (
        BENCHMARK,
        &["hexforge-domain", FAKES, "hexforge-git-gix", "hexforge-persistence-diesel", TESTS],
    ),
];

/// Dependencies that only the tests of a crate may have.
const TEST_ARROWS: [(&str, &str); 6] = [
    ("hexforge-application", FAKES),
    ("hexforge-blobs-object-store", FAKES),
    ("hexforge-git-gix", "hexforge-pack-store"),
    ("hexforge-http-actix", FAKES),
    ("hexforge-http-edge", FAKES),
    ("hexforge-server", FAKES),
];

/// Libraries, and the crates that may depend on them.
const WRAPPED: [(&str, &[&str]); 21] = [
    ("diesel", &["hexforge-persistence-diesel"]),
    ("diesel_migrations", &["hexforge-persistence-diesel"]),
    ("libsqlite3-sys", &["hexforge-persistence-diesel"]),
    ("pq-sys", &["hexforge-persistence-diesel"]),
    (
        "actix-web",
        &[
            "hexforge-http-edge",
            "hexforge-http-actix",
            "hexforge-web-askama",
            "hexforge-server",
            TESTS,
        ],
    ),
    ("actix-http", &["hexforge-http-actix", "hexforge-server", TESTS]),
    ("actix-service", &["hexforge-http-actix", "hexforge-server", TESTS]),
    ("actix-cors", &["hexforge-http-actix", "hexforge-server", TESTS]),
    ("actix-multipart", &["hexforge-http-actix", "hexforge-server", TESTS]),
    ("askama", &["hexforge-web-askama"]),
    ("comrak", &["hexforge-web-askama"]),
    ("ammonia", &["hexforge-web-askama"]),
    ("syntect", &["hexforge-web-askama"]),
    ("similar", &["hexforge-web-askama"]),
    ("anstyle-parse", &["hexforge-web-askama"]),
    ("gix", &["hexforge-git-gix"]),
    ("reqwest", &["hexforge-delivery-reqwest", "hexforge-blobs-object-store", "hexforge-runner"]),
    ("object_store", &["hexforge-blobs-object-store"]),
    ("serde-saphyr", &["hexforge-yaml-saphyr"]),
    ("russh", &["hexforge-ssh-russh"]),
    ("anyhow", &["hexforge-server", BENCHMARK, TESTS]),
];

/// The pure crates with all libraries that they may use. `regex` only computes, and matches expressions of users in
/// linear time.
const PURE: [(&str, &[&str]); 3] = [
    ("hexforge-domain", &["chrono", "regex", "thiserror"]),
    (FAKES, &["hexforge-domain", "chrono", "sha2"]),
    ("hexforge-application", &["hexforge-domain", "chrono", "thiserror"]),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A dependency of the crate or of its build script.
    Build,
    /// A dependency of its tests.
    Test,
}

/// A dependency of one of our crates on another crate.
#[derive(Debug)]
struct Arrow {
    from: String,
    to: String,
    kind: Kind,
}

/// All dependencies in the output of `cargo metadata`.
fn arrows(metadata: &Value) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    for package in list(&metadata["packages"]) {
        for dependency in list(&package["dependencies"]) {
            arrows.push(Arrow {
                from: text(&package["name"]),
                to: text(&dependency["name"]),
                kind: if dependency["kind"] == "dev" { Kind::Test } else { Kind::Build },
            });
        }
    }
    arrows
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("cargo metadata has a list here")
}

fn text(value: &Value) -> String {
    value.as_str().expect("cargo metadata has a text here").to_owned()
}

fn packages(metadata: &Value) -> Vec<String> {
    list(&metadata["packages"]).iter().map(|package| text(&package["name"])).collect()
}

fn allowed<'a>(table: &[(&str, &'a [&'a str])], name: &str) -> Option<&'a [&'a str]> {
    table.iter().find(|(known, _)| *known == name).map(|(_, allowed)| *allowed)
}

/// The violations of the rules, as sentences.
fn violations(metadata: &Value) -> Vec<String> {
    let mut violations = Vec::new();
    for name in packages(metadata) {
        if allowed(&ARROWS, &name).is_none() {
            violations.push(format!("{name} is missing in the table ARROWS"));
        }
    }
    for Arrow { from, to, kind } in arrows(metadata) {
        // The tests of a crate may use further features of the crate itself.
        let to_itself = from == to && kind == Kind::Test;
        if to.starts_with("hexforge-") && !to_itself {
            let inwards = allowed(&ARROWS, &from).is_some_and(|list| list.contains(&to.as_str()));
            let is_for_tests =
                kind == Kind::Test && TEST_ARROWS.contains(&(from.as_str(), to.as_str()));
            if !inwards && !is_for_tests {
                violations.push(format!("{from} must not depend on {to}"));
            }
        }
        if let Some(users) = allowed(&WRAPPED, &to)
            && !users.contains(&from.as_str())
        {
            violations.push(format!("{from} must not depend on {to}"));
        }
        if let Some(parts) = allowed(&PURE, &from)
            && kind == Kind::Build
            && !parts.contains(&to.as_str())
        {
            violations.push(format!("{from} is pure and must not depend on {to}"));
        }
    }
    violations
}

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo, which built this test, can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}

#[test]
fn arrows_point_inwards_only() {
    let metadata = metadata();
    assert_eq!(violations(&metadata), Vec::<String>::new());
    // Every crate of the tables exists; otherwise the rules would check nothing.
    let names = packages(&metadata);
    for (name, _) in ARROWS {
        assert!(names.iter().any(|there| there == name), "{name} is gone");
    }
    let arrows = arrows(&metadata);
    for (library, _) in WRAPPED {
        assert!(arrows.iter().any(|arrow| arrow.to == library), "no crate depends on {library}");
    }
}

/// The quoted words of the list `key` in deny.toml.
fn denied_list(key: &str) -> Vec<String> {
    let file = include_str!("../../deny.toml");
    let (_, rest) = file.split_once(&format!("\n{key} = [")).expect("the list is there");
    let (list, _) = rest.split_once("\n]").expect("the list ends");
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Evaluates an expression such as `(MIT OR Apache-2.0) AND Unicode-3.0`.
fn holds(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let holds = |part: &&str| holds(part, is_allowed);
    match (parts(expression, " OR "), parts(expression, " AND ")) {
        (parts, _) if parts.len() > 1 => parts.iter().any(holds),
        (_, parts) if parts.len() > 1 => parts.iter().all(holds),
        _ => match expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            Some(inner) => holds(&inner),
            None => is_allowed(expression.trim()),
        },
    }
}

/// Splits an expression at separators outside of parentheses.
fn parts<'a>(expression: &'a str, separator: &str) -> Vec<&'a str> {
    let (mut parts, mut from) = (Vec::new(), 0);
    for (at, _) in expression.match_indices(separator) {
        let before = &expression[from..at];
        if before.matches('(').count() == before.matches(')').count() {
            parts.push(before.trim());
            from = at + separator.len();
        }
    }
    parts.push(expression[from..].trim());
    parts
}

#[test]
fn licences_are_read_as_expressions() {
    let is_allowed = |one: &str| one == "MIT" || one == "ISC";
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("(GPL-3.0 OR MIT) AND ISC", true),
        ("(GPL-3.0 OR MIT) AND (GPL-3.0 AND ISC)", false),
        ("GPL-3.0 AND MIT OR ISC", true),
    ] {
        assert_eq!(holds(expression, &is_allowed), expected, "{expression}");
    }
}

/// The same check as `cargo deny`, for machines without it.
#[test]
fn every_dependency_has_a_licence_that_is_allowed() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo, which built this test, can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let (allowed, exceptions) = (denied_list("allow"), denied_list("exceptions"));
    let mut checked = 0;
    for package in list(&metadata["packages"]) {
        let name = text(&package["name"]);
        // Each exception is the name of a crate, followed by its licence.
        let exception = exceptions.iter().position(|word| *word == name);
        let exception = exception.and_then(|at| exceptions.get(at + 1));
        let licence = package["license"].as_str().unwrap_or_default();
        let is_allowed = |one: &str| {
            let one = one.split(" WITH ").next().unwrap_or_default();
            allowed.iter().any(|known| known == one) || exception.is_some_and(|known| known == one)
        };
        assert!(
            holds(&licence.replace('/', " OR "), &is_allowed),
            "{name}: the licence {licence:?} is not allowed by deny.toml"
        );
        checked += 1;
    }
    assert!(checked > 100, "{checked} packages");
}

/// The metadata of a workspace with one crate and one dependency.
fn made_up(from: &str, to: &str, kind: Option<&str>) -> Value {
    json!({"packages": [{"name": from, "dependencies": [{"name": to, "kind": kind}]}]})
}

#[test]
fn a_wrong_arrow_is_found() {
    for (from, to, kind, wrong) in [
        ("hexforge-domain", "serde", None, "hexforge-domain is pure and must not depend on serde"),
        (
            "hexforge-domain",
            "cc",
            Some("build"),
            "hexforge-domain is pure and must not depend on cc",
        ),
        (
            "hexforge-domain",
            "actix-web",
            Some("dev"),
            "hexforge-domain must not depend on actix-web",
        ),
        (
            "hexforge-persistence-diesel",
            "hexforge-application",
            None,
            "hexforge-persistence-diesel must not depend on hexforge-application",
        ),
        (
            "hexforge-http-actix",
            "hexforge-persistence-diesel",
            Some("dev"),
            "hexforge-http-actix must not depend on hexforge-persistence-diesel",
        ),
        (
            "hexforge-git-gix",
            "hexforge-pack-store",
            None,
            "hexforge-git-gix must not depend on hexforge-pack-store",
        ),
        ("hexforge-http-actix", "diesel", None, "hexforge-http-actix must not depend on diesel"),
        ("hexforge-http-actix", "anyhow", None, "hexforge-http-actix must not depend on anyhow"),
        ("hexforge-server", "diesel", None, "hexforge-server must not depend on diesel"),
        ("hexforge-server", "reqwest", None, "hexforge-server must not depend on reqwest"),
        (
            "hexforge-server",
            "serde-saphyr",
            None,
            "hexforge-server must not depend on serde-saphyr",
        ),
        (
            "hexforge-server",
            "hexforge-tests",
            None,
            "hexforge-server must not depend on hexforge-tests",
        ),
        (
            "hexforge-server",
            "hexforge-server",
            None,
            "hexforge-server must not depend on hexforge-server",
        ),
        ("hexforge-tests", "pq-sys", None, "hexforge-tests must not depend on pq-sys"),
        ("hexforge-new", "chrono", None, "hexforge-new is missing in the table ARROWS"),
    ] {
        assert_eq!(violations(&made_up(from, to, kind)), [wrong], "{from} -> {to}");
    }
    let application = violations(&made_up("hexforge-application", "hexforge-http-actix", None));
    assert_eq!(application.len(), 2, "neither inwards nor pure: {application:?}");
}

#[test]
fn a_right_arrow_is_let_through() {
    for (from, to, kind) in [
        ("hexforge-domain", "chrono", None),
        ("hexforge-domain", "tempfile", Some("dev")),
        ("hexforge-domain", "hexforge-domain", Some("dev")),
        ("hexforge-application", "hexforge-domain", None),
        ("hexforge-persistence-diesel", "diesel", None),
        ("hexforge-server", "hexforge-persistence-diesel", None),
        ("hexforge-tests", "hexforge-server", None),
    ] {
        assert_eq!(violations(&made_up(from, to, kind)), Vec::<String>::new(), "{from} -> {to}");
    }
}

/// Versions before 0.71 did not detect SHA-1 collisions.
#[test]
fn names_of_git_objects_are_made_by_what_sees_collisions() {
    let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock"));
    let lock = lock.expect("the lock file is committed");
    let hash = lock.split("[[package]]").find(|one| one.contains("name = \"gix-hash\""));
    assert!(hash.is_some_and(|one| one.contains("\"sha1dc\"")), "{hash:?}");
    let version = lock.split("name = \"gix\"\nversion = \"0.").nth(1).expect("gix is locked");
    let minor: u32 = version.split('.').next().and_then(|text| text.parse().ok()).expect("0.x");
    assert!(minor >= 71, "gix 0.{minor}");
}
