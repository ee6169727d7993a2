//! All settings. Flags, variables, keys of the file, defaults, checks, `--help`, `--print-config` and the table in
//! `docs/operations.md` follow from this declaration.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Result;
use hexforge_application::app::SignUp;
use hexforge_domain::network::Network;
use hexforge_domain::policy::strict::StrictRules;
use hexforge_domain::text::Secret;
use hexforge_git_gix::AcceptedFaults;
use hexforge_http_actix::Dialect;
use hexforge_persistence_diesel::DatabaseUrl;
use serde::Deserialize;
use validator::ValidateUrl;

use super::declaration::{Description, Setting, declare_settings, unless_empty};
use super::form::{
    choice, hidden, names, networks, number, parsed, path, secret, switch, switch_or_digit, text,
};
use crate::system::InstallationKey;

declare_settings! {
    /// The address to serve HTTP on.
    listen: SocketAddr = "ADDRESS",
        parsed("an address such as 127.0.0.1:8080").default("127.0.0.1:8080").note("Port 0 chooses a free port");
    /// The address to serve git over SSH on, or `off`. Clone URLs contain its port.
    ssh_listen: Option<SocketAddr> = "ADDRESS",
        parsed("`off` or an address such as 127.0.0.1:2222").or_off().default("127.0.0.1:2222")
            .note("Port 0 chooses a free port");
    /// The folder for all data of the server.
    data_dir: PathBuf = "FOLDER", path().default(DEFAULT_DATA_DIR).default_in_words("./hexforge-data");
    /// The database: `sqlite:PATH`, `postgres://...` or `postgresql://...`.
    database_url: DatabaseUrl = "URL",
        // The error does not show the address, which may contain a password.
        text(|url| DatabaseUrl::parse(url).map_err(|error| format!("is wrong: {error}"))).secret()
            // `Config::resolve` fills in the default, which depends on the data folder.
            .default("").default_in_words("`hexforge.db` in the data folder");
    /// Where packs, uploads, build logs, artifacts and LFS objects are kept: `s3://bucket/prefix`, also `gs://`,
    /// `az://` or `file:///`. Endpoint and credentials come from the usual variables, such as `AWS_ENDPOINT_URL` and
    /// `AWS_ACCESS_KEY_ID`.
    object_store_url: Option<String> = "URL",
        text(|url| Ok(url.trim().to_owned())).optional("in the data folder").note("See [object store](#object-store)");
    /// The maximum size of the local cache of packs that are in an object store, in GiB.
    cache_gb: f64 = "GIB", number(0.001..=1_000_000.0).default(50);
    /// The key of the installation, 64 hex digits, the same on all machines. If it is set, the SSH host keys are kept
    /// in the database, encrypted.
    secret_key: Option<InstallationKey> = "SECRET_KEY",
        hidden(installation_key).optional("`secret.key` in the data folder")
            .note("See [several machines](#several-machines)");
    /// The base of all URLs in responses and hook payloads.
    external_url: Option<String> = "URL", text(external_url).optional("http:// and the address of HTTP");
    /// The password of the first administrator, on first start only.
    root_password: Option<Secret> = "ROOT_PASSWORD", secret().optional("generated").note("8 to 128 characters");
    /// The private token of the first administrator, on first start only.
    root_token: Option<Secret> = "ROOT_TOKEN", secret().optional("generated").note("At least 8 characters");
    /// The `projects_limit` of a new user.
    default_projects_limit: i32 = "NUMBER", number(0..).default(100).note(UNTIL_CHANGED);
    /// The dialect of responses where the two differ: `specification` or `original`.
    dialect: Dialect = "DIALECT",
        choice([Dialect::Specification, Dialect::Original].map(|dialect| (dialect.as_str(), dialect)))
            .default("specification").note("See [dialects.md](dialects.md)");
    /// The maximum size of an uploaded file in MiB.
    max_upload_mb: usize = "MIB", number(1..=4096).default(10).note(UNTIL_CHANGED);
    /// The maximum size of the body of any other request in MiB.
    max_body_mb: usize = "MIB", number(1..=4096).default(10);
    /// Whether imports and hooks may reach loopback and private addresses: `true` or `false`.
    allow_local_requests: bool = "BOOL", switch().default(false);
    /// Whether this process does work in the background, such as imports and hook deliveries: `true` or `false`. At
    /// least one process of an installation has to do it.
    background_work: bool = "BOOL", switch().default(true).note("See [several machines](#several-machines)");
    /// Seconds that the receiver of a hook may take to accept the connection, and again to answer.
    hook_timeout: u64 = "SECONDS", number(1..=60).default(10);
    /// The token with which runners register for all projects.
    runners_token: Option<Secret> = "RUNNERS_TOKEN",
        hidden(runners_token).optional("generated on first start")
            .note("At least 8 characters. Unlike the token of `root`, it is used at every start");
    /// The maximum size of the artifacts of a build in MiB.
    max_artifacts_mb: usize = "MIB", number(1..=4096).default(100).note(UNTIL_CHANGED);
    /// The maximum size of the pack of a push in MiB, as received and as stored.
    max_push_mb: u64 = "MIB",
        number(1..=1_048_576).default(10240).note("See [limits of a push](git.md#limits-of-a-push)");
    /// The maximum total size of the packs of one repository in MiB, pushed or imported.
    max_repository_mb: u64 = "MIB", number(1..=1_048_576).default(20480);
    /// Whether Git LFS is on: `true` or `false`.
    lfs: bool = "BOOL", switch().default(true).note("See [Git LFS](git.md#git-lfs)");
    /// The maximum total size of the LFS objects of a project and its forks in MiB; uploads to forks may fill half of it.
    max_lfs_mb: u64 = "MIB", number(1..=1_048_576).default(20480);
    /// The maximum uncompressed size of an object of a push, such as a file, in MiB.
    max_object_mb: u64 = "MIB", number(1..=1_048_576).default(2048);
    /// Memory in MiB that all running pushes and imports may use together.
    push_memory_mb: usize = "MIB",
        number(128..=65536).default(512)
            .note("One user may use three quarters of it. One push with large objects uses up to 80 MiB");
    /// Hours after which a build fails that no runner takes.
    build_silence_hours: u32 = "HOURS", number(1..=8760).default(24);
    /// Seconds without a sign of life from the runner of a running build after which the build fails.
    runner_silence: u32 = "SECONDS",
        number(5..=86400).default(300).note("Runners give one at least every 30 seconds");
    /// Hours after which a pack that no repository uses is removed.
    sweep_after_hours: u32 = "HOURS", number(1..=8760).default(24);
    /// Days without use after which the token of a sign-in (`POST /session`) expires.
    session_days: u32 = "DAYS", number(1..=3650).default(14);
    /// Requests per minute with one token; 0 is no limit.
    rate_limit_per_token: u32 = "REQUESTS",
        number(0..).default(0).note("See [limits on requests](#limits-on-requests)");
    /// Requests per minute from one address without a valid token; 0 is no limit.
    rate_limit_per_address: u32 = "REQUESTS", number(0..).default(0);
    /// Proxies whose `X-Forwarded-For`, `X-Forwarded-Proto` and `Forwarded` are believed: addresses and networks,
    /// separated by commas.
    trusted_proxies: Vec<Network> = "NETWORKS",
        networks().default("").default_in_words("none").note("See [proxies](#behind-a-reverse-proxy)");
    /// The minimum rate in KiB per second of a client that holds a permit; 0 is no limit.
    min_transfer_rate: u64 = "KIB", number(0..=1024).default(4).note("See [permits](#permits-for-long-work)");
    /// Seconds that a client which holds a permit may send or receive nothing, and over which its rate is averaged.
    transfer_idle: u64 = "SECONDS", number(1..=3600).default(60);
    /// Whether each answer to a git fetch is checked by a walk over the whole history before it is sent: `true` or
    /// `false` (or `1` or `0`). For debugging: fetches take several times as long.
    verify_fetches: bool = "BOOL",
        switch_or_digit().default(cfg!(debug_assertions)).default_in_words("false; true in debug builds")
            .note("See [git](git.md#what-is-guaranteed)");
    /// Access rules, separated by commas, that are stricter than those of the reference: `manual_jobs`, `tags`,
    /// `build_lists`.
    strict_rules: StrictRules = "NAMES",
        names(StrictRules::parse, "is not a rule that can be stricter").default("").default_in_words("none")
            .note("See [security](security.md#rules-that-can-be-stricter)");
    /// Whether strangers may register on the web pages: `off`, `open`, or `approval` for accounts that an administrator
    /// unblocks first.
    signup: SignUp = "WORD",
        choice([("off", SignUp::Off), ("open", SignUp::Open), ("approval", SignUp::Approval)]).default("off")
            .note("See [web pages](web.md#for-operators)");
    /// Errors of `git fsck`, separated by commas, that pushed and imported objects may have, such as `zeroPaddedDate`,
    /// or `none`. Old histories have some.
    accepted_object_errors: AcceptedFaults = "NAMES",
        names(AcceptedFaults::parse, "is not an error of git fsck").default(AcceptedFaults::default())
            .note("See [git](git.md#what-a-push-has-to-pass)");
    /// Who may open pages that take much work, such as blames, comparisons and statistics: `everyone` or `signed-in`.
    web_costly: CostlyPages = "WHO",
        choice([("everyone", CostlyPages::Everyone), ("signed-in", CostlyPages::SignedIn)]).default("everyone")
            .note("See [pages](web.md#for-operators)");
    /// Whether pages load pictures of other hosts that users refer to: `true` or `false`. Those hosts then learn who
    /// reads the page.
    web_remote_images: bool = "BOOL", switch().default(false).note("See [pages](web.md#for-operators)");
    /// What to log: a level or a filter such as `info,hexforge_http_actix=debug`.
    log: String = "FILTER", text(|filter| Ok(filter.to_owned())).default("info");
    /// The format of the log: `text` or `json`.
    log_format: LogFormat = "FORMAT", choice([("text", LogFormat::Text), ("json", LogFormat::Json)]).default("text");
}

