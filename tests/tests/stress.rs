//! Many callers at once on few things: nobody is answered with a failure of ours, and at the end every
//! counter equals the rows it counts.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use hexforge_http_actix::Dialect;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Backend, Forge, ForgeOptions, Request};
use serde_json::Value;

const CALLERS: usize = 16;
const PROJECTS: usize = 6;
const GROUPS: usize = 4;

#[test]
fn counters_equal_rows_after_many_callers_on_sqlite() {
    stress(Backend::Sqlite);
}

#[test]
fn counters_equal_rows_after_many_callers_on_postgres() {
    stress(Backend::Postgres);
}

/// Seconds for each database; more with `HEXFORGE_STRESS_SECONDS`.
fn duration() -> Duration {
    let seconds = std::env::var("HEXFORGE_STRESS_SECONDS").ok();
    Duration::from_secs(seconds.and_then(|seconds| seconds.parse().ok()).unwrap_or(3))
}

fn stress(backend: Backend) {
    let options = ForgeOptions { backend, dialect: Dialect::Specification };
    let Some(forge) = Forge::start(options) else { return };
    let callers: Vec<String> =
        (0..CALLERS).map(|number| forge.user(&format!("caller-{number}")).1).collect();
    for number in 0..GROUPS {
        let path = format!("group-{number}");
        forge
            .post("/groups")
            .token(ROOT)
            .form(&[("name", &path), ("path", &path)])
            .send()
            .expect(201);
    }
    for number in 0..PROJECTS {
        create_project(&forge, ROOT, number).send().expect(201);
    }
    let until = Instant::now() + duration();
    std::thread::scope(|scope| {
        for (number, token) in callers.iter().enumerate() {
            let forge = &forge;
            scope.spawn(move || act_at_random(forge, token, number, until));
        }
    });
    assert_counters_equal_rows(&forge, &callers);
}

fn create_project(forge: &Forge, token: &str, number: usize) -> Request {
    let name = format!("project-{number}");
    forge.post("/projects").token(token).form(&[("name", &name), ("public", "true")])
}

/// A small generator of numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

fn act_at_random(forge: &Forge, token: &str, caller: usize, until: Instant) {
    let mut numbers = Numbers(caller as u64 + 1);
    while Instant::now() < until {
        let number = numbers.below(PROJECTS);
        let project = format!("/projects/root%2Fproject-{number}");
        let request = match numbers.below(12) {
            0..4 => forge.post(&format!("{project}/star")).token(token),
            4..7 => forge.delete(&format!("{project}/star")).token(token),
            7 => {
                let group = format!("group-{}", numbers.below(GROUPS));
                let group = forge.get(&format!("/groups/{group}")).token(ROOT).send().expect(200);
                let id = group["id"].to_string();
                let form = [("group_id", id.as_str()), ("group_access", "30")];
                forge.post(&format!("{project}/share")).token(ROOT).form(&form)
            }
            8 => {
                let fork = format!("/projects/fork/root%2Fproject-{number}");
                let target = format!("caller-{caller}");
                forge.post(&fork).token(token).form(&[("namespace", &target)])
            }
            9 => {
                forge.delete(&format!("/projects/caller-{caller}%2Fproject-{number}")).token(token)
            }
            10 => forge.delete(&project).token(ROOT),
            _ => create_project(forge, ROOT, number),
        };
        let answer = request.send();
        assert!(answer.status < 500, "{} {}", answer.status, String::from_utf8_lossy(&answer.body));
    }
}

fn all_pages(forge: &Forge, path: &str, token: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for page in 1.. {
        let page = page.to_string();
        let query = [("page", page.as_str()), ("per_page", "100")];
        let found = forge.get(path).token(token).query(&query).send().expect(200);
        match found.as_array().map(Vec::as_slice) {
            Some([]) | None => break,
            Some(items) => all.extend_from_slice(items),
        }
    }
    all
}

fn assert_counters_equal_rows(forge: &Forge, callers: &[String]) {
    let projects = all_pages(forge, "/projects/all", ROOT);
    let mut stars: HashMap<i64, i64> = HashMap::new();
    for token in callers {
        for starred in all_pages(forge, "/projects/starred", token) {
            *stars.entry(starred["id"].as_i64().expect("an id")).or_default() += 1;
        }
    }
    let mut forks: HashMap<i64, i64> = HashMap::new();
    for project in &projects {
        if let Some(source) = project["forked_from_project"]["id"].as_i64() {
            *forks.entry(source).or_default() += 1;
        }
    }
    for project in &projects {
        let id = project["id"].as_i64().expect("an id");
        assert_eq!(
            project["star_count"].as_i64(),
            Some(stars.get(&id).copied().unwrap_or(0)),
            "{project}"
        );
        assert_eq!(
            project["forks_count"].as_i64(),
            Some(forks.get(&id).copied().unwrap_or(0)),
            "{project}"
        );
    }
    assert!(!projects.is_empty());
}
