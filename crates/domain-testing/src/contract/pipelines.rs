//! Pipelines; see [`Pipelines`](hexforge_domain::pipeline::port::Pipelines).

use super::check::{assert_pages, read, write};
use super::labels::a_project_with_owner;
use crate::builders::{
    a_build, a_commit_id, a_definition, a_moment, a_pipeline, a_project, a_runner, a_user, at,
    home_of,
};
use hexforge_domain::build::{Artifacts, Build};
use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{PipelineId, ProjectId};
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::outbox::ci::{BuildEvent, BuildRow, PipelineEvent, PipelineRow};
use hexforge_domain::outbox::project::{Person, ProjectCard, ProjectEvent};
use hexforge_domain::paging::Page;
use hexforge_domain::pipeline::{NewPipeline, Pipeline, PipelineScope};
use hexforge_domain::ports::store::Store;
use hexforge_domain::visibility::Visibility;
use std::thread;

fn insert(store: &dyn Store, new: NewPipeline) -> Pipeline {
    write(store, |tx| tx.pipelines().insert(new))
}

/// All fields are read back as they were written, also after an update; the commit copy is stored
/// with the pipeline.
pub fn a_pipeline_has_every_field(store: &dyn Store) {
    let (project, user) = a_project_with_owner(store, "ada");
    let new = NewPipeline {
        user: Some(user),
        before_sha: ObjectId::ZERO,
        reference: "v1 🦀".into(),
        tag: true,
        status: Status::Failed,
        yaml_errors: Some("jobs:rspec script can't be blank".into()),
        ..a_pipeline(project)
    };
    let made = insert(store, new.clone());
    let expected = Pipeline {
        id: made.id,
        project,
        user: Some(user),
        sha: new.sha,
        before_sha: ObjectId::ZERO,
        reference: new.reference,
        tag: true,
        status: Status::Failed,
        yaml_errors: new.yaml_errors,
        duration: None,
        created_at: a_moment(),
        updated_at: a_moment(),
        started_at: None,
        finished_at: None,
    };
    assert_eq!(made, expected);
    let changed = Pipeline {
        status: Status::Success,
        duration: Some(7),
        updated_at: at(9),
        started_at: Some(at(1)),
        finished_at: Some(at(8)),
        ..made
    };
    write(store, |tx| tx.pipelines().update(&changed));
    let (other, _) = a_project_with_owner(store, "bob");
    read(store, |tx| {
        assert_eq!(tx.pipelines().find(project, changed.id)?, Some(changed.clone()));
        assert_eq!(tx.pipelines().find(other, changed.id)?, None);
        assert_eq!(tx.pipelines().find_all(&[changed.id])?, std::slice::from_ref(&changed));
        assert_eq!(tx.pipelines().commits(&[changed.id])?, [(changed.id, new.commit)]);
        Ok(())
    });
}

