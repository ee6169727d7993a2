//! The command line.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::config::Overrides;

/// A source-code hosting service in one program.
///
/// Without a command it serves. Settings come from flags, then from HEXFORGE_* variables, then from
/// the file hexforge.toml in the data folder, then from defaults.
#[derive(Parser)]
#[command(name = "hexforge", version)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The file with settings [default: hexforge.toml in the data folder, if it is there].
    #[arg(long, global = true, env = "HEXFORGE_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Whether `config` comes from the flag and not from the environment.
    #[arg(skip)]
    pub is_config_given: bool,
    /// Settings.
    #[command(flatten)]
    pub overrides: Overrides,
}

impl Cli {
    /// Parses the command line. Ends the program if it is wrong, or asks for help.
    pub fn from_command_line() -> Self {
        let matches = Self::command().get_matches();
        let parsed = Self::from_arg_matches(&matches);
        let mut cli = parsed.unwrap_or_else(|error| error.format(&mut Self::command()).exit());
        cli.is_config_given = matches.value_source("config") == Some(ValueSource::CommandLine);
        cli
    }
}

/// What the program can do.
#[derive(Subcommand)]
pub enum Command {
    /// Serve HTTP and git over SSH (the default). SIGTERM stops it after running requests are finished.
    Serve(Serve),
    /// Apply pending migrations to the database. `serve` does the same when it starts.
    Migrate(Migrate),
    /// Check the installation and report what is wrong. The exit code is 1 if anything is wrong.
    Doctor {
        /// Also read all packs and indexes, and compare them with their names and checksums.
        #[arg(long)]
        deep: bool,
    },
    /// Print the description of the API, as OpenAPI 3.1.
    Openapi,
    /// Write a consistent copy of the database, all repositories and all files into one new file, or as a further
    /// snapshot into a folder or an object store. The server may keep running. Whoever can read a backup can read
    /// everything, so its files are readable by their owner only.
    Backup(MakeBackup),
    /// List the snapshots in a backup folder or object store.
    Backups {
        /// A folder, or an address such as `s3://bucket/prefix`.
        place: String,
    },
    /// Read a whole backup and check that nothing in it is damaged or missing.
    Verify(BackupFile),
    /// Restore a backup into an empty data folder and an empty database. The backup is verified first; if anything
    /// fails, both stay empty.
    Restore(BackupFile),
    /// Manage user accounts.
    #[command(subcommand)]
    User(User),
    /// Manage tokens of users and sessions, and the tokens with which runners register.
    #[command(subcommand)]
    Token(Token),
    /// Manage runners, the programs on other machines that run builds.
    #[command(subcommand)]
    Runners(Runners),
    /// Run builds of a hexforge server on this machine. `--config` names the file with the registered runners
    /// [default: runner.toml, variable HEXFORGE_RUNNER_CONFIG].
    #[command(subcommand)]
    Runner(RunnerCommand),
    /// Show and change the settings of the service. A running server uses them from the next request on.
    #[command(subcommand)]
    Settings(Settings),
    /// Manage broadcast messages, which are shown to all users for a time.
    #[command(subcommand)]
    Broadcast(Broadcast),
    /// Manage the environments of a project, the places to which its builds deploy.
    #[command(subcommand)]
    Environments(Environments),
    /// Show what the builds of a project deployed.
    #[command(subcommand)]
    Deployments(Deployments),
}

/// The project of a command.
#[derive(Args)]
pub struct ProjectOption {
    /// The project, as an id or `namespace/project`.
    #[arg(long, value_name = "PROJECT")]
    pub project: String,
}

/// `hexforge serve`.
#[derive(Args, Default)]
pub struct Serve {
    /// Print the settings in effect, without secrets, and exit.
    #[arg(long)]
    pub print_config: bool,
    /// Also run builds on this machine, for trying out: in a sandbox of bubblewrap if there is one, and as the user
    /// `hexforge-runner` or `nobody` if the server runs as root. Run `hexforge runner` on another machine instead when
    /// people use the server.
    #[arg(long)]
    pub with_runner: bool,
}

/// `hexforge migrate`.
#[derive(Args)]
pub struct Migrate {
    /// Only list pending migrations. The exit code is 1 if there are any.
    #[arg(long)]
    pub check: bool,
}

