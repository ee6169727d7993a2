//! A hexforge with one project, reached over HTTP and over SSH.

use std::path::{Path, PathBuf};
use std::process::Command;

use hexforge_application::repository::task;
use hexforge_domain::id::ProjectId;
use hexforge_git_gix::Layout;
use hexforge_http_actix::Dialect;
use hexforge_tests::forge::PASSWORD;
use hexforge_tests::ssh_client::Identity;
use hexforge_tests::{Backend, Forge, ForgeOptions, Request, Response};

use super::git::Git;

/// How a client reaches hexforge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Http,
    Ssh,
}

/// Ada's project `ada/ship`.
pub struct Server<'a> {
    pub git: &'a Git,
    pub forge: Forge,
    /// The token of ada, who owns the project.
    pub ada: String,
    pub project: i64,
    key: Identity,
}

impl<'a> Server<'a> {
    /// Starts one with an empty project. `None` where there is no PostgreSQL and it was asked for.
    pub fn start(git: &'a Git, backend: Backend) -> Option<Self> {
        let forge = Forge::start(ForgeOptions { backend, dialect: Dialect::Specification })?;
        let (_, ada) = forge.user("ada");
        let fields = [("name", "ship"), ("visibility_level", "10")];
        let made = forge.post("/projects").token(&ada).form(&fields).send().expect(201);
        let project = made["id"].as_i64().expect("projects have ids");
        let key = Identity::new();
        let fields = [("title", "laptop"), ("key", &key.public())];
        forge.post("/user/keys").token(&ada).form(&fields).send().expect(201);
        Some(Self { git, forge, ada, project, key })
    }

    /// The address of a project as ada reaches it.
    pub fn address(&self, by: Transport, path: &str) -> String {
        let password = PASSWORD.replace(' ', "%20");
        match by {
            Transport::Http => format!("http://ada:{password}@{}/{path}.git", self.forge.address),
            Transport::Ssh => format!("ssh://git@{}/{path}.git", self.forge.ssh()),
        }
    }

    /// git as ada, in a folder.
    pub fn git_as_ada(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = self.git.command(folder, arguments);
        command.env("GIT_SSH_COMMAND", self.key.git_ssh_command(self.forge.ssh()));
        command
    }

    /// A request for something below `repository/`.
    pub fn ask(&self, call: &str, query: &[(&str, &str)]) -> Request {
        let path = format!("/projects/{}/repository/{call}", self.project);
        let request = self.forge.get(&path).token(&self.ada);
        if query.is_empty() { request } else { request.query(query) }
    }

    /// The answer to it, which has to be 200.
    pub fn get(&self, call: &str, query: &[(&str, &str)]) -> Result<Response, String> {
        let answer = self.ask(call, query).send();
        if answer.status == 200 {
            return Ok(answer);
        }
        let body = String::from_utf8_lossy(&answer.body);
        Err(format!("GET {call} {query:?}: {} {body}", answer.status))
    }

    /// Does what requests left to be done later.
    pub fn do_tasks(&self) -> Result<(), String> {
        while task::work(&self.forge.app).map_err(|error| error.to_string())? {}
        Ok(())
    }

    /// The repository of the project on the server's disk, with its refs for git.
    pub fn on_disk(&self) -> PathBuf {
        let bare = Layout::new(self.forge.folder.path()).repository(ProjectId(self.project));
        self.forge.ref_rows(self.project).give(&bare);
        bare
    }
}
