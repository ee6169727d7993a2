//! Many concurrent callers on few objects: there are no server errors, and at the end every counter equals the rows it
//! counts.

use std::time::{Duration, Instant};

use hexforge_http_actix::Dialect;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Auditor, Backend, Forge, ForgeOptions, RandomNumbers, Request};

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

/// The time per database; `HEXFORGE_STRESS_SECONDS` changes it.
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
    Auditor { address: forge.address, token: ROOT }.assert_stars_and_forks(&callers);
}

fn create_project(forge: &Forge, token: &str, number: usize) -> Request {
    let name = format!("project-{number}");
    forge.post("/projects").token(token).form(&[("name", &name), ("public", "true")])
}

fn act_at_random(forge: &Forge, token: &str, caller: usize, until: Instant) {
    let mut numbers = RandomNumbers(caller as u64 + 1);
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
