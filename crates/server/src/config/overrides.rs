//! Settings as somebody chose them: texts by flag, variable or file.

use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;
use serde::Deserialize;

/// What somebody chose, by flag, variable or file. Texts, so that every mistake is told in the same
/// way wherever it was made.
#[derive(Args, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[command(next_help_heading = "Settings")]
pub struct Overrides {
    /// The address to serve HTTP on [default: 127.0.0.1:8080].
    #[arg(long, global = true, env = "HEXFORGE_LISTEN", value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// The address to serve git over SSH on, or `off` [default: 127.0.0.1:2222]. Clone addresses name
    /// its port.
    #[arg(long, global = true, env = "HEXFORGE_SSH_LISTEN", value_name = "ADDRESS")]
    pub ssh_listen: Option<String>,
    /// The folder for everything the server keeps [default: ./hexforge-data].
    #[arg(long, global = true, env = "HEXFORGE_DATA_DIR", value_name = "FOLDER")]
    pub data_dir: Option<String>,
    /// `sqlite:PATH` or `postgres://...` [default: an SQLite file in the data folder].
    #[arg(
        long,
        global = true,
        env = "HEXFORGE_DATABASE_URL",
        value_name = "URL",
        hide_env_values = true
    )]
    pub database_url: Option<String>,
    /// Where packs, uploads, build logs and artifacts are kept: `s3://bucket/prefix`, also `gs://`, `az://` or
    /// `file:///`. The usual variables, such as `AWS_ENDPOINT_URL` and `AWS_ACCESS_KEY_ID`, tell the rest [default: in the
    /// data folder].
    #[arg(long, global = true, env = "HEXFORGE_OBJECT_STORE_URL", value_name = "URL")]
    pub object_store_url: Option<String>,
    /// The size of the local cache of packs that are in an object store, in GiB [default: 50].
    #[arg(long, global = true, env = "HEXFORGE_CACHE_GB", value_name = "GIB")]
    pub cache_gb: Option<String>,
    /// The key of the installation, 64 hex digits, the same on all machines [default: `secret.key` in the data folder].
    /// With it the SSH host keys are kept in the database, sealed.
    #[arg(long, global = true, env = "HEXFORGE_SECRET_KEY", hide_env_values = true)]
    pub secret_key: Option<String>,
    /// The base of every address in answers [default: http:// and the address of HTTP].
    #[arg(long, global = true, env = "HEXFORGE_EXTERNAL_URL", value_name = "URL")]
    pub external_url: Option<String>,
    /// The password of the first administrator, on first start only [default: generated].
    #[arg(long, global = true, env = "HEXFORGE_ROOT_PASSWORD", hide_env_values = true)]
    pub root_password: Option<String>,
    /// The private token of the first administrator, on first start only [default: generated].
    #[arg(long, global = true, env = "HEXFORGE_ROOT_TOKEN", hide_env_values = true)]
    pub root_token: Option<String>,
    /// `projects_limit` of a new user [default: 100].
    #[arg(long, global = true, env = "HEXFORGE_DEFAULT_PROJECTS_LIMIT", value_name = "NUMBER")]
    pub default_projects_limit: Option<String>,
    /// `specification` or `original`: how calls answer on which the two differ.
    #[arg(long, global = true, env = "HEXFORGE_DIALECT")]
    pub dialect: Option<String>,
    /// The largest uploaded file in MiB [default: 10].
    #[arg(long, global = true, env = "HEXFORGE_MAX_UPLOAD_MB", value_name = "MIB")]
    pub max_upload_mb: Option<String>,
    /// The largest body of any other request in MiB [default: 10].
    #[arg(long, global = true, env = "HEXFORGE_MAX_BODY_MB", value_name = "MIB")]
    pub max_body_mb: Option<String>,
    /// Whether imports and hooks may reach loopback and private addresses: `true` or `false` [default: false].
    #[arg(long, global = true, env = "HEXFORGE_ALLOW_LOCAL_REQUESTS", value_name = "BOOL")]
    pub allow_local_requests: Option<String>,
    /// Whether this process does work in the background, such as imports and sending to hooks: `true` or `false`. At
    /// least one process of an installation has to do it [default: true].
    #[arg(long, global = true, env = "HEXFORGE_BACKGROUND_WORK", value_name = "BOOL")]
    pub background_work: Option<String>,
    /// Seconds that a receiver of a hook may take to be reached, and again to answer, 1 to 60 [default: 10].
    #[arg(long, global = true, env = "HEXFORGE_HOOK_TIMEOUT", value_name = "SECONDS")]
    pub hook_timeout: Option<String>,
    /// By which runners register for all projects [default: generated on first start].
    #[arg(long, global = true, env = "HEXFORGE_RUNNERS_TOKEN", hide_env_values = true)]
    pub runners_token: Option<String>,
    /// The largest artifacts of a build, in MiB [default: 100].
    #[arg(long, global = true, env = "HEXFORGE_MAX_ARTIFACTS_MB", value_name = "MIB")]
    pub max_artifacts_mb: Option<String>,
    /// The largest pack of a git push in MiB, received and stored [default: 10240].
    #[arg(long, global = true, env = "HEXFORGE_MAX_PUSH_MB", value_name = "MIB")]
    pub max_push_mb: Option<String>,
    /// The most MiB that the packs of one repository may take [default: 20480].
    #[arg(long, global = true, env = "HEXFORGE_MAX_REPOSITORY_MB", value_name = "MIB")]
    pub max_repository_mb: Option<String>,
    /// The largest object of a git push in MiB, uncompressed [default: 2048].
    #[arg(long, global = true, env = "HEXFORGE_MAX_OBJECT_MB", value_name = "MIB")]
    pub max_object_mb: Option<String>,
    /// Memory in MiB that all pushes and imports at work may hold together [default: 512].
    #[arg(long, global = true, env = "HEXFORGE_PUSH_MEMORY_MB", value_name = "MIB")]
    pub push_memory_mb: Option<String>,
    /// After how many hours a build fails of which nothing is heard [default: 24].
    #[arg(long, global = true, env = "HEXFORGE_BUILD_SILENCE_HOURS", value_name = "HOURS")]
    pub build_silence_hours: Option<String>,
    /// The grace period of packs that no repository names, in hours, 1 to 8760 [default: 24].
    #[arg(long, global = true, env = "HEXFORGE_SWEEP_AFTER_HOURS", value_name = "HOURS")]
    pub sweep_after_hours: Option<String>,
    /// After how many days without use the token of a sign-in (`POST /session`) ends, 1 to 3650 [default: 14].
    #[arg(long, global = true, env = "HEXFORGE_SESSION_DAYS", value_name = "DAYS")]
    pub session_days: Option<String>,
    /// Requests a minute that are taken of those who show one token; 0 is no limit [default: 0].
    #[arg(long, global = true, env = "HEXFORGE_RATE_LIMIT_PER_TOKEN", value_name = "REQUESTS")]
    pub rate_limit_per_token: Option<String>,
    /// Requests a minute that are taken from one address without a token that is known; 0 is no limit [default: 0].
    #[arg(long, global = true, env = "HEXFORGE_RATE_LIMIT_PER_ADDRESS", value_name = "REQUESTS")]
    pub rate_limit_per_address: Option<String>,
    /// Proxies whose `X-Forwarded-For`, `X-Forwarded-Proto` and `Forwarded` are believed: addresses and networks,
    /// separated by commas [default: none].
    #[arg(long, global = true, env = "HEXFORGE_TRUSTED_PROXIES", value_name = "NETWORKS")]
    pub trusted_proxies: Option<String>,
    /// The smallest rate in KiB per second of clients that hold a permit; 0 is no limit [default: 4].
    #[arg(long, global = true, env = "HEXFORGE_MIN_TRANSFER_RATE", value_name = "KIB")]
    pub min_transfer_rate: Option<String>,
    /// Seconds that a client which holds a permit may send or take nothing, and over which its rate is averaged
    /// [default: 60].
    #[arg(long, global = true, env = "HEXFORGE_TRANSFER_IDLE", value_name = "SECONDS")]
    pub transfer_idle: Option<String>,
    /// Whether each answer to a git fetch is checked by a walk over the whole history before it is sent, `true` or
    /// `false` (or `1` or `0`): slow, for finding errors [default: false].
    #[arg(long, global = true, env = "HEXFORGE_VERIFY_FETCHES", value_name = "BOOL")]
    pub verify_fetches: Option<String>,
    /// Names of errors, separated by commas, that objects may have which are pushed or imported, such as
    /// `zeroPaddedDate`, or `none`: for old histories. They are those of `git fsck` [default:
    /// badEmail,badTimezone,missingSpaceBeforeDate,missingSpaceBeforeEmail].
    #[arg(long, global = true, env = "HEXFORGE_ACCEPTED_OBJECT_ERRORS", value_name = "NAMES")]
    pub accepted_object_errors: Option<String>,
    /// Rules about access, separated by commas, that are stricter than those of the reference: `manual_jobs`, `tags`,
    /// `build_lists` [default: none].
    #[arg(long, global = true, env = "HEXFORGE_STRICT_RULES", value_name = "NAMES")]
    pub strict_rules: Option<String>,
    /// What to log: a level or a filter such as `info,hexforge_http_actix=debug` [default: info].
    #[arg(long, global = true, env = "HEXFORGE_LOG", value_name = "FILTER")]
    pub log: Option<String>,
    /// `text` or `json` [default: text].
    #[arg(long, global = true, env = "HEXFORGE_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<String>,
}

