//! `hexforge user`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::user::fields::UserFields;
use hexforge_application::user::key::{self, AnyKey};
use hexforge_application::user::{self, UserQuery, block};
use hexforge_application::view::user::{FullUser, UserPage};
use hexforge_domain::change::Change;
use hexforge_domain::id::KeyId;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::text::Secret;
use hexforge_domain::user::state::DirectoryCommand;
use hexforge_domain::user::{UserCommand, UserFilter, UserState};

use super::{print, remove_control_characters};
use crate::cli::{Block, CreateUser, Password, User};

pub(super) fn run(app: &App, command: User) -> Result<ExitCode> {
    match command {
        User::Create(new) => create(app, new),
        User::List => list(app),
        User::Block(who) => change_state(app, &who, UserCommand::Block, DirectoryCommand::Block),
        User::Unblock(who) => {
            change_state(app, &who, UserCommand::Unblock, DirectoryCommand::Unblock)
        }
        User::Password(whose) => password(app, whose),
        User::Key { id } => show_key(app, id),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn create(app: &App, new: CreateUser) -> Result<()> {
    let (password, generated) = new_password(app, new.password_stdin)?;
    let fields = UserFields {
        name: Some(new.name.unwrap_or_else(|| new.username.clone())),
        username: Some(new.username),
        email: Some(new.email),
        password: Some(password.clone()),
        admin: Some(new.admin),
        // Without the flag, the settings of the service decide.
        external: new.external.then_some(true),
        ..UserFields::default()
    };
    let made = user::create(app, Actor::OPERATOR, &fields)?;
    print(&format!("created user {} `{}`\n", made.user.id, made.user.username.as_str()))?;
    show(&password, generated)
}

fn list(app: &App) -> Result<()> {
    let mut number = 1;
    loop {
        let query = UserQuery::Matching(UserFilter::default());
        let page = Page::Numbered { number, size: 100 };
        let users = match user::list(app, Actor::OPERATOR, query, page)? {
            UserPage::Full(users) => users.items,
            UserPage::Summaries(_) => Vec::new(),
        };
        if users.is_empty() {
            return Ok(());
        }
        for user in &users {
            print(&line(user))?;
        }
        number += 1;
    }
}

fn line(full: &FullUser) -> String {
    let user = &full.user;
    let flags = [(user.privileges.admin, " admin"), (user.privileges.external, " external")];
    let flags: String = flags.iter().filter(|(set, _)| *set).map(|(_, word)| *word).collect();
    format!(
        "{}\t{}\t{}\t{}{flags}\n",
        user.id,
        user.username.as_str(),
        user.email.as_str(),
        user.state.as_str()
    )
}

fn change_state(
    app: &App,
    who: &Block,
    by_hand: UserCommand,
    by_directory: DirectoryCommand,
) -> Result<()> {
    let change = if who.directory {
        block::follow_directory(app, Actor::OPERATOR, &who.username, by_directory)?
    } else {
        let user = user::find_by_username(app, Actor::OPERATOR, &who.username)?.user;
        block::apply(app, Actor::OPERATOR, user.id, by_hand)?
    };
    print(&match change {
        Change::Applied(state) => format!("`{}` is now {}\n", who.username, word(state)),
        Change::Unchanged => format!("`{}` is unchanged\n", who.username),
    })
}

fn word(state: UserState) -> &'static str {
    match state {
        UserState::Active => "active",
        UserState::Blocked => "blocked",
        UserState::DirectoryBlocked => "blocked by the directory",
    }
}

fn password(app: &App, whose: Password) -> Result<()> {
    let id = user::find_by_username(app, Actor::OPERATOR, &whose.username)?.user.id;
    let (password, generated) = new_password(app, whose.password_stdin)?;
    let fields = UserFields { password: Some(password.clone()), ..UserFields::default() };
    user::update(app, Actor::OPERATOR, id, &fields)?;
    print(&format!("the password of `{}` is changed\n", whose.username))?;
    show(&password, generated)
}

/// Prints id, owner, title and fingerprint of an SSH key, separated by tabs. No user can be named `deploy key`.
fn show_key(app: &App, id: i64) -> Result<()> {
    let found = key::get_any(app, Actor::OPERATOR, KeyId(id));
    let (owner, title, fingerprint) = match &found
        .with_context(|| format!("SSH key {id} cannot be shown"))?
    {
        AnyKey::OfUser(key, owner) => {
            (owner.user.username.as_str().to_owned(), key.title.clone(), key.fingerprint.clone())
        }
        AnyKey::Deploy(key) => {
            ("deploy key".to_owned(), key.title.clone(), key.fingerprint.clone())
        }
    };
    print(&format!(
        "{id}\t{owner}\t{}\t{}\n",
        remove_control_characters(title.as_str()),
        fingerprint.0
    ))
}

/// Returns the password from standard input or a generated one, and whether it was generated.
fn new_password(app: &App, from_stdin: bool) -> Result<(Secret, bool)> {
    if !from_stdin {
        return Ok((app.secrets.token(), true));
    }
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).context("the password cannot be read")?;
    Ok((Secret::new(line.trim_end_matches(['\r', '\n'])), false))
}

fn show(password: &Secret, generated: bool) -> Result<()> {
    if generated { print(&format!("password: {}\n", password.reveal())) } else { Ok(()) }
}
