//! Pipelines, badges and environments.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Runner, on_every_store};

use super::support::{Browser, project, team, user};

on_every_store!(
    pipelines_are_seen_by_those_who_may_read_them,
    lists_of_commits_show_their_pipelines,
    a_pipeline_is_run_canceled_and_retried,
    a_configuration_that_is_wrong_is_said,
    badges_tell_nothing_of_hidden_projects,
    environments_are_listed_for_the_team,
    environments_are_made_changed_and_removed,
    settings_of_pipelines_show_badges_to_masters,
);

const CONFIGURATION: &str = "\
stages: [build, test]
compile:
  stage: build
  script: make
lint:
  stage: build
  script: lint
rspec:
  stage: test
  script: rspec
";

/// Creates a project with a configuration. Returns its id.
pub fn ci_project(forge: &Forge, name: &str, visibility: &str, configuration: &str) -> i64 {
    let (id, tree) = project(forge, name, visibility);
    tree.write(".gitlab-ci.yml", configuration).commit("Build <it>");
    forge.fill(id, &tree);
    id
}

/// Registers a runner for a project.
pub fn runner(forge: &Forge, project: i64) -> Runner {
    let shown = forge.get(&format!("/projects/{project}")).token(ROOT).send().expect(200);
    let token = shown["runners_token"].as_str().expect("owners see it");
    Runner::register(forge.address, token, &[])
}

fn pipelines_are_seen_by_those_who_may_read_them(forge: &Forge) {
    let private = ci_project(forge, "boat", "0", CONFIGURATION);
    let public = ci_project(forge, "ship", "20", CONFIGURATION);
    team(forge, &[private, public]);
    user(forge, "other");
    for (who, of_private, of_public, may_run) in [
        (None, 404, 404, false),
        (Some("other"), 404, 200, false),
        (Some("guest"), 404, 200, false),
        (Some("reporter"), 200, 200, false),
        (Some("developer"), 200, 200, true),
        (Some("master"), 200, 200, true),
        (Some("root"), 200, 200, true),
    ] {
        let browser = Browser::of(forge, who);
        for page in ["pipelines", "builds"] {
            assert_eq!(browser.get(&format!("/root/boat/{page}")).0.status, of_private, "{who:?}");
            let seen = browser.get(&format!("/root/ship/{page}"));
            assert_eq!(seen.0.status, of_public, "{who:?} {page}");
        }
        if of_public == 200 {
            let page = browser.get("/root/ship/pipelines").page(200);
            assert_eq!(page.heading(), "Pipelines");
            assert!(page.all(".empty")[0].contains(".gitlab-ci.yml"));
            let run = page.all("main a[href$='/pipelines/new']");
            assert_eq!(run.iter().any(|name| name == "Run pipeline"), may_run, "{who:?}");
        }
        let new = browser.get("/root/ship/pipelines/new").0.status;
        let expected = match who {
            None => 302,
            Some(_) if may_run => 200,
            Some(_) => 404,
        };
        assert_eq!(new, expected, "{who:?}");
    }
}

