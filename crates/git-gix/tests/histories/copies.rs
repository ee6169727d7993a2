//! Copies of repositories: forks, backups and imports. After each push the server goes on with a copy.

use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::imports::Imports;
use hexforge_domain::refs::Ref;
use hexforge_git_gix::{HttpImports, ImportLimits};

use crate::backend::{Backend, Network};
use crate::history::History;
use crate::operation::{Action, Operation};
use crate::oracle::{Failure, UnderTest};
use crate::scenario::run_fetches_with;
use crate::server::{Server, open_store};
use crate::support::refs;

/// How a repository is copied.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Fork,
    Backup,
    Import,
}

/// Runs a scenario with fetches. After each push the repository is copied, and the scenario goes on with the copy.
pub fn run_copies(operations: &[Operation], under_test: UnderTest) -> Result<(), Failure> {
    run_fetches_with(operations, under_test, &|operation, history, server| match operation.action {
        Action::Push if !server.refs.is_empty() => {
            let kinds = [Kind::Fork, Kind::Backup, Kind::Import];
            copy(history, server, *operation.random().pick(&kinds))
        }
        _ => Ok(()),
    })
}

/// Copies the repository, checks the copy, and lets the server go on with it.
pub fn copy(history: &History, server: &mut Server, kind: Kind) -> Result<(), Failure> {
    server.script.push_str(&format!("# a copy of the server by {kind:?}\n"));
    let head = server.git(&["symbolic-ref", "HEAD"]);
    let copied = match kind {
        Kind::Fork => go_on_with_fork(server),
        Kind::Backup => go_on_with_backup(server),
        Kind::Import => go_on_with_import(server),
    };
    let question = format!("{kind:?} of the repository");
    let fail = |server: &Server, difference: String| {
        Err(Failure::of(server, &question, format!("{question}: {difference}")))
    };
    if let Err(difference) = copied {
        return fail(server, difference);
    }
    if let Kind::Import = kind {
        server.stored = history.reachable(&server.refs);
    }
    if server.git(&["symbolic-ref", "HEAD"]) != head {
        return fail(server, "HEAD is another branch".to_owned());
    }
    check_complete(history, server, &question)
}

/// Checks that the repository has the expected refs and objects, and that `git fsck` finds no fault.
pub fn check_complete(history: &History, server: &Server, question: &str) -> Result<(), Failure> {
    let fail = |difference: String| {
        Err(Failure::of(server, question, format!("{question}: {difference}")))
    };
    let refs = server.refs_by_git();
    if refs != server.refs {
        return fail(format!("the refs are {refs:?} instead of {:?}", server.refs));
    }
    let stored = server.list_stored();
    if stored != server.stored {
        let objects = &history.objects;
        let missing = objects.describe_all(&(&server.stored - &stored));
        let extra = objects.describe_all(&(&stored - &server.stored));
        return fail(format!("missing objects\n{missing}\nextra objects\n{extra}"));
    }
    let found = server.git(&["fsck", "--full", "--strict", "--no-dangling", "--no-progress"]);
    if !found.is_empty() {
        return fail(String::from_utf8_lossy(&found).into_owned());
    }
    let reachable = history.reachable(&server.refs);
    match server.rev_list(&Default::default(), &["--all".to_owned()]) == reachable {
        true => Ok(()),
        false => fail("the refs lead to other objects".to_owned()),
    }
}

fn go_on_with_fork(server: &mut Server) -> Result<(), String> {
    let target = ProjectId(server.project.0 + 1);
    refs::fork(&server.store, server.project, target);
    // The copy has no ref files.
    let copied = refs::refs_of(&server.path());
    server.project = target;
    let all: Vec<Ref> = copied.iter().cloned().collect();
    refs::write_refs(&server.path(), Some(copied.head()), &all);
    Ok(())
}

/// A backup consists of the stored packs and of database rows.
fn go_on_with_backup(server: &mut Server) -> Result<(), String> {
    let data = server.data.join("backup");
    let source = server.path();
    let store = open_store(&data);
    let packs = store.take_over(&source).map_err(|error| format!("{error:?}"))?;
    refs::add_packs(&store, server.project, &packs);
    let all = refs::refs_of(&source);
    (server.store, server.data) = (store, data);
    let refs: Vec<Ref> = all.iter().cloned().collect();
    refs::write_refs(&server.path(), Some(all.head()), &refs);
    Ok(())
}

fn go_on_with_import(server: &mut Server) -> Result<(), String> {
    let source = server.path();
    let root = source.parent().expect("it is in a folder");
    let name = source.file_name().and_then(|name| name.to_str()).expect("plain names");
    let backend = Backend::new(root);
    let network = Network::new(move |request| Ok(backend.answer(&request)));
    let target = ProjectId(server.project.0 + 1);
    let imports = HttpImports::new(&server.store, Arc::new(network), ImportLimits::default());
    let imported = imports.fetch(&format!("http://host/{name}"));
    let imported = imported.map_err(|error| error.to_string())?;
    refs::add_packs(&server.store, target, &imported.packs);
    if !imported.refs.iter().eq(refs::refs_of(&source).iter()) {
        return Err(format!("other refs are imported: {imported:?}"));
    }
    server.project = target;
    refs::write_refs(&server.path(), imported.head.as_deref(), &imported.refs);
    Ok(())
}