/// `hexforge backup`.
#[derive(Args)]
pub struct MakeBackup {
    /// A new file, a folder (end a new one with `/`), or an address such as `s3://bucket/prefix`.
    pub place: String,
    /// Keep this many snapshots in the folder or object store, and remove older ones [default: all].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub keep: Option<u32>,
}

/// `hexforge verify` and `restore`.
#[derive(Args)]
pub struct BackupFile {
    /// The file, folder or address of the backup.
    pub place: String,
    /// The snapshot, as `hexforge backups` lists it [default: the newest].
    #[arg(long, value_name = "SNAPSHOT")]
    pub at: Option<String>,
}

/// `hexforge user`.
#[derive(Subcommand)]
pub enum User {
    /// Create an account. Unless the password is given on standard input, one is generated and shown.
    Create(CreateUser),
    /// List all accounts.
    List,
    /// Block an account: its tokens and its password no longer work.
    Block(Block),
    /// Lift a block.
    Unblock(Block),
    /// Set another password. Unless it is given on standard input, one is generated and shown.
    Password(Password),
    /// Show the owner of an SSH key: number, username or `deploy key`, title, fingerprint.
    Key {
        /// The number of the key, as `GET /users/:id/keys` of the API shows it.
        id: i64,
    },
}

/// `hexforge user create`.
#[derive(Args)]
pub struct CreateUser {
    /// The username.
    #[arg(value_name = "NAME")]
    pub username: String,
    /// The primary e-mail address.
    #[arg(long)]
    pub email: String,
    /// The name shown to people [default: the username].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Create an administrator.
    #[arg(long)]
    pub admin: bool,
    /// Create an external user, who sees only what it is a member of.
    #[arg(long)]
    pub external: bool,
    /// Read the password from standard input, one line.
    #[arg(long)]
    pub password_stdin: bool,
}

/// `hexforge user block` and `unblock`.
#[derive(Args)]
pub struct Block {
    /// The username.
    #[arg(value_name = "NAME")]
    pub username: String,
    /// Act on behalf of a synchronised directory: administrators cannot lift its blocks through the
    /// API.
    #[arg(long)]
    pub directory: bool,
}

/// `hexforge user password`.
#[derive(Args)]
pub struct Password {
    /// The username.
    #[arg(value_name = "NAME")]
    pub username: String,
    /// Read the password from standard input, one line.
    #[arg(long)]
    pub password_stdin: bool,
}

/// `hexforge token`.
#[derive(Subcommand)]
pub enum Token {
    /// Create a token and show it once.
    Create(CreateToken),
    /// List the tokens of a user, without their secrets.
    List(ListTokens),
    /// Revoke a token.
    Revoke(RevokeToken),
    /// Replace the token with which runners register, and show the new one. Registered runners stay registered.
    Rotate(RotateToken),
}

/// `hexforge token rotate`.
#[derive(Args)]
pub struct RotateToken {
    /// The project whose runners token is replaced, as an id or `namespace/project` [default: the token of the
    /// instance, for all projects].
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
}

/// `hexforge runners`.
#[derive(Subcommand)]
pub enum Runners {
    /// List all runners: number, state, scope, last contact, description.
    List,
    /// Show all details of a runner, without its token: one line with name and value for each.
    Show(RunnerNumber),
    /// Change a runner. Options that are not given stay as they are.
    Update {
        #[command(flatten)]
        number: RunnerNumber,
        #[command(flatten)]
        fields: RunnerFields,
    },
    /// Assign a runner that is not shared to one more project.
    Assign {
        #[command(flatten)]
        number: RunnerNumber,
        #[command(flatten)]
        project: ProjectOption,
    },
    /// Take a runner from a project. A runner keeps its last project; `runners remove` removes the runner.
    Unassign {
        #[command(flatten)]
        number: RunnerNumber,
        #[command(flatten)]
        project: ProjectOption,
    },
    /// Give a runner no more builds. Builds that it runs already continue.
    Pause(RunnerNumber),
    /// Give a paused runner builds again.
    Resume(RunnerNumber),
    /// Remove a runner. Its token is refused from then on.
    Remove(RunnerNumber),
}