fn lists_of_commits_show_their_pipelines(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    let first = tree.git(&["rev-parse", "HEAD"]);
    tree.git(&["checkout", "-q", "-b", "topic"]);
    let second = tree.write("a", "a\n").commit("Second");
    let third = tree.write("b", "b\n").commit("Third");
    forge.fill(id, &tree);
    let report = |commit: &str, state: &str| {
        let report = forge.post(&format!("/projects/{id}/statuses/{commit}")).token(ROOT);
        report.form(&[("state", state), ("name", "check")]).send().expect(201);
    };
    report(&second, "success");
    report(&third, "failed");
    let request = forge.post(&format!("/projects/{id}/merge_requests")).token(ROOT);
    let fields = [("source_branch", "topic"), ("target_branch", "master"), ("title", "Second")];
    request.form(&fields).send().expect(201);
    user(forge, "other");
    let list = "ul[aria-label=Commits] li";
    let (stranger, other) = (Browser::stranger(forge), Browser::signed_in(forge, "other"));
    for address in [
        "/root/ship/commits/topic",
        "/root/ship/compare/master...topic",
        "/root/ship/merge_requests/1/commits",
    ] {
        let page = other.get(address).page(200);
        assert_eq!(page.all(&format!("{list} .state")), ["failed", "success"], "{address}");
        let builds = page.attributes(&format!("{list} .state"), "href").remove(0);
        assert_eq!(builds, format!("/root/ship/commit/{third}/builds"));
        assert_eq!(other.get(&builds).0.status, 200);
        if !address.contains("merge_requests") {
            let page = stranger.get(address).page(200);
            assert!(page.all(&format!("{list} .state")).is_empty(), "{address}");
        }
    }
    // A pipeline changes the page of a commit that stays the same.
    let address = format!("/root/ship/commits/{first}");
    let tag = other.get(&address).0.header("ETag").expect("it has a tag").to_owned();
    let again = || other.send(forge.page("GET", &address).header("If-None-Match", &tag)).0.status;
    assert_eq!(again(), 304);
    report(&first, "running");
    assert_eq!(again(), 200);
}

fn a_pipeline_is_run_canceled_and_retried(forge: &Forge) {
    let id = ci_project(forge, "ship", "0", CONFIGURATION);
    team(forge, &[id]);
    let developer = Browser::signed_in(forge, "developer");
    let new = "/root/ship/pipelines/new";
    let form = developer.get(new).page(200);
    assert_eq!(form.heading(), "Run pipeline");
    assert_eq!(form.all("form[aria-label='Run pipeline'] label"), ["Create for"]);
    assert_eq!(form.attributes("input#ref", "value"), ["master"]);
    let missing = developer.post_from(new, new, &[("ref", "none")]).page(422);
    assert_eq!(missing.attributes("input#ref", "value"), ["none"]);
    assert!(!missing.all("[role=alert] li").is_empty());
    assert_eq!(missing.attributes("input#ref", "aria-invalid"), ["true"]);
    let made = developer.post_from(new, new, &[("ref", "master")]);
    assert_eq!(made.0.status, 303, "{}", made.0.text());
    let page = made.0.header("Location").expect("it leads to the pipeline").to_owned();
    let list = developer.get("/root/ship/pipelines").page(200);
    let heads = list.all("table[aria-label=Pipelines] th");
    assert_eq!(heads, ["Status", "Pipeline", "Commit", "Stages"]);
    assert!(list.all("table[aria-label=Pipelines] td")[2].contains("Build <it>"));
    let stages = list.all("table[aria-label=Pipelines] td:nth-child(4) .state");
    assert_eq!(stages, ["build: pending", "test: created"]);
    let time = list.all("table[aria-label=Pipelines] td:nth-child(4) .muted");
    assert_eq!(time, ["created just now"]);
    let number = page.rsplit('/').next().expect("an id").to_owned();
    assert_eq!(list.attributes(&format!("a[href='{page}']"), "href").len(), 1);
    let one = || developer.get(&page).page(200);
    assert_eq!(one().heading(), format!("Pipeline #{number}"));
    assert_eq!(one().all("[role=status].state"), ["pending"]);
    assert_eq!(one().all("section[aria-label=build] a"), ["compile pending", "lint pending"]);
    assert_eq!(one().all("section[aria-label=test] a"), ["rspec created"]);
    assert_eq!(one().all("svg[role=img] g text"), ["compile", "lint", "rspec"]);
    assert_eq!(developer.get(&format!("{page}/builds")).0.status, 200);
    let has = |name: &str| one().all("main button").iter().any(|button| button == name);
    assert!(has("Cancel running") && !has("Retry failed"));
    let reporter = Browser::signed_in(forge, "reporter");
    assert!(reporter.get(&page).page(200).all("main button").is_empty());
    let refused = reporter.post_from(&page, &format!("{page}/cancel"), &[]);
    assert_eq!(refused.page(403).heading(), "Not allowed");
    developer.post_from(&page, &format!("{page}/cancel"), &[]).redirects(303, &page);
    assert_eq!(one().all("[role=status].state"), ["canceled"]);
    assert!(!has("Cancel running") && !has("Retry failed"), "canceled builds stay canceled");
    let made = developer.post_from(new, new, &[("ref", "master")]);
    let page = made.0.header("Location").expect("it leads to the pipeline").to_owned();
    let worker = runner(forge, id);
    let build = worker.take().expect("a build waits");
    assert_eq!(build["name"], "compile");
    worker.end(&build, "failed");
    let one = || developer.get(&page).page(200);
    assert_eq!(one().all("section[aria-label=build] a"), ["compile failed", "lint pending"]);
    assert!(one().all("main button").iter().any(|button| button == "Retry failed"));
    developer.post_from(&page, &format!("{page}/retry"), &[]).redirects(303, &page);
    let mut links = one().all("section[aria-label=build] a");
    links.sort();
    assert_eq!(links, ["compile pending", "lint pending"]);
    assert_eq!(developer.get("/root/ship/pipelines/999999").0.status, 404);
    assert_eq!(developer.get("/root/ship/pipelines/x").0.status, 404);
}

