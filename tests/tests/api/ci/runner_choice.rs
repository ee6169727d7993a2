//! `POST /ci/api/v1/builds/register`: which build a runner gets. Reference section 8.2, "Choice".

use chrono::TimeDelta;
use hexforge_domain::id::RunnerId;
use hexforge_tests::forge::RUNNERS;
use hexforge_tests::runner::call;
use hexforge_tests::{Forge, on_every_store};
use std::sync::atomic::Ordering;

use crate::api::ci::runner_support::{CiProject, shared_runner, take_build_names};
use crate::api::support::{message, read_store};

on_every_store!(
    without_builds_runners_get_204_and_others_404,
    runners_that_are_unknown_or_paused_are_given_nothing,
    a_bound_runner_takes_the_oldest_of_its_projects,
    shared_runners_go_to_projects_with_less_work_first,
    projects_may_have_no_builds_or_want_no_shared_runners,
    tags_decide_who_takes_a_build,
    a_locked_runner_serves_only_its_own_projects,
    polling_without_builds_is_cheap_and_rarely_writes,
);

const ONE_JOB: &str = "job: {script: x}\n";

/// "No build available: 204 if the `User-Agent` looks like …, else 404."
fn without_builds_runners_get_204_and_others_404(forge: &Forge) {
    let runner = shared_runner(forge, &[]);
    let ask = |agent: Option<&str>| {
        let request = call(forge.address, "POST", "/builds/register");
        let request = match agent {
            Some(agent) => request.header("User-Agent", agent),
            None => request,
        };
        request.form(&[("token", &runner.token)]).send()
    };
    for agent in
        ["gitlab-ci-multi-runner 1.5.2 (x)", "gitlab-ci-multi-runner 1.6.0~beta.167.g2b2bacc (x)"]
    {
        let answer = ask(Some(agent));
        assert_eq!((answer.status, answer.body.len()), (204, 0), "{agent}");
    }
    for agent in [None, Some("curl/7"), Some("gitlab-ci-multi-runner 1.5 (x)")] {
        assert_eq!(ask(agent).expect(404), message("404 Not Found"), "{agent:?}");
    }
}

/// "403 unknown token, 404 runner paused."
fn runners_that_are_unknown_or_paused_are_given_nothing(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", ONE_JOB);
    ci_project.pipeline();
    for fields in [&[][..], &[("token", "wrong")], &[("token", RUNNERS)]] {
        let refused = call(forge.address, "POST", "/builds/register").form(fields).send();
        assert_eq!(refused.expect(403), message("403 Forbidden"));
    }
    let runner = shared_runner(forge, &[]);
    let pause = |active| {
        let paused = forge.app.store.write(|tx| {
            let mut runner = tx.runners().find(RunnerId(runner.id))?.expect("it is there");
            runner.active = active;
            tx.runners().update(&runner)
        });
        paused.expect("the store can be written");
    };
    pause(false);
    assert_eq!(runner.build_request().send().expect(404), message("404 Not Found"));
    pause(true);
    assert!(runner.take().is_some());
}

/// "a bound runner takes, oldest first, pending builds of its projects that have builds enabled"
fn a_bound_runner_takes_the_oldest_of_its_projects(forge: &Forge) {
    let (one, two) =
        (CiProject::new(forge, "ada", "one: {script: x}\n"), CiProject::new(forge, "bob", ONE_JOB));
    let runner = one.runner(&[]);
    two.pipeline();
    one.pipeline();
    one.pipeline();
    let (first, second) = (runner.take().expect("one"), runner.take().expect("two"));
    assert!(first["id"].as_i64() < second["id"].as_i64());
    assert_eq!((&first["name"], &first["project_id"]), (&"one".into(), &one.project.into()));
    assert_eq!(runner.take(), None);
    one.pipeline();
    one.set("builds_enabled", "false");
    assert_eq!(runner.take(), None);
}

