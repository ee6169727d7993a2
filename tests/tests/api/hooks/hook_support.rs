//! Helpers of the tests about hook payloads.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Receiver};
use serde_json::Value;

use crate::api::support::id_of;

/// Registers a project hook with only the given switches.
#[track_caller]
pub fn hook_of(forge: &Forge, project: &str, url: &str, more: &[(&str, &str)]) -> Value {
    let mut form = vec![("url", url), ("push_events", "false")];
    form.extend(more);
    forge.post(&format!("{project}/hooks")).token(ROOT).form(&form).send().expect(201)
}

/// Registers a system hook.
#[track_caller]
pub fn system_hook(forge: &Forge, url: &str, more: &[(&str, &str)]) -> Value {
    let mut form = vec![("url", url)];
    form.extend(more);
    forge.post("/hooks").token(ROOT).form(&form).send().expect(201)
}

/// Empties the outbox, so that no hook hears of earlier events.
pub fn clear_outbox(forge: &Forge) {
    let forgotten: Result<(), hexforge_domain::ports::store::StoreError> =
        forge.app.store.write(|tx| {
            let waiting = tx.outbox().oldest(u32::MAX)?;
            let ids: Vec<_> = waiting.iter().map(|entry| entry.id).collect();
            tx.outbox().remove(&ids)
        });
    forgotten.expect("the store of the server can be written");
}

/// Delivers everything that is queued, and returns the payloads that the receiver got.
pub fn deliver_payloads(forge: &Forge, receiver: &Receiver) -> Vec<Value> {
    forge.deliver();
    receiver.take().iter().map(hexforge_tests::Received::json).collect()
}

/// The deliveries of a hook, newest first.
#[track_caller]
pub fn deliveries(forge: &Forge, project: &str, hook: &Value) -> Value {
    let path = format!("{project}/hooks/{}/deliveries", id_of(hook));
    forge.get(&path).token(ROOT).send().expect(200)
}
