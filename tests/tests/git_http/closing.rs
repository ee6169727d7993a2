//! Issues that commit messages close or mention: reference section 11.2, "Closing by commit".

use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::outbox::project::{IssueAction, ProjectEvent};
use hexforge_domain::ports::store::StoreError;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::Value;

use super::support::Scene;

on_every_store!(
    a_commit_closes_the_issues_that_it_names,
    only_the_default_branch_closes_and_not_its_first_push,
    only_what_the_pusher_may_change_is_closed,
    issues_of_other_projects_are_closed_by_path_and_address,
    every_commit_of_a_push_is_read,
    a_commit_that_names_an_issue_is_noted_there,
);

fn issue(scene: &Scene<'_>, token: &str, more: &[(&str, &str)]) -> Value {
    let mut form = vec![("title", "an issue")];
    form.extend(more);
    let path = format!("/projects/{}/issues", scene.project);
    scene.forge.post(&path).token(token).form(&form).send().expect(201)
}

fn path(issue: &Value) -> String {
    format!("/projects/{}/issues/{}", issue["project_id"], issue["id"])
}

#[track_caller]
fn state(forge: &Forge, issue: &Value) -> String {
    let shown = forge.get(&path(issue)).token(ROOT).send().expect(200);
    shown["state"].as_str().expect("a state").to_owned()
}

#[track_caller]
fn notes(forge: &Forge, token: &str, issue: &Value) -> Vec<String> {
    let notes = forge.get(&format!("{}/notes", path(issue))).token(token).send().expect(200);
    let notes = notes.as_array().expect("a list");
    notes.iter().map(|note| note["body"].as_str().expect("a text").to_owned()).collect()
}

/// Commits with a message, and pushes to `master`.
fn push(scene: &Scene<'_>, who: &str, message: &str) -> String {
    let tip = scene.tree.commit(message);
    scene.push(who, &["master"]).ok();
    tip
}

/// A closed issue gets a note, an event by the author of the commit, a hook delivery, and updated counters.
fn a_commit_closes_the_issues_that_it_names(forge: &Forge) {
    let scene = Scene::filled(forge);
    let master = scene.member("master", "40");
    let issues: Vec<Value> = (0..4).map(|_| issue(&scene, &master, &[("labels", "bug")])).collect();
    // The author of all commits is ada, who does not push here.
    let tip = push(&scene, "master", "Mend it\n\nFixes: #1, #2 and issue #3.\nSee #4");
    for closed in &issues[..3] {
        assert_eq!(state(forge, closed), "closed");
        assert_eq!(notes(forge, ROOT, closed), [format!("closed via commit {tip}")]);
    }
    assert_eq!(state(forge, &issues[3]), "opened");
    assert_eq!(notes(forge, ROOT, &issues[3]), [format!("mentioned in commit {tip}")]);
    let path = format!("/projects/{}/events", scene.project);
    let events = forge.get(&path).token(ROOT).send().expect(200);
    let newest = &events.as_array().expect("a list")[..4];
    for (event, closed) in newest.iter().zip(issues[..3].iter().rev()) {
        assert_eq!(event["action_name"], "closed");
        assert_eq!(event["target_type"], "Issue");
        assert_eq!(event["target_id"], closed["id"]);
        assert_eq!(event["author_username"], "ada");
    }
    assert_eq!(newest[3]["action_name"], "pushed to");
    assert_eq!(newest[3]["author_username"], "master");
    let news: Result<_, StoreError> = forge.app.store.read(|tx| tx.outbox().oldest(1000));
    let news = news.expect("the outbox can be read");
    let told = news.into_iter().filter(|entry| match &entry.event {
        SystemEvent::InProject(event) => match &**event {
            ProjectEvent::Issue(news) => news.action == IssueAction::Close,
            _ => false,
        },
        _ => false,
    });
    assert_eq!(told.count(), 3);
    let project = scene.shown();
    assert_eq!(project["open_issues_count"], 1);
    let labels = format!("/projects/{}/labels", scene.project);
    let label = forge.get(&labels).token(ROOT).send().expect(200)[0].clone();
    assert_eq!(
        (&label["open_issues_count"], &label["closed_issues_count"]),
        (&1.into(), &3.into())
    );
    // An issue that is already closed stays closed, without new events.
    push(&scene, "master", "Closes #1");
    assert_eq!(notes(forge, ROOT, &issues[0]).len(), 1);
}

fn only_the_default_branch_closes_and_not_its_first_push(forge: &Forge) {
    let scene = Scene::new(forge);
    let one = issue(&scene, &scene.ada, &[]);
    push(&scene, "ada", "Closes #1");
    assert_eq!(state(forge, &one), "opened", "the first push");
    assert_eq!(notes(forge, ROOT, &one), Vec::<String>::new());
    scene.tree.git(&["checkout", "-q", "-b", "topic"]);
    let tip = scene.tree.commit("Closes #1");
    scene.push("ada", &["topic"]).ok();
    assert_eq!(state(forge, &one), "opened", "another branch");
    assert_eq!(notes(forge, ROOT, &one), [format!("mentioned in commit {tip}")]);
    scene.tree.git(&["checkout", "-q", "master"]);
    scene.tree.git(&["merge", "-q", "--ff-only", "topic"]);
    scene.push("ada", &["master"]).ok();
    assert_eq!(state(forge, &one), "closed", "by the same commit on the default branch");
}

