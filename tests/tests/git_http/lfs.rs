//! Git LFS over HTTP: section 16 of the reference of the rest of v3.

use hexforge_application::ci_token;
use hexforge_application::removal;
use hexforge_domain::build::NewBuild;
use hexforge_domain::ci::status::Status;
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain_testing::builders::{a_build, a_definition, a_pipeline};
use hexforge_http_actix::Dialect;
use hexforge_tests::forge::{PASSWORD, ROOT, Restrictions};
use hexforge_tests::{Backend, Forge, ForgeOptions, Response, on_every_store};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::access::basic;
use super::support::Scene;

on_every_store!(
    anonymous_callers_download_from_public_projects_only,
    signed_in_callers_are_served_by_their_level,
    projects_and_groups_switch_lfs_off,
    archived_projects_accept_no_objects,
    a_batch_answers_each_object_in_order,
    extreme_sizes_and_repeated_objects_are_answered,
    invalid_batches_are_refused,
    builds_download_and_never_upload,
    transfer_tokens_are_for_one_project_and_half_an_hour,
    hidden_and_missing_projects_look_alike_to_tokens_and_builds,
    transfer_tokens_end_with_their_user,
    transfer_tokens_end_with_a_new_password,
    objects_belong_to_the_fork_network,
    a_project_that_is_made_private_hides_its_objects,
    objects_survive_the_fork_that_they_were_uploaded_to,
    outdated_clients_are_told_so,
    lfs_is_refused_where_git_over_http_is_off,
);

pub const MEDIA_TYPE: &str = "application/vnd.git-lfs+json";

/// The name of an object with this content.
pub fn oid_of(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The body of a batch with the objects of these contents.
pub fn batch_of(operation: &str, contents: &[&[u8]]) -> Value {
    let object = |content: &&[u8]| json!({"oid": oid_of(content), "size": content.len()});
    let objects: Vec<Value> = contents.iter().map(object).collect();
    json!({"operation": operation, "transfers": ["basic"], "objects": objects})
}

/// A client of one project with its credentials.
#[derive(Clone)]
pub struct Client<'a> {
    pub forge: &'a Forge,
    /// The path of the project.
    pub project: String,
    /// The value of `Authorization`, if any.
    pub authorization: Option<String>,
}

impl<'a> Client<'a> {
    pub fn new(forge: &'a Forge, project: &str, who: Option<(&str, &str)>) -> Self {
        let authorization = who.map(|(name, password)| basic(name, password));
        Self { forge, project: project.to_owned(), authorization }
    }

    pub fn request(&self, method: &str, rest: &str) -> hexforge_tests::Request {
        let request = self.forge.page(method, &format!("/{}.git/{rest}", self.project));
        match &self.authorization {
            Some(value) => request.header("Authorization", value),
            None => request,
        }
    }

    pub fn post_batch(&self, body: &Value) -> Response {
        let request = self.request("POST", "info/lfs/objects/batch");
        let request = request.header("Accept", MEDIA_TYPE);
        request.header("Content-Type", MEDIA_TYPE).body(body.to_string()).send()
    }

    /// The entries of a batch that is answered.
    #[track_caller]
    pub fn batch(&self, operation: &str, contents: &[&[u8]]) -> Vec<Value> {
        let answer = self.post_batch(&batch_of(operation, contents));
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-type"), Some(MEDIA_TYPE));
        let answer: Value = serde_json::from_slice(&answer.body).expect("JSON");
        assert_eq!(
            (&answer["transfer"], &answer["hash_algo"]),
            (&json!("basic"), &json!("sha256"))
        );
        answer["objects"].as_array().expect("a list").clone()
    }

    /// Sends the request of an action of a batch.
    pub fn follow(&self, method: &str, action: &Value, body: Option<&[u8]>) -> Response {
        let href = action["href"].as_str().expect("an action has a URL");
        let target = href.strip_prefix("http://forge.test").expect("it is below the external URL");
        let request = self.forge.page(method, target);
        let request = match action["header"]["Authorization"].as_str() {
            Some(value) => request.header("Authorization", value),
            None => request,
        };
        body.iter().fold(request, |request, body| request.body(*body)).send()
    }

    /// Uploads an object as clients do.
    #[track_caller]
    pub fn upload(&self, content: &[u8]) {
        let entry = self.batch("upload", &[content]).remove(0);
        let answer = self.follow("PUT", &entry["actions"]["upload"], Some(content));
        assert_eq!((answer.status, answer.text()), (200, ""));
    }

