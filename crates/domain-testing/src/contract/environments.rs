//! Environments and deployments; see [`Environments`](hexforge_domain::environment::port::Environments) and
//! [`Deployments`](hexforge_domain::deployment::port::Deployments).

use super::builds::{insert_job, insert_pipeline};
use super::check::{assert_duplicate, assert_pages, read, write};
use super::labels::a_project_with_owner;
use crate::builders::{a_branch, a_deployment, an_environment, at};
use hexforge_domain::branch::BranchName;
use hexforge_domain::build::Build;
use hexforge_domain::deployment::{Deployment, NewDeployment};
use hexforge_domain::environment::{
    Environment, EnvironmentName, EnvironmentState, ExternalUrl, NewEnvironment,
};
use hexforge_domain::id::{EnvironmentId, ProjectId};
use hexforge_domain::ports::store::{Store, StoreError};

fn insert(store: &dyn Store, project: ProjectId, name: &str) -> Environment {
    write(store, |tx| tx.environments().insert(an_environment(project, name)))
}

fn url(url: &str) -> Option<ExternalUrl> {
    Some(ExternalUrl::parse(url).expect("tests use valid URLs"))
}

fn a_build_of(store: &dyn Store, project: ProjectId) -> Build {
    insert_job(store, &insert_pipeline(store, project), "deploy", |_| ())
}

