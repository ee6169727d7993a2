//! Forks, and the removal of merged branches.

use std::time::{Duration, Instant};

use hexforge_tests::RandomNumbers;

use super::checks::Checks;
use super::client::{Pair, Step};
use super::oracle::Oracle;
use super::pushes::{push, same_refs};
use super::server::{Server, Transport};

/// The number of branches created from old commits of the default branch.
const MERGED: usize = 3;

/// The timeout for the removal of merged branches.
const LONGEST_REMOVAL: Duration = Duration::from_secs(60);

/// `POST /projects/fork/:id`: a fork has the same history.
pub fn check_fork(server: &Server<'_>, oracle: &Oracle<'_>, checks: &mut Checks) {
    let path = format!("/projects/fork/{}", server.project);
    let forked = checks.check("fork", || {
        let group = server.request("POST", "/groups");
        group.form(&[("name", "crew"), ("path", "crew")]).send().expect(201);
        let made = server.request("POST", &path).form(&[("namespace", "crew")]).send();
        if made.status != 201 {
            let body = String::from_utf8_lossy(&made.body);
            return Err(format!("POST {path}: {} {body}", made.status));
        }
        Ok(())
    });
    if forked {
        let mut pair = Pair::new(server, oracle, "clone of a fork", Transport::Http, 2)
            .of_project("crew/ship");
        pair.run(&Step::compared("clone -q --mirror @ ."), checks);
    }
}

/// `DELETE /projects/:id/repository/merged_branches` removes the branches that `git branch --merged` lists, except
/// those at the commit of the default branch. Reference section 2.8.
pub fn check_merged_branches(
    server: &Server<'_>,
    oracle: &Oracle<'_>,
    random: &mut RandomNumbers,
    checks: &mut Checks,
) {
    let mut refspecs: Vec<String> = (0..MERGED)
        .map(|number| {
            let commit = &oracle.main_line[random.below(oracle.main_line.len())];
            format!("{commit}:refs/heads/old/{number}")
        })
        .collect();
    refspecs.push(format!("{}:refs/heads/same", oracle.tip()));
    push(server, oracle, Transport::Http, "push of merged branches", &refspecs, checks);
    let format = "--format=%(objectname) %(refname)";
    let merged = ["for-each-ref", format, "--merged", oracle.tip(), "refs/heads"];
    for line in oracle.lines(&merged) {
        let (commit, name) = line.split_once(' ').expect("the format has a space");
        if commit != oracle.tip() {
            oracle.lines(&["update-ref", "-d", name]);
        }
    }
    checks.check("merged branches are removed", || {
        let path = format!("/projects/{}/repository/merged_branches", server.project);
        let answer = server.request("DELETE", &path).send();
        if answer.status != 200 {
            return Err(format!("DELETE {path}: {}", answer.status));
        }
        removed_soon(server, oracle)
    });
    let mut pair = Pair::new(server, oracle, "clone after removals", Transport::Ssh, 2);
    pair.run(&Step::compared("clone -q --mirror @ ."), checks);
}

/// Waits until the program has removed the merged branches, which happens after its response.
fn removed_soon(server: &Server<'_>, oracle: &Oracle<'_>) -> Result<(), String> {
    let begin = Instant::now();
    loop {
        let compared = same_refs(server, oracle, Transport::Http, 2);
        if compared.is_ok() || begin.elapsed() > LONGEST_REMOVAL {
            return compared;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
