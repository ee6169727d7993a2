//! Clients of all kinds fetch the whole history.

use hexforge_tests::RandomNumbers;

use super::checks::Checks;
use super::client::Pair;
use super::oracle::Oracle;
use super::recipes;
use super::server::Server;
use super::settings::Settings;

/// Runs the commands of each client with hexforge and with git.
pub fn check(
    server: &Server<'_>,
    oracle: &Oracle<'_>,
    settings: &Settings,
    random: &mut RandomNumbers,
    checks: &mut Checks,
) {
    let is_chosen = |name: &str| settings.clients.as_deref().is_none_or(|text| name.contains(text));
    for recipe in recipes::all(oracle, settings.extent, random) {
        if !is_chosen(&recipe.name) {
            continue;
        }
        let mut pair = Pair::new(server, oracle, &recipe.name, recipe.by, recipe.protocol);
        for step in &recipe.steps {
            pair.run(step, checks);
        }
    }
}