    /// Downloads an object as clients do; `None` if the project does not have it.
    #[track_caller]
    pub fn download(&self, content: &[u8]) -> Option<Vec<u8>> {
        let entry = self.batch("download", &[content]).remove(0);
        let action = &entry["actions"]["download"];
        if action.is_null() {
            assert_eq!(entry["error"]["code"], 404);
            return None;
        }
        let answer = self.follow("GET", action, None);
        assert_eq!(answer.status, 200, "{}", answer.text());
        Some(answer.body)
    }

    /// The statuses of a batch for a download and one for an upload.
    fn statuses(&self) -> (u16, u16) {
        let of = |operation| self.post_batch(&batch_of(operation, &[b"x"])).status;
        (of("download"), of("upload"))
    }
}

#[track_caller]
pub fn assert_error(answer: &Response, status: u16, message: &str) {
    let shown: Value = serde_json::from_slice(&answer.body).expect("JSON");
    let help = "http://forge.test/help";
    assert_eq!(shown, json!({"message": message, "documentation_url": help}));
    assert_eq!(answer.status, status, "{message}");
    assert_eq!(answer.header("content-type"), Some(MEDIA_TYPE));
}

#[track_caller]
fn assert_challenge(answer: &Response) {
    assert_eq!(answer.status, 401);
    assert_eq!(answer.header("www-authenticate"), Some("Basic realm=\"GitLab\""));
    assert_eq!(answer.text(), "HTTP Basic: Access denied\n");
}

pub const NOT_FOUND: &str = "Not found.";
pub const FORBIDDEN: &str = "Access forbidden. Check your access level.";

fn new_project(forge: &Forge, token: &str, name: &str, level: &str) -> i64 {
    let fields = [("name", name), ("visibility_level", level)];
    let made = forge.post("/projects").token(token).form(&fields).send().expect(201);
    made["id"].as_i64().expect("projects have ids")
}

/// Switches LFS on or off for the project `ship`.
fn switch_lfs(forge: &Forge, ship: i64, value: &str) {
    let (path, fields) = (format!("/projects/{ship}"), [("name", "ship"), ("lfs_enabled", value)]);
    forge.put(&path).token(ROOT).form(&fields).send().expect(200);
}

/// Forks a project into the namespace `bob`, and returns the id of the fork.
pub fn fork_to_bob(forge: &Forge, project: i64, bob: &str) -> i64 {
    let fork = forge.post(&format!("/projects/fork/{project}")).token(bob);
    let made = fork.form(&[("namespace", "bob")]).send().expect(201);
    made["id"].as_i64().expect("projects have ids")
}

/// 16.1: the rows without credentials, and with wrong ones.
fn anonymous_callers_download_from_public_projects_only(forge: &Forge) {
    let scene = Scene::of_visibility(forge, "20");
    for (name, level) in [("inner", "10"), ("secret", "0")] {
        new_project(forge, &scene.ada, name, level);
    }
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    ada.upload(b"large");
    let stranger = Client::new(forge, "ada/ship", None);
    assert_eq!(stranger.download(b"large").as_deref(), Some(&b"large"[..]));
    let entry = stranger.batch("download", &[b"large"]).remove(0);
    assert_eq!(entry["actions"]["download"]["header"], json!({}), "there are no credentials");
    assert_challenge(&stranger.post_batch(&batch_of("upload", &[b"x"])));
    assert_challenge(
        &stranger
            .request("PUT", &format!("gitlab-lfs/objects/{}/1", oid_of(b"x")))
            .body("x")
            .send(),
    );
    for project in ["ada/inner", "ada/secret", "ada/missing"] {
        let stranger = Client::new(forge, project, None);
        for operation in ["download", "upload"] {
            assert_challenge(&stranger.post_batch(&batch_of(operation, &[b"x"])));
        }
        let path = format!("gitlab-lfs/objects/{}", oid_of(b"large"));
        assert_challenge(&stranger.request("GET", &path).send());
    }
    for who in [("ada", "wrong"), ("nobody", PASSWORD)] {
        let wrong = Client::new(forge, "ada/ship", Some(who));
        assert_challenge(&wrong.post_batch(&batch_of("download", &[b"large"])));
    }
}

