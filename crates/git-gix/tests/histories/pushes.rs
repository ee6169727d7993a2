//! Pushes that lack an object are refused, also if the server has the object and no ref reaches it. The same pushes
//! with all objects are accepted.

use gix::ObjectId;
use gix::object::Kind;

use crate::history::{History, Refs};
use crate::objects::{Ids, hash};
use crate::operation::{Action, Operation};
use crate::oracle::Failure;
use crate::server::{RefCommand, Server, changes};
use crate::support::Random;

/// Pushes a history step by step, each step first without one object and then with all.
pub fn run_pushes(operations: &[Operation]) -> Result<(), Failure> {
    let history = History::of(operations);
    let mut server = Server::new(&history);
    let mut pushes = history.pushed.iter();
    for operation in operations {
        if let Action::Push = operation.action {
            let refs = pushes.next().expect("one for each push");
            let mut random = Random::new(operation.picks[0] as u64);
            for _ in 0..2 {
                push_incomplete(&history, &mut server, refs, &mut random)?;
            }
            server.push(&history, refs);
        }
    }
    Ok(())
}

fn push_incomplete(
    history: &History,
    server: &mut Server,
    refs: &Refs,
    random: &mut Random,
) -> Result<(), Failure> {
    let mut commands = changes(&server.refs, refs);
    // A deletion needs no objects.
    commands.retain(|(_, _, new)| new.is_some());
    let needed = history.reachable(refs);
    let reachable = history.reachable(&server.refs);
    let mut sent: Ids = needed.difference(&reachable).copied().collect();
    // Git treats the empty tree as existing in every repository.
    let empty_tree = hash(Kind::Tree, b"");
    let candidates: Vec<ObjectId> = sent.iter().copied().filter(|&id| id != empty_tree).collect();
    if candidates.is_empty() {
        return Ok(());
    }
    let lacking = *random.pick(&candidates);
    sent.remove(&lacking);
    let list: String = sent.iter().map(|id| format!("{id}\n")).collect();
    let pack = server.run_in_source(&["pack-objects", "--stdout", "-q"], list.as_bytes());
    let is_atomic = random.one_in(2);
    let capabilities = if is_atomic { "report-status atomic" } else { "report-status" };
    let report = server.receive(&commands, capabilities, &pack);
    let request = format!("push of {commands:#?} without {}", history.objects.describe(lacking));
    let script = format!("{}# then a push without {lacking}\n", server.script);
    let fail = |difference: String| Err(Failure { request, difference, script });
    let is_refused = report.contains("missing necessary objects") || !report.contains("unpack ok");
    if !is_refused {
        return fail(format!("the push was accepted: {report}"));
    }
    let now = server.refs_by_git();
    // Unless the push is atomic, refs that do not need the object may be accepted.
    let needs_it = |id: ObjectId| history.objects.closure([id], &Ids::new()).contains(&lacking);
    let is_wrong = |(_, _, new): &RefCommand| is_atomic || new.is_some_and(needs_it);
    if let Some(change) = changes(&server.refs, &now).into_iter().find(is_wrong) {
        return fail(format!("a ref was changed: {change:?}, {report}"));
    }
    let stored = server.list_stored();
    if now == server.refs && stored != server.stored {
        return fail("objects of a refused push stay on the server".to_owned());
    }
    (server.refs, server.stored) = (now, stored);
    Ok(())
}
