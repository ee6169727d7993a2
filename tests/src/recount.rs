//! Recounts, through the API, everything that is stored in counters.

use std::collections::HashMap;
use std::net::SocketAddr;

use serde_json::Value;

use crate::client::Request;

/// An API client with the rights of an administrator.
#[derive(Clone, Copy)]
pub struct Auditor<'a> {
    /// The address of the server.
    pub address: SocketAddr,
    /// The token of an administrator.
    pub token: &'a str,
}

impl Auditor<'_> {
    /// A GET request with another token.
    pub fn get_as(&self, token: &str, path: &str) -> Request {
        Request::new(self.address, "GET", &format!("/api/v3{path}")).token(token)
    }

    /// A GET request as administrator.
    pub fn get(&self, path: &str) -> Request {
        self.get_as(self.token, path)
    }

    /// The items on all pages of a list.
    pub fn all_pages(&self, path: &str) -> Vec<Value> {
        self.all_pages_as(self.token, path)
    }

    /// The items on all pages of a list, as the owner of the token sees it.
    pub fn all_pages_as(&self, token: &str, path: &str) -> Vec<Value> {
        let mut all = Vec::new();
        for page in 1.. {
            let page = page.to_string();
            let query = [("page", page.as_str()), ("per_page", "100")];
            let found = self.get_as(token, path).query(&query).send().expect(200);
            match found.as_array().map(Vec::as_slice) {
                Some([]) | None => break,
                Some(items) => all.extend_from_slice(items),
            }
        }
        all
    }

    /// Asserts that issue numbers are unique, and that the counters of the project, its labels and its issues are
    /// right. Returns the issues.
    pub fn assert_counts(&self, project: i64) -> Vec<Value> {
        let path = format!("/projects/{project}");
        let issues = self.all_pages(&format!("{path}/issues"));
        let mut numbers: Vec<i64> =
            issues.iter().map(|issue| issue["iid"].as_i64().expect("a number")).collect();
        numbers.sort_unstable();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
        let closed = |issue: &Value| issue["state"] == "closed";
        let open = issues.iter().filter(|issue| !closed(issue)).count();
        let shown = self.get(&path).send().expect(200);
        assert_eq!(shown["open_issues_count"], open);
        let of_group = self.labels_of_group(&shown);
        let mut counts = tally(&issues);
        for label in self.all_pages(&format!("{path}/labels")) {
            let name = label["name"].as_str().expect("a title");
            let (open, closed) = counts.remove(name).unwrap_or_default();
            // The counters of a group's label include all projects of the group.
            if !of_group.contains(&label["id"]) {
                assert_eq!(label["open_issues_count"], open, "{label}");
                assert_eq!(label["closed_issues_count"], closed, "{label}");
            }
        }
        assert!(counts.is_empty(), "{counts:?}");
        self.assert_totals(&path, &issues);
        for issue in issues.iter().take(30) {
            let notes = self.all_pages(&format!("{path}/issues/{}/notes", issue["id"]));
            let people = notes.iter().filter(|note| note["system"] == false).count();
            assert_eq!(issue["user_notes_count"], people, "{issue}");
        }
        issues
    }

    /// Asserts the totals of the lists of merge requests and of the issue lists, whole and filtered by state, by label
    /// and by milestone. They are read from counters.
    fn assert_totals(&self, path: &str, issues: &[Value]) {
        let total_of = |list: &str, query: &[(&str, &str)]| {
            let found = self.get(&format!("{path}/{list}")).query(query).send();
            found.expect(200);
            found.header("x-total").and_then(|total| total.parse::<usize>().ok())
        };
        let total = |query: &[(&str, &str)]| total_of("issues", query);
        let in_state = |closed: bool| {
            issues.iter().filter(|issue| (issue["state"] == "closed") == closed).count()
        };
        assert_eq!(total(&[]), Some(issues.len()), "{path}");
        assert_eq!(total(&[("state", "opened")]), Some(in_state(false)), "{path}");
        assert_eq!(total(&[("state", "closed")]), Some(in_state(true)), "{path}");
        if self.get(path).send().expect(200)["merge_requests_enabled"] == true {
            for state in ["opened", "closed", "merged", "all"] {
                let found = self.all_pages(&format!("{path}/merge_requests?state={state}"));
                let counted = total_of("merge_requests", &[("state", state)]);
                assert_eq!(counted, Some(found.len()), "{path}: {state} merge requests");
            }
        }
        for (title, (open, closed)) in tally(issues) {
            // A comma would separate two titles.
            if !title.contains(',') {
                assert_eq!(total(&[("labels", title)]), Some(open + closed), "{path} {title}");
                let opened = [("labels", title), ("state", "opened")];
                assert_eq!(total(&opened), Some(open), "{path} {title}");
            }
        }
        for milestone in self.all_pages(&format!("{path}/milestones")) {
            let its = |issue: &&Value| issue["milestone"]["id"] == milestone["id"];
            let its: Vec<&Value> = issues.iter().filter(its).collect();
            let title = milestone["title"].as_str().expect("a title");
            assert_eq!(total(&[("milestone", title)]), Some(its.len()), "{path} {milestone}");
            let closed = its.iter().filter(|issue| issue["state"] == "closed").count();
            let query = [("milestone", title), ("state", "closed")];
            assert_eq!(total(&query), Some(closed), "{path} {milestone}");
        }
    }

    /// The ids of the labels of the project's group; empty if the project is not in a group.
    fn labels_of_group(&self, project: &Value) -> Vec<Value> {
        let namespace = &project["namespace"];
        if namespace["kind"] != "group" && namespace["owner_id"] != Value::Null {
            return vec![];
        }
        let labels = self.all_pages(&format!("/groups/{}/labels", namespace["id"]));
        labels.iter().map(|label| label["id"].clone()).collect()
    }

    /// Asserts that the counters of each group label are the sums over these projects.
    pub fn assert_group_counts(&self, group: &str, projects: &[i64]) {
        let mut sums: HashMap<Value, (usize, usize)> = HashMap::new();
        for project in projects {
            let path = format!("/projects/{project}");
            let issues = self.all_pages(&format!("{path}/issues"));
            let counts = tally(&issues);
            for label in self.all_pages(&format!("{path}/labels")) {
                let (open, closed) = label["name"]
                    .as_str()
                    .and_then(|name| counts.get(name))
                    .copied()
                    .unwrap_or_default();
                let sum = sums.entry(label["id"].clone()).or_default();
                *sum = (sum.0 + open, sum.1 + closed);
            }
        }
        for label in self.all_pages(&format!("/groups/{group}/labels")) {
            let (open, closed) = sums.remove(&label["id"]).unwrap_or_default();
            assert_eq!(label["open_issues_count"], open, "{label}");
            assert_eq!(label["closed_issues_count"], closed, "{label}");
        }
    }

    /// Asserts that the positions of the lists of a board are 0, 1, 2 and so on. `lists` is the path of the lists.
    pub fn assert_positions(&self, lists: &str) {
        let places: Vec<i64> =
            self.all_pages(lists).iter().filter_map(|list| list["position"].as_i64()).collect();
        let count = i64::try_from(places.len()).expect("few lists");
        assert_eq!(places, (0..count).collect::<Vec<_>>());
    }

    /// Asserts the star and fork counters of all projects. `users` are the tokens of all users who starred anything.
    pub fn assert_stars_and_forks(&self, users: &[String]) {
        let projects = self.all_pages("/projects/all");
        let mut stars: HashMap<i64, i64> = HashMap::new();
        for token in users {
            for starred in self.all_pages_as(token, "/projects/starred") {
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
            let counted = |counts: &HashMap<i64, i64>| counts.get(&id).copied().unwrap_or(0);
            assert_eq!(project["star_count"], counted(&stars), "{project}");
            assert_eq!(project["forks_count"], counted(&forks), "{project}");
        }
        assert!(!projects.is_empty());
    }
}

/// The numbers of open and closed issues, by label.
fn tally(issues: &[Value]) -> HashMap<&str, (usize, usize)> {
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    for issue in issues {
        for label in issue["labels"].as_array().expect("a list") {
            let count = counts.entry(label.as_str().expect("a title")).or_default();
            *(if issue["state"] == "closed" { &mut count.1 } else { &mut count.0 }) += 1;
        }
    }
    counts
}
