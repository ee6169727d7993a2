//! Settings: flags over environment over file over defaults.

mod overrides;
mod parse;
mod printed;
#[cfg(test)]
mod tests;

pub use overrides::Overrides;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use hexforge_domain::limiter::TransferLimits;
use hexforge_domain::network::Network;
use hexforge_domain::policy::strict::StrictRules;
use hexforge_domain::text::Secret;
use hexforge_git_gix::AcceptedFaults;
use hexforge_http_actix::Dialect;
use hexforge_persistence_diesel::DatabaseUrl;
use validator::Validate;

use crate::system::InstallationKey;
use overrides::{given, read_file};
use parse::{networks, number, value};

/// The settings of one run, all of them good.
#[derive(Clone, Validate)]
pub struct Config {
    /// The address of HTTP.
    pub listen: SocketAddr,
    /// The address of git over SSH, unless it is off.
    pub ssh_listen: Option<SocketAddr>,
    /// Everything the server keeps.
    pub data_dir: PathBuf,
    /// Where the data is.
    pub database_url: DatabaseUrl,
    /// The address of the object store, if packs and files are in one.
    pub object_store_url: Option<String>,
    /// The size of the local cache of packs in GiB.
    pub cache_gb: f64,
    /// The key of the installation; `None` is in the data folder.
    pub secret_key: Option<InstallationKey>,
    /// The base of addresses; `None` follows `listen`.
    #[validate(url(message = "has to be an address such as https://forge.example.com"))]
    pub external_url: Option<String>,
    /// Of the first administrator.
    pub root_password: Option<Secret>,
    /// Of the first administrator.
    pub root_token: Option<Secret>,
    /// Of a new user.
    pub default_projects_limit: i32,
    /// How to answer.
    pub dialect: Dialect,
    /// In MiB.
    pub max_upload_mb: usize,
    /// In MiB.
    pub max_body_mb: usize,
    /// Whether requests of ours may go to this machine and its private networks.
    pub allow_local_requests: bool,
    /// Whether this process does work in the background, such as sending to hooks.
    pub background_work: bool,
    /// In seconds.
    pub hook_timeout: u64,
    /// By which runners register for all projects.
    pub runners_token: Option<Secret>,
    /// In MiB.
    pub max_artifacts_mb: usize,
    /// In MiB.
    pub max_push_mb: u64,
    /// In MiB.
    pub max_repository_mb: u64,
    /// In MiB.
    pub max_object_mb: u64,
    /// In MiB. One push with large objects takes up to 80.
    pub push_memory_mb: usize,
    /// After how many hours a build fails of which nothing is heard.
    pub build_silence_hours: u32,
    /// The grace period of packs that no repository names, in hours.
    pub sweep_after_hours: u32,
    /// After how many days without use a session ends.
    pub session_days: u32,
    /// Requests a minute; 0 is no limit.
    pub rate_limit_per_token: u32,
    /// Requests a minute; 0 is no limit.
    pub rate_limit_per_address: u32,
    /// Whose forwarded headers are believed.
    pub trusted_proxies: Vec<Network>,
    /// In KiB per second; 0 is no limit.
    pub min_transfer_rate: u64,
    /// In seconds.
    pub transfer_idle: u64,
    /// Whether each answer to a git fetch is checked by a walk over the whole history.
    pub verify_fetches: bool,
    /// Errors that pushed and imported objects may have.
    pub accepted_object_errors: AcceptedFaults,
    /// Rules that are stricter than those of the reference.
    pub strict_rules: StrictRules,
    /// A filter for tracing.
    pub log: String,
    /// How lines are written.
    pub log_format: LogFormat,
}

/// How lines of the log are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

impl Config {
    /// Puts the settings together.
    /// # Errors
    /// A sentence that names the setting that is wrong.
    pub fn load(overrides: Overrides, file: Option<&Path>) -> Result<Self> {
        let data_dir =
            given(overrides.data_dir.clone()).unwrap_or_else(|| "hexforge-data".to_owned());
        let in_data_dir = Path::new(&data_dir).join("hexforge.toml");
        let from_file = match file {
            Some(file) => read_file(file)?,
            None if in_data_dir.exists() => read_file(&in_data_dir)?,
            None => Overrides::default(),
        };
        Self::resolve(overrides.or(from_file))
    }

