//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::config::Overrides;

/// A source-code hosting service in one program.
///
/// Without a command it serves. Settings come from flags, then from HEXFORGE_* variables, then from
/// the file hexforge.toml in the data folder, then from defaults.
#[derive(Parser)]
#[command(name = "hexforge", version)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The file with settings [default: hexforge.toml in the data folder, if it is there].
    #[arg(long, global = true, env = "HEXFORGE_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Settings.
    #[command(flatten)]
    pub overrides: Overrides,
}

/// What the program can do.
#[derive(Subcommand)]
pub enum Command {
    /// Serve HTTP (the default). SIGTERM ends it after what is running is finished.
    Serve(Serve),
    /// Bring the database's schema up to date. `serve` does the same when it starts.
    Migrate(Migrate),
    /// Look whether everything is as it should be, and say what is not. Ends with 1 if anything is wrong.
    Doctor {
        /// Also read all packs and indexes, and compare them with their names and checksums.
        #[arg(long)]
        deep: bool,
    },
    /// Print the description of the interface, as OpenAPI 3.1.
    Openapi,
    /// Write the database, all repositories and all files, as they are at one moment, into one new file, or as a further
    /// snapshot into a folder or an object store. The server may serve meanwhile. Whoever can read a backup can read
    /// everything: files are made for their owner only.
    Backup(MakeBackup),
    /// List the snapshots in a folder or an object store of backups.
    Backups {
        /// A folder, or an address such as `s3://bucket/prefix`.
        place: String,
    },
    /// Read a whole backup and check that nothing in it is damaged or missing.
    Verify(BackupFile),
    /// Bring a backup back, into a data folder and a database that are empty. The backup is checked first; if anything
    /// fails, both stay empty.
    Restore(BackupFile),
    /// Manage user accounts.
    #[command(subcommand)]
    User(User),
    /// Manage tokens: of users and their sessions, and those by which runners register.
    #[command(subcommand)]
    Token(Token),
    /// Manage runners, the programs elsewhere that run builds.
    #[command(subcommand)]
    Runners(Runners),
}

/// `hexforge serve`.
#[derive(Args, Default)]
pub struct Serve {
    /// Show the settings that would be used, without secrets, and stop.
    #[arg(long)]
    pub print_config: bool,
}

/// `hexforge migrate`.
#[derive(Args)]
pub struct Migrate {
    /// Change nothing; name what would be done, and end with 1 if that is anything.
    #[arg(long)]
    pub check: bool,
}

/// `hexforge backup`.
#[derive(Args)]
pub struct MakeBackup {
    /// A new file, a folder (end a new one with `/`), or an address such as `s3://bucket/prefix`.
    pub place: String,
    /// Keep so many snapshots in the folder or object store, and remove older ones [default: all].
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
    /// Make an account. Unless the password is given on standard input, one is made and shown.
    Create(CreateUser),
    /// List all accounts.
    List,
    /// Block an account: none of its tokens and passwords works any more.
    Block(Block),
    /// Lift a block.
    Unblock(Block),
    /// Set another password. Unless it is given on standard input, one is made and shown.
    Password(Password),
}

/// `hexforge user create`.
#[derive(Args)]
pub struct CreateUser {
    /// The name by which the user is addressed.
    #[arg(value_name = "NAME")]
    pub username: String,
    /// The primary e-mail address.
    #[arg(long)]
    pub email: String,
    /// The name shown to people [default: the username].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Make an administrator.
    #[arg(long)]
    pub admin: bool,
    /// Make an external user, who sees only what it is a member of.
    #[arg(long)]
    pub external: bool,
    /// Read the password from standard input, one line.
    #[arg(long)]
    pub password_stdin: bool,
}

/// `hexforge user block` and `unblock`.
#[derive(Args)]
pub struct Block {
    /// Whose account.
    #[arg(value_name = "NAME")]
    pub username: String,
    /// Act for a directory that is synchronised: its blocks can be lifted by it alone, not by
    /// administrators over the interface.
    #[arg(long)]
    pub directory: bool,
}

/// `hexforge user password`.
#[derive(Args)]
pub struct Password {
    /// Whose password.
    #[arg(value_name = "NAME")]
    pub username: String,
    /// Read the password from standard input, one line.
    #[arg(long)]
    pub password_stdin: bool,
}

/// `hexforge token`.
#[derive(Subcommand)]
pub enum Token {
    /// Make a token and show it, this once.
    Create(CreateToken),
    /// List the tokens of a user, without their secrets.
    List(ListTokens),
    /// Take a token back.
    Revoke(RevokeToken),
    /// Replace the token by which runners register, and show the new one. Registered runners stay registered.
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
    /// Give a runner no more builds. What it runs already goes on.
    Pause(RunnerNumber),
    /// Give a paused runner builds again.
    Resume(RunnerNumber),
    /// Remove a runner. Its token is refused from then on.
    Remove(RunnerNumber),
}

/// `hexforge runners pause`, `resume` and `remove`.
#[derive(Args)]
pub struct RunnerNumber {
    /// The number of the runner, as `runners list` shows it.
    pub id: i64,
}

/// `hexforge token create`.
#[derive(Args)]
pub struct CreateToken {
    /// Whose token.
    #[arg(long, value_name = "NAME")]
    pub user: String,
    /// What it is for.
    #[arg(long, default_value = "command line")]
    pub name: String,
    /// The last day on which it works, as YYYY-MM-DD [default: for ever].
    #[arg(long, value_name = "DATE")]
    pub expires_at: Option<chrono::NaiveDate>,
}

/// `hexforge token list`.
#[derive(Args)]
pub struct ListTokens {
    /// Whose tokens.
    #[arg(long, value_name = "NAME")]
    pub user: String,
}

/// `hexforge token revoke`.
#[derive(Args)]
pub struct RevokeToken {
    /// The number of the token, as `token list` shows it.
    pub id: i64,
}
