//! Workers for issues, their labels and notes, and lists of a board.

use std::collections::BTreeMap;

use hexforge_tests::RandomNumbers;
use serde_json::Value;

use super::worker::{SHIP, Servers, Step, Worker, id_of, send_expecting};

const LABELS: usize = 5;

/// A worker that creates and changes issues.
pub struct Tracker {
    name: String,
    numbers: RandomNumbers,
    made: usize,
    /// Issues by title.
    issues: BTreeMap<String, Issue>,
    /// Issue and text of each note.
    notes: Vec<(i64, String)>,
    checked_notes: usize,
    unconfirmed: Option<Unconfirmed>,
}

struct Issue {
    id: i64,
    labels: Vec<String>,
    is_open: bool,
}

enum Unconfirmed {
    Issue(String, Vec<String>),
    Note(i64, String),
    State(String, bool),
    List,
}

impl Tracker {
    pub fn new(name: &str, seed: u64) -> Self {
        Self {
            name: name.to_owned(),
            numbers: RandomNumbers(seed),
            made: 0,
            issues: BTreeMap::new(),
            notes: Vec::new(),
            checked_notes: 0,
            unconfirmed: None,
        }
    }

    /// The titles of all acknowledged issues.
    pub fn titles(&self) -> impl Iterator<Item = &String> {
        self.issues.keys()
    }

    fn write_issue(&mut self, servers: &Servers<'_>) -> Step {
        let title = format!("issue {}-{}", self.name, self.made);
        let mut labels: Vec<String> =
            (0..2).map(|_| format!("label-{}", self.numbers.below(LABELS))).collect();
        labels.sort();
        labels.dedup();
        let form =
            [("title", title.as_str()), ("labels", &labels.join(",")), ("description", &title)];
        let path = format!("/projects/{SHIP}/issues");
        match send_expecting(servers.ask("POST", &path).form(&form), &[201]) {
            Some(answer) => {
                let id = id_of(&answer.json());
                self.issues.insert(title, Issue { id, labels, is_open: true });
                Step::Done
            }
            None => {
                self.unconfirmed = Some(Unconfirmed::Issue(title, labels));
                Step::NoAnswer
            }
        }
    }

    fn write_note(&mut self, servers: &Servers<'_>, id: i64) -> Step {
        let body = format!("note {}-{}", self.name, self.made);
        let path = format!("/projects/{SHIP}/issues/{id}/notes");
        if send_expecting(servers.ask("POST", &path).form(&[("body", &body)]), &[201]).is_some() {
            self.notes.push((id, body));
            Step::Done
        } else {
            self.unconfirmed = Some(Unconfirmed::Note(id, body));
            Step::NoAnswer
        }
    }

    fn turn_over(&mut self, servers: &Servers<'_>, title: String) -> Step {
        let Some(issue) = self.issues.get_mut(&title) else { return Step::Idle };
        let event = if issue.is_open { "close" } else { "reopen" };
        let path = format!("/projects/{SHIP}/issues/{}", issue.id);
        if send_expecting(servers.ask("PUT", &path).form(&[("state_event", event)]), &[200])
            .is_some()
        {
            issue.is_open = !issue.is_open;
            Step::Done
        } else {
            self.unconfirmed = Some(Unconfirmed::State(title, !issue.is_open));
            Step::NoAnswer
        }
    }

    /// Adds a label, and a list for it.
    fn add_list(&mut self, servers: &Servers<'_>) -> Step {
        self.unconfirmed = Some(Unconfirmed::List);
        let name = format!("list-{}-{}", self.name, self.made);
        let form = [("name", name.as_str()), ("color", "#123456")];
        let path = format!("/projects/{SHIP}/labels");
        let Some(label) = send_expecting(servers.ask("POST", &path).form(&form), &[200, 201])
        else {
            return Step::NoAnswer;
        };
        let label = id_of(&label.json()).to_string();
        let path = format!("/projects/{SHIP}/boards/1/lists");
        if send_expecting(servers.ask("POST", &path).form(&[("label_id", &label)]), &[200, 201])
            .is_none()
        {
            return Step::NoAnswer;
        }
        self.unconfirmed = None;
        Step::Done
    }