/// The number of a runner.
#[derive(Args)]
pub struct RunnerNumber {
    /// The number of the runner, as `runners list` shows it.
    pub id: i64,
}

/// The changes of `hexforge runners update`, at least one.
#[derive(Args)]
#[group(required = true, multiple = true)]
pub struct RunnerFields {
    /// The description.
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// The tags, separated by commas; an empty text removes all. Builds with tags need a runner that has all of them.
    #[arg(long, value_delimiter = ',', value_name = "TAGS")]
    pub tags: Option<Vec<String>>,
    /// Whether the runner takes builds without tags.
    #[arg(long, value_name = "BOOL")]
    pub run_untagged: Option<bool>,
    /// Whether the runner is restricted to its projects.
    #[arg(long, value_name = "BOOL")]
    pub locked: Option<bool>,
}

/// `hexforge runner`.
#[derive(Subcommand)]
pub enum RunnerCommand {
    /// Register a runner with a server and add it to the configuration file.
    Register(RegisterRunner),
    /// Take builds and run them. SIGTERM or SIGINT: finish what runs, take nothing new. A second one: stop the builds
    /// and report them as failed.
    Run(RunRunner),
    /// Check that the servers know the tokens of all runners in the file. The exit code is 1 if one is refused or if a
    /// server does not answer.
    Verify,
    /// Remove a runner from its server and from the file.
    Unregister {
        /// The name of the runner, as `runner status` shows it.
        #[arg(long)]
        name: String,
        /// Remove it from the file only, for a server that is gone.
        #[arg(long)]
        local: bool,
    },
    /// List the runners in the file, and whether their servers answer.
    Status,
}

/// `hexforge runner register`.
#[derive(Args)]
pub struct RegisterRunner {
    /// The address of the server, such as `https://forge.example.com`.
    #[arg(long)]
    pub url: String,
    /// The registration token: of the instance for all projects, or of one project.
    #[arg(long, allow_hyphen_values = true)]
    pub token: String,
    /// The name in the file and on the server [default: the host name].
    #[arg(long)]
    pub name: Option<String>,
    /// The tags, separated by commas. Builds with tags need a runner that has all of them.
    #[arg(long, value_delimiter = ',', value_name = "TAGS")]
    pub tag_list: Vec<String>,
    /// How builds run: `shell` (no isolation), `sandbox` (bubblewrap) or `container` (podman or docker).
    #[arg(long, default_value = "shell", value_parser = ["shell", "sandbox", "container"])]
    pub executor: String,
    /// Whether builds reach the network, for `sandbox` and `container`.
    #[arg(long, default_value = "on", value_parser = ["on", "off"])]
    pub network: String,
    /// Whether the runner takes builds without tags.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, value_name = "BOOL")]
    pub run_untagged: bool,
    /// Restrict the runner to its projects.
    #[arg(long)]
    pub locked: bool,
    /// The user as whom builds run, for `shell` and `sandbox`. The runner itself has to run as root.
    #[arg(long)]
    pub user: Option<String>,
    /// The image of jobs that name none, for `container`.
    #[arg(long)]
    pub image: Option<String>,
}

/// `hexforge runner run`.
#[derive(Args)]
pub struct RunRunner {
    /// How many builds run at once [default: `concurrent` in the file, or 1].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub concurrent: Option<u16>,
    /// The folder of working copies and caches [default: `builds_dir` in the file, or `builds` beside it].
    #[arg(long, value_name = "FOLDER")]
    pub builds_dir: Option<PathBuf>,
    /// End after one build. The exit code is 0 whatever its result.
    #[arg(long)]
    pub once: bool,
    /// Serve metrics for Prometheus on this address, such as 127.0.0.1:9252, at `/metrics`.
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<std::net::SocketAddr>,
}

/// `hexforge settings`.
#[derive(Subcommand)]
pub enum Settings {
    /// List all settings with their values, and mark those that were changed.
    Show,
    /// Change a setting.
    Set {
        /// The name of the setting, as `settings show` lists it.
        name: String,
        /// The value; for a list all its values, or none to empty it.
        #[arg(value_name = "VALUE", allow_hyphen_values = true)]
        values: Vec<String>,
    },
    /// Give a setting its initial value again, which may come from the configuration.
    Reset {
        /// The name of the setting, as `settings show` lists it.
        name: String,
    },
}