/// 16.1: the rows of signed-in callers.
fn signed_in_callers_are_served_by_their_level(forge: &Forge) {
    let scene = Scene::new(forge);
    forge.new_user("eve", &[]);
    let eve = |project: &str| Client::new(forge, project, Some(("eve", PASSWORD)));
    let missing = eve("ada/missing").post_batch(&batch_of("download", &[b"x"]));
    assert_eq!((missing.status, missing.text()), (404, "Not Found"));
    for operation in ["download", "upload"] {
        let hidden = eve("ada/ship").post_batch(&batch_of(operation, &[b"x"]));
        assert_error(&hidden, 404, NOT_FOUND);
    }
    let path = format!("gitlab-lfs/objects/{}", oid_of(b"x"));
    assert_error(&eve("ada/ship").request("GET", &path).send(), 404, NOT_FOUND);
    let upload = format!("{path}/1");
    assert_error(&eve("ada/ship").request("PUT", &upload).body("x").send(), 404, NOT_FOUND);
    for (name, level, expected) in [
        ("guest", "10", (403, 403)),
        ("reporter", "20", (200, 403)),
        ("developer", "30", (200, 200)),
        ("master", "40", (200, 200)),
    ] {
        let token = scene.member(name, level);
        let client = Client::new(forge, "ada/ship", Some((name, PASSWORD)));
        assert_eq!(client.statuses(), expected, "{name}");
        let by_token = Client::new(forge, "ada/ship", Some((name, &token)));
        assert_eq!(by_token.statuses(), expected, "{name} with a token");
        // With this login a token only allows reading.
        let reader = Client::new(forge, "ada/ship", Some(("oauth2", &token)));
        assert_eq!(reader.statuses(), (expected.0, 403), "{name} with any token");
        let put = client.request("PUT", &upload).body("x").send().status;
        assert_eq!(put, expected.1, "{name}");
    }
    let guest = Client::new(forge, "ada/ship", Some(("guest", PASSWORD)));
    assert_error(&guest.post_batch(&batch_of("download", &[b"x"])), 403, FORBIDDEN);
    // The path without `.git` is that of the same project.
    let request = forge.page("POST", "/ada/ship/info/lfs/objects/batch").token(&scene.ada);
    assert_eq!(request.body(batch_of("download", &[b"x"]).to_string()).send().status, 200);
}

/// 16.1: "LFS off for the project".
fn projects_and_groups_switch_lfs_off(forge: &Forge) {
    let scene = Scene::of_visibility(forge, "20");
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    ada.upload(b"large");
    switch_lfs(forge, scene.project, "false");
    assert_eq!(scene.shown()["lfs_enabled"], false);
    for operation in ["download", "upload"] {
        assert_error(&ada.post_batch(&batch_of(operation, &[b"large"])), 403, FORBIDDEN);
    }
    let stranger = Client::new(forge, "ada/ship", None);
    assert_error(&stranger.post_batch(&batch_of("download", &[b"large"])), 403, FORBIDDEN);
    assert_challenge(&stranger.post_batch(&batch_of("upload", &[b"large"])));
    let path = format!("gitlab-lfs/objects/{}", oid_of(b"large"));
    assert_error(&ada.request("GET", &path).send(), 403, FORBIDDEN);
    assert_error(&ada.request("PUT", &format!("{path}/5")).body("large").send(), 403, FORBIDDEN);
    switch_lfs(forge, scene.project, "true");
    assert_eq!(ada.download(b"large").as_deref(), Some(&b"large"[..]), "objects are kept");
    // The setting of a group counts for projects without one.
    let fields = [("name", "crew"), ("path", "crew"), ("lfs_enabled", "false")];
    let group = forge.post("/groups").token(&scene.ada).form(&fields).send().expect(201);
    let id = group["id"].to_string();
    let fields = [("name", "raft"), ("namespace_id", id.as_str())];
    let raft = forge.post("/projects").token(&scene.ada).form(&fields).send().expect(201);
    assert_eq!(raft["lfs_enabled"], false);
    let raft = Client::new(forge, "crew/raft", Some(("ada", PASSWORD)));
    assert_eq!(raft.statuses(), (403, 403));
    let path = format!("/groups/{id}");
    forge.put(&path).token(&scene.ada).form(&[("lfs_enabled", "true")]).send().expect(200);
    assert_eq!(raft.statuses(), (200, 200));
}

/// 16.1: "upload without the right to push (also archived)".
fn archived_projects_accept_no_objects(forge: &Forge) {
    let scene = Scene::new(forge);
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    let entry = ada.batch("upload", &[b"large"]).remove(0);
    let path = format!("/projects/{}/archive", scene.project);
    forge.post(&path).token(&scene.ada).send().expect(201);
    assert_eq!(ada.statuses(), (200, 403));
    let late = ada.follow("PUT", &entry["actions"]["upload"], Some(b"large"));
    assert_error(&late, 403, FORBIDDEN);
}

