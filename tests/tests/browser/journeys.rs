//! What people do with the service, from the first sign-in to a merged merge request.

use anyhow::{Result, ensure};
use serde_json::json;

use crate::chromium::{Scripts, Window};
use crate::site::{PASSWORD, Site};

#[test]
fn a_newcomer_works_without_scripts() {
    run(Scripts::Off);
}

#[test]
fn a_newcomer_works_with_scripts() {
    run(Scripts::On);
}

fn run(scripts: Scripts) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    if let Err(error) = runtime.block_on(journey(scripts)) {
        panic!("{error:?}");
    }
}

async fn journey(scripts: Scripts) -> Result<()> {
    let site = Site::start()?;
    let Some(window) = Window::open(&site.base, scripts).await? else { return Ok(()) };
    let project = begin(&site, &window).await?;
    browse(&window).await?;
    discuss_an_issue(&window).await?;
    use_the_board(&window, scripts).await?;
    merge_a_branch(&site, &window, project).await?;
    change_settings(&window).await?;
    sign_out(&window).await?;
    window.close().await
}

/// Signs in, and makes a project with two files. Returns its id.
async fn begin(site: &Site, window: &Window) -> Result<i64> {
    sign_in(window).await?;
    create_a_project(window).await?;
    let project = site.project("root/ship")?;
    site.commit(project, "master", "README.md", "# Ship\n\nIt **floats**.\n")?;
    site.commit(project, "master", "src/main.rs", "fn main() {\n    sail();\n}\n")?;
    Ok(project)
}

/// Makes a project with an issue, a board and a merge request. Returns its id.
pub async fn prepare(site: &Site, window: &Window) -> Result<i64> {
    let project = begin(site, window).await?;
    discuss_an_issue(window).await?;
    use_the_board(window, Scripts::Off).await?;
    merge_a_branch(site, window, project).await?;
    Ok(project)
}

async fn sign_in(window: &Window) -> Result<()> {
    window.go("/").await?;
    window.follow("Sign in").await?;
    window.fill("Sign in", "Username or email", "root").await?;
    window.fill("Sign in", "Password", PASSWORD).await?;
    window.press("Sign in", "Sign in").await?;
    window.sees("You have no projects yet").await
}

async fn create_a_project(window: &Window) -> Result<()> {
    window.follow("New project").await?;
    window.fill("New project", "Project name", "ship").await?;
    window.set("New project", "Public").await?;
    window.press("New project", "Create project").await?;
    window.sees("The repository for this project is empty").await?;
    window.sees("git push -u origin master").await
}

async fn browse(window: &Window) -> Result<()> {
    window.go("/root/ship").await?;
    window.sees("It floats.").await?;
    window.follow("src").await?;
    window.follow("main.rs").await?;
    window.sees("sail();").await?;
    ensure!(window.heading().await? == "main.rs");
    window.follow("Blame").await?;
    window.sees("Add src/main.rs").await?;
    window.follow("Commits").await?;
    window.follow("Add src/main.rs").await?;
    window.sees("1 changed file with 3 additions and 0 deletions").await
}

async fn discuss_an_issue(window: &Window) -> Result<()> {
    window.follow("Issues").await?;
    // The navigation above has a link of the same name, to the issues of all projects.
    window.go("/root/ship/issues").await?;
    window.sees("There are no issues to show.").await?;
    window.follow("New issue").await?;
    window.fill("New issue", "Title", "The sail is torn").await?;
    window.fill("New issue", "Description", "It has a **hole**.").await?;
    window.press("New issue", "Submit issue").await?;
    ensure!(window.heading().await? == "The sail is torn");
    window.fill("Add a comment", "Comment", "I have a needle.").await?;
    window.press("Add a comment", "Comment").await?;
    window.find("//article[@aria-label='Comment by root']").await?;
    window.sees("I have a needle.").await?;
    window.press("Add a comment", "Close issue").await?;
    window.press("Add a comment", "Reopen issue").await?;
    window.find("//form[@aria-label='Add a comment']//button[.='Close issue']").await?;
    Ok(())
}

async fn use_the_board(window: &Window, scripts: Scripts) -> Result<()> {
    window.go("/root/ship/labels/new").await?;
    window.fill("New label", "Title", "Doing").await?;
    window.press("New label", "Create label").await?;
    window.go("/root/ship/boards").await?;
    window.choose("Add list", "Label", "Doing").await?;
    window.press("Add list", "Add list").await?;
    let card = "//*[@aria-label='Backlog']//li[@data-iid='1']";
    window.find(card).await?;
    if scripts == Scripts::On {
        window.drag(card, "//*[@aria-label='Doing']").await?;
    } else {
        window.choose_labelled("Move #1 to", "Doing").await?;
        window.press_alone("Move #1").await?;
    }
    window.find("//*[@aria-label='Doing']//li[@data-iid='1']").await?;
    Ok(())
}

async fn merge_a_branch(site: &Site, window: &Window, project: i64) -> Result<()> {
    let branch = json!({ "branch_name": "rudder", "ref": "master" });
    site.call("POST", &format!("/projects/{project}/repository/branches"), &branch).expect(200);
    site.commit(project, "rudder", "rudder.txt", "left\nright\n")?;
    window.go("/root/ship/merge_requests").await?;
    window.follow("New merge request").await?;
    window.choose("Select branches", "Source branch", "rudder").await?;
    window.choose("Select branches", "Target branch", "master").await?;
    window.press("Select branches", "Compare branches and continue").await?;
    window.fill("New merge request", "Title", "Add a rudder").await?;
    window.press("New merge request", "Submit merge request").await?;
    ensure!(window.heading().await? == "Add a rudder");
    window.follow("Changes").await?;
    window.sees("rudder.txt").await?;
    window.follow("Discussion").await?;
    window.press("Merge", "Accept merge request").await?;
    window.sees("Merged").await?;
    window.go("/root/ship/blob/master/rudder.txt").await?;
    window.sees("right").await
}

async fn change_settings(window: &Window) -> Result<()> {
    window.go("/root/ship/edit").await?;
    window.fill("General", "Project description", "A fast ship").await?;
    window.press("General", "Save changes").await?;
    window.go("/root/ship").await?;
    window.sees("A fast ship").await?;
    window.go("/root/ship/hooks").await?;
    window.fill("Add webhook", "URL", "http://127.0.0.1:9/hook").await?;
    window.press("Add webhook", "Add webhook").await?;
    window.follow("http://127.0.0.1:9/hook").await?;
    ensure!(window.heading().await? == "Webhook");
    window.choose("Color scheme", "Color scheme", "Dark").await?;
    window.press("Color scheme", "Apply").await?;
    window.find("//html[@data-color-scheme='dark']").await?;
    Ok(())
}

async fn sign_out(window: &Window) -> Result<()> {
    window.find("//header//button[.='Sign out']").await?.click().await?;
    window.sees("You are signed out.").await
}
