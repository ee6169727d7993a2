//! Many concurrent callers on the issues of one project: there are no server errors, and at the end the counters of
//! labels and projects, the positions of lists and the issue numbers equal a recount.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use hexforge_http_actix::Dialect;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Auditor, Backend, Forge, ForgeOptions, RandomNumbers, Request};
use serde_json::Value;

const CALLERS: usize = 8;
const LABELS: usize = 6;
const FINDABLE: usize = 12;

#[test]
fn counts_and_places_equal_a_recount_on_sqlite() {
    stress(Backend::Sqlite);
}

#[test]
fn counts_and_places_equal_a_recount_on_postgres() {
    stress(Backend::Postgres);
}

/// The time per database; `HEXFORGE_STRESS_SECONDS` changes it.
fn duration() -> Duration {
    let seconds = std::env::var("HEXFORGE_STRESS_SECONDS").ok();
    Duration::from_secs(seconds.and_then(|seconds| seconds.parse().ok()).unwrap_or(4))
}

/// The total number of operations, if `HEXFORGE_STRESS_OPERATIONS` sets one instead of a time.
fn operations() -> Option<usize> {
    std::env::var("HEXFORGE_STRESS_OPERATIONS").ok().and_then(|number| number.parse().ok())
}

/// The end of the test.
#[derive(Clone, Copy)]
struct Until {
    moment: Instant,
    operations: Option<usize>,
}

impl Until {
    /// Whether a caller with this number of operations continues.
    fn goes_on(self, done: usize) -> bool {
        match self.operations {
            Some(all) => done * CALLERS < all,
            None => Instant::now() < self.moment,
        }
    }
}

/// Two projects of one group, between which issues can move. All callers are reporters of both.
struct StressTest<'a> {
    forge: &'a Forge,
    projects: [i64; 2],
    lists: String,
    /// The number of issues written in each project, including moved ones.
    written: [AtomicI64; 2],
}

fn stress(backend: Backend) {
    let options = ForgeOptions { backend, dialect: Dialect::Specification };
    let Some(forge) = Forge::start(options) else { return };
    let form = [("name", "crew"), ("path", "crew"), ("visibility_level", "20")];
    let crew = forge.post("/groups").token(ROOT).form(&form).send().expect(201)["id"].to_string();
    let projects = ["one", "two"].map(|name| {
        let form = [("name", name), ("public", "true"), ("namespace_id", &crew)];
        let made = forge.post("/projects").token(ROOT).form(&form).send().expect(201);
        made["id"].as_i64().expect("an id")
    });
    let boards = format!("/projects/{}/boards", projects[0]);
    let board = forge.get(&boards).token(ROOT).send().expect(200)[0]["id"].to_string();
    let test = StressTest {
        forge: &forge,
        projects,
        lists: format!("{boards}/{board}/lists"),
        written: Default::default(),
    };
    let callers: Vec<String> = (0..CALLERS)
        .map(|number| {
            let (user, token) = forge.user(&format!("caller-{number}"));
            for project in projects {
                let (user, members) = (user.to_string(), format!("/projects/{project}/members"));
                let form = [("user_id", user.as_str()), ("access_level", "20")];
                forge.post(&members).token(ROOT).form(&form).send().expect(201);
            }
            token
        })
        .collect();
    let until = Until { moment: Instant::now() + duration(), operations: operations() };
    std::thread::scope(|scope| {
        for (number, token) in callers.iter().enumerate() {
            let test = &test;
            scope.spawn(move || test.act_at_random(token, number, until));
        }
    });
    let auditor = Auditor { address: forge.address, token: ROOT };
    for project in projects {
        auditor.assert_counts(project);
    }
    auditor.assert_group_counts("crew", &projects);
    auditor.assert_positions(&test.lists);
    test.assert_numbers();
    // Issues of a removed user are removed.
    let gone = forge.get("/user").token(&callers[0]).send().expect(200)["id"].to_string();
    forge.delete(&format!("/users/{gone}")).token(ROOT).send().expect(200);
    for project in projects {
        auditor.assert_counts(project);
    }
    auditor.assert_group_counts("crew", &projects);
}

fn label(numbers: &mut RandomNumbers) -> String {
    format!("label-{}", numbers.below(LABELS))
}