/// 16.2: the table of entries.
fn a_batch_answers_each_object_in_order(forge: &Forge) {
    let _scene = Scene::new(forge);
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    ada.upload(b"there");
    let [there, missing] = [&b"there"[..], b"missing"].map(oid_of);
    let odd = json!({"oid": "abc", "size": 1});
    let body = |operation: &str| {
        json!({"operation": operation, "objects": [
            {"oid": missing, "size": 7},
            odd,
            {"oid": there, "size": 5},
            {"oid": there, "size": -1},
            {"oid": missing, "size": 7},
            {"oid": there.to_uppercase(), "size": 5},
            {"size": 5},
            {"oid": missing, "size": 1.5},
        ]})
    };
    let entries = |operation| {
        let answer = ada.post_batch(&body(operation));
        assert_eq!(answer.status, 200, "{}", answer.text());
        let answer: Value = serde_json::from_slice(&answer.body).expect("JSON");
        answer["objects"].as_array().expect("a list").clone()
    };
    let base = "http://forge.test/ada/ship.git/gitlab-lfs/objects";
    let downloads = entries("download");
    assert_eq!(downloads.len(), 8);
    let lost = "Object does not exist on the server or you don't have permissions to access it";
    for at in [0, 4] {
        let error = json!({"code": 404, "message": lost});
        assert_eq!(downloads[at], json!({"oid": missing, "size": 7, "error": error}));
    }
    for at in [1, 3, 6, 7] {
        assert_eq!(downloads[at]["error"]["code"], 422, "{}", downloads[at]);
        assert!(downloads[at]["actions"].is_null());
    }
    assert_eq!((&downloads[1]["oid"], &downloads[1]["size"]), (&odd["oid"], &odd["size"]));
    let action = &downloads[2]["actions"]["download"];
    assert_eq!(action["href"], format!("{base}/{there}"));
    assert_eq!(action["expires_in"], 1800);
    let header = action["header"]["Authorization"].as_str().expect("there are credentials");
    assert!(header.starts_with("Basic ") && Some(header) != ada.authorization.as_deref());
    assert_eq!(downloads[2]["authenticated"], true);
    assert_eq!(downloads[5]["actions"]["download"]["href"], format!("{base}/{there}"));
    let uploads = entries("upload");
    for at in [0, 4] {
        assert_eq!(uploads[at]["actions"]["upload"]["href"], format!("{base}/{missing}/7"));
        assert!(uploads[at]["actions"]["verify"].is_null());
    }
    for at in [1, 3, 6, 7] {
        assert_eq!(uploads[at]["error"]["code"], 422);
    }
    assert_eq!(uploads[2], json!({"oid": there, "size": 5}), "there is nothing to do");
}

/// Sizes at the limits of integers, numbers that are not integers, and objects that are named several times.
fn extreme_sizes_and_repeated_objects_are_answered(forge: &Forge) {
    let _scene = Scene::new(forge);
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    ada.upload(b"there");
    let [there, missing] = [&b"there"[..], b"missing"].map(oid_of);
    for (size, is_valid) in [
        ("7", true),
        ("0", true),
        ("9223372036854775807", true),
        ("9223372036854775808", false),
        ("18446744073709551616", false),
        ("-1", false),
        ("-0", false),
        ("7.0", false),
        ("1e3", false),
        ("\"7\"", false),
        ("null", false),
        ("[7]", false),
    ] {
        for operation in ["download", "upload"] {
            let objects = format!("[{{\"oid\": \"{missing}\", \"size\": {size}}}]");
            let body = format!("{{\"operation\": \"{operation}\", \"objects\": {objects}}}");
            let answer = ada.request("POST", "info/lfs/objects/batch").body(body).send();
            assert_eq!(answer.status, 200, "{size}");
            let shown: Value = serde_json::from_slice(&answer.body).expect("JSON");
            let entry = &shown["objects"][0];
            let code = &entry["error"]["code"];
            match (is_valid, operation) {
                (false, _) => assert_eq!(code, 422, "{size}"),
                (true, "download") => assert_eq!(code, 404, "{size}"),
                (true, _) => assert!(entry["actions"]["upload"].is_object(), "{size}"),
            }
        }
        let path = format!("gitlab-lfs/objects/{missing}/{size}");
        if is_valid || size.starts_with(['-', '1', '9']) {
            let status = ada.request("PUT", &path).body("other").send().status;
            assert_eq!(status, 422, "{size}");
        }
    }
    // The network has the object, so there is nothing to upload under its name, whatever the announced size.
    let objects: Vec<Value> =
        [5, 6, 0, 5].iter().map(|size| json!({"oid": there, "size": size})).collect();
    let answer = ada.post_batch(&json!({"operation": "upload", "objects": objects}));
    let shown: Value = serde_json::from_slice(&answer.body).expect("JSON");
    assert_eq!(shown["objects"], json!(objects));
    for (size, body, status) in
        [(5, "there", 200), (5, "THERE", 200), (6, "there!", 422), (0, "", 422)]
    {
        let path = format!("gitlab-lfs/objects/{there}/{size}");
        assert_eq!(ada.request("PUT", &path).body(body).send().status, status, "{size} {body}");
    }
    assert_eq!(ada.download(b"there").as_deref(), Some(&b"there"[..]));
}

