//! A scripted runner that takes builds, sends logs and artifacts, and ends them.

use std::time::Duration;

use hexforge_tests::{RandomNumbers, Runner};
use serde_json::Value;

use super::lane::{Lane, Place, Step, YARD, id_of, send_expecting};

/// The runner.
pub struct Ci {
    runner: Runner,
    numbers: RandomNumbers,
    current: Option<Running>,
    /// Ids, logs and artifacts of builds that ended.
    ended: Vec<(i64, String, Option<String>)>,
    checked: usize,
    doubt: Option<Doubt>,
}

/// The build it is at.
struct Running {
    build: Value,
    log: String,
    artifacts: Option<String>,
}

enum Doubt {
    Log(String),
    Artifacts(String),
    End,
}

impl Ci {
    pub fn new(runner: Runner, seed: u64) -> Self {
        let (current, doubt, numbers) = (None, None, RandomNumbers(seed));
        Self { runner, numbers, current, ended: Vec::new(), checked: 0, doubt }
    }

    fn take(&mut self, runner: &Runner) -> Step {
        match send_expecting(runner.build_request(), &[201, 204]) {
            None => Step::Gone,
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

fn status_of(place: &Place<'_>, id: i64) -> Value {
    let path = format!("/projects/{YARD}/builds/{id}");
    place.ask("GET", &path).send().expect(200)["status"].clone()
}

fn log_of(place: &Place<'_>, id: i64) -> String {
    let answer = place.ask("GET", &format!("/projects/{YARD}/builds/{id}/trace")).send();
    assert_eq!(answer.status, 200, "the log of {id}");
    answer.text().to_owned()
}

fn artifacts_of(place: &Place<'_>, id: i64) -> Option<String> {
    let answer = place.ask("GET", &format!("/projects/{YARD}/builds/{id}/artifacts")).send();
    (answer.status == 200).then(|| answer.text().to_owned())
}

impl Lane for Ci {
    fn step(&mut self, place: &Place<'_>) -> Step {
        let runner = self.runner.at(place.address());
        let choice = self.numbers.below(4);
        let text = format!("piece {}\n", self.numbers.next_number());
        let Some(running) = &mut self.current else { return self.take(&runner) };
        match choice {
            0 | 1 => {
                let first = running.log.len();
                if send_expecting(runner.append_request(&running.build, first, &text), &[202])
                    .is_none()
                {
                    self.doubt = Some(Doubt::Log(text));
                    return Step::Gone;
                }
                running.log.push_str(&text);
            }
            2 => {
                let request = runner.artifacts("POST", &running.build);
                if send_expecting(request.file("a.zip", text.as_bytes()), &[201]).is_none() {
                    self.doubt = Some(Doubt::Artifacts(text));
                    return Step::Gone;
                }
                running.artifacts = Some(text);
            }
            _ => {
                let request = runner.update_request(&running.build, &[("state", "success")]);
                if send_expecting(request, &[200]).is_none() {
                    self.doubt = Some(Doubt::End);
                    return Step::Gone;
                }
                let id = id_of(&running.build);
                self.ended.extend(self.current.take().map(|it| (id, it.log, it.artifacts)));
            }
        }
        Step::Done
    }

    fn check(&mut self, place: &Place<'_>, issues: &[Value]) {
        if let Some(mut running) = self.current.take() {
            let id = id_of(&running.build);
            let (status, log) = (status_of(place, id), log_of(place, id));
            let artifacts = artifacts_of(place, id);
            let mut has_ended = false;
            match self.doubt.take() {
                Some(Doubt::Log(piece)) if log == format!("{}{piece}", running.log) => {
                    running.log.push_str(&piece);
                }
                Some(Doubt::Artifacts(content)) if artifacts.as_ref() == Some(&content) => {
                    running.artifacts = Some(content);
                }
                Some(Doubt::End) if status == "success" => has_ended = true,
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
        self.doubt = None;
        let checked = std::mem::replace(&mut self.checked, self.ended.len());
        let all = std::mem::take(&mut self.ended);
        let (before, new) = all.split_at(checked);
        self.ended = new.to_vec();
        self.check_all(place, issues);
        self.ended = [before, new].concat();
    }

    fn check_all(&self, place: &Place<'_>, _: &[Value]) {
        for (id, log, artifacts) in &self.ended {
            assert_eq!(status_of(place, *id), "success", "build {id}");
            assert_eq!(&log_of(place, *id), log, "build {id}");
            assert_eq!(&artifacts_of(place, *id), artifacts, "build {id}");
        }
    }
}
