//! Triggers; see [`Triggers`](hexforge_domain::trigger::port::Triggers).

use super::builds::insert_pipeline;
use super::check::{assert_pages, read, write};
use super::labels::a_project_with_owner;
use crate::builders::{a_moment, at};
use hexforge_domain::ports::store::Store;
use hexforge_domain::ports::vault::Sealed;
use hexforge_domain::trigger::Trigger;

/// Triggers of one project are listed oldest first.
pub fn triggers_are_listed_and_removed(store: &dyn Store) {
    let ((project, _), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let insert = |project| write(store, |tx| tx.triggers().insert(project, a_moment()));
    let mut made = vec![insert(project), insert(project), insert(project)];
    insert(other);
    assert_eq!((made[0].created_at, made[0].last_used_at), (a_moment(), None));
    assert_pages(store, &made, |tx, page| tx.triggers().list(project, page));
    let gone = made.remove(1);
    write(store, |tx| tx.triggers().delete(gone.id));
    assert_pages(store, &made, |tx, page| tx.triggers().list(project, page));
    read(store, |tx| {
        assert_eq!(tx.triggers().find(gone.id)?, None);
        assert_eq!(tx.triggers().find(made[0].id)?, Some(made[0].clone()));
        Ok(())
    });
}

/// The request is kept when its trigger is deleted.
pub fn the_trigger_request_of_a_pipeline_is_found(store: &dyn Store) {
    let (project, _) = a_project_with_owner(store, "ada");
    let (pipeline, plain) = (insert_pipeline(store, project), insert_pipeline(store, project));
    let trigger = write(store, |tx| tx.triggers().insert(project, a_moment()));
    let sealed = Sealed(vec![0, 255, 7]);
    let mut request =
        write(store, |tx| tx.triggers().record_use(trigger.id, pipeline.id, &sealed, at(5)));
    assert_eq!((request.trigger, request.created_at), (Some(trigger.id), at(5)));
    assert_eq!(request.variables, sealed);
    let used = Trigger { last_used_at: Some(at(5)), ..trigger };
    read(store, |tx| {
        assert_eq!(tx.triggers().find(used.id)?, Some(used.clone()));
        assert_eq!(tx.triggers().request_of(pipeline.id)?, Some(request.clone()));
        assert_eq!(tx.triggers().request_of(plain.id)?, None);
        Ok(())
    });
    write(store, |tx| tx.triggers().delete(used.id));
    request.trigger = None;
    assert_eq!(read(store, |tx| tx.triggers().request_of(pipeline.id)), Some(request));
}