/// 16.2: what is refused as a whole.
fn invalid_batches_are_refused(forge: &Forge) {
    let _scene = Scene::new(forge);
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    let object = json!({"oid": oid_of(b"x"), "size": 1});
    for body in [
        json!({"operation": "download"}),
        json!({"operation": "download", "objects": []}),
        json!({"operation": "upload", "objects": null}),
    ] {
        assert_error(&ada.post_batch(&body), 404, NOT_FOUND);
    }
    let many = vec![object.clone(); 1_001];
    for (body, status) in [
        (json!({"operation": "verify", "objects": [object]}), 422),
        (json!({"operation": 7, "objects": [object]}), 422),
        (json!({"objects": [object]}), 422),
        (json!({"operation": "download", "objects": "x"}), 422),
        (json!({"operation": "download", "objects": ["x"]}), 422),
        (json!({"operation": "download", "objects": [object], "transfers": ["tus"]}), 422),
        (json!({"operation": "download", "objects": [object], "transfers": "basic"}), 422),
        (json!({"operation": "download", "objects": [object], "hash_algo": "sha512"}), 422),
        (json!({"operation": "download", "objects": many}), 413),
        (json!([object]), 400),
    ] {
        let answer = ada.post_batch(&body);
        let shown: Value = serde_json::from_slice(&answer.body).expect("JSON");
        assert_eq!(answer.status, status, "{shown}");
        assert!(shown["message"].is_string() && shown["documentation_url"].is_string());
    }
    for (body, status) in [("", 400), ("{", 400), ("\u{fffd}", 400), ("null", 400)] {
        let request = ada.request("POST", "info/lfs/objects/batch");
        assert_eq!(request.body(body).send().status, status, "{body}");
    }
    let long = format!("{{\"operation\": \"download\", \"x\": \"{}\"}}", "x".repeat(1 << 20));
    assert_eq!(ada.request("POST", "info/lfs/objects/batch").body(long).send().status, 413);
    // Values that take many times the memory of their text.
    for object in [r#"{"":{}}"#, "[[]]", r#"{"a":0}"#] {
        let objects = [object; 30_000].join(",");
        let body = format!("{{\"operation\": \"download\", \"objects\": [{objects}]}}");
        let request = ada.request("POST", "info/lfs/objects/batch");
        assert_eq!(request.body(body).send().status, 413, "{object}");
    }
    let with_all = json!({"operation": "download", "objects": [object], "hash_algo": "sha256",
        "transfers": ["lfs-standalone-file", "basic"], "ref": {"name": "refs/heads/x"}, "more": 1});
    let request = ada.request("POST", "info/lfs/objects/batch");
    let request = request.header("Content-Type", &format!("{MEDIA_TYPE}; charset=utf-8"));
    assert_eq!(request.body(with_all.to_string()).send().status, 200);
    let whole = vec![object; 1_000];
    let answer = ada.post_batch(&json!({"operation": "download", "objects": whole}));
    assert_eq!(answer.status, 200);
}

/// Creates a running build of a project, and returns its token.
fn running_build(forge: &Forge, project: i64, user: Option<i64>) -> String {
    let build = forge.app.store.write::<_, StoreError>(|tx| {
        let pipeline = tx.pipelines().insert(a_pipeline(ProjectId(project)))?;
        let definition = tx.builds().define(pipeline.id, &a_definition())?;
        let user = user.map(UserId);
        let build = a_build(&pipeline, definition, "test");
        tx.builds().insert(NewBuild { status: Status::Running, user, ..build })
    });
    let build = build.expect("it can be stored");
    ci_token::build_token(&forge.app, &build).reveal().to_owned()
}

/// 16.1: "`gitlab-ci-token` with a running build's token".
fn builds_download_and_never_upload(forge: &Forge) {
    let scene = Scene::new(forge);
    Client::new(forge, "ada/ship", Some(("ada", PASSWORD))).upload(b"large");
    let (bob, _) = forge.user("bob");
    new_project(forge, &scene.ada, "boat", "0");
    let ada = forge.get("/user").token(&scene.ada).send().expect(200)["id"].as_i64();
    for (user, own, other) in [
        (ada, (200, 401), (200, 401)),
        (Some(bob), (404, 401), (404, 401)),
        (None, (200, 401), (404, 401)),
    ] {
        let token = running_build(forge, scene.project, user);
        let client = |project| Client::new(forge, project, Some(("gitlab-ci-token", &token)));
        assert_eq!(client("ada/ship").statuses(), own, "{user:?}");
        assert_eq!(client("ada/boat").statuses(), other, "{user:?}");
        let put = format!("gitlab-lfs/objects/{}/1", oid_of(b"x"));
        assert_challenge(&client("ada/ship").request("PUT", &put).body("x").send());
        if own.0 == 200 {
            let found = client("ada/ship").download(b"large");
            assert_eq!(found.as_deref(), Some(&b"large"[..]));
        }
    }
    let ended = Client::new(forge, "ada/ship", Some(("gitlab-ci-token", "1-wrong")));
    assert_eq!(ended.statuses(), (401, 401));
}

