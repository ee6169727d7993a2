//! Broadcast messages; see [`Broadcasts`](hexforge_domain::broadcast::port::Broadcasts).

use super::check::{assert_pages, read, write};
use crate::builders::{a_broadcast, at};
use hexforge_domain::broadcast::{Broadcast, BroadcastContent};
use hexforge_domain::id::BroadcastId;
use hexforge_domain::label::Color;
use hexforge_domain::ports::store::Store;

fn insert(store: &dyn Store, new: BroadcastContent) -> Broadcast {
    write(store, |tx| tx.broadcasts().insert(new))
}

/// All fields are read back as they were written, and a change concerns one message.
pub fn a_broadcast_has_every_field(store: &dyn Store) {
    let other = insert(store, a_broadcast("other"));
    let content = BroadcastContent {
        starts_at: at(-7),
        ends_at: at(7),
        color: Color::stored("#abc".to_owned()),
        font: Color::stored("#123456".to_owned()),
        ..a_broadcast("a 🦀 'text'")
    };
    let made = insert(store, content.clone());
    assert_eq!(made, Broadcast { id: made.id, content });
    let find = |id| read(store, |tx| tx.broadcasts().find(id));
    assert_eq!(find(made.id), Some(made.clone()));
    let changed = Broadcast { content: a_broadcast("changed"), ..made };
    write(store, |tx| {
        assert_eq!(tx.broadcasts().lock(made.id)?.map(|found| found.id), Some(made.id));
        tx.broadcasts().update(&changed)
    });
    assert_eq!((find(made.id), find(other.id)), (Some(changed), Some(other)));
    assert_eq!(find(BroadcastId(i64::MAX)), None);
    let missing = write(store, |tx| tx.broadcasts().lock(BroadcastId(i64::MAX)));
    assert_eq!(missing, None);
}

/// The newest message has the highest id, and ids are not used again.
pub fn broadcasts_are_listed_newest_first(store: &dyn Store) {
    assert_pages(store, &[], |tx, page| tx.broadcasts().list(page));
    let mut messages: Vec<Broadcast> =
        (0..5).map(|number| insert(store, a_broadcast(&number.to_string()))).collect();
    messages.reverse();
    assert_pages(store, &messages, |tx, page| tx.broadcasts().list(page));
    let last = messages.remove(0);
    write(store, |tx| tx.broadcasts().delete(last.id));
    write(store, |tx| tx.broadcasts().delete(last.id));
    assert_pages(store, &messages, |tx, page| tx.broadcasts().list(page));
    assert!(insert(store, a_broadcast("new")).id > last.id);
}