    fn resolve(chosen: Overrides) -> Result<Self> {
        let data_dir = PathBuf::from(chosen.data_dir.unwrap_or_else(|| "hexforge-data".to_owned()));
        let database_url = match chosen.database_url {
            // Not shown again: an address may carry a password.
            Some(url) => {
                DatabaseUrl::parse(&url).map_err(|why| anyhow!("database_url is wrong: {why}"))?
            }
            None => DatabaseUrl::Sqlite(data_dir.join("hexforge.db")),
        };
        let config = Self {
            listen: value(
                "listen",
                chosen.listen,
                "127.0.0.1:8080",
                "an address such as 127.0.0.1:8080",
            )?,
            ssh_listen: match chosen.ssh_listen {
                Some(word) if word.trim() == "off" => None,
                address => Some(value(
                    "ssh_listen",
                    address,
                    "127.0.0.1:2222",
                    "`off` or an address such as 127.0.0.1:2222",
                )?),
            },
            data_dir,
            database_url,
            object_store_url: chosen.object_store_url.map(|url| url.trim().to_owned()),
            cache_gb: number("cache_gb", chosen.cache_gb, 50.0, 0.001..=1_000_000.0)?,
            secret_key: match chosen.secret_key {
                // Not shown again.
                Some(text) => Some(InstallationKey::parse(text.trim()).ok_or_else(|| {
                    anyhow!("secret_key has to be 64 hex digits: `openssl rand -hex 32` makes some")
                })?),
                None => None,
            },
            external_url: chosen.external_url.map(|url| url.trim_end_matches('/').to_owned()),
            root_password: chosen.root_password.map(Secret::new),
            root_token: chosen.root_token.map(Secret::new),
            default_projects_limit: number(
                "default_projects_limit",
                chosen.default_projects_limit,
                100,
                0..,
            )?,
            dialect: match chosen.dialect {
                None => Dialect::default(),
                Some(name) => match name.parse() {
                    Ok(dialect) => dialect,
                    Err(_) => {
                        bail!("dialect is `{name}` and has to be `specification` or `original`")
                    }
                },
            },
            max_upload_mb: number("max_upload_mb", chosen.max_upload_mb, 10, 1..=4096)?,
            max_body_mb: number("max_body_mb", chosen.max_body_mb, 10, 1..=4096)?,
            allow_local_requests: value(
                "allow_local_requests",
                chosen.allow_local_requests,
                "false",
                "true or false",
            )?,
            background_work: value(
                "background_work",
                chosen.background_work,
                "true",
                "true or false",
            )?,
            hook_timeout: number("hook_timeout", chosen.hook_timeout, 10, 1..=60)?,
            runners_token: chosen.runners_token.map(Secret::new),
            max_artifacts_mb: number("max_artifacts_mb", chosen.max_artifacts_mb, 100, 1..=4096)?,
            max_push_mb: number("max_push_mb", chosen.max_push_mb, 10240, 1..=1_048_576)?,
            max_repository_mb: number(
                "max_repository_mb",
                chosen.max_repository_mb,
                20480,
                1..=1_048_576,
            )?,
            max_object_mb: number("max_object_mb", chosen.max_object_mb, 2048, 1..=1_048_576)?,
            push_memory_mb: number("push_memory_mb", chosen.push_memory_mb, 512, 128..=65536)?,
            build_silence_hours: number(
                "build_silence_hours",
                chosen.build_silence_hours,
                24,
                1..=8760,
            )?,
            sweep_after_hours: number("sweep_after_hours", chosen.sweep_after_hours, 24, 1..=8760)?,
            session_days: number("session_days", chosen.session_days, 14, 1..=3650)?,
            rate_limit_per_token: number(
                "rate_limit_per_token",
                chosen.rate_limit_per_token,
                0,
                0..,
            )?,
            rate_limit_per_address: number(
                "rate_limit_per_address",
                chosen.rate_limit_per_address,
                0,
                0..,
            )?,
            trusted_proxies: networks(chosen.trusted_proxies.as_deref())?,
            min_transfer_rate: number("min_transfer_rate", chosen.min_transfer_rate, 4, 0..=1024)?,
            transfer_idle: number("transfer_idle", chosen.transfer_idle, 60, 1..=3600)?,
            verify_fetches: match chosen.verify_fetches.as_deref().map(str::trim) {
                None => cfg!(debug_assertions),
                Some("1" | "true") => true,
                Some("0" | "false") => false,
                Some(other) => bail!("verify_fetches is `{other}` and has to be true or false"),
            },
            strict_rules: StrictRules::parse(&chosen.strict_rules.unwrap_or_default()).map_err(
                |name| anyhow!("strict_rules has `{name}`, which is no rule that can be stricter"),
            )?,
            accepted_object_errors: match chosen.accepted_object_errors {
                None => AcceptedFaults::default(),
                Some(names) => AcceptedFaults::parse(&names).map_err(|name| {
                    anyhow!("accepted_object_errors has `{name}`, which is no error of git fsck")
                })?,
            },
            log: chosen.log.unwrap_or_else(|| "info".to_owned()),
            log_format: match chosen.log_format.as_deref() {
                None | Some("text") => LogFormat::Text,
                Some("json") => LogFormat::Json,
                Some(other) => bail!("log_format is `{other}` and has to be `text` or `json`"),
            },
        };
        check(&config)?;
        Ok(config)
    }

    /// How slow clients may be that hold a permit.
    pub fn transfer_limits(&self) -> TransferLimits {
        TransferLimits {
            idle: Duration::from_secs(self.transfer_idle),
            min_rate: self.min_transfer_rate * 1024,
        }
    }
}

/// Of a token that whoever runs the server chose; those we make are much longer.
const SHORTEST_TOKEN: usize = 8;

fn check(config: &Config) -> Result<()> {
    if let Err(errors) = config.validate() {
        let problems: Vec<String> = errors
            .field_errors()
            .iter()
            .flat_map(|(setting, problems)| problems.iter().map(move |problem| (setting, problem)))
            .map(|(setting, problem)| {
                format!("{setting} {}", problem.message.as_deref().unwrap_or("is wrong"))
            })
            .collect();
        bail!("{}", problems.join("; "));
    }
    if config.runners_token.as_ref().is_some_and(|token| token.reveal().len() < SHORTEST_TOKEN) {
        bail!("runners_token has to have at least {SHORTEST_TOKEN} characters");
    }
    match &config.external_url {
        Some(url) if !url.starts_with("http://") && !url.starts_with("https://") => {
            bail!("external_url is `{url}` and has to begin with http:// or https://")
        }
        Some(_) | None => Ok(()),
    }
}