    fn assert_issue(title: &str, issue: &Issue, found: &BTreeMap<&str, &Value>) {
        let shown = found.get(title).unwrap_or_else(|| panic!("`{title}` is lost"));
        assert_eq!(shown["id"], issue.id, "{title}");
        let state = shown["state"] != "closed";
        assert_eq!(state, issue.is_open, "{title}: {shown}");
        assert_whole(title, &issue.labels, shown);
    }

    fn assert_note(servers: &Servers<'_>, issue: i64, body: &str, at_least: usize) {
        let notes = servers.auditor().all_pages(&format!("/projects/{SHIP}/issues/{issue}/notes"));
        let found = notes.iter().filter(|note| note["body"] == body).count();
        assert!((at_least..=1).contains(&found), "`{body}` is there {found} times");
    }
}

fn assert_whole(title: &str, labels: &[String], shown: &Value) {
    assert_eq!(shown["description"], title);
    let mut found: Vec<&str> =
        shown["labels"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    found.sort_unstable();
    assert_eq!(found, labels, "{title}");
}

fn by_title<'a>(issues: &'a [Value], name: &str) -> BTreeMap<&'a str, &'a Value> {
    let beginning = format!("issue {name}-");
    let mut found = BTreeMap::new();
    for issue in issues {
        let title = issue["title"].as_str().unwrap_or_default();
        if title.starts_with(&beginning) {
            assert!(found.insert(title, issue).is_none(), "`{title}` is there twice");
        }
    }
    found
}

impl Worker for Tracker {
    fn step(&mut self, servers: &Servers<'_>) -> Step {
        self.made += 1;
        let count = self.issues.len();
        let some = self.issues.iter().nth(self.numbers.below(count.max(1)));
        match (some.map(|(title, issue)| (title.clone(), issue.id)), self.numbers.below(12)) {
            (Some((_, id)), 0..3) => self.write_note(servers, id),
            (Some((title, _)), 3..6) => self.turn_over(servers, title),
            (Some(_), 6) => self.add_list(servers),
            _ => self.write_issue(servers),
        }
    }

    fn check(&mut self, servers: &Servers<'_>, issues: &[Value]) {
        let found = by_title(issues, &self.name);
        match self.unconfirmed.take() {
            Some(Unconfirmed::Issue(title, labels)) => {
                if let Some(shown) = found.get(title.as_str()) {
                    assert_whole(&title, &labels, shown);
                    let id = id_of(shown);
                    self.issues.insert(title, Issue { id, labels, is_open: true });
                }
            }
            Some(Unconfirmed::Note(issue, body)) => Self::assert_note(servers, issue, &body, 0),
            Some(Unconfirmed::State(title, after)) => {
                let is_open =
                    found.get(title.as_str()).is_some_and(|shown| shown["state"] != "closed");
                if let Some(issue) = self.issues.get_mut(&title).filter(|_| is_open == after) {
                    issue.is_open = after;
                }
            }
            Some(Unconfirmed::List) | None => (),
        }
        for (title, issue) in &self.issues {
            Self::assert_issue(title, issue, &found);
        }
        for (issue, body) in &self.notes[self.checked_notes..] {
            Self::assert_note(servers, *issue, body, 1);
        }
        self.checked_notes = self.notes.len();
    }

    fn check_all(&self, servers: &Servers<'_>, issues: &[Value]) {
        let found = by_title(issues, &self.name);
        for (title, issue) in &self.issues {
            Self::assert_issue(title, issue, &found);
        }
        for (issue, body) in &self.notes {
            Self::assert_note(servers, *issue, body, 1);
        }
    }
}