/// Pipelines of one project are listed: all of them, or only pending and running ones.
pub fn pipelines_of_a_project_come_newest_first(store: &dyn Store) {
    let ((project, _), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let mut all = Vec::new();
    for status in Status::ALL {
        all.insert(0, insert(store, NewPipeline { status, ..a_pipeline(project) }));
        insert(store, NewPipeline { status, ..a_pipeline(other) });
    }
    assert_pages(store, &all, |tx, page| tx.pipelines().list(project, PipelineScope::All, page));
    all.retain(|one| matches!(one.status, Status::Pending | Status::Running));
    assert_eq!(all.len(), 2);
    assert_pages(store, &all, |tx, page| tx.pipelines().list(project, PipelineScope::Active, page));
}

/// Pipelines are found by ref name, ref kind, status and commit.
pub fn the_newest_pipelines_of_refs_and_commits_are_found(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let of = |reference: &str, tag, sha, status| {
        let reference = reference.to_owned();
        let sha = a_commit_id(sha);
        insert(store, NewPipeline { reference, tag, sha, status, ..a_pipeline(project) })
    };
    let old = of("master", false, 1, Status::Success);
    let other = of("other", false, 1, Status::Success);
    let new = of("master", false, 2, Status::Failed);
    let tag = of("master", true, 2, Status::Success);
    read(store, |tx| {
        let mut newest =
            |name: &str, status| tx.pipelines().newest_with_status(project, name, status);
        assert_eq!(newest("master", Status::Success)?, Some(tag.clone()));
        assert_eq!(newest("master", Status::Failed)?, Some(new.clone()));
        assert_eq!(newest("other", Status::Failed)?, None);
        assert_eq!(newest("\0", Status::Success)?, None);
        let first = tx.pipelines().of_commit(project, a_commit_id(1))?;
        assert_eq!(first, [other.clone(), old.clone()]);
        assert_eq!(tx.pipelines().of_commit(project, a_commit_id(9))?, []);
        let mut found = tx.pipelines().of_commits(project, &[1, 2, 9].map(a_commit_id))?;
        found.sort_by_key(|pipeline| pipeline.id);
        assert_eq!(found, [old.clone(), other.clone(), new.clone(), tag.clone()]);
        assert_eq!(tx.pipelines().of_commits(ProjectId(99), &[a_commit_id(1)])?, []);
        assert_eq!(tx.pipelines().of_commits(project, &[])?, []);
        Ok(())
    });
}

/// Only the newest pipeline of each existing branch or tag is listed, with pagination. A ref that
/// is created again is listed again.
pub fn the_newest_pipeline_of_each_ref_is_listed_while_the_ref_is_there(store: &dyn Store) {
    let ((project, _), (elsewhere, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let of = |project, reference: &str, tag| {
        let reference = reference.to_owned();
        insert(store, NewPipeline { reference, tag, ..a_pipeline(project) })
    };
    of(project, "master", false);
    let other = of(project, "other", false);
    let tag = of(project, "master", true);
    of(elsewhere, "master", false);
    let master = of(project, "master", false);
    let branches = |expected: &[Pipeline]| {
        assert_pages(store, expected, |tx, page| {
            tx.pipelines().list(project, PipelineScope::Branches, page)
        });
    };
    let note = |project, tag, reference: &str, present| {
        write(store, |tx| tx.pipelines().note_ref(project, tag, reference, present));
    };
    branches(&[master.clone(), other.clone()]);
    assert_pages(store, &[tag], |tx, page| tx.pipelines().list(project, PipelineScope::Tags, page));
    note(project, false, "other", false);
    note(project, true, "master", false);
    note(elsewhere, false, "master", false);
    branches(std::slice::from_ref(&master));
    assert_pages(store, &[], |tx, page| tx.pipelines().list(project, PipelineScope::Tags, page));
    // A pipeline that is created after its branch was deleted does not make the branch exist again.
    let late = of(project, "other", false);
    branches(std::slice::from_ref(&master));
    note(project, false, "other", true);
    branches(&[late, master]);
    // Notes about a ref without pipelines are ignored.
    note(project, false, "none", false);
    let none = of(project, "none", false);
    read(store, |tx| {
        let found = tx.pipelines().list(project, PipelineScope::Branches, Page::Whole)?;
        assert_eq!(found.items.first(), Some(&none));
        Ok(())
    });
}

/// As in the reference, pipelines of a deleted user are kept with `user` null.
pub fn pipelines_are_deleted_with_their_project_but_not_with_their_user(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let made = insert(store, NewPipeline { user: Some(bob), ..a_pipeline(project) });
    let build = write(store, |tx| {
        let definition = tx.builds().define(made.id, &a_definition())?;
        let mut new = a_build(&made, definition, "rspec");
        new.user = Some(bob);
        tx.builds().insert(new)
    });
    write(store, |tx| tx.users().delete(bob));
    read(store, |tx| {
        let kept = tx.pipelines().find(project, made.id)?.expect("it stays");
        assert_eq!(kept.user, None);
        assert_eq!(tx.builds().find(build.id)?.expect("it stays").user, None);
        Ok(())
    });
    write(store, |tx| tx.projects().delete(project));
    read(store, |tx| {
        assert_eq!(tx.pipelines().find_all(&[made.id])?, []);
        assert_eq!(tx.builds().find(build.id)?, None);
        Ok(())
    });
}

/// Concurrent increments under the lock lose no update.
pub fn a_locked_pipeline_is_changed_by_one_at_a_time(store: &dyn Store) {
    const TIMES: i64 = 20;
    let ada = a_user("ada").stored_in(store).id;
    let project: ProjectId = a_project("site", home_of(store, ada), ada).stored_in(store).id;
    let made = insert(store, a_pipeline(project));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..TIMES {
                    write(store, |tx| {
                        let found = tx.pipelines().lock(made.id)?.expect("it is there");
                        let duration = Some(found.duration.unwrap_or(0) + 1);
                        tx.pipelines().update(&Pipeline { duration, ..found })
                    });
                }
            });
        }
    });
    let last = read(store, |tx| tx.pipelines().find(project, made.id)).expect("it is there");
    assert_eq!(last.duration, Some(4 * TIMES));
}

