//! System hooks; see [`SystemHooks`](hexforge_domain::system_hook::port::SystemHooks).

use super::check::{assert_pages, read, write};
use crate::builders::{a_hook_url, a_system_hook, at};
use hexforge_domain::id::SystemHookId;
use hexforge_domain::ports::store::Store;
use hexforge_domain::system_hook::{SystemHook, SystemHookSettings};
use hexforge_domain::text::Secret;

fn find_hook(store: &dyn Store, id: SystemHookId) -> Option<SystemHook> {
    read(store, |tx| tx.system_hooks().find(id))
}

/// See [`SystemHooks::insert`](hexforge_domain::system_hook::port::SystemHooks::insert).
pub fn a_system_hook_is_registered_with_every_field(store: &dyn Store) {
    for (push_events, tag_push_events, enable_ssl_verification, token) in [
        (false, false, true, None),
        (true, false, false, Some("")),
        (false, true, false, Some("s🦀 'x'")),
        (true, true, true, None),
    ] {
        let settings = SystemHookSettings {
            url: a_hook_url("https://u:p%40@example.com/ü?a='b'"),
            token: token.map(Secret::new),
            push_events,
            tag_push_events,
            enable_ssl_verification,
        };
        let made = write(store, |tx| tx.system_hooks().insert(settings.clone(), at(7)));
        let expected = SystemHook { id: made.id, settings, created_at: at(7), updated_at: at(7) };
        assert_eq!(made, expected);
        assert_eq!(find_hook(store, made.id), Some(expected));
    }
    assert_eq!(find_hook(store, SystemHookId(i64::MAX)), None);
}

/// Hooks are ordered newest first, also within the same moment; several may have the same URL.
pub fn system_hooks_are_listed_newest_first(store: &dyn Store) {
    assert_pages(store, &[], |tx, page| tx.system_hooks().list(page));
    let mut hooks = Vec::new();
    for (url, moment) in [("a", 1), ("b", 1), ("a", 1), ("c", 9)] {
        let new = a_system_hook(&format!("http://{url}.example"));
        hooks.insert(0, write(store, |tx| tx.system_hooks().insert(new, at(moment))));
    }
    assert_pages(store, &hooks, |tx, page| tx.system_hooks().list(page));
}

/// See [`SystemHooks::delete`](hexforge_domain::system_hook::port::SystemHooks::delete).
pub fn a_deleted_system_hook_is_gone_alone(store: &dyn Store) {
    let insert = || {
        let new = a_system_hook("http://example.com");
        write(store, |tx| tx.system_hooks().insert(new, at(1)))
    };
    let (one, two) = (insert(), insert());
    write(store, |tx| tx.system_hooks().delete(one.id));
    write(store, |tx| tx.system_hooks().delete(one.id));
    assert_eq!(find_hook(store, one.id), None);
    assert_pages(store, &[two], |tx, page| tx.system_hooks().list(page));
}
