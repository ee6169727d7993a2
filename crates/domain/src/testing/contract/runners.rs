//! Runners; see [`Runners`](crate::runner::port::Runners).

use super::builds::{in_pipeline, job};
use super::check::{project, read, write};
use super::labels::a_place;
use crate::build::{Build, Tags};
use crate::ports::store::Store;
use crate::runner::{NewRunner, Runner, RunnerInfo};
use crate::testing::builders::{a_moment, a_runner, at};

fn an_info() -> RunnerInfo {
    let text = |text: &str| Some(text.to_owned());
    RunnerInfo {
        name: text("gitlab-ci-multi-runner"),
        version: text("1.5.2"),
        revision: text("76fdacd"),
        platform: text("linux"),
        architecture: text("amd64"),
    }
}

/// What is stored is what was given, also after a change.
pub fn a_runner_has_every_field(store: &dyn Store) {
    let new = NewRunner {
        shared: false,
        run_untagged: false,
        locked: true,
        tags: Tags::from_iter(["ruby", "a \"b\""]),
        info: an_info(),
        ..a_runner("my runner 🦀")
    };
    let made = write(store, |tx| tx.runners().insert(new.clone()));
    let expected = Runner {
        id: made.id,
        description: new.description,
        active: true,
        shared: false,
        run_untagged: false,
        locked: true,
        tags: new.tags,
        info: new.info,
        created_at: a_moment(),
        updated_at: a_moment(),
        contacted_at: None,
    };
    assert_eq!(made, expected);
    let changed = Runner {
        description: "other".into(),
        active: false,
        shared: true,
        run_untagged: true,
        locked: false,
        tags: Tags::default(),
        info: RunnerInfo::default(),
        updated_at: at(5),
        contacted_at: Some(at(6)),
        ..made
    };
    write(store, |tx| tx.runners().update(&changed));
    read(store, |tx| {
        assert_eq!(tx.runners().find(changed.id)?, Some(changed.clone()));
        assert_eq!(tx.runners().find_all(&[changed.id])?, [changed]);
        Ok(())
    });
}

/// Once each, found by the token of the project.
pub fn runners_are_bound_to_projects(store: &dyn Store) {
    let ((one, _), (two, _)) = (a_place(store, "ada"), a_place(store, "bob"));
    let runner = write(store, |tx| tx.runners().insert(a_runner("one"))).id;
    write(store, |tx| {
        tx.runners().bind(runner, two)?;
        tx.runners().bind(runner, one)?;
        tx.runners().bind(runner, one)
    });
    assert_eq!(read(store, |tx| tx.runners().projects(runner)), [one, two]);
    write(store, |tx| tx.projects().delete(one));
    assert_eq!(read(store, |tx| tx.runners().projects(runner)), [two]);
    let token = project(store, two).runners_token;
    read(store, |tx| {
        assert_eq!(tx.runners().project_by_token(token.reveal())?, Some(two));
        assert_eq!(tx.runners().project_by_token("nobody's")?, None);
        assert_eq!(tx.runners().project_by_token("\0")?, None);
        Ok(())
    });
}

/// They stay, without a runner.
pub fn builds_outlive_their_runner(store: &dyn Store) {
    let (project, _) = a_place(store, "ada");
    let pipeline = in_pipeline(store, project);
    let runner = write(store, |tx| tx.runners().insert(a_runner("one"))).id;
    let build = Build { runner: Some(runner), ..job(store, &pipeline, "rspec", |_| ()) };
    write(store, |tx| {
        tx.builds().update(&build)?;
        tx.runners().bind(runner, project)
    });
    write(store, |tx| tx.runners().delete(runner));
    read(store, |tx| {
        assert_eq!(tx.runners().find(runner)?, None);
        assert_eq!(tx.runners().projects(runner)?, []);
        assert_eq!(tx.builds().find(build.id)?, Some(Build { runner: None, ..build }));
        Ok(())
    });
}
