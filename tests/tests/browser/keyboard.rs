//! Scripts for readers of code and lists: keyboard shortcuts, as `/help/shortcuts` lists them, and ranges of lines.

use anyhow::{Context, Result};
use hexforge_persistence_diesel::testing::TestDatabase;
use serde_json::json;

use crate::chromium::{Scripts, Window};
use crate::journeys::prepare;
use crate::site::Site;

/// The name of the element that has the focus.
const FOCUSED: &str = "const at = document.activeElement; \
                       return at.getAttribute('aria-label') || at.textContent.trim() || at.id;";

#[test]
fn keys_are_shorter_ways() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    if let Err(error) = runtime.block_on(journey()) {
        panic!("{error:?}");
    }
}

async fn journey() -> Result<()> {
    let site = Site::start(TestDatabase::sqlite())?;
    let Some(window) = Window::open(&site.base, Scripts::On).await? else { return Ok(()) };
    let project = prepare(&site, &window).await?;
    read_files(&window).await?;
    mark_lines(&window).await?;
    walk_through_lists(&window).await?;
    let path = format!("/projects/{project}/repository/commits");
    let commits = site.call("GET", &path, &json!({})).expect(200);
    let first = commits.as_array().and_then(|all| all.last()).context("there are commits")?;
    walk_through_a_diff(&window, first["id"].as_str().context("commits have ids")?).await?;
    write_a_reply(&window).await?;
    switch_off(&window).await?;
    window.close().await
}

async fn read_files(window: &Window) -> Result<()> {
    window.go("/root/ship/blob/master/src/main.rs#L2").await?;
    window.type_keys("?").await?;
    window.find("//h1[.='Keyboard']").await?;
    window.type_keys("/").await?;
    window.waits_for(FOCUSED, &json!("Search")).await?;
    // Keys are text in a field, and browsers and systems have keys with modifiers.
    window.type_keys("?s").await?;
    let value = "return document.querySelector('search input').value";
    window.waits_for(value, &json!("?s")).await?;
    window.go("/root/ship/blob/master/src/main.rs#L2").await?;
    window.type_keys("y").await?;
    window.waits_for("return location.hash", &json!("#L2")).await?;
    let is_permalink = "return /\\/blob\\/[0-9a-f]{40}\\/src\\/main.rs$/.test(location.pathname)";
    window.waits_for(is_permalink, &json!(true)).await?;
    window.type_keys("t").await?;
    window.find("//h1[.='Find file']").await?;
    window.go("/root/ship/blob/master/src/main.rs").await?;
    window.type_keys("e").await?;
    window.find("//h1[.='Edit file']").await.map(drop)
}

async fn mark_lines(window: &Window) -> Result<()> {
    let marked = "return [...document.querySelectorAll('tr.marked')].map((row) => row.id).join()";
    window.go("/root/ship/blob/master/src/main.rs#L1-2").await?;
    window.waits_for(marked, &json!("L1,L2")).await?;
    window.run("location.hash = '#L3'", vec![]).await?;
    window.waits_for(marked, &json!("")).await?;
    let click = "document.querySelector('#L2 a').dispatchEvent(\
                 new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: true }))";
    window.run(click, vec![]).await?;
    window.waits_for(marked, &json!("L2,L3")).await
}

async fn walk_through_lists(window: &Window) -> Result<()> {
    window.go("/root/ship").await?;
    for (key, name) in [("n", "src"), ("n", "README.md"), ("p", "src"), ("p", "src")] {
        window.type_keys(key).await?;
        window.waits_for(FOCUSED, &json!(name)).await?;
    }
    Ok(())
}

async fn walk_through_a_diff(window: &Window, from: &str) -> Result<()> {
    window.go(&format!("/root/ship/compare/{from}...master")).await?;
    let focused = "return document.activeElement.getAttribute('aria-label')";
    for (key, name) in [("j", "rudder.txt"), ("j", "src/main.rs"), ("k", "rudder.txt")] {
        window.type_keys(key).await?;
        window.waits_for(focused, &json!(name)).await?;
    }
    Ok(())
}

async fn write_a_reply(window: &Window) -> Result<()> {
    window.go("/root/ship/issues/1").await?;
    window.type_keys("r").await?;
    window.waits_for("return document.activeElement.id", &json!("note")).await?;
    window.go("/root/ship/issues/1").await?;
    window.type_keys("e").await?;
    window.find("//h1[.='Edit issue']").await.map(drop)
}

async fn switch_off(window: &Window) -> Result<()> {
    window.go("/profile/preferences").await?;
    window.find("//input[@id='shortcuts']").await?.click().await?;
    window.press("Preferences", "Save changes").await?;
    window.sees("Your changes were saved.").await?;
    window.type_keys("?").await?;
    window.go("/help/shortcuts").await?;
    window.sees("Keyboard shortcuts are switched off in this browser.").await
}