fn a_configuration_that_is_wrong_is_said(forge: &Forge) {
    ci_project(forge, "ship", "0", "job: {}\n");
    let root = Browser::signed_in(forge, "root");
    let new = "/root/ship/pipelines/new";
    let refused = root.post_from(new, new, &[("ref", "master")]).page(422);
    assert!(!refused.all("[role=alert] li").is_empty());
}

fn badges_tell_nothing_of_hidden_projects(forge: &Forge) {
    let public = ci_project(forge, "ship", "20", "rspec: {script: x}\n");
    let private = ci_project(forge, "boat", "0", "rspec: {script: x}\n");
    for project in [public, private] {
        let path = format!("/projects/{project}/pipeline");
        forge.post(&path).token(ROOT).form(&[("ref", "master")]).send().expect(201);
        let worker = runner(forge, project);
        let build = worker.take().expect("a build waits");
        worker.end(&build, "success");
    }
    let stranger = Browser::stranger(forge);
    let badge = |browser: &Browser<'_>, path: &str| {
        let seen = browser.get(path).0;
        assert_eq!(seen.status, 200, "{path}");
        assert_eq!(seen.header("Content-Type"), Some("image/svg+xml"));
        assert!(seen.header("Cache-Control").is_some_and(|value| value.contains("no-cache")));
        seen.text().to_owned()
    };
    assert!(badge(&stranger, "/root/ship/badges/master/build.svg").contains("build: success"));
    let unknown = badge(&stranger, "/root/boat/badges/master/build.svg");
    assert!(unknown.contains("build: unknown"));
    for same in ["/root/absent/badges/master/build.svg", "/root/ship/badges/none/build.svg"] {
        assert_eq!(badge(&stranger, same), unknown);
    }
    let root = Browser::signed_in(forge, "root");
    assert!(badge(&root, "/root/boat/badges/master/build.svg").contains("build: success"));
    let coverage = badge(&root, "/root/ship/badges/master/coverage.svg");
    assert!(coverage.contains("coverage: unknown"));
    for bad in ["/root/ship/badges/build.svg", "/root/ship/badges/master/x.svg"] {
        assert_eq!(stranger.get(bad).0.status, 404, "{bad}");
    }
}

fn environments_are_listed_for_the_team(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    team(forge, &[id]);
    let page = "/root/ship/environments";
    let reporter = Browser::signed_in(forge, "reporter");
    let empty = reporter.get(page).page(200);
    assert_eq!(empty.heading(), "Environments");
    assert!(empty.all(".empty")[0].contains(".gitlab-ci.yml"));
    let fields = [("name", "live <x>"), ("external_url", "https://example.com/")];
    forge.post(&format!("/projects/{id}/environments")).token(ROOT).form(&fields).send();
    let fields = [("name", "live"), ("external_url", "https://example.com/")];
    forge
        .post(&format!("/projects/{id}/environments"))
        .token(ROOT)
        .form(&fields)
        .send()
        .expect(201);
    let row = reporter.get(page).page(200).all("table[aria-label=Environments] td");
    assert_eq!(row[..3], ["live", "available", "https://example.com/"]);
    for who in [None, Some("guest")] {
        assert_eq!(Browser::of(forge, who).get(page).0.status, 404, "{who:?}");
    }
}