/// Callers that do not get the lock try again until each has made all its increments.
pub fn a_locked_pipeline_is_skipped(store: &dyn Store) {
    const TIMES: i64 = 10;
    let ada = a_user("ada").stored_in(store).id;
    let project: ProjectId = a_project("site", home_of(store, ada), ada).stored_in(store).id;
    let made = insert(store, a_pipeline(project));
    let added = || {
        write(store, |tx| {
            let Some(found) = tx.pipelines().try_lock(made.id)? else { return Ok(false) };
            let duration = Some(found.duration.unwrap_or(0) + 1);
            tx.pipelines().update(&Pipeline { duration, ..found })?;
            Ok(true)
        })
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..TIMES).for_each(|_| while !added() {}));
        }
    });
    let last = read(store, |tx| tx.pipelines().find(project, made.id)).expect("it is there");
    assert_eq!(last.duration, Some(4 * TIMES));
    assert_eq!(write(store, |tx| tx.pipelines().try_lock(PipelineId(987_654))), None);
}

/// Events of builds and pipelines are read back as they were written, with all optional fields or
/// none.
pub fn events_of_pipelines_are_stored_unchanged(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let user = read(store, |tx| tx.users().find(ada)).expect("she was made");
    let (new, runner) = (a_pipeline(project), a_runner("one 🦀"));
    let commit = new.commit.clone();
    let (pipeline, build, runner) = write(store, |tx| {
        let pipeline = tx.pipelines().insert(new)?;
        let definition = tx.builds().define(pipeline.id, &a_definition())?;
        let build = tx.builds().insert(a_build(&pipeline, definition, "rspec"))?;
        Ok((pipeline, build, tx.runners().insert(runner)?))
    });
    let done = Pipeline {
        duration: Some(3),
        started_at: Some(at(1)),
        finished_at: Some(at(4)),
        ..pipeline.clone()
    };
    let file = Artifacts { file_name: "a.zip".into(), size: 7, expire_at: None };
    let artifacts = Some(file);
    let full =
        Build { artifacts, started_at: Some(at(1)), finished_at: Some(at(2)), ..build.clone() };
    let card = ProjectCard {
        id: project,
        name: "Site".into(),
        description: None,
        namespace: "ada".into(),
        path_with_namespace: "ada/site".into(),
        visibility: Visibility::Internal,
        avatar: None,
        default_branch: Some("master".into()),
    };
    let ci_events = |pipeline: &Pipeline, row: BuildRow, user: Option<Person>| {
        [
            ProjectEvent::Build(BuildEvent {
                project: card.clone(),
                project_name: "Ada / Site".into(),
                pipeline: PipelineRow::from(pipeline),
                commit: commit.clone(),
                build: row.clone(),
                allow_failure: user.is_some(),
            }),
            ProjectEvent::Pipeline(PipelineEvent {
                project: card.clone(),
                default_branch: user.as_ref().map(|_| "master".into()),
                pipeline: PipelineRow::from(pipeline),
                user,
                commit: commit.clone(),
                stages: vec!["build".into(), "test".into()],
                builds: vec![row.clone(), row],
            }),
        ]
    };
    let person = Person::from(&user);
    let row = BuildRow::new(&full, Some(person.clone()), Some(&runner));
    let events = ci_events(&done, row, Some(person)).into_iter();
    let events: Vec<SystemEvent> = events
        .chain(ci_events(&pipeline, BuildRow::new(&build, None, None), None))
        .map(|event| SystemEvent::InProject(Box::new(event)))
        .collect();
    for event in &events {
        write(store, |tx| tx.outbox().record(event, at(9)));
    }
    let kept = read(store, |tx| tx.outbox().oldest(10));
    let kept: Vec<SystemEvent> = kept.into_iter().map(|entry| entry.event).collect();
    assert_eq!(kept, events);
}
