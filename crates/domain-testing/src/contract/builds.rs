//! Builds and commit statuses; see [`Builds`](hexforge_domain::build::port::Builds).

use super::check::{assert_pages, read, write};
use super::labels::a_project_with_owner;
use crate::builders::{a_build, a_commit_id, a_definition, a_pipeline, a_runner, an_external, at};
use hexforge_domain::build::{
    Artifacts, Build, BuildFilter, BuildKind, NewBuild, Silence, StageSummary, StatusFilter, Tags,
};
use hexforge_domain::ci::status::Status;
use hexforge_domain::ci::when::When;
use hexforge_domain::id::{BuildId, ProjectId};
use hexforge_domain::pipeline::{NewPipeline, Pipeline};
use hexforge_domain::ports::store::Store;

pub(super) fn insert_pipeline(store: &dyn Store, project: ProjectId) -> Pipeline {
    write(store, |tx| tx.pipelines().insert(a_pipeline(project)))
}

/// Stores a build. `change` modifies it before the insert.
pub(super) fn insert_job(
    store: &dyn Store,
    pipeline: &Pipeline,
    name: &str,
    change: impl Fn(&mut NewBuild) + Sync,
) -> Build {
    write(store, |tx| {
        let definition = tx.builds().define(pipeline.id, &a_definition())?;
        let mut new = a_build(pipeline, definition, name);
        change(&mut new);
        tx.builds().insert(new)
    })
}

fn insert_external_status(store: &dyn Store, pipeline: &Pipeline, name: &str) -> Build {
    write(store, |tx| tx.builds().insert(an_external(pipeline, name)))
}

fn reload(store: &dyn Store, build: &Build) -> Build {
    read(store, |tx| tx.builds().find(build.id)).expect("it is there")
}

/// All fields are read back as they were written, also after an update.
pub fn a_build_has_every_field(store: &dyn Store) {
    let (project, user) = a_project_with_owner(store, "ada");
    let pipeline = insert_pipeline(store, project);
    let made = insert_job(store, &pipeline, "rspec 🦀", |new| {
        new.stage = "deploy".into();
        new.stage_index = 3;
        new.when = When::Manual;
        new.allow_failure = true;
        new.tags = Tags::from_iter(["b", "a", "c,d"]);
        new.user = Some(user);
    });
    assert_eq!((made.queued_at, made.superseded, made.started_at), (Some(at(1)), false, None));
    assert_eq!(reload(store, &made), made);
    let runner = write(store, |tx| tx.runners().insert(a_runner("one")));
    let changed = Build {
        status: Status::Success,
        user: None,
        runner: Some(runner.id),
        coverage: Some(98.29),
        artifacts: Some(Artifacts {
            file_name: "artifacts.zip".into(),
            size: 100_000_000,
            expire_at: Some(at(900)),
        }),
        erased_at: Some(at(70)),
        updated_at: at(60),
        queued_at: Some(at(20)),
        started_at: Some(at(30)),
        finished_at: Some(at(50)),
        ..made
    };
    write(store, |tx| tx.builds().update(&changed));
    assert_eq!(reload(store, &changed), changed);
    let created = insert_job(store, &pipeline, "later", |new| new.status = Status::Created);
    assert_eq!(created.queued_at, None);
    let other = insert_external_status(store, &pipeline, "ci");
    assert_eq!(reload(store, &other), other);
    assert!(matches!(&other.kind, BuildKind::External { description: Some(_), .. }));
    let all = read(store, |tx| tx.builds().of_pipeline(pipeline.id));
    assert_eq!(all, [changed, created, other]);
}

/// Texts, trees and the order of variables are read back unchanged.
pub fn a_definition_is_stored_unchanged(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let pipeline = insert_pipeline(store, project);
    let id = write(store, |tx| tx.builds().define(pipeline.id, &a_definition()));
    assert_eq!(read(store, |tx| tx.builds().definition(id)), Some(a_definition()));
}