/// "projects with fewer builds running on shared runners first, then by id"
fn shared_runners_go_to_projects_with_less_work_first(forge: &Forge) {
    let busy = CiProject::new(forge, "ada", "busy: {script: x}\n");
    let calm = CiProject::new(forge, "bob", "calm: {script: x}\n");
    (0..3).for_each(|_| drop(busy.pipeline()));
    (0..2).for_each(|_| drop(calm.pipeline()));
    let runner = shared_runner(forge, &[]);
    assert_eq!(take_build_names(&runner), ["busy", "calm", "busy", "calm", "busy"]);
    // Builds on runners of the project do not count.
    (0..2).for_each(|_| drop(calm.pipeline()));
    busy.pipeline();
    assert!(calm.runner(&[]).take().is_some());
    assert_eq!(take_build_names(&runner), ["calm", "busy"]);
}

/// "pending builds of projects with shared runners and builds enabled"
fn projects_may_have_no_builds_or_want_no_shared_runners(forge: &Forge) {
    let runner = shared_runner(forge, &[]);
    let ci_project = CiProject::new(forge, "ada", ONE_JOB);
    ci_project.pipeline();
    ci_project.set("shared_runners_enabled", "false");
    assert_eq!(runner.take(), None);
    ci_project.set("shared_runners_enabled", "true");
    ci_project.set("builds_enabled", "false");
    assert_eq!(runner.take(), None);
    ci_project.set("builds_enabled", "true");
    assert!(runner.take().is_some());
}

/// "the build's tags must all be among the runner's; an untagged build needs `run_untagged`"
fn tags_decide_who_takes_a_build(forge: &Forge) {
    let ci_project = CiProject::new(
        forge,
        "ada",
        "plain: {script: x}\nruby: {script: x, tags: [ruby]}\nboth: {script: x, tags: [ruby, linux]}\n",
    );
    for (tags, run_untagged, taken) in [
        ("", "true", &["plain"][..]),
        ("ruby", "false", &["ruby"]),
        ("ruby, linux, more", "false", &["ruby", "both"]),
        ("linux", "false", &[]),
        ("linux", "true", &["plain"]),
        ("linux, ruby", "true", &["plain", "ruby", "both"]),
    ] {
        let fields = [("tag_list", tags), ("run_untagged", run_untagged)];
        let pipeline = ci_project.pipeline();
        assert_eq!(take_build_names(&shared_runner(forge, &fields)), taken, "{fields:?}");
        let cancel = ci_project.path(&format!("/pipelines/{}/cancel", pipeline["id"]));
        forge.post(&cancel).token(&ci_project.owner).send().expect(200);
        ci_project.pipeline();
        assert_eq!(take_build_names(&ci_project.runner(&fields)), taken, "bound, {fields:?}");
        for pipeline in forge
            .get(&ci_project.path("/pipelines"))
            .token(&ci_project.owner)
            .send()
            .expect(200)
            .as_array()
            .expect("a list")
        {
            let cancel = ci_project.path(&format!("/pipelines/{}/cancel", pipeline["id"]));
            forge.post(&cancel).token(&ci_project.owner).send().expect(200);
        }
    }
}

/// "a locked runner serves only its own projects"
fn a_locked_runner_serves_only_its_own_projects(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", ONE_JOB);
    ci_project.pipeline();
    assert_eq!(shared_runner(forge, &[("locked", "true")]).take(), None);
    assert!(ci_project.runner(&[("locked", "true")]).take().is_some());
}

/// With 200 runners that poll every 3 seconds: at most three queries per request, and one write per minute.
fn polling_without_builds_is_cheap_and_rarely_writes(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", "job: {script: x, tags: [other]}\n");
    let runner = shared_runner(forge, &[]);
    let seen = || {
        read_store(forge, |tx| tx.runners().find(RunnerId(runner.id))).and_then(|r| r.contacted_at)
    };
    let asked = |most: u64| {
        let before = forge.queries.load(Ordering::Relaxed);
        assert_eq!(runner.take(), None);
        let queries = forge.queries.load(Ordering::Relaxed) - before;
        assert!(queries <= most, "{queries} queries");
    };
    runner.take();
    let first = seen().expect("it was seen");
    // The transaction counts as a query.
    asked(4);
    ci_project.pipeline();
    asked(4);
    forge.clock.advance(TimeDelta::seconds(59));
    asked(4);
    assert_eq!(seen(), Some(first));
    forge.clock.advance(TimeDelta::seconds(2));
    assert_eq!(runner.take(), None);
    assert_eq!(seen(), Some(first + TimeDelta::seconds(61)));
}
