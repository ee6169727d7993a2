//! Services; see [`Services`](hexforge_domain::service::port::Services).

use super::check::{assert_duplicate, project, read, write};
use super::deliveries::{ALL, claim_lanes, insert_deliveries};
use super::labels::a_project_with_owner;
use crate::builders::{a_service, at};
use hexforge_domain::delivery::{HookRef, PayloadFormat};
use hexforge_domain::id::ProjectId;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::service::{ProjectService, Properties, PropertyValue, ServiceKind};
use std::sync::Barrier;

fn kind(name: &str) -> ServiceKind {
    ServiceKind::parse(name).expect("tests use known services")
}

fn insert(store: &dyn Store, project: ProjectId, name: &str) -> ProjectService {
    write(store, |tx| tx.services().insert(project, kind(name), a_service(), at(1)))
}

/// Properties of every type are read back as they were written.
pub fn services_are_stored_and_changed(store: &dyn Store) {
    let ((project, _), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    assert_eq!(read(store, |tx| tx.services().find(project, kind("slack"))), None);
    let made = insert(store, project, "slack");
    let elsewhere = insert(store, other, "slack");
    let found = |project, name: &str| read(store, |tx| tx.services().find(project, kind(name)));
    assert_eq!(found(project, "slack"), Some(made.clone()));
    assert_eq!((made.created_at, made.updated_at, made.active), (at(1), at(1), true));
    let properties: Properties = [
        ("webhook".to_owned(), Some(PropertyValue::Text("http://example.com/\"🦀\"".into()))),
        ("channel".to_owned(), None),
        ("username".to_owned(), Some(PropertyValue::Number("1.5".into()))),
        ("notify_only_broken_builds".to_owned(), Some(PropertyValue::Flag(false))),
    ]
    .into_iter()
    .collect();
    let changed = ProjectService { active: false, properties, updated_at: at(2), ..made };
    write(store, |tx| tx.services().update(&changed));
    assert_eq!(found(project, "slack"), Some(changed));
    assert_eq!(found(other, "slack"), Some(elsewhere));
    assert_eq!(found(project, "jira"), None);
    assert_duplicate(store, "service", |tx| {
        tx.services().insert(project, kind("slack"), a_service(), at(1))
    });
}

/// Only active services with a URL of their own receive events.
pub fn receivers_are_active_and_have_a_url(store: &dyn Store) {
    let ((one, _), (two, _), (three, _)) = (
        a_project_with_owner(store, "ada"),
        a_project_with_owner(store, "bob"),
        a_project_with_owner(store, "eve"),
    );
    let first = insert(store, one, "slack");
    insert(store, one, "jira");
    let stopped = insert(store, two, "slack");
    insert(store, three, "slack");
    let receivers = |of: &[ProjectId]| read(store, |tx| tx.services().receivers_of(of));
    assert_eq!(receivers(&[two, one]), [first.clone(), stopped.clone()]);
    write(store, |tx| tx.services().update(&ProjectService { active: false, ..stopped.clone() }));
    assert_eq!(receivers(&[one, two]), std::slice::from_ref(&first));
    write(store, |tx| tx.projects().delete(one));
    assert_eq!(receivers(&[one, two]), []);
    assert_eq!(receivers(&[]), []);
}

/// Active trackers and wikis of the project change links.
pub fn links_are_those_of_active_services(store: &dyn Store) {
    let ((one, _), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let links = || read(store, |tx| tx.services().links_of(one));
    insert(store, one, "slack");
    insert(store, other, "redmine");
    assert_eq!(links(), []);
    let (wiki, tracker) = (insert(store, one, "external_wiki"), insert(store, one, "redmine"));
    assert_eq!(links(), [wiki.clone(), tracker.clone()]);
    write(store, |tx| tx.services().update(&ProjectService { active: false, ..wiki.clone() }));
    assert_eq!(links(), [tracker]);
}

/// A project knows whether one of its issue trackers is active.
pub fn active_trackers_are_found(store: &dyn Store) {
    let (id, _) = a_project_with_owner(store, "ada");
    let has_tracker = || project(store, id).external_tracker;
    insert(store, id, "slack");
    assert!(!has_tracker());
    let tracker = insert(store, id, "redmine");
    assert!(has_tracker());
    let before = project(store, id);
    write(store, |tx| tx.services().update(&ProjectService { active: false, ..tracker.clone() }));
    assert!(!has_tracker());
    write(store, |tx| tx.projects().update(&before));
    assert!(!has_tracker(), "an update of the project does not change it");
}

/// A service has a lane like a hook, and its deliveries go with its project.
pub fn services_receive_deliveries(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let service = insert(store, project, "slack");
    let hook = HookRef::Service(service.id);
    insert_deliveries(store, hook, &[1, 2], at(2));
    let claims = claim_lanes(store, at(3), ALL);
    let ids: Vec<_> = claims[0].deliveries.iter().map(|one| one.id).collect();
    let requests = |store: &dyn Store| read(store, |tx| tx.deliveries().requests(&ids, 1000));
    let found = requests(store);
    assert_eq!(found.len(), 2);
    let request = &found[0].1;
    assert_eq!(request.url.reveal(), "http://example.com/webhook");
    assert_eq!((request.format, request.verify), (PayloadFormat::Form, true));
    assert_eq!(request.token, None);
    assert_eq!(read(store, |tx| tx.delivery_log().list(hook, Page::Whole)).total, 2);
    write(store, |tx| tx.services().update(&ProjectService { active: false, ..service.clone() }));
    assert_eq!(requests(store), [], "the deliveries of a service that is not active are deleted");
    write(store, |tx| tx.services().update(&service));
    assert_eq!(requests(store), []);
    insert_deliveries(store, hook, &[3], at(4));
    write(store, |tx| tx.projects().delete(project));
    assert_eq!(requests(store), []);
    assert!(!read(store, |tx| tx.deliveries().any_due(at(99))));
}

/// The receivers of an event are read before its deliveries are inserted. A service may lose its URL in between.
pub fn deliveries_to_services_without_a_url_are_left_out(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let service = insert(store, project, "slack");
    write(store, |tx| tx.services().update(&ProjectService { active: false, ..service.clone() }));
    insert_deliveries(store, HookRef::Service(service.id), &[1], at(2));
    assert!(!read(store, |tx| tx.deliveries().any_due(at(99))));
    assert_eq!(claim_lanes(store, at(99), ALL), []);
}

/// Like the case above, while the transaction that removes the URL is not committed yet.
pub fn deliveries_wait_for_the_removal_of_a_url(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let service = insert(store, project, "slack");
    let hook = HookRef::Service(service.id);
    // A lane exists already, so that the removal deletes it.
    insert_deliveries(store, hook, &[1], at(2));
    let updated = Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            write(store, |tx| {
                tx.services().update(&ProjectService { active: false, ..service.clone() })?;
                updated.wait();
                std::thread::sleep(std::time::Duration::from_millis(200));
                Ok(())
            });
        });
        updated.wait();
        insert_deliveries(store, hook, &[2], at(3));
    });
    assert!(!read(store, |tx| tx.deliveries().any_due(at(99))));
    assert_eq!(claim_lanes(store, at(99), ALL), []);
}
