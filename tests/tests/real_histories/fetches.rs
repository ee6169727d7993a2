//! Clients of all kinds fetch the whole history.

use hexforge_tests::Numbers;

use super::checks::Checks;
use super::client::Pair;
use super::oracle::Oracle;
use super::recipes;
use super::server::Server;
use super::settings::Extent;

/// Runs the commands of each client with hexforge and with git.
pub fn check(
    server: &Server<'_>,
    oracle: &Oracle<'_>,
    extent: Extent,
    random: &mut Numbers,
    checks: &mut Checks,
) {
    for recipe in recipes::all(oracle, extent, random) {
        let mut pair = Pair::new(server, oracle, &recipe.name, recipe.by, recipe.protocol);
        for step in &recipe.steps {
            pair.run(step, checks);
        }
    }
}