/// The note of settings that are also settings of the service.
const UNTIL_CHANGED: &str =
    "Until it is [changed while the service runs](#settings-of-the-service)";

/// The data folder, unless another is chosen.
pub(super) const DEFAULT_DATA_DIR: &str = "hexforge-data";

/// Who may open pages that take much work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostlyPages {
    /// All visitors. Those who are not signed in share few permits.
    Everyone,
    /// Visitors who are signed in.
    SignedIn,
}

/// The format of the lines of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

fn installation_key(digits: &str) -> Result<InstallationKey, String> {
    let wrong = "has to be 64 hex digits: `openssl rand -hex 32` generates them";
    InstallationKey::parse(digits.trim()).ok_or_else(|| wrong.to_owned())
}

fn external_url(url: &str) -> Result<String, String> {
    let url = url.trim_end_matches('/');
    if !url.validate_url() {
        return Err("has to be an address such as https://forge.example.com".to_owned());
    }
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(format!("is `{url}` and has to begin with http:// or https://"));
    }
    Ok(url.to_owned())
}

/// The minimum length of a token that the operator chose; generated tokens are much longer.
const SHORTEST_TOKEN: usize = 8;

fn runners_token(token: &str) -> Result<Secret, String> {
    if token.len() < SHORTEST_TOKEN {
        return Err(format!("has to have at least {SHORTEST_TOKEN} characters"));
    }
    Ok(Secret::new(token))
}
