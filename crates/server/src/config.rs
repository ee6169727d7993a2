//! Settings: flags over environment over file over defaults.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use hexforge_domain::text::Secret;
use hexforge_http_actix::Dialect;
use hexforge_persistence_diesel::DatabaseUrl;
use serde::Deserialize;
use validator::Validate;

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
    /// Seconds that a receiver of a hook may take to be reached, and again to answer, 1 to 60 [default: 10].
    #[arg(long, global = true, env = "HEXFORGE_HOOK_TIMEOUT", value_name = "SECONDS")]
    pub hook_timeout: Option<String>,
    /// By which runners register for all projects [default: generated on first start].
    #[arg(long, global = true, env = "HEXFORGE_RUNNERS_TOKEN", hide_env_values = true)]
    pub runners_token: Option<String>,
    /// The largest artifacts of a build, in MiB [default: 100].
    #[arg(long, global = true, env = "HEXFORGE_MAX_ARTIFACTS_MB", value_name = "MIB")]
    pub max_artifacts_mb: Option<String>,
    /// After how many hours a build fails of which nothing is heard [default: 24].
    #[arg(long, global = true, env = "HEXFORGE_BUILD_SILENCE_HOURS", value_name = "HOURS")]
    pub build_silence_hours: Option<String>,
    /// Requests a minute that are taken of those who show one token; 0 is no limit [default: 0].
    #[arg(long, global = true, env = "HEXFORGE_RATE_LIMIT_PER_TOKEN", value_name = "REQUESTS")]
    pub rate_limit_per_token: Option<String>,
    /// Requests a minute that are taken from one address without a token that is known; 0 is no limit [default: 0].
    #[arg(long, global = true, env = "HEXFORGE_RATE_LIMIT_PER_ADDRESS", value_name = "REQUESTS")]
    pub rate_limit_per_address: Option<String>,
    /// Whether each answer to a git fetch is checked by a walk over the whole history before it is sent, `true` or
    /// `false` (or `1` or `0`): slow, for finding errors [default: false].
    #[arg(long, global = true, env = "HEXFORGE_VERIFY_FETCHES", value_name = "BOOL")]
    pub verify_fetches: Option<String>,
    /// What to log: a level or a filter such as `info,hexforge_http_actix=debug` [default: info].
    #[arg(long, global = true, env = "HEXFORGE_LOG", value_name = "FILTER")]
    pub log: Option<String>,
    /// `text` or `json` [default: text].
    #[arg(long, global = true, env = "HEXFORGE_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<String>,
}

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
    /// The base of addresses; `None` follows `listen`.
    #[validate(url(message = "has to be an address such as https://forge.example.com"))]
    pub external_url: Option<String>,
    /// Of the first administrator.
    pub root_password: Option<Secret>,
    /// Of the first administrator.
    pub root_token: Option<Secret>,
    /// Of a new user.
    #[validate(range(min = 0, message = "has to be a number from 0 on"))]
    pub default_projects_limit: i32,
    /// How to answer.
    pub dialect: Dialect,
    /// In MiB.
    #[validate(range(min = 1, max = 4096, message = "has to be a number from 1 to 4096"))]
    pub max_upload_mb: usize,
    /// In MiB.
    #[validate(range(min = 1, max = 4096, message = "has to be a number from 1 to 4096"))]
    pub max_body_mb: usize,
    /// Whether requests of ours may go to this machine and its private networks.
    pub allow_local_requests: bool,
    /// In seconds.
    #[validate(range(min = 1, max = 60, message = "has to be a number from 1 to 60"))]
    pub hook_timeout: u64,
    /// By which runners register for all projects.
    pub runners_token: Option<Secret>,
    /// In MiB.
    #[validate(range(min = 1, max = 4096, message = "has to be a number from 1 to 4096"))]
    pub max_artifacts_mb: usize,
    /// After how many hours a build fails of which nothing is heard.
    #[validate(range(min = 1, max = 8760, message = "has to be a number from 1 to 8760"))]
    pub build_silence_hours: u32,
    /// Requests a minute; 0 is no limit.
    pub rate_limit_per_token: u32,
    /// Requests a minute; 0 is no limit.
    pub rate_limit_per_address: u32,
    /// Whether each answer to a git fetch is checked by a walk over the whole history.
    pub verify_fetches: bool,
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

