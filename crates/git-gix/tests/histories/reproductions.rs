//! Regression tests: small histories for which a fetch once sent too few objects.

use crate::client::Client;
use crate::files::{File, Files};
use crate::history::{History, MAIN_BRANCH};
use crate::objects::Ids;
use crate::operation::{Action, Clock, Maintenance, Operation};
use crate::oracle::Oracle;
use crate::request::{Depth, Request, Wire};
use crate::server::Server;
use crate::support::Random;
use crate::under_test;

/// The number of steps for a day between two commits: their distance is 60 seconds plus 20 per step.
const A_DAY: usize = (24 * 60 * 60 - 60) / 20;

/// A history with one commit a day.
fn history(commits: &[&[(&str, &str)]]) -> History {
    let daily = Operation {
        action: Action::EditLine,
        branch: 0,
        picks: [0, 0, A_DAY],
        clock: Clock::Later,
    };
    let mut history = History::of(&[]);
    for commit in commits {
        let mut files = Files::default();
        for (path, line) in *commit {
            files.put(path, File::text(0, 60).with_line(30, line));
        }
        history.commit(MAIN_BRANCH, &[], files, &daily);
        history.pushed.push(history.refs());
    }
    history
}

/// Clones and fetches in all protocol versions, from a server that stores the history in several ways.
fn check(history: &History) {
    let last = history.pushed.last().expect("there are commits");
    let mut servers: Vec<Server> = (0..4).map(|_| Server::new(history)).collect();
    for refs in &history.pushed {
        servers[0].push(history, refs);
    }
    for server in &mut servers[1..] {
        server.push(history, last);
    }
    servers[2].maintain(Maintenance::Loose, true);
    servers[3].maintain(Maintenance::Bitmap, true);
    for server in &servers {
        for wire in Wire::ALL {
            check_server(history, server, wire);
        }
    }
}

fn check_server(history: &History, server: &Server, wire: Wire) {
    let oracle = Oracle { history, server, under_test: under_test() };
    let fetch = |mut client: Client, request: Request| {
        if let Err(failure) = oracle.fetch(&mut client, &request, &mut Random::new(1)) {
            panic!("{}\n{}\n{}", failure.difference, failure.request, failure.script);
        }
    };
    let all = Request::clone_of(wire, server.refs.values().copied().collect());
    let tip = Request::clone_of(wire, vec![server.refs[MAIN_BRANCH]]);
    fetch(Client::default(), all.clone());
    fetch(Client::default(), tip.clone());
    let depth = Depth { commits: Some(7), ..Depth::default() };
    fetch(Client::default(), Request { depth, ..all.clone() });
    for commit in &history.commits {
        let has = history.objects.closure([commit.id], &Ids::new());
        let client = Client { has, tips: [commit.id].into(), ..Client::default() };
        for thin in [false, true] {
            fetch(client.clone(), Request { haves: vec![commit.id], thin, ..all.clone() });
        }
    }
}

#[test]
fn a_folder_that_is_changed_back_is_sent_completely() {
    let one = [("d/x", "0")];
    let two = [("d/x", "1"), ("d/y", "new")];
    let three = [("d/x", "2"), ("d/y", "new")];
    check(&history(&[&one, &two, &three, &two]));
    // A file outside the folder makes the root trees differ.
    let two = [("d/x", "1"), ("d/y", "new"), ("other", "0")];
    let three = [("d/x", "2"), ("d/y", "new"), ("other", "1")];
    let four = [("d/x", "1"), ("d/y", "new"), ("other", "2")];
    check(&history(&[&one, &two, &three, &four]));
}

#[test]
fn a_copied_folder_that_is_changed_back_is_sent_completely() {
    let one = [("p/x", "0"), ("p/deep/y", "0")];
    let copied = [("p/x", "0"), ("p/deep/y", "0"), ("q/x", "0"), ("q/deep/y", "0")];
    let changed = [("p/x", "0"), ("p/deep/y", "0"), ("q/x", "1"), ("q/deep/y", "1")];
    let grown = [("p/x", "1"), ("p/deep/y", "1"), ("q/x", "2"), ("q/deep/y", "2")];
    check(&history(&[&one, &copied, &changed, &copied]));
    check(&history(&[&one, &copied, &changed, &grown, &changed, &copied]));
}
