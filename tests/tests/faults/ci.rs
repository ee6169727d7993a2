//! A worker that acts as runner: it takes builds, sends logs and artifacts, and ends builds.

use std::time::Duration;

use hexforge_tests::{RandomNumbers, Runner};
use serde_json::Value;

use super::worker::{Servers, Step, Worker, YARD, id_of, send_expecting};

/// The state of the runner.
pub struct Ci {
    runner: Runner,
    numbers: RandomNumbers,
    current: Option<Running>,
    /// Ids, logs and artifacts of ended builds.
    ended: Vec<(i64, String, Option<String>)>,
    checked: usize,
    unconfirmed: Option<Unconfirmed>,
}

/// The current build.
struct Running {
    build: Value,
    log: String,
    artifacts: Option<String>,
}

enum Unconfirmed {
    Log(String),
    Artifacts(String),
    End,
}

impl Ci {
    pub fn new(runner: Runner, seed: u64) -> Self {
        let (current, unconfirmed, numbers) = (None, None, RandomNumbers(seed));
        Self { runner, numbers, current, ended: Vec::new(), checked: 0, unconfirmed }
    }

    fn take(&mut self, runner: &Runner) -> Step {
        match send_expecting(runner.build_request(), &[201, 204]) {
            None => Step::NoAnswer,
            Some(answer) if answer.status == 204 => {
                std::thread::sleep(Duration::from_millis(20));
                Step::Idle
            }
            Some(answer) => {
                let build = answer.json();
                self.current = Some(Running { build, log: String::new(), artifacts: None });
                Step::Done
            }
        }
    }
}

fn status_of(servers: &Servers<'_>, id: i64) -> Value {
    let path = format!("/projects/{YARD}/builds/{id}");
    servers.ask("GET", &path).send().expect(200)["status"].clone()
}

fn log_of(servers: &Servers<'_>, id: i64) -> String {
    let answer = servers.ask("GET", &format!("/projects/{YARD}/builds/{id}/trace")).send();
    assert_eq!(answer.status, 200, "the log of {id}");
    answer.text().to_owned()
}

fn artifacts_of(servers: &Servers<'_>, id: i64) -> Option<String> {
    let answer = servers.ask("GET", &format!("/projects/{YARD}/builds/{id}/artifacts")).send();
    (answer.status == 200).then(|| answer.text().to_owned())
}

impl Worker for Ci {
    fn step(&mut self, servers: &Servers<'_>) -> Step {
        let runner = self.runner.at(servers.address());
        let choice = self.numbers.below(4);
        let text = format!("piece {}\n", self.numbers.next_number());
        let Some(running) = &mut self.current else { return self.take(&runner) };
        match choice {
            0 | 1 => {
                let first = running.log.len();
                if send_expecting(runner.append_request(&running.build, first, &text), &[202])
                    .is_none()
                {
                    self.unconfirmed = Some(Unconfirmed::Log(text));
                    return Step::NoAnswer;
                }
                running.log.push_str(&text);
            }
            2 => {
                let request = runner.artifacts("POST", &running.build);
                if send_expecting(request.file("a.zip", text.as_bytes()), &[201]).is_none() {
                    self.unconfirmed = Some(Unconfirmed::Artifacts(text));
                    return Step::NoAnswer;
                }
                running.artifacts = Some(text);
            }
            _ => {
                let request = runner.update_request(&running.build, &[("state", "success")]);
                if send_expecting(request, &[200]).is_none() {
                    self.unconfirmed = Some(Unconfirmed::End);
                    return Step::NoAnswer;
                }
                let id = id_of(&running.build);
                self.ended.extend(self.current.take().map(|it| (id, it.log, it.artifacts)));
            }
        }
        Step::Done
    }

    fn check(&mut self, servers: &Servers<'_>, issues: &[Value]) {
        if let Some(mut running) = self.current.take() {
            let id = id_of(&running.build);
            let (status, log) = (status_of(servers, id), log_of(servers, id));
            let artifacts = artifacts_of(servers, id);
            let mut has_ended = false;
            match self.unconfirmed.take() {
                Some(Unconfirmed::Log(piece)) if log == format!("{}{piece}", running.log) => {
                    running.log.push_str(&piece);
                }
                Some(Unconfirmed::Artifacts(content)) if artifacts.as_ref() == Some(&content) => {
                    running.artifacts = Some(content);
                }
                Some(Unconfirmed::End) if status == "success" => has_ended = true,
                _ => (),
            }
            assert_eq!(status, if has_ended { "success" } else { "running" }, "build {id}");
            assert_eq!((&log, &artifacts), (&running.log, &running.artifacts), "build {id}");
            if has_ended {
                self.ended.push((id, running.log, running.artifacts));
            } else {
                self.current = Some(running);
            }
        }
        self.unconfirmed = None;
        let checked = std::mem::replace(&mut self.checked, self.ended.len());
        let all = std::mem::take(&mut self.ended);
        let (before, new) = all.split_at(checked);
        self.ended = new.to_vec();
        self.check_all(servers, issues);
        self.ended = [before, new].concat();
    }

    fn check_all(&self, servers: &Servers<'_>, _: &[Value]) {
        for (id, log, artifacts) in &self.ended {
            assert_eq!(status_of(servers, *id), "success", "build {id}");
            assert_eq!(&log_of(servers, *id), log, "build {id}");
            assert_eq!(&artifacts_of(servers, *id), artifacts, "build {id}");
        }
    }
}