/// `hexforge broadcast`.
#[derive(Subcommand)]
pub enum Broadcast {
    /// List all messages: number, state, period, colours, text.
    List,
    /// Create a message.
    Create {
        /// The text.
        message: String,
        #[command(flatten)]
        look: BroadcastLook,
    },
    /// Change a message. What is not given stays.
    Update {
        #[command(flatten)]
        number: BroadcastNumber,
        /// The new text.
        #[arg(long, value_name = "TEXT")]
        message: Option<String>,
        #[command(flatten)]
        look: BroadcastLook,
    },
    /// Remove a message.
    Remove(BroadcastNumber),
}

/// The number of a broadcast message.
#[derive(Args)]
pub struct BroadcastNumber {
    /// The number of the message, as `broadcast list` shows it.
    pub id: i64,
}

/// The period and the colours of a broadcast message.
#[derive(Args)]
pub struct BroadcastLook {
    /// When the message is shown first, such as 2027-01-31T18:00:00Z [default: now].
    #[arg(long, value_name = "TIME")]
    pub starts_at: Option<chrono::DateTime<chrono::Utc>>,
    /// When the message is shown last [default: in one hour].
    #[arg(long, value_name = "TIME")]
    pub ends_at: Option<chrono::DateTime<chrono::Utc>>,
    /// The colour of the background; by default `#E75E40`.
    #[arg(long)]
    pub color: Option<String>,
    /// The colour of the text; by default `#FFFFFF`.
    #[arg(long)]
    pub font: Option<String>,
}

/// `hexforge environments`.
#[derive(Subcommand)]
pub enum Environments {
    /// List the environments of a project: number, state, name, URL.
    List(ProjectOption),
    /// Create an environment.
    Create {
        /// The name, unique in the project.
        name: String,
        #[command(flatten)]
        project: ProjectOption,
        // `--external-url` is a setting, which every command accepts.
        /// The URL at which the environment is reached.
        #[arg(long)]
        url: Option<String>,
    },
    /// Change an environment. Options that are not given stay as they are.
    Update {
        #[command(flatten)]
        number: EnvironmentNumber,
        #[command(flatten)]
        project: ProjectOption,
        #[command(flatten)]
        changes: EnvironmentChanges,
    },
    /// Remove an environment with its deployments.
    Remove {
        #[command(flatten)]
        number: EnvironmentNumber,
        #[command(flatten)]
        project: ProjectOption,
    },
}

/// The number of an environment.
#[derive(Args)]
pub struct EnvironmentNumber {
    /// The number of the environment, as `environments list` shows it.
    pub id: i64,
}

/// The changes of `hexforge environments update`, at least one.
#[derive(Args)]
#[group(required = true, multiple = true)]
pub struct EnvironmentChanges {
    /// The new name.
    #[arg(long)]
    pub name: Option<String>,
    /// The new URL; an empty text removes it.
    #[arg(long)]
    pub url: Option<String>,
}

/// `hexforge deployments`.
#[derive(Subcommand)]
pub enum Deployments {
    /// List the deployments of a project, oldest first: number, time, environment, branch or tag, commit, build, user.
    List(ProjectOption),
    /// Show all details of a deployment: one line with name and value for each.
    Show {
        /// The number of the deployment, as `deployments list` shows it.
        id: i64,
        #[command(flatten)]
        project: ProjectOption,
    },
}

/// `hexforge token create`.
#[derive(Args)]
pub struct CreateToken {
    /// The username of the owner.
    #[arg(long, value_name = "NAME")]
    pub user: String,
    /// What it is for.
    #[arg(long, default_value = "command line")]
    pub name: String,
    /// The last day on which it works, as YYYY-MM-DD [default: it does not expire].
    #[arg(long, value_name = "DATE")]
    pub expires_at: Option<chrono::NaiveDate>,
}

/// `hexforge token list`.
#[derive(Args)]
pub struct ListTokens {
    /// The username of the owner.
    #[arg(long, value_name = "NAME")]
    pub user: String,
}

/// `hexforge token revoke`.
#[derive(Args)]
pub struct RevokeToken {
    /// The number of the token, as `token list` shows it.
    pub id: i64,
}
