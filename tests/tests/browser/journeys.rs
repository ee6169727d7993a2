//! What people do with the service, from the first sign-in to a merged merge request.

use anyhow::{Context, Result, ensure};
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::Runner;
use serde_json::json;

use crate::chromium::{Scripts, Window};
use crate::site::{PASSWORD, Site};

#[test]
fn a_newcomer_works_without_scripts() {
    let Some(database) = TestDatabase::postgres() else { return };
    run(Scripts::Off, database);
}

#[test]
fn a_newcomer_works_with_scripts() {
    run(Scripts::On, TestDatabase::sqlite());
}

fn run(scripts: Scripts, database: TestDatabase) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    if let Err(error) = runtime.block_on(journey(scripts, database)) {
        panic!("{error:?}");
    }
}

async fn journey(scripts: Scripts, database: TestDatabase) -> Result<()> {
    let site = Site::start(database)?;
    let Some(window) = Window::open(&site.base, scripts).await? else { return Ok(()) };
    let project = begin(&site, &window).await?;
    browse(&window).await?;
    discuss_an_issue(&window).await?;
    use_the_board(&window, scripts).await?;
    merge_a_branch(&site, &window, project).await?;
    follow_a_build(&site, &window, project, scripts).await?;
    write_a_snippet(&window).await?;
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

/// Signs in.
pub async fn enter(window: &Window) -> Result<()> {
    window.go("/").await?;
    window.follow("Sign in").await?;
    window.fill("Sign in", "Username or email", "root").await?;
    window.fill("Sign in", "Password", PASSWORD).await?;
    window.press("Sign in", "Sign in").await?;
    window.find("//h1[.='Projects']").await.map(drop)
}

async fn sign_in(window: &Window) -> Result<()> {
    enter(window).await?;
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
    // The form of the card does the same by keys alone, with scripts and without.
    window.choose_by_keys("Move #1 to", "Backlog").await?;
    window.press_by_keys("Move #1").await?;
    window.find("//*[@aria-label='Backlog']//li[@data-iid='1']").await?;
    window.choose_labelled("Move #1 to", "Doing").await?;
    window.press_alone("Move #1").await?;
    window.find("//*[@aria-label='Doing']//li[@data-iid='1']").await?;
    Ok(())
}

/// Follows the log of a running build until the build ends, and retries it.
async fn follow_a_build(
    site: &Site,
    window: &Window,
    project: i64,
    scripts: Scripts,
) -> Result<()> {
    site.commit(project, "master", ".gitlab-ci.yml", "rspec:\n  script: rspec\n")?;
    let shown = site.call("GET", &format!("/projects/{project}"), &json!({})).expect(200);
    let token = shown["runners_token"].as_str().context("owners see the token")?.to_owned();
    let runner = Runner::register(site.program.address, &token, &[]);
    let build = runner.take().context("a build waits")?;
    let first = "\u{1b}[32mfirst line\u{1b}[0m\n";
    runner.log(&build, &[first]);
    window.go("/root/ship/pipelines").await?;
    window.leave_by("//table[@aria-label='Pipelines']//a[starts-with(., '#')]").await?;
    window.leave_by("//section[@aria-label='test']//a").await?;
    window.find("//*[@role='status'][normalize-space()='running']").await?;
    window.find("//*[@role='log'][contains(., 'first line')]").await?;
    runner.append_request(&build, first.len(), "second line\n").send();
    if scripts == Scripts::Off {
        window.follow("Refresh").await?;
    }
    window.find("//*[@role='log'][contains(., 'second line')]").await?;
    runner.end(&build, "success");
    if scripts == Scripts::Off {
        window.follow("Refresh").await?;
    }
    window.find("//*[@role='status'][normalize-space()='success']").await?;
    window.leave_by("//button[.='Retry build']").await?;
    window.find("//*[@role='status'][normalize-space()='pending']").await?;
    window.press_alone("Cancel build").await?;
    window.find("//*[@role='status'][normalize-space()='canceled']").await?;
    Ok(())
}

async fn write_a_snippet(window: &Window) -> Result<()> {
    window.go("/dashboard/snippets").await?;
    window.follow("New snippet").await?;
    window.fill("New snippet", "Title", "Knots").await?;
    window.fill("New snippet", "Content", "bowline").await?;
    window.press("New snippet", "Create snippet").await?;
    ensure!(window.heading().await? == "Knots");
    window.sees("bowline").await?;
    window.press_alone("Delete snippet").await?;
    window.sees("There are no snippets to show.").await
}

/// Sends a test to the hook, looks at the delivery, and sends it again.
async fn deliver_again(window: &Window) -> Result<()> {
    window.press_alone("Test webhook").await?;
    window.leave_by("//table[@aria-label='Deliveries']//a").await?;
    ensure!(window.heading().await? == "Delivery");
    window.find("//section[@aria-label='Request']").await?;
    window.press_alone("Redeliver").await?;
    window.find("//main//*[@role='status']").await?;
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
    deliver_again(window).await?;
    window.choose("Color scheme", "Color scheme", "Dark").await?;
    window.press("Color scheme", "Apply").await?;
    window.find("//html[@data-color-scheme='dark']").await?;
    Ok(())
}

async fn sign_out(window: &Window) -> Result<()> {
    window.leave_by("//header//button[.='Sign out']").await?;
    window.sees("You are signed out.").await
}