/// Unknown ids are left out.
pub fn builds_are_found_by_their_ids(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let pipeline = insert_pipeline(store, project);
    let made = ["a", "b", "c"].map(|name| insert_job(store, &pipeline, name, |_| ()));
    let ids = [made[2].id, BuildId(0), made[0].id];
    let mut found = read(store, |tx| tx.builds().find_all(&ids));
    found.sort_by_key(|build| build.id);
    assert_eq!(found, [made[0].clone(), made[2].clone()]);
    assert_eq!(read(store, |tx| tx.builds().find_all(&[])), []);
}

/// Each status of a stage is returned once, without superseded builds and other pipelines.
pub fn stages_of_pipelines_have_the_statuses_of_their_builds(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let (one, two) = (insert_pipeline(store, project), insert_pipeline(store, project));
    let other = insert_pipeline(store, project);
    let with = |pipeline: &Pipeline, name: &str, (index, stage): (i32, &str), status| {
        insert_job(store, pipeline, name, |new| {
            (new.stage_index, new.stage, new.status) = (index, stage.to_owned(), status);
        })
    };
    let (build, test) = ((0, "build"), (1, "test"));
    with(&one, "unit", test, Status::Failed);
    with(&one, "lint", test, Status::Pending);
    with(&one, "docs", test, Status::Pending);
    with(&one, "compile", build, Status::Failed);
    with(&one, "compile", build, Status::Success);
    with(&two, "compile", build, Status::Running);
    with(&other, "compile", build, Status::Running);
    let stage = |pipeline: &Pipeline, (index, name): (i32, &str), status| {
        let name = name.to_owned();
        (pipeline.id, StageSummary { index, name, status, allow_failure: false })
    };
    assert_eq!(
        read(store, |tx| tx.builds().stages_of(&[two.id, one.id])),
        [
            stage(&one, build, Status::Success),
            stage(&one, test, Status::Failed),
            stage(&one, test, Status::Pending),
            stage(&two, build, Status::Running),
        ]
    );
    assert_eq!(read(store, |tx| tx.builds().stages_of(&[])), []);
}

/// Only builds of the same pipeline are superseded.
pub fn a_newer_build_of_a_name_supersedes_the_older(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let (one, two) = (insert_pipeline(store, project), insert_pipeline(store, project));
    let first = insert_job(store, &one, "rspec", |_| ());
    let (beside, elsewhere) =
        (insert_job(store, &one, "lint", |_| ()), insert_job(store, &two, "rspec", |_| ()));
    let second = insert_job(store, &one, "rspec", |_| ());
    for (build, superseded) in [(first, true), (beside, false), (elsewhere, false), (second, false)]
    {
        assert_eq!(reload(store, &build).superseded, superseded, "{build:?}");
    }
}