impl Overrides {
    /// These, and where they say nothing, the others.
    pub(super) fn or(self, other: Overrides) -> Self {
        Self {
            listen: given(self.listen).or(other.listen),
            ssh_listen: given(self.ssh_listen).or(other.ssh_listen),
            data_dir: given(self.data_dir).or(other.data_dir),
            database_url: given(self.database_url).or(other.database_url),
            object_store_url: given(self.object_store_url).or(other.object_store_url),
            cache_gb: given(self.cache_gb).or(other.cache_gb),
            secret_key: given(self.secret_key).or(other.secret_key),
            external_url: given(self.external_url).or(other.external_url),
            root_password: given(self.root_password).or(other.root_password),
            root_token: given(self.root_token).or(other.root_token),
            default_projects_limit: given(self.default_projects_limit)
                .or(other.default_projects_limit),
            dialect: given(self.dialect).or(other.dialect),
            max_upload_mb: given(self.max_upload_mb).or(other.max_upload_mb),
            max_body_mb: given(self.max_body_mb).or(other.max_body_mb),
            allow_local_requests: given(self.allow_local_requests).or(other.allow_local_requests),
            background_work: given(self.background_work).or(other.background_work),
            hook_timeout: given(self.hook_timeout).or(other.hook_timeout),
            runners_token: given(self.runners_token).or(other.runners_token),
            max_artifacts_mb: given(self.max_artifacts_mb).or(other.max_artifacts_mb),
            max_push_mb: given(self.max_push_mb).or(other.max_push_mb),
            max_repository_mb: given(self.max_repository_mb).or(other.max_repository_mb),
            max_object_mb: given(self.max_object_mb).or(other.max_object_mb),
            push_memory_mb: given(self.push_memory_mb).or(other.push_memory_mb),
            build_silence_hours: given(self.build_silence_hours).or(other.build_silence_hours),
            sweep_after_hours: given(self.sweep_after_hours).or(other.sweep_after_hours),
            session_days: given(self.session_days).or(other.session_days),
            rate_limit_per_token: given(self.rate_limit_per_token).or(other.rate_limit_per_token),
            rate_limit_per_address: given(self.rate_limit_per_address)
                .or(other.rate_limit_per_address),
            trusted_proxies: given(self.trusted_proxies).or(other.trusted_proxies),
            min_transfer_rate: given(self.min_transfer_rate).or(other.min_transfer_rate),
            transfer_idle: given(self.transfer_idle).or(other.transfer_idle),
            verify_fetches: given(self.verify_fetches).or(other.verify_fetches),
            strict_rules: given(self.strict_rules).or(other.strict_rules),
            accepted_object_errors: given(self.accepted_object_errors)
                .or(other.accepted_object_errors),
            log: given(self.log).or(other.log),
            log_format: given(self.log_format).or(other.log_format),
        }
    }
}

/// An empty variable is one that is not set.
pub(super) fn given(value: Option<String>) -> Option<String> {
    value.filter(|value| !value.trim().is_empty())
}

/// Reads a file of settings.
pub(super) fn read_file(path: &Path) -> Result<Overrides> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the settings in {} cannot be read", path.display()))?;
    // Numbers are welcome as numbers.
    let table: toml::Table = toml::from_str(&text)
        .with_context(|| format!("the settings in {} are no TOML", path.display()))?;
    let texts: toml::Table = table
        .into_iter()
        .map(|(name, value)| match value {
            toml::Value::Integer(number) => (name, toml::Value::String(number.to_string())),
            toml::Value::Float(number) => (name, toml::Value::String(number.to_string())),
            toml::Value::Boolean(switch) => (name, toml::Value::String(switch.to_string())),
            value => (name, value),
        })
        .collect();
    texts.try_into().with_context(|| format!("the settings in {} are wrong", path.display()))
}