/// Developers close issues of the project, and authors their own. Nobody closes an issue that they do not see.
fn only_what_the_pusher_may_change_is_closed(forge: &Forge) {
    let scene = Scene::filled(forge);
    scene.member("dev", "30");
    let path = format!("/projects/{}/repository/branches/master/unprotect", scene.project);
    forge.put(&path).token(&scene.ada).send().expect(200);
    // Another project, in which dev sees only public issues.
    let fields = [("name", "open"), ("visibility_level", "20")];
    let open = forge.post("/projects").token(&scene.ada).form(&fields).send().expect(201);
    let made = |token: &str, more: &[(&str, &str)]| {
        let mut form = vec![("title", "an issue")];
        form.extend(more);
        let path = format!("/projects/{}/issues", open["id"]);
        forge.post(&path).token(token).form(&form).send().expect(201)
    };
    let dev = forge.sign_in("dev");
    let others = made(&scene.ada, &[]);
    let own = made(&dev, &[]);
    let secret = made(&scene.ada, &[("confidential", "true")]);
    let inside = issue(&scene, &scene.ada, &[("confidential", "true")]);
    let tip = push(&scene, "dev", "Closes ada/open#1, ada/open#2, ada/open#3 and #1, #9");
    assert_eq!(state(forge, &others), "opened");
    assert_eq!(state(forge, &own), "closed");
    assert_eq!(state(forge, &secret), "opened");
    assert_eq!(state(forge, &inside), "closed", "a developer sees it");
    assert_eq!(notes(forge, ROOT, &own), [format!("closed via commit ada/ship@{tip}")]);
    for untouched in [&others, &secret] {
        assert_eq!(notes(forge, ROOT, untouched), Vec::<String>::new());
    }
}

fn issues_of_other_projects_are_closed_by_path_and_address(forge: &Forge) {
    let scene = Scene::filled(forge);
    let fields = [("name", "boat")];
    let boat = forge.post("/projects").token(&scene.ada).form(&fields).send().expect(201);
    let path = format!("/projects/{}/issues", boat["id"]);
    let made = || forge.post(&path).token(&scene.ada).form(&[("title", "x")]).send().expect(201);
    let issues = [made(), made(), made()];
    push(&scene, "ada", "Fix ada/boat#1, http://forge.test/ada/boat/issues/2 and ADA/Boat#3");
    for issue in &issues {
        assert_eq!(state(forge, issue), "closed");
    }
    push(&scene, "ada", "Fix nobody/nothing#1 and http://elsewhere.test/ada/boat/issues/2");
}

/// A push with more commits than an event lists.
fn every_commit_of_a_push_is_read(forge: &Forge) {
    let scene = Scene::filled(forge);
    let first = issue(&scene, &scene.ada, &[]);
    scene.tree.commit("Closes #1");
    for number in 0..25 {
        scene.tree.commit(&format!("Step {number}"));
    }
    scene.push("ada", &["master"]).ok();
    assert_eq!(scene.events()[0]["data"]["commits"].as_array().map(Vec::len), Some(20));
    assert_eq!(state(forge, &first), "closed");
}

/// 11.3: one note per commit, visible only to users who can read the code.
fn a_commit_that_names_an_issue_is_noted_there(forge: &Forge) {
    let scene = Scene::filled(forge);
    let guest = scene.member("guest", "10");
    let reporter = scene.member("reporter", "20");
    let one = issue(&scene, &scene.ada, &[]);
    let first = push(&scene, "ada", "About #1 and #1");
    let second = push(&scene, "ada", "More about ada/ship#1");
    let expected = [&first, &second].map(|tip| format!("mentioned in commit {tip}"));
    assert_eq!(notes(forge, &reporter, &one), expected);
    assert_eq!(notes(forge, &guest, &one), Vec::<String>::new());
    let path = format!("{}/notes", path(&one));
    let answer = forge.get(&path).token(&guest).send();
    assert_eq!(answer.header("x-total"), Some("0"), "totals tell no more");
    let all = forge.get(&path).token(&reporter).send().expect(200);
    assert_eq!(all[0]["system"], true);
    assert_eq!(all[0]["author"]["username"], "ada");
    let hidden = format!("{path}/{}", all[0]["id"]);
    forge.get(&hidden).token(&reporter).send().expect(200);
    forge.get(&hidden).token(&guest).send().expect(404);
    // The same commits on another branch create no new notes.
    scene.push("ada", &["master:refs/heads/again"]).ok();
    assert_eq!(notes(forge, &reporter, &one).len(), 2);
    let events = forge.get(&format!("/projects/{}/events", scene.project)).token(ROOT).send();
    let about = |event: &&Value| event["target_type"] == "Note";
    assert_eq!(events.expect(200).as_array().expect("a list").iter().filter(about).count(), 0);
}