/// Builds are listed newest first, without external commit statuses.
pub fn builds_are_listed_by_status_and_commit(store: &dyn Store) {
    let ((project, _), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let first = insert_pipeline(store, project);
    let second = write(store, |tx| {
        tx.pipelines().insert(NewPipeline { sha: a_commit_id(2), ..a_pipeline(project) })
    });
    let with = |pipeline: &Pipeline, name: &str, status| {
        insert_job(store, pipeline, name, |new| new.status = status)
    };
    let failed = with(&first, "a", Status::Failed);
    insert_external_status(store, &first, "ci");
    let pending = with(&first, "b", Status::Pending);
    let later = with(&second, "a", Status::Failed);
    with(&insert_pipeline(store, other), "a", Status::Failed);
    let (one, two) = (a_commit_id(1), a_commit_id(2));
    for (statuses, commit, expected) in [
        (None, None, vec![&later, &pending, &failed]),
        (Some(vec![Status::Failed]), None, vec![&later, &failed]),
        (Some(vec![Status::Failed, Status::Pending]), Some(one), vec![&pending, &failed]),
        (Some(vec![]), None, vec![]),
        (None, Some(two), vec![&later]),
        (None, Some(a_commit_id(9)), vec![]),
    ] {
        let filter = BuildFilter { statuses, commit };
        let expected: Vec<Build> = expected.into_iter().cloned().collect();
        assert_pages(store, &expected, |tx, page| tx.builds().list(project, &filter, page));
    }
}

/// Jobs and external statuses are listed oldest first; superseded ones only on request.
pub fn statuses_of_a_commit_are_found_by_ref_stage_and_name(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let master = insert_pipeline(store, project);
    let topic = write(store, |tx| {
        tx.pipelines().insert(NewPipeline { reference: "topic".into(), ..a_pipeline(project) })
    });
    let old = insert_job(store, &master, "rspec", |_| ());
    let new = insert_job(store, &master, "rspec", |_| ());
    let old = Build { superseded: true, ..old };
    let (word, elsewhere) =
        (insert_external_status(store, &master, "ci"), insert_job(store, &topic, "rspec", |_| ()));
    let all = StatusFilter {
        commit: a_commit_id(1),
        reference: None,
        stage: None,
        name: None,
        superseded: false,
    };
    let text = |text: &str| Some(text.to_owned());
    for (filter, expected) in [
        (all.clone(), vec![&new, &word, &elsewhere]),
        (StatusFilter { superseded: true, ..all.clone() }, vec![&old, &new, &word, &elsewhere]),
        (StatusFilter { reference: text("topic"), ..all.clone() }, vec![&elsewhere]),
        (StatusFilter { stage: text("external"), ..all.clone() }, vec![&word]),
        (StatusFilter { name: text("rspec"), ..all.clone() }, vec![&new, &elsewhere]),
        (StatusFilter { name: text("\0"), ..all.clone() }, vec![]),
        (StatusFilter { commit: a_commit_id(9), ..all }, vec![]),
    ] {
        let expected: Vec<Build> = expected.into_iter().cloned().collect();
        assert_pages(store, &expected, |tx, page| tx.builds().statuses(project, &filter, page));
    }
}

/// Only pending and running builds are found, those without an update for the longest time first.
pub fn silent_builds_are_found(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let pipeline = insert_pipeline(store, project);
    let made_at = |name: &str, status, seconds| {
        insert_job(store, &pipeline, name, |new| (new.status, new.at) = (status, at(seconds)))
    };
    let second = made_at("b", Status::Running, 20);
    let first = made_at("a", Status::Pending, 10);
    made_at("c", Status::Success, 10);
    made_at("d", Status::Created, 10);
    made_at("e", Status::Pending, 31);
    insert_external_status(store, &pipeline, "ci");
    let since = |pending, running| Silence { pending: at(pending), running: at(running) };
    let silent = |since, limit| read(store, |tx| tx.builds().silent_since(since, limit));
    assert_eq!(silent(since(30, 30), 9), [first.clone(), second.clone()]);
    assert_eq!(silent(since(30, 30), 1), std::slice::from_ref(&first));
    assert_eq!(silent(since(9, 20), 9), [second]);
    assert_eq!(silent(since(10, 19), 9), [first]);
}

/// Only running jobs of the runner are listed.
pub fn running_builds_of_a_runner_are_found(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let pipeline = insert_pipeline(store, project);
    let runner = |store| write(store, |tx| tx.runners().insert(a_runner("one"))).id;
    let (one, other) = (runner(store), runner(store));
    let with = |name: &str, status, runner| {
        let build = insert_job(store, &pipeline, name, |new| new.status = status);
        let build = Build { runner, ..build };
        write(store, |tx| tx.builds().update(&build));
        build
    };
    let first = with("a", Status::Running, Some(one));
    with("b", Status::Success, Some(one));
    with("c", Status::Running, Some(other));
    with("d", Status::Running, None);
    assert_eq!(read(store, |tx| tx.builds().running_on(one)), [first]);
}

/// Artifacts are expired from their expiry time on.
pub fn expired_artifacts_are_found(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let pipeline = insert_pipeline(store, project);
    let with = |name: &str, expire_at| {
        let build = insert_job(store, &pipeline, name, |_| ());
        let artifacts = Some(Artifacts { file_name: "a.zip".into(), size: 1, expire_at });
        let build = Build { artifacts, ..build };
        write(store, |tx| tx.builds().update(&build));
        build
    };
    let gone = with("gone", Some(at(10)));
    with("kept", None);
    with("there", Some(at(11)));
    let found = read(store, |tx| tx.builds().with_artifacts_expired(at(10), 9));
    assert_eq!(found, std::slice::from_ref(&gone));
    assert_eq!(gone.artifacts_at(at(10)), None);
    assert!(gone.artifacts_at(at(9)).is_some());
}