fn transfer_tokens_are_for_one_project_and_half_an_hour(forge: &Forge) {
    let scene = Scene::new(forge);
    new_project(forge, &scene.ada, "boat", "0");
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    ada.upload(b"large");
    let action = |operation: &str, content: &[u8]| {
        let entry = ada.batch(operation, &[content]).remove(0);
        entry["actions"][operation]["header"]["Authorization"]
            .as_str()
            .expect("a header")
            .to_owned()
    };
    let (read, write) = (action("download", b"large"), action("upload", b"new"));
    let with = |project: &str, header: &str| Client {
        authorization: Some(header.to_owned()),
        ..Client::new(forge, project, None)
    };
    assert_eq!(with("ada/ship", &read).statuses(), (200, 401));
    assert_eq!(with("ada/ship", &write).statuses(), (200, 200));
    assert_eq!(with("ada/boat", &write).statuses(), (401, 401));
    // It is no credential of git or of the API.
    for target in [
        "/ada/ship.git/info/refs?service=git-upload-pack",
        "/ada/ship.git/info/refs?service=git-receive-pack",
    ] {
        let answer = forge.page("GET", target).header("Authorization", &write).send();
        assert_eq!(answer.status, 401);
    }
    let user = forge.get("/user").header("Authorization", &write).send();
    assert_eq!(user.status, 401);
    // A batch with a transfer token does not prolong it.
    forge.clock.advance(chrono::TimeDelta::seconds(1_000));
    let entry = with("ada/ship", &read).batch("download", &[b"large"]).remove(0);
    assert_eq!(entry["actions"]["download"]["expires_in"], 800);
    let again = entry["actions"]["download"]["header"]["Authorization"].clone();
    forge.clock.advance(chrono::TimeDelta::seconds(801));
    for header in [read.as_str(), again.as_str().expect("a header")] {
        let late = with("ada/ship", header).post_batch(&batch_of("download", &[b"large"]));
        assert_challenge(&late);
    }
    let forged = basic("ada", "lfs-u1-1-upload-99999999999-0123456789abcdef0123456789abcdef");
    assert_eq!(with("ada/ship", &forged).statuses(), (401, 401));
}

/// Neither a token for another project nor a build that uploads tells whether a project exists.
fn hidden_and_missing_projects_look_alike_to_tokens_and_builds(forge: &Forge) {
    let scene = Scene::new(forge);
    let (bob, bob_token) = forge.user("bob");
    let raft = new_project(forge, &bob_token, "raft", "0");
    let bob_client = Client::new(forge, "bob/raft", Some(("bob", PASSWORD)));
    let entry = bob_client.batch("upload", &[b"x"]).remove(0);
    let header = &entry["actions"]["upload"]["header"]["Authorization"];
    let transfer = header.as_str().expect("a header").to_owned();
    let builds = [Some(bob), None].map(|user| running_build(forge, raft, user));
    let builds = builds.map(|token| basic("gitlab-ci-token", &token));
    let object = format!("gitlab-lfs/objects/{}", oid_of(b"x"));
    for project in ["ada/ship", "ada/missing"] {
        let with = |header: &str| Client {
            authorization: Some(header.to_owned()),
            ..Client::new(forge, project, None)
        };
        for operation in ["download", "upload"] {
            assert_challenge(&with(&transfer).post_batch(&batch_of(operation, &[b"x"])));
        }
        assert_challenge(&with(&transfer).request("GET", &object).send());
        for header in [&transfer, &builds[0], &builds[1]] {
            let client = with(header);
            assert_challenge(&client.post_batch(&batch_of("upload", &[b"x"])));
            let put = client.request("PUT", &format!("{object}/1")).body("x").send();
            assert_challenge(&put);
        }
    }
    drop(scene);
}