impl Overrides {
    /// These, and where they say nothing, the others.
    fn or(self, other: Overrides) -> Self {
        Self {
            listen: given(self.listen).or(other.listen),
            ssh_listen: given(self.ssh_listen).or(other.ssh_listen),
            data_dir: given(self.data_dir).or(other.data_dir),
            database_url: given(self.database_url).or(other.database_url),
            external_url: given(self.external_url).or(other.external_url),
            root_password: given(self.root_password).or(other.root_password),
            root_token: given(self.root_token).or(other.root_token),
            default_projects_limit: given(self.default_projects_limit)
                .or(other.default_projects_limit),
            dialect: given(self.dialect).or(other.dialect),
            max_upload_mb: given(self.max_upload_mb).or(other.max_upload_mb),
            max_body_mb: given(self.max_body_mb).or(other.max_body_mb),
            allow_local_requests: given(self.allow_local_requests).or(other.allow_local_requests),
            hook_timeout: given(self.hook_timeout).or(other.hook_timeout),
            runners_token: given(self.runners_token).or(other.runners_token),
            max_artifacts_mb: given(self.max_artifacts_mb).or(other.max_artifacts_mb),
            build_silence_hours: given(self.build_silence_hours).or(other.build_silence_hours),
            rate_limit_per_token: given(self.rate_limit_per_token).or(other.rate_limit_per_token),
            rate_limit_per_address: given(self.rate_limit_per_address)
                .or(other.rate_limit_per_address),
            verify_fetches: given(self.verify_fetches).or(other.verify_fetches),
            log: given(self.log).or(other.log),
            log_format: given(self.log_format).or(other.log_format),
        }
    }
}

