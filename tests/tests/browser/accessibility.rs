//! Every kind of page in both color schemes: axe-core finds nothing serious, nothing is wider than a small window.
//!
//! `HEXFORGE_AXE` names the file `axe.min.js` of axe-core, which is not part of this project.

use anyhow::{Context, Result, ensure};
use hexforge_persistence_diesel::testing::TestDatabase;
use serde_json::{Value, json};

use crate::chromium::{NARROW, Scripts, Window};
use crate::journeys;
use crate::site::Site;

/// The pages, by the name of their picture.
const PAGES: [(&str, &str); 43] = [
    ("projects", "/"),
    ("explore", "/explore/projects"),
    ("new-project", "/projects/new"),
    ("project", "/root/ship"),
    ("folder", "/root/ship/tree/master/src"),
    ("file", "/root/ship/blob/master/src/main.rs"),
    ("blame", "/root/ship/blame/master/src/main.rs"),
    ("commits", "/root/ship/commits/master"),
    ("commit", "/root/ship/commit/COMMIT"),
    ("commit-side-by-side", "/root/ship/commit/COMMIT?view=parallel"),
    ("branches", "/root/ship/branches"),
    ("tags", "/root/ship/tags"),
    ("compare", "/root/ship/compare/master...rudder"),
    ("issues", "/root/ship/issues?state=all"),
    ("issue", "/root/ship/issues/1"),
    ("new-issue", "/root/ship/issues/new"),
    ("labels", "/root/ship/labels"),
    ("milestones", "/root/ship/milestones"),
    ("board", "/root/ship/boards"),
    ("merge-requests", "/root/ship/merge_requests?state=all"),
    ("merge-request", "/root/ship/merge_requests/1"),
    ("changes", "/root/ship/merge_requests/1/diffs"),
    ("pipelines", "/root/ship/pipelines"),
    ("builds", "/root/ship/builds"),
    ("members", "/root/ship/project_members"),
    ("hooks", "/root/ship/hooks"),
    ("settings", "/root/ship/edit"),
    ("variables", "/root/ship/variables"),
    ("person", "/root"),
    ("profile", "/profile"),
    ("keys", "/profile/keys"),
    ("administration", "/admin"),
    ("search", "/search?search=ship"),
    ("missing", "/root/nothing"),
    ("edit-issue", "/root/ship/issues/1/edit"),
    ("edit-merge-request", "/root/ship/merge_requests/1/edit"),
    ("environments", "/root/ship/environments"),
    ("pipeline-settings", "/root/ship/pipelines/settings"),
    ("todos", "/dashboard/todos"),
    ("own-issues", "/dashboard/issues"),
    ("activity", "/dashboard/activity"),
    ("snippets", "/dashboard/snippets"),
    ("new-snippet", "/snippets/new"),
];

#[test]
fn pages_are_accessible_in_both_color_schemes() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    if let Err(error) = runtime.block_on(look_at_all_pages()) {
        panic!("{error:?}");
    }
}

async fn look_at_all_pages() -> Result<()> {
    let site = Site::start(TestDatabase::sqlite())?;
    let Some(window) = Window::open(&site.base, Scripts::On).await? else { return Ok(()) };
    let project = journeys::prepare(&site, &window).await?;
    let shown = site.call("GET", &format!("/projects/{project}/repository/commits"), &json!({}));
    let commit = shown.expect(200)[0]["id"].as_str().context("commits have ids")?.to_owned();
    let axe = std::env::var_os("HEXFORGE_AXE").map(std::fs::read_to_string).transpose()?;
    let mut found = Vec::new();
    for scheme in ["Light", "Dark"] {
        window.choose("Color scheme", "Color scheme", scheme).await?;
        window.press("Color scheme", "Apply").await?;
        for (name, address) in PAGES {
            window.go(&address.replace("COMMIT", &commit)).await?;
            window.picture(&format!("{name}-{scheme}")).await?;
            if let Some(axe) = &axe {
                found.extend(violations(&window, axe, name, scheme).await?);
            }
        }
        window.go("/").await?;
    }
    let Some(window) = Window::open_narrow(&site.base).await? else { return Ok(()) };
    journeys::enter(&window).await?;
    for (name, address) in PAGES {
        window.go(&address.replace("COMMIT", &commit)).await?;
        window.picture(&format!("{name}-360")).await?;
        let wide = window.run("return document.documentElement.scrollWidth", vec![]).await?;
        if wide.as_u64().context("a width is a number")? > NARROW {
            found.push(format!("{name} is {wide} pixels wide"));
        }
    }
    window.go("/root").await?;
    let script = "const edge = path => document.querySelector(path).getBoundingClientRect().right;
        return edge('[aria-label=Calendar] svg') <= edge('[aria-label=Calendar]') + 1";
    let is_shown = window.run(script, vec![]).await?;
    ensure!(is_shown == json!(true), "the calendar does not begin with the newest week");
    ensure!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}

/// The serious and critical violations of a page.
async fn violations(window: &Window, axe: &str, name: &str, scheme: &str) -> Result<Vec<String>> {
    window.run(axe, vec![]).await?;
    // The size of targets is a rule of WCAG 2.2, which axe-core only checks on request.
    let run = "const done = arguments[arguments.length - 1];
        const options = { rules: { 'target-size': { enabled: true } } };
        axe.run(options).then(done, e => done(String(e)));";
    let result = window.run_async(run).await?;
    let violations = result["violations"].as_array().with_context(|| result.to_string())?;
    let grave = violations
        .iter()
        .filter(|violation| matches!(violation["impact"].as_str(), Some("serious" | "critical")));
    let told = |violation: &Value| {
        let nodes = violation["nodes"].as_array().cloned().unwrap_or_default();
        let first = nodes.first().map(|node| node["html"].to_string()).unwrap_or_default();
        format!("{name}, {scheme}: {} in {} places: {first}", violation["id"], nodes.len())
    };
    Ok(grave.map(told).collect())
}