/// A blocked user's transfer token stops working.
fn transfer_tokens_end_with_their_user(forge: &Forge) {
    let scene = Scene::new(forge);
    scene.member("bob", "30");
    let bob = Client::new(forge, "ada/ship", Some(("bob", PASSWORD)));
    bob.upload(b"large");
    let read = bob.batch("download", &[b"large"]).remove(0);
    let write = bob.batch("upload", &[b"new"]).remove(0);
    let users = forge.get("/users?username=bob").token(ROOT).send().expect(200);
    let id = users[0]["id"].to_string();
    // Access is checked with every request: a reporter may not push.
    let path = format!("/projects/{}/members/{id}", scene.project);
    forge.put(&path).token(ROOT).form(&[("access_level", "20")]).send().expect(200);
    let late = bob.follow("PUT", &write["actions"]["upload"], Some(b"new"));
    assert_error(&late, 403, FORBIDDEN);
    assert_eq!(bob.follow("GET", &read["actions"]["download"], None).body, b"large");
    forge.put(&format!("/users/{id}/block")).token(ROOT).send().expect(200);
    assert_challenge(&bob.follow("GET", &read["actions"]["download"], None));
    assert_challenge(&bob.follow("PUT", &write["actions"]["upload"], Some(b"new")));
}

/// A transfer token ends with a new password of its user, as sessions do.
fn transfer_tokens_end_with_a_new_password(forge: &Forge) {
    let scene = Scene::new(forge);
    scene.member("bob", "30");
    let client = |password| Client::new(forge, "ada/ship", Some(("bob", password)));
    let bob = client(PASSWORD);
    bob.upload(b"large");
    let read = bob.batch("download", &[b"large"]).remove(0);
    let write = bob.batch("upload", &[b"new"]).remove(0);
    let (read, write) = (&read["actions"]["download"], &write["actions"]["upload"]);
    let users = forge.get("/users?username=bob").token(ROOT).send().expect(200);
    let path = format!("/users/{}", users[0]["id"]);
    // Other changes of the account keep it.
    forge.put(&path).token(ROOT).form(&[("bio", "sails")]).send().expect(200);
    assert_eq!(bob.follow("GET", read, None).body, b"large");
    forge.put(&path).token(ROOT).form(&[("password", "another horse")]).send().expect(200);
    assert_challenge(&bob.follow("GET", read, None));
    assert_challenge(&bob.follow("PUT", write, Some(b"new")));
    assert_eq!(client("another horse").download(b"large").as_deref(), Some(&b"large"[..]));
}

/// 16.3: "what was uploaded to a project is there in all its forks, and the reverse", and the ruling.
fn objects_belong_to_the_fork_network(forge: &Forge) {
    let scene = Scene::of_visibility(forge, "20");
    let (_, bob) = forge.user("bob");
    let fork = fork_to_bob(forge, scene.project, &bob);
    let other = new_project(forge, &scene.ada, "other", "20");
    let client = |project, who: &'static str| Client::new(forge, project, Some((who, PASSWORD)));
    let (ship, copy) = (client("ada/ship", "ada"), client("bob/ship", "bob"));
    let apart = client("ada/other", "ada");
    ship.upload(b"by ada");
    copy.upload(b"by bob");
    for content in [&b"by ada"[..], b"by bob"] {
        assert_eq!(ship.download(content).as_deref(), Some(content));
        assert_eq!(copy.download(content).as_deref(), Some(content));
        assert_eq!(apart.download(content), None);
        let path = format!("gitlab-lfs/objects/{}", oid_of(content));
        assert_error(&apart.request("GET", &path).send(), 404, NOT_FOUND);
        // Another project has to upload its own copy.
        let entry = apart.batch("upload", &[content]).remove(0);
        assert!(entry["actions"]["upload"].is_object());
        assert_eq!(copy.batch("upload", &[content])[0]["actions"], Value::Null);
    }
    // Adding and removing the fork relation changes nothing.
    let link = format!("/projects/{other}/fork/{}", scene.project);
    forge.post(&link).token(ROOT).send().expect(201);
    assert_eq!(apart.download(b"by ada"), None);
    forge.delete(&format!("/projects/{fork}/fork")).token(&bob).send().expect(200);
    assert_eq!(copy.download(b"by ada").as_deref(), Some(&b"by ada"[..]));
    // The network survives its first project.
    let path = format!("/projects/{}", scene.project);
    forge.delete(&path).token(&scene.ada).send().expect(200);
    assert_eq!(copy.download(b"by ada").as_deref(), Some(&b"by ada"[..]));
    copy.upload(b"later");
    assert_eq!(copy.download(b"later").as_deref(), Some(&b"later"[..]));
}