impl StressTest<'_> {
    fn act_at_random(&self, token: &str, caller: usize, until: Until) {
        let mut numbers = RandomNumbers(caller as u64 + 1);
        let mut done = 0;
        while until.goes_on(done) {
            let answer = self.request(token, &mut numbers).send();
            let body = String::from_utf8_lossy(&answer.body);
            assert!(answer.status < 500, "{} {body}", answer.status);
            let json: Value = serde_json::from_str(&body).unwrap_or_default();
            // Of all created objects only issues have an `iid`.
            if answer.status == 201 && !json["iid"].is_null() {
                let at = self.projects.iter().position(|project| json["project_id"] == *project);
                self.written[at.expect("one of the two")].fetch_add(1, Ordering::Relaxed);
            }
            done += 1;
        }
    }

    /// Asserts that numbers have no gaps: the next number is the count of written issues plus one.
    fn assert_numbers(&self) {
        for (project, written) in self.projects.iter().zip(&self.written) {
            let path = format!("/projects/{project}/issues");
            let next = self.forge.post(&path).token(ROOT).form(&[("title", "the last")]).send();
            assert_eq!(next.expect(201)["iid"], written.load(Ordering::Relaxed) + 1);
        }
    }

    /// A random issue, if there is one.
    fn some_issue(&self, project: i64, numbers: &mut RandomNumbers) -> String {
        let path = format!("/projects/{project}/issues?per_page={FINDABLE}");
        let list = self.forge.get(&path).token(ROOT).send().expect(200);
        let list = list.as_array().expect("a list");
        let id = match list.len() {
            0 => "987654".to_owned(),
            count => list[numbers.below(count)]["id"].to_string(),
        };
        format!("/projects/{project}/issues/{id}")
    }

    fn some_list(&self, numbers: &mut RandomNumbers) -> String {
        let list = self.forge.get(&self.lists).token(ROOT).send().expect(200);
        let list = list.as_array().expect("a list");
        let id = match list.len() {
            0 => "987654".to_owned(),
            count => list[numbers.below(count)]["id"].to_string(),
        };
        format!("{}/{id}", self.lists)
    }

    fn request(&self, token: &str, numbers: &mut RandomNumbers) -> Request {
        let forge = self.forge;
        let project = self.projects[usize::from(numbers.below(4) == 0)];
        // One of three changes of labels affects group labels.
        let (labels, keeper) = match numbers.below(3) {
            0 => ("/groups/crew/labels".to_owned(), ROOT),
            _ => (format!("/projects/{project}/labels"), token),
        };
        match numbers.below(20) {
            0..5 => {
                let titles = format!("{},{}", label(numbers), label(numbers));
                let secret = if numbers.below(3) == 0 { "true" } else { "false" };
                let form = [("title", "an issue"), ("labels", &titles), ("confidential", secret)];
                forge.post(&format!("/projects/{project}/issues")).token(token).form(&form)
            }
            5..9 => {
                let event = if numbers.below(2) == 0 { "close" } else { "reopen" };
                let titles = label(numbers);
                let secret = if numbers.below(2) == 0 { "true" } else { "false" };
                let all = [("state_event", event), ("labels", &titles), ("confidential", secret)];
                let form = &all[..=numbers.below(3)];
                forge.put(&self.some_issue(project, numbers)).token(token).form(form)
            }
            9 => forge.delete(&self.some_issue(project, numbers)).token(ROOT),
            10 => {
                let form = [("to_project_id", self.projects[1].to_string())];
                let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
                let path = format!("{}/move", self.some_issue(self.projects[0], numbers));
                forge.post(&path).token(token).form(&form)
            }
            11..13 => {
                let path = format!("{}/notes", self.some_issue(project, numbers));
                let body = ["a note", "/close", "a note\n/reopen", "see #1 and #2", ":+1:"];
                let body = body[numbers.below(body.len())];
                forge.post(&path).token(token).form(&[("body", body)])
            }
            13 => {
                let form = [("name", label(numbers)), ("color", "#111111".to_owned())];
                let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
                forge.post(&labels).token(keeper).form(&form)
            }
            14 => {
                let form = [("name", label(numbers)), ("new_name", label(numbers))];
                let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
                forge.put(&labels).token(keeper).form(&form)
            }
            15 => forge.delete(&labels).token(keeper).form(&[("name", &label(numbers))]),
            16 => {
                let found = forge.get(&format!("/projects/{}/labels", self.projects[0]));
                let found = found.token(ROOT).send().expect(200);
                let found = found.as_array().expect("a list");
                let label = match found.len() {
                    0 => "987654".to_owned(),
                    count => found[numbers.below(count)]["id"].to_string(),
                };
                forge.post(&self.lists).token(token).form(&[("label_id", &label)])
            }
            17..19 => {
                let to = numbers.below(LABELS).to_string();
                forge.put(&self.some_list(numbers)).token(token).form(&[("position", &to)])
            }
            _ => forge.delete(&self.some_list(numbers)).token(ROOT),
        }
    }
}
