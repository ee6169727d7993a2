//! The history is pushed in steps, as it grew over the years, while clients fetch it.

use super::checks::{Checks, same_list};
use super::client::{Pair, State, Step};
use super::git::Run;
use super::oracle::Oracle;
use super::server::{PROJECT, Server, Transport};

/// The number of pushes, and so the least number of packs.
const STEPS: usize = 8;

/// Pushes the default branch in parts, and everything else with the last part, over both transports in turn. Clients
/// that cloned after the first and the fourth part fetch after each later one.
pub fn push_in_steps(server: &Server<'_>, oracle: &Oracle<'_>, checks: &mut Checks) {
    let mut early = Pair::new(server, oracle, "early client", Transport::Http, 2);
    let mut late = Pair::new(server, oracle, "late client", Transport::Ssh, 0);
    let (clone, fetch) =
        (Step::compared("clone -q --no-checkout @ ."), Step::compared("fetch -q origin"));
    for step in 1..=STEPS {
        let by = if step % 2 == 1 { Transport::Http } else { Transport::Ssh };
        push_part(server, oracle, step, by, checks);
        checks.check(&format!("refs after push {step} over {by:?}"), || {
            same_refs(server, oracle, by, if step < 4 { 0 } else { 2 })
        });
        early.run(if step == 1 { &clone } else { &fetch }, checks);
        if step >= 4 {
            late.run(if step == 4 { &clone } else { &fetch }, checks);
        }
    }
    checks.check("the stored repository", || {
        let expected = State::read(oracle.git, &oracle.twin)?;
        State::read(oracle.git, &server.stored())?.compare(&expected)
    });
}

/// Pushes one part to hexforge and to the twin.
fn push_part(
    server: &Server<'_>,
    oracle: &Oracle<'_>,
    step: usize,
    by: Transport,
    checks: &mut Checks,
) {
    let commit = &oracle.main_line[(oracle.main_line.len() * step / STEPS).max(1) - 1];
    let refspecs = if step == STEPS {
        vec!["refs/heads/*:refs/heads/*".to_owned(), "refs/tags/*:refs/tags/*".to_owned()]
    } else {
        let tags = oracle.git.lines(&oracle.full, &["tag", "--merged", commit]);
        let tags = tags.iter().map(|tag| format!("refs/tags/{tag}:refs/tags/{tag}"));
        let branch = format!("{commit}:refs/heads/{}", oracle.default_branch);
        std::iter::once(branch).chain(tags).collect()
    };
    push(server, oracle, by, &format!("push {step} of {STEPS} over {by:?}"), &refspecs, checks);
}

/// Pushes the same to hexforge and to the twin.
pub fn push(
    server: &Server<'_>,
    oracle: &Oracle<'_>,
    by: Transport,
    name: &str,
    refspecs: &[String],
    checks: &mut Checks,
) {
    let push_to = |address: &str| {
        let mut arguments = vec!["push", "--quiet", address];
        arguments.extend(refspecs.iter().map(String::as_str));
        Run::of(&mut server.git_as_owner(&oracle.full, &arguments)).into_lines()
    };
    push_to(&Oracle::address_of(&oracle.twin)).expect("git takes what comes from git");
    checks.check(name, || push_to(&server.address(by, PROJECT)).map(|_| ()));
}

/// Checks that both advertise the same refs.
pub fn same_refs(
    server: &Server<'_>,
    oracle: &Oracle<'_>,
    by: Transport,
    protocol: u8,
) -> Result<(), String> {
    let version = format!("protocol.version={protocol}");
    let list = |address: &str| {
        let arguments = ["-c", &version, "ls-remote", address];
        Run::of(&mut server.git_as_owner(&oracle.full, &arguments)).into_lines()
    };
    let expected = list(&Oracle::address_of(&oracle.twin))?;
    same_list("refs", &list(&server.address(by, PROJECT))?, &expected)
}