/// All fields are read back as they were written, also after an update. Environments are listed oldest first.
pub fn environments_are_listed_changed_and_removed(store: &dyn Store) {
    let ((project, _), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let mut made = vec![insert(store, project, "b"), insert(store, project, "a")];
    made.push(write(store, |tx| {
        let new = an_environment(project, "c");
        tx.environments().insert(NewEnvironment { external_url: url("http://c"), ..new })
    }));
    let elsewhere = insert(store, other, "a");
    assert_eq!((made[0].state, &made[0].stop_branch), (EnvironmentState::Available, &None));
    assert_pages(store, &made, |tx, page| tx.environments().list(project, page));
    made[1] = Environment {
        name: EnvironmentName::parse("review/a 1").expect("a valid name"),
        external_url: url("https://example.com/a"),
        state: EnvironmentState::Stopped,
        stop_branch: Some("topic".into()),
        updated_at: at(9),
        ..made[1].clone()
    };
    write(store, |tx| tx.environments().update(&made[1]));
    let gone = made.remove(0);
    write(store, |tx| tx.environments().delete(gone.id));
    assert_pages(store, &made, |tx, page| tx.environments().list(project, page));
    read(store, |tx| {
        let changed = Some(made[0].clone());
        assert_eq!(tx.environments().find(project, made[0].id)?, changed);
        assert_eq!(tx.environments().find_by_name(project, "review/a 1")?, changed);
        assert_eq!(tx.environments().find_by_url(project, "https://example.com/a")?, changed);
        for nobody in ["a", "b", "C", "c ", "\0"] {
            assert_eq!(tx.environments().find_by_name(project, nobody)?, None, "{nobody}");
            assert_eq!(tx.environments().find_by_url(project, nobody)?, None, "{nobody}");
        }
        assert_eq!(tx.environments().find(project, gone.id)?, None);
        assert_eq!(tx.environments().find(project, elsewhere.id)?, None);
        let mut found = tx.environments().find_all(&[made[1].id, gone.id, made[0].id])?;
        found.sort_by_key(|environment| environment.id);
        assert_eq!(found, made);
        Ok(())
    });
}

/// The case of names counts. Several environments have no URL, and another project may use the same values.
pub fn names_and_urls_of_environments_are_unique_in_a_project(store: &dyn Store) {
    let ((project, _), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let with_url = |project, name: &str| NewEnvironment {
        external_url: url("http://a"),
        ..an_environment(project, name)
    };
    for project in [project, other] {
        write(store, |tx| tx.environments().insert(with_url(project, "a")));
        insert(store, project, "A");
    }
    assert_duplicate(store, "name", |tx| tx.environments().insert(an_environment(project, "a")));
    assert_duplicate(store, "external_url", |tx| tx.environments().insert(with_url(project, "b")));
    let second = insert(store, project, "b");
    assert_duplicate(store, "name", |tx| {
        let name = EnvironmentName::stored("a".into());
        tx.environments().update(&Environment { name, ..second.clone() })
    });
    assert_duplicate(store, "external_url", |tx| {
        tx.environments().update(&Environment { external_url: url("http://a"), ..second.clone() })
    });
}

/// Only available environments are stopped with their branch.
pub fn environments_are_found_by_the_branch_that_stops_them(store: &dyn Store) {
    let ((project, _), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let insert = |project, name: &str, branch: Option<&str>, state| {
        let made = insert(store, project, name);
        let stop_branch = branch.map(str::to_owned);
        let changed = Environment { stop_branch, state, ..made };
        write(store, |tx| tx.environments().update(&changed));
        changed
    };
    let (available, stopped) = (EnvironmentState::Available, EnvironmentState::Stopped);
    let one = insert(project, "one", Some("topic"), available);
    let two = insert(project, "two", Some("topic"), available);
    insert(project, "stopped", Some("topic"), stopped);
    let cased = insert(project, "other branch", Some("Topic"), available);
    insert(project, "none", None, available);
    insert(other, "elsewhere", Some("topic"), available);
    read(store, |tx| {
        let mut stopped_with = |branches: &[&str], limit| {
            let branches: Vec<BranchName> = branches.iter().map(|name| a_branch(name)).collect();
            let mut found = tx.environments().to_stop(project, &branches, limit)?;
            found.sort_by_key(|environment| environment.id);
            Ok::<_, StoreError>(found)
        };
        assert_eq!(stopped_with(&["topic"], 9)?, [one.clone(), two.clone()]);
        assert_eq!(stopped_with(&["topic"], 1)?.len(), 1);
        let all = [one.clone(), two.clone(), cased.clone()];
        assert_eq!(stopped_with(&["Topic", "none", "topic"], 9)?, all);
        assert_eq!(stopped_with(&["none"], 9)?, []);
        assert_eq!(stopped_with(&[], 9)?, []);
        Ok(())
    });
}

/// Deployments are numbered in their project and listed oldest first. Numbers are not reused.
pub fn deployments_are_numbered_and_listed(store: &dyn Store) {
    let ((project, user), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let build = a_build_of(store, project);
    let (one, two) = (insert(store, project, "one"), insert(store, project, "two"));
    let elsewhere = insert(store, other, "one");
    let deploy = |environment: &Environment, build: &Build| {
        let new = a_deployment(environment, build);
        write(store, |tx| tx.deployments().insert(new))
    };
    let first = deploy(&one, &build);
    let second = write(store, |tx| {
        tx.deployments().insert(NewDeployment {
            user: Some(user),
            on_stop: Some("stop it".into()),
            ..a_deployment(&two, &build)
        })
    });
    let of_other = deploy(&elsewhere, &a_build_of(store, other));
    let third = deploy(&one, &build);
    let made = [first, second, third];
    assert_eq!(made.each_ref().map(|one| one.iid), [1, 2, 3]);
    assert_eq!(of_other.iid, 1);
    assert_pages(store, &made, |tx, page| tx.deployments().list(project, page));
    let to_one = [made[2].clone(), made[0].clone()];
    assert_pages(store, &to_one, |tx, page| tx.deployments().list_to(one.id, page));
    assert_pages(store, &[], |tx, page| tx.deployments().list_to(EnvironmentId(i64::MAX), page));
    read(store, |tx| {
        assert_eq!(tx.deployments().find(project, made[1].id)?, Some(made[1].clone()));
        assert_eq!(tx.deployments().find(project, of_other.id)?, None);
        assert_eq!(tx.deployments().last_to(one.id)?, Some(made[2].clone()));
        Ok(())
    });
    write(store, |tx| tx.environments().delete(one.id));
    assert_pages(store, &made[1..2], |tx, page| tx.deployments().list(project, page));
    assert_eq!(read(store, |tx| tx.deployments().last_to(one.id)), None);
    assert_eq!(deploy(&two, &build).iid, 4);
}

/// Deployments are deleted with their project, and kept without their user.
pub fn deployments_outlive_their_user_but_not_their_project(store: &dyn Store) {
    let ((project, owner), (_, bob)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let build = a_build_of(store, project);
    let environment = insert(store, project, "one");
    let deploy = |user| {
        let new = NewDeployment { user: Some(user), ..a_deployment(&environment, &build) };
        write(store, |tx| tx.deployments().insert(new))
    };
    let (by_bob, by_owner) = (deploy(bob), deploy(owner));
    write(store, |tx| tx.users().delete(bob));
    let kept = [Deployment { user: None, ..by_bob }, by_owner];
    assert_pages(store, &kept, |tx, page| tx.deployments().list(project, page));
    write(store, |tx| tx.projects().delete(project));
    read(store, |tx| {
        assert_eq!(tx.deployments().find(project, kept[0].id)?, None);
        assert_eq!(tx.environments().find(project, environment.id)?, None);
        Ok(())
    });
}