fn environments_are_made_changed_and_removed(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.write(".gitlab-ci.yml", "deploy: {script: x, environment: live}\n").commit("Deploy");
    forge.fill(id, &tree);
    team(forge, &[id]);
    let (list, new) = ("/root/ship/environments", "/root/ship/environments/new");
    for (who, expected) in [
        (None, 302),
        (Some("guest"), 404),
        (Some("reporter"), 404),
        (Some("developer"), 200),
        (Some("master"), 200),
    ] {
        assert_eq!(Browser::of(forge, who).get(new).0.status, expected, "{who:?}");
    }
    let developer = Browser::signed_in(forge, "developer");
    let form = developer.get(new).page(200);
    assert_eq!(form.all("form[aria-label='New environment'] label"), ["Name", "External URL"]);
    let wrong = [("name", ""), ("external_url", "javascript:alert(1)")];
    let wrong = developer.post_from(new, list, &wrong).page(422);
    assert_eq!(wrong.attributes("[aria-invalid]", "id"), ["name", "external_url"]);
    let made = developer.post_from(new, list, &[("name", "live"), ("external_url", "")]);
    let one = made.0.header("Location").expect("it leads to the environment").to_owned();
    let path = format!("/projects/{id}/pipeline");
    forge.post(&path).token(ROOT).form(&[("ref", "master")]).send().expect(201);
    let worker = runner(forge, id);
    let build = worker.take().expect("a build waits");
    worker.end(&build, "success");
    let page = developer.get(&one).page(200);
    assert_eq!(page.heading(), "live");
    let links = page.attributes("table[aria-label=Deployments] a", "href");
    assert!(links.contains(&format!("/root/ship/builds/{}", build["id"])), "{links:?}");
    assert!(!page.all("main a").contains(&"Edit".to_owned()), "developers only make them");
    let edit = format!("{one}/edit");
    assert_eq!(developer.get(&edit).0.status, 404);
    let refused = developer.post_from(&one, &edit, &[("name", "x")]).0.status;
    assert_eq!(refused, 403);
    assert_eq!(developer.post_from(&one, &format!("{one}/delete"), &[]).0.status, 403);
    let master = Browser::signed_in(forge, "master");
    assert_eq!(master.get(&edit).page(200).attributes("#name", "value"), ["live"]);
    let fields = [("name", "stage"), ("external_url", "https://example.com/")];
    master.post_from(&edit, &edit, &fields).redirects(303, &one);
    assert_eq!(master.get(&one).page(200).heading(), "stage");
    assert_eq!(Browser::signed_in(forge, "guest").get(&one).0.status, 404);
    master.post_from(&one, &format!("{one}/delete"), &[]).redirects(303, list);
    assert_eq!(master.get(&one).0.status, 404);
}

fn settings_of_pipelines_show_badges_to_masters(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    team(forge, &[id]);
    let page = "/root/ship/pipelines/settings";
    for (who, expected) in
        [(None, 404), (Some("guest"), 404), (Some("developer"), 404), (Some("master"), 200)]
    {
        assert_eq!(Browser::of(forge, who).get(page).0.status, expected, "{who:?}");
    }
    let shown = Browser::signed_in(forge, "master").get(page).page(200);
    assert_eq!(shown.heading(), "Pipeline settings");
    let pictures = shown.attributes("main img", "src");
    assert_eq!(
        pictures,
        ["/root/ship/badges/master/build.svg", "/root/ship/badges/master/coverage.svg"]
    );
}
