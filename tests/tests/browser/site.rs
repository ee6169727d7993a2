//! The program whose pages a browser opens.

use std::process::Stdio;

use anyhow::{Context, Result};
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::Response;
use hexforge_tests::address::free_address;
use hexforge_tests::program::{self, Program, ROOT};
use serde_json::{Value, json};

/// The password of `root` in databases that a [`Program`] creates.
pub const PASSWORD: &str = "correct horse";

/// A running program with its address.
pub struct Site {
    pub program: Program,
    pub base: String,
    _database: TestDatabase,
    _folder: tempfile::TempDir,
}

impl Site {
    pub fn start(database: TestDatabase) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        // Forms are accepted from the external URL only, so the address has to be known before the start.
        let listen = free_address().to_string();
        let base = format!("http://{listen}");
        let settings = [
            ("HEXFORGE_LISTEN", listen.as_str()),
            ("HEXFORGE_EXTERNAL_URL", base.as_str()),
            ("HEXFORGE_ALLOW_LOCAL_REQUESTS", "true"),
        ];
        let program = Program::start_with(
            &program::executable(),
            &folder.path().join("data"),
            &database.url,
            Stdio::inherit(),
            &settings,
        )?;
        Ok(Self { program, base, _database: database, _folder: folder })
    }

    /// Sends a call of the API as `root`.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> Response {
        self.program.request(method, path).token(ROOT).json(body).send()
    }

    /// Commits a file over the API.
    pub fn commit(&self, project: i64, branch: &str, path: &str, content: &str) -> Result<()> {
        let body = json!({
            "file_path": path, "branch_name": branch, "content": content,
            "commit_message": format!("Add {path}"),
        });
        let path = format!("/projects/{project}/repository/files");
        let made = self.call("POST", &path, &body);
        anyhow::ensure!(made.status == 201, "{} {}", made.status, made.text());
        Ok(())
    }

    /// The id of a project.
    pub fn project(&self, path: &str) -> Result<i64> {
        let path = format!("/projects/{}", path.replace('/', "%2F"));
        let shown = self.call("GET", &path, &json!({})).expect(200);
        shown["id"].as_i64().context("projects have ids")
    }
}