/// Links from before the change lead nowhere, for callers without credentials and with them.
fn a_project_that_is_made_private_hides_its_objects(forge: &Forge) {
    let scene = Scene::of_visibility(forge, "20");
    forge.new_user("eve", &[]);
    let client = |who| Client::new(forge, "ada/ship", who);
    client(Some(("ada", PASSWORD))).upload(b"large");
    let (stranger, eve) = (client(None), client(Some(("eve", PASSWORD))));
    let links = [&stranger, &eve].map(|client| client.batch("download", &[b"large"]).remove(0));
    let [stranger_link, eve_link] = [0, 1].map(|at: usize| &links[at]["actions"]["download"]);
    assert_eq!(eve.follow("GET", eve_link, None).body, b"large");
    let path = format!("/projects/{}", scene.project);
    let fields = [("name", "ship"), ("visibility_level", "0")];
    forge.put(&path).token(&scene.ada).form(&fields).send().expect(200);
    assert_challenge(&stranger.follow("GET", stranger_link, None));
    assert_error(&eve.follow("GET", eve_link, None), 404, NOT_FOUND);
    assert_error(&eve.post_batch(&batch_of("download", &[b"large"])), 404, NOT_FOUND);
}

/// The removal of a fork removes nothing of its network.
fn objects_survive_the_fork_that_they_were_uploaded_to(forge: &Forge) {
    let scene = Scene::of_visibility(forge, "20");
    let (_, bob) = forge.user("bob");
    let fork = fork_to_bob(forge, scene.project, &bob);
    Client::new(forge, "bob/ship", Some(("bob", PASSWORD))).upload(b"by bob");
    forge.delete(&format!("/projects/{fork}")).token(&bob).send().expect(200);
    while removal::step(&forge.app).expect("it can be done") {}
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    assert_eq!(ada.download(b"by bob").as_deref(), Some(&b"by bob"[..]));
    assert!(ada.batch("upload", &[b"by bob"])[0]["actions"].is_null());
}

/// 16.4: the old forms, and locks.
fn outdated_clients_are_told_so(forge: &Forge) {
    let scene = Scene::new(forge);
    let text = "Server supports batch API only, please update your Git LFS client to version 1.0.1 and up.";
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    for (method, path) in [
        ("POST", "info/lfs/objects".to_owned()),
        ("GET", format!("info/lfs/objects/{}", oid_of(b"x"))),
    ] {
        assert_error(&ada.request(method, &path).send(), 501, text);
    }
    for path in ["info/lfs/locks/verify", "info/lfs/locks"] {
        let request = ada.request("POST", path).header("Content-Type", MEDIA_TYPE);
        assert_eq!(request.body("{}").send().status, 404, "{path}");
    }
    drop(scene);
}

fn lfs_is_refused_where_git_over_http_is_off(forge: &Forge) {
    let _scene = Scene::new(forge);
    let ada = Client::new(forge, "ada/ship", Some(("ada", PASSWORD)));
    ada.upload(b"large");
    let entry = ada.batch("download", &[b"large"]).remove(0);
    let form = [("enabled_git_access_protocol", "ssh")];
    forge.put("/application/settings").token(ROOT).form(&form).send().expect(200);
    assert_eq!(ada.statuses(), (403, 403));
    // The transfers of clients of SSH go over HTTP.
    assert_eq!(ada.follow("GET", &entry["actions"]["download"], None).body, b"large");
}

/// 16.1: "LFS off on the server", for all callers, and `lfs_enabled` of projects and groups.
#[test]
fn lfs_that_is_off_on_the_server_is_off_for_all() {
    let options = ForgeOptions { backend: Backend::Fake, dialect: Dialect::Specification };
    let restrictions = Restrictions { is_lfs_off: true, ..Restrictions::default() };
    let forge = Forge::start_restricted(options, restrictions).expect("the fake is always there");
    let scene = Scene::of_visibility(&forge, "20");
    let text = "Git LFS is not enabled on this GitLab server, contact your admin.";
    let oid = oid_of(b"x");
    for project in ["ada/ship", "ada/missing"] {
        for who in [None, Some(("ada", PASSWORD)), Some(("ada", "wrong"))] {
            let client = Client::new(&forge, project, who);
            for (method, path) in [
                ("POST", "info/lfs/objects/batch".to_owned()),
                ("POST", "info/lfs/objects".to_owned()),
                ("GET", format!("info/lfs/objects/{oid}")),
                ("GET", format!("gitlab-lfs/objects/{oid}")),
                ("PUT", format!("gitlab-lfs/objects/{oid}/1")),
            ] {
                assert_error(&client.request(method, &path).send(), 501, text);
            }
        }
    }
    switch_lfs(&forge, scene.project, "true");
    assert_eq!(scene.shown()["lfs_enabled"], false);
    let fields = [("name", "crew"), ("path", "crew"), ("lfs_enabled", "true")];
    let group = forge.post("/groups").token(&scene.ada).form(&fields).send().expect(201);
    assert_eq!(group["lfs_enabled"], false);
}
