//! The kinds of clients: the commands that each runs.

use hexforge_tests::RandomNumbers;

use super::client::Step;
use super::oracle::Oracle;
use super::server::Transport::{self, Http, Ssh};
use super::settings::Extent;

/// The commands of one kind of client.
pub struct Recipe {
    pub name: String,
    pub by: Transport,
    pub protocol: u8,
    pub steps: Vec<Step>,
}

impl Recipe {
    fn new(name: &str, by: Transport, protocol: u8, steps: Vec<Step>) -> Self {
        Self { name: name.to_owned(), by, protocol, steps }
    }

    fn one_command(name: &str, by: Transport, protocol: u8, line: &str) -> Self {
        Self::new(name, by, protocol, vec![Step::compared(line)])
    }
}

/// All clients in the full extent, otherwise some of each kind.
pub fn all(oracle: &Oracle<'_>, extent: Extent, random: &mut RandomNumbers) -> Vec<Recipe> {
    // The short extent has every n-th client of each kind.
    let kinds = [
        (3, whole_clones()),
        (2, shallow_clones(oracle)),
        (2, partial_clones()),
        (2, fetches_by_id(oracle, random)),
        (2, clients_somewhere(oracle, random)),
        (2, shallow_clients_somewhere(oracle, random)),
    ];
    let chosen = |(stride, kind): (usize, Vec<Recipe>)| {
        kind.into_iter().step_by(if extent == Extent::Full { 1 } else { stride })
    };
    kinds.into_iter().flat_map(chosen).collect()
}

fn whole_clones() -> Vec<Recipe> {
    let clone = "clone -q --no-checkout @ .";
    let mut recipes = Vec::new();
    for (protocol, by) in [(2, Http), (2, Ssh), (1, Ssh), (1, Http), (0, Http), (0, Ssh)] {
        recipes.push(Recipe::one_command("clone", by, protocol, clone));
    }
    let more = [
        ("mirror", Ssh, "clone -q --mirror @ ."),
        ("bare clone", Ssh, "clone -q --bare @ ."),
        ("clone of one branch", Http, "clone -q --single-branch --no-tags @ ."),
        ("clone with a work tree", Http, "clone -q @ ."),
    ];
    recipes.extend(more.map(|(name, by, line)| Recipe::one_command(name, by, 2, line)));
    recipes
}

fn shallow_clones(oracle: &Oracle<'_>) -> Vec<Recipe> {
    let middle = &oracle.main_line[oracle.main_line.len() / 2];
    let date = oracle.git.text(&oracle.full, &["log", "-1", "--format=%cI", middle]);
    let deepened = |by, protocol| {
        let steps = [
            "clone -q --no-checkout --no-single-branch --depth 50 @ .",
            "fetch -q --deepen=20",
            "fetch -q --unshallow",
        ];
        let steps = steps.into_iter().map(Step::compared).collect();
        Recipe::new("clone that is deepened", by, protocol, steps)
    };
    let one = |name: &str, by, protocol, options: &str| {
        let line = format!("clone -q --no-checkout {options} @ .");
        Recipe::one_command(name, by, protocol, &line)
    };
    let mut recipes = vec![
        deepened(Http, 2),
        deepened(Ssh, 0),
        one("clone of depth 1", Http, 2, "--depth 1"),
        one("clone of depth 1", Ssh, 1, "--depth 1"),
        one("clone of depth 7", Ssh, 2, "--no-single-branch --depth 7"),
        one("clone of depth 7", Http, 0, "--depth 7"),
        one("clone since a date", Ssh, 2, &format!("--shallow-since={date}")),
        one("clone since a date", Http, 0, &format!("--no-single-branch --shallow-since={date}")),
    ];
    if let Some(tag) = middle_tag(oracle) {
        let exclude = format!("--shallow-exclude={tag}");
        recipes.push(one("clone without a tag", Http, 2, &exclude));
        let wider = format!("--no-single-branch {exclude}");
        recipes.push(one("clone without a tag", Ssh, 0, &wider));
    }
    recipes
}

