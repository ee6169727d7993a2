//! Creates the first administrator.

use std::io::Write;

use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::{ci_token, setup};
use hexforge_domain::text::Secret;

use crate::config::Config;

/// The number of times that the runners token of a new installation was replaced.
const FIRST_RUNNERS_TOKEN: i64 = 0;

/// Creates the administrator if there is no user yet. Generated credentials are written to
/// `terminal`, only once and nowhere else.
pub fn prepare(app: &App, config: &Config, terminal: &mut dyn Write) -> Result<()> {
    let password = config.root_password.clone().unwrap_or_else(|| app.secrets.token());
    let token = config.root_token.clone().unwrap_or_else(|| app.secrets.token());
    let made = setup::first_administrator(app, password.reveal(), &token)
        .context("the first administrator cannot be created with root_password and root_token")?;
    if !made {
        return Ok(());
    }
    writeln!(terminal, "The administrator is `root`.")?;
    show(terminal, "password", config.root_password.as_ref(), &password)?;
    show(terminal, "private token", config.root_token.as_ref(), &token)?;
    let runners_token = ci_token::service_token(app, FIRST_RUNNERS_TOKEN);
    show(terminal, "runners token", config.runners_token.as_ref(), &runners_token)?;
    let given = [&config.root_password, &config.root_token, &config.runners_token];
    if given.into_iter().any(Option::is_none) {
        writeln!(terminal, "Generated values are not shown again.")?;
    }
    Ok(())
}

fn show(terminal: &mut dyn Write, what: &str, given: Option<&Secret>, used: &Secret) -> Result<()> {
    match given {
        Some(_) => writeln!(terminal, "  {what}: as configured")?,
        None => writeln!(terminal, "  {what}: {}", used.reveal())?,
    }
    Ok(())
}
