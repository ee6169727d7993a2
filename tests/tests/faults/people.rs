//! Workers for users, projects and members, and for stars and forks.

use hexforge_tests::RandomNumbers;
use serde_json::Value;

use super::worker::{SHIP, Servers, Step, Worker, YARD, id_of, send_expecting};

/// A worker that creates and removes accounts, projects and memberships.
#[derive(Default)]
pub struct People {
    made: usize,
    checked: usize,
    known: Vec<Known>,
    unconfirmed: Option<Known>,
}

#[derive(Clone, Debug)]
enum Known {
    User(String),
    Project(String),
    Removed(String),
    Member(String),
}

impl People {
    /// The next change, its request and the expected status. Returns `None` if the server does not answer a preparing
    /// request.
    fn step_of(&mut self, servers: &Servers<'_>) -> Option<(Known, hexforge_tests::Request, u16)> {
        self.made += 1;
        let name = format!("one-{}", self.made);
        let user = self.known.iter().rev().find_map(|known| match known {
            Known::User(name) => Some(name.clone()),
            _ => None,
        });
        let last = self.known.last().cloned();
        Some(match (self.made % 4, user, last) {
            (1, ..) | (_, None, _) => {
                let email = format!("{name}@example.com");
                let form = [
                    ("username", name.as_str()),
                    ("name", &name),
                    ("email", &email),
                    ("password", "correct horse"),
                ];
                (Known::User(name.clone()), servers.ask("POST", "/users").form(&form), 201)
            }
            (2, Some(user), _) => {
                let found = servers.ask("GET", &format!("/users?username={user}")).try_send()?;
                let id = id_of(&found.json()[0]);
                let form = [("user_id", id.to_string()), ("access_level", "30".to_owned())];
                let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
                let path = format!("/projects/{SHIP}/members");
                (Known::Member(user), servers.ask("POST", &path).form(&form), 201)
            }
            (3, _, Some(Known::Project(name))) => {
                let path = format!("/projects/root%2F{name}");
                (Known::Removed(name), servers.ask("DELETE", &path), 200)
            }
            _ => {
                let form = [("name", name.as_str())];
                (Known::Project(name.clone()), servers.ask("POST", "/projects").form(&form), 201)
            }
        })
    }

    fn is_there(servers: &Servers<'_>, known: &Known) -> bool {
        match known {
            Known::User(name) => {
                let path = format!("/users?username={name}");
                let found = servers.ask("GET", &path).send().expect(200);
                match found.as_array().map(Vec::as_slice) {
                    Some([]) => false,
                    // The account is complete.
                    Some([one]) => one["email"] == format!("{name}@example.com"),
                    _ => panic!("{found}"),
                }
            }
            Known::Project(name) => {
                servers.ask("GET", &format!("/projects/root%2F{name}")).send().status == 200
            }
            Known::Removed(name) => {
                servers.ask("GET", &format!("/projects/root%2F{name}")).send().status == 404
            }
            Known::Member(name) => {
                let path = format!("/projects/{SHIP}/members?query={name}");
                let found = servers.ask("GET", &path).send().expect(200);
                let mut members = found.as_array().into_iter().flatten();
                members.any(|member| member["username"] == *name && member["access_level"] == 30)
            }
        }
    }

    fn assert_there(&self, servers: &Servers<'_>, from: usize) {
        for (number, known) in self.known.iter().enumerate().skip(from) {
            let removed_later = |later: &Known| match (known, later) {
                (Known::Project(name), Known::Removed(gone)) => name == gone,
                _ => false,
            };
            let unconfirmed = self.unconfirmed.as_ref().is_some_and(removed_later);
            if !unconfirmed && !self.known[number..].iter().any(removed_later) {
                assert!(Self::is_there(servers, known), "{known:?} is lost");
            }
        }
    }
}

impl Worker for People {
    fn step(&mut self, servers: &Servers<'_>) -> Step {
        let Some((known, request, good)) = self.step_of(servers) else { return Step::NoAnswer };
        match request.try_send() {
            Some(answer) => {
                let text = String::from_utf8_lossy(&answer.body);
                assert_eq!(answer.status, good, "{known:?}: {text}");
                self.known.push(known);
                Step::Done
            }
            None => {
                self.unconfirmed = Some(known);
                Step::NoAnswer
            }
        }
    }

    fn check(&mut self, servers: &Servers<'_>, _: &[Value]) {
        self.assert_there(servers, self.checked);
        if let Some(unconfirmed) = self.unconfirmed.take()
            && Self::is_there(servers, &unconfirmed)
        {
            self.known.push(unconfirmed);
        }
        self.checked = self.known.len();
    }

    fn check_all(&self, servers: &Servers<'_>, _: &[Value]) {
        self.assert_there(servers, 0);
    }
}

/// A worker with a user account that stars and forks projects.
pub struct Admirer {
    name: String,
    token: String,
    numbers: RandomNumbers,
    starred: bool,
    fork: Option<i64>,
    star_in_doubt: bool,
    fork_in_doubt: bool,
}

impl Admirer {
    pub fn new(name: String, token: String, seed: u64) -> Self {
        Self {
            name,
            token,
            numbers: RandomNumbers(seed),
            starred: false,
            fork: None,
            star_in_doubt: false,
            fork_in_doubt: false,
        }
    }

    fn star(&mut self, servers: &Servers<'_>) -> Step {
        let (method, good) = if self.starred { ("DELETE", 200) } else { ("POST", 201) };
        let request = servers.ask_as(&self.token, method, &format!("/projects/{YARD}/star"));
        if send_expecting(request, &[good]).is_none() {
            self.star_in_doubt = true;
            return Step::NoAnswer;
        }
        self.starred = !self.starred;
        Step::Done
    }

    fn fork(&mut self, servers: &Servers<'_>) -> Step {
        let request = match self.fork {
            None => {
                let request =
                    servers.ask_as(&self.token, "POST", &format!("/projects/fork/{YARD}"));
                request.form(&[("namespace", &self.name)])
            }
            Some(id) => servers.ask_as(&self.token, "DELETE", &format!("/projects/{id}")),
        };
        let Some(answer) = send_expecting(request, &[200, 201]) else {
            self.fork_in_doubt = true;
            return Step::NoAnswer;
        };
        self.fork = match self.fork {
            None => Some(id_of(&answer.json())),
            Some(_) => None,
        };
        Step::Done
    }
}

impl Worker for Admirer {
    fn step(&mut self, servers: &Servers<'_>) -> Step {
        // Forks are rare, because copying a repository slows down all workers.
        if self.numbers.below(8) == 0 { self.fork(servers) } else { self.star(servers) }
    }

    fn check(&mut self, servers: &Servers<'_>, issues: &[Value]) {
        let auditor = servers.auditor();
        if std::mem::take(&mut self.star_in_doubt) {
            self.starred = !auditor.all_pages_as(&self.token, "/projects/starred").is_empty();
        }
        if std::mem::take(&mut self.fork_in_doubt) {
            let owned = auditor.all_pages_as(&self.token, "/projects/owned");
            self.fork = owned.first().map(id_of);
        }
        self.check_all(servers, issues);
    }

    fn check_all(&self, servers: &Servers<'_>, _: &[Value]) {
        let auditor = servers.auditor();
        let starred = auditor.all_pages_as(&self.token, "/projects/starred");
        assert_eq!(starred.len(), usize::from(self.starred));
        let owned: Vec<i64> =
            auditor.all_pages_as(&self.token, "/projects/owned").iter().map(id_of).collect();
        assert_eq!(owned, self.fork.into_iter().collect::<Vec<_>>());
    }
}