/// A tag in the middle of the default branch's history, if there are tags.
fn middle_tag(oracle: &Oracle<'_>) -> Option<String> {
    let branch = &oracle.default_branch;
    let tags = ["tag", "--merged", branch, "--sort=creatordate"];
    let tags = oracle.git.lines(&oracle.full, &tags);
    tags.get(tags.len() / 2).cloned()
}

fn partial_clones() -> Vec<Recipe> {
    let without_files = vec![
        Step::compared("clone -q --no-checkout --filter=blob:none @ ."),
        Step::compared("checkout -q HEAD"),
    ];
    let one = |name: &str, by, protocol, line: &str| Recipe::one_command(name, by, protocol, line);
    vec![
        Recipe::new("clone without files", Http, 2, without_files.clone()),
        Recipe::new("clone without files", Ssh, 0, without_files),
        one("clone without trees", Ssh, 2, "clone -q --bare --filter=tree:0 @ ."),
        one("clone without trees", Http, 1, "clone -q --bare --filter=tree:0 @ ."),
        one("clone of small files", Http, 2, "clone -q --bare --filter=blob:limit=1k @ ."),
        one("bare clone without files", Ssh, 2, "clone -q --bare --filter=blob:none @ ."),
    ]
}

/// Clients that request commits by id, on any branch.
fn fetches_by_id(oracle: &Oracle<'_>, random: &mut RandomNumbers) -> Vec<Recipe> {
    let recipe = |(by, protocol): (Transport, u8)| {
        let mut steps = vec![Step::prepare("init -q"), Step::prepare("remote add origin @")];
        for number in 1..=3 {
            let commit = oracle.random_commit(random);
            let line = format!("fetch -q --no-tags origin {commit}:refs/probes/{number}");
            steps.push(Step::compared(&line));
        }
        Recipe::new("fetches by id", by, protocol, steps)
    };
    [(Http, 2), (Ssh, 0)].into_iter().map(recipe).collect()
}

/// Clients that first have the history of a random commit, and then fetch everything.
fn clients_somewhere(oracle: &Oracle<'_>, random: &mut RandomNumbers) -> Vec<Recipe> {
    let ways = [(Http, 2), (Ssh, 2), (Ssh, 0), (Http, 0), (Http, 2), (Ssh, 1)];
    let recipe = |(part, (by, protocol)): (usize, (Transport, u8))| {
        let commit = oracle.random_commit_of_part(part, ways.len(), random);
        let steps = vec![
            Step::prepare("init -q"),
            Step::prepare(&format!("fetch -q --no-tags @full {commit}:refs/heads/standing")),
            Step::prepare("remote add origin @"),
            Step::compared("fetch -q origin"),
        ];
        Recipe::new(&format!("client at {}", &commit[..8]), by, protocol, steps)
    };
    ways.into_iter().enumerate().map(recipe).collect()
}

/// Clients that first have a shallow history of a random commit, and then fetch everything.
fn shallow_clients_somewhere(oracle: &Oracle<'_>, random: &mut RandomNumbers) -> Vec<Recipe> {
    let ways = [(Http, 2), (Ssh, 0), (Ssh, 2), (Http, 0)];
    let recipe = |(part, (by, protocol)): (usize, (Transport, u8))| {
        let commit = oracle.random_commit_of_part(part, ways.len(), random);
        let start = format!("fetch -q --no-tags --depth=5 @full {commit}:refs/heads/standing");
        // Over HTTP, git does not request the tags of commits that it gets by deepening, not even from `git
        // http-backend`. The twin is served as a file, where git does.
        let tags = match by {
            Http => "--no-tags ",
            Ssh => "",
        };
        let steps = vec![
            Step::prepare("init -q"),
            Step::prepare(&start),
            Step::prepare("remote add origin @"),
            Step::compared("fetch -q origin"),
            Step::compared(&format!("fetch -q {tags}--deepen=15 origin")),
            Step::compared(&format!("fetch -q {tags}--unshallow origin")),
            Step::compared("fetch -q --tags origin"),
        ];
        Recipe::new(&format!("shallow client at {}", &commit[..8]), by, protocol, steps)
    };
    ways.into_iter().enumerate().map(recipe).collect()
}