/// An empty variable is one that is not set.
fn given(value: Option<String>) -> Option<String> {
    value.filter(|value| !value.trim().is_empty())
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
            listen: parse(
                "listen",
                chosen.listen,
                "127.0.0.1:8080",
                "an address such as 127.0.0.1:8080",
            )?,
            ssh_listen: match chosen.ssh_listen {
                Some(word) if word.trim() == "off" => None,
                address => Some(parse(
                    "ssh_listen",
                    address,
                    "127.0.0.1:2222",
                    "`off` or an address such as 127.0.0.1:2222",
                )?),
            },
            data_dir,
            database_url,
            external_url: chosen.external_url.map(|url| url.trim_end_matches('/').to_owned()),
            root_password: chosen.root_password.map(Secret::new),
            root_token: chosen.root_token.map(Secret::new),
            default_projects_limit: parse(
                "default_projects_limit",
                chosen.default_projects_limit,
                "100",
                "a number from 0 on",
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
            max_upload_mb: parse(
                "max_upload_mb",
                chosen.max_upload_mb,
                "10",
                "a number from 1 to 4096",
            )?,
            max_body_mb: parse("max_body_mb", chosen.max_body_mb, "10", "a number from 1 to 4096")?,
            allow_local_requests: parse(
                "allow_local_requests",
                chosen.allow_local_requests,
                "false",
                "true or false",
            )?,
            hook_timeout: parse(
                "hook_timeout",
                chosen.hook_timeout,
                "10",
                "a number from 1 to 60",
            )?,
            runners_token: chosen.runners_token.map(Secret::new),
            max_artifacts_mb: parse(
                "max_artifacts_mb",
                chosen.max_artifacts_mb,
                "100",
                "a number from 1 to 4096",
            )?,
            build_silence_hours: parse(
                "build_silence_hours",
                chosen.build_silence_hours,
                "24",
                "a number from 1 to 8760",
            )?,
            rate_limit_per_token: parse(
                "rate_limit_per_token",
                chosen.rate_limit_per_token,
                "0",
                "a number from 0 on",
            )?,
            rate_limit_per_address: parse(
                "rate_limit_per_address",
                chosen.rate_limit_per_address,
                "0",
                "a number from 0 on",
            )?,
            verify_fetches: match chosen.verify_fetches.as_deref().map(str::trim) {
                None => cfg!(debug_assertions),
                Some("1" | "true") => true,
                Some("0" | "false") => false,
                Some(other) => bail!("verify_fetches is `{other}` and has to be true or false"),
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

fn read_file(path: &Path) -> Result<Overrides> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the settings in {} cannot be read", path.display()))?;
    // Numbers are welcome as numbers.
    let table: toml::Table = toml::from_str(&text)
        .with_context(|| format!("the settings in {} are no TOML", path.display()))?;
    let texts: toml::Table = table
        .into_iter()
        .map(|(name, value)| match value {
            toml::Value::Integer(number) => (name, toml::Value::String(number.to_string())),
            toml::Value::Boolean(switch) => (name, toml::Value::String(switch.to_string())),
            value => (name, value),
        })
        .collect();
    texts.try_into().with_context(|| format!("the settings in {} are wrong", path.display()))
}

fn parse<T: std::str::FromStr>(
    name: &str,
    chosen: Option<String>,
    default: &str,
    expected: &str,
) -> Result<T> {
    let text = chosen.as_deref().unwrap_or(default);
    text.trim().parse().map_err(|_| anyhow!("{name} is `{text}` and has to be {expected}"))
}

/// The settings as a file would have them, without secrets.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        writeln!(f, "listen = {}", quoted(&self.listen.to_string()))?;
        let ssh = self.ssh_listen.map_or_else(|| "off".to_owned(), |address| address.to_string());
        writeln!(f, "ssh_listen = {}", quoted(&ssh))?;
        writeln!(f, "data_dir = {}", quoted(&self.data_dir.display().to_string()))?;
        writeln!(f, "database_url = {}", quoted(&self.database_url.to_string()))?;
        match &self.external_url {
            Some(url) => writeln!(f, "external_url = {}", quoted(url))?,
            None => writeln!(f, "external_url = {}", quoted(&format!("http://{}", self.listen)))?,
        }
        writeln!(f, "default_projects_limit = {}", self.default_projects_limit)?;
        writeln!(f, "dialect = {}", quoted(self.dialect.as_str()))?;
        writeln!(f, "max_upload_mb = {}", self.max_upload_mb)?;
        writeln!(f, "max_body_mb = {}", self.max_body_mb)?;
        writeln!(f, "allow_local_requests = {}", self.allow_local_requests)?;
        writeln!(f, "hook_timeout = {}", self.hook_timeout)?;
        writeln!(f, "max_artifacts_mb = {}", self.max_artifacts_mb)?;
        writeln!(f, "build_silence_hours = {}", self.build_silence_hours)?;
        writeln!(f, "rate_limit_per_token = {}", self.rate_limit_per_token)?;
        writeln!(f, "rate_limit_per_address = {}", self.rate_limit_per_address)?;
        writeln!(f, "verify_fetches = {}", self.verify_fetches)?;
        writeln!(f, "log = {}", quoted(&self.log))?;
        let format = match self.log_format {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        };
        writeln!(f, "log_format = {}", quoted(format))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(overrides: Overrides) -> String {
        match Config::resolve(overrides) {
            Ok(_) => "nothing is wrong".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn a_wrong_value_is_told_in_a_sentence_that_names_it() {
        let none = Overrides::default;
        for (overrides, sentence) in [
            (
                Overrides { listen: text("here"), ..none() },
                "listen is `here` and has to be an address such as 127.0.0.1:8080",
            ),
            (
                Overrides { database_url: text("mysql://me:hunter2@h/d"), ..none() },
                "database_url is wrong: a database address is `sqlite:PATH` or `postgres://...`",
            ),
            (
                Overrides { external_url: text("forge"), ..none() },
                "external_url has to be an address such as https://forge.example.com",
            ),
            (
                Overrides { external_url: text("ftp://forge.example.com"), ..none() },
                "external_url is `ftp://forge.example.com` and has to begin with http:// or https://",
            ),
            (
                Overrides { dialect: text("klingon"), ..none() },
                "dialect is `klingon` and has to be `specification` or `original`",
            ),
            (
                Overrides { max_body_mb: text("0"), ..none() },
                "max_body_mb has to be a number from 1 to 4096",
            ),
            (
                Overrides { max_body_mb: text("lots"), ..none() },
                "max_body_mb is `lots` and has to be a number from 1 to 4096",
            ),
            (
                Overrides { max_upload_mb: text("4097"), ..none() },
                "max_upload_mb has to be a number from 1 to 4096",
            ),
            (
                Overrides { verify_fetches: text("often"), ..none() },
                "verify_fetches is `often` and has to be true or false",
            ),
            (
                Overrides { max_upload_mb: text("lots"), ..none() },
                "max_upload_mb is `lots` and has to be a number from 1 to 4096",
            ),
            (
                Overrides { default_projects_limit: text("-1"), ..none() },
                "default_projects_limit has to be a number from 0 on",
            ),
            (
                Overrides { hook_timeout: text("61"), ..none() },
                "hook_timeout has to be a number from 1 to 60",
            ),
            (
                Overrides { rate_limit_per_token: text("-1"), ..none() },
                "rate_limit_per_token is `-1` and has to be a number from 0 on",
            ),
            (
                Overrides { runners_token: text("short"), ..none() },
                "runners_token has to have at least 8 characters",
            ),
            (
                Overrides { log_format: text("xml"), ..none() },
                "log_format is `xml` and has to be `text` or `json`",
            ),
        ] {
            assert_eq!(wrong(overrides), sentence);
        }
    }

    #[test]
    fn flags_count_more_than_the_file_and_the_file_more_than_defaults() {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let file = folder.path().join("hexforge.toml");
        std::fs::write(&file, "listen = \"127.0.0.1:1\"\nmax_body_mb = 3\nmax_upload_mb = 4\n")
            .expect("writable");
        let flags = Overrides {
            listen: text("127.0.0.1:2"),
            data_dir: Some(folder.path().display().to_string()),
            dialect: text(""),
            ..Overrides::default()
        };
        let config = Config::load(flags, None).expect("all of it is right");
        assert_eq!(config.listen.port(), 2);
        assert_eq!((config.max_body_mb, config.max_upload_mb), (3, 4));
        assert_eq!(config.dialect, Dialect::Specification);
        std::fs::write(&file, "lisen = \"x\"").expect("writable");
        let error = Config::load(Overrides::default(), Some(&file)).err().expect("unknown setting");
        assert!(format!("{error:#}").contains("lisen"), "{error:#}");
    }

    #[test]
    fn printed_settings_have_no_secrets() {
        let config = Config::resolve(Overrides {
            database_url: text("postgres://me:hunter2@db/forge"),
            root_password: text("hunter2hunter2"),
            root_token: text("hunter2hunter2hunter2"),
            runners_token: text("hunter2hunter2hunter2"),
            ..Overrides::default()
        })
        .expect("all of it is right");
        assert!(!config.to_string().contains("hunter2"), "{config}");
    }
}
