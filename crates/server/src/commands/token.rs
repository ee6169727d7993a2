//! `hexforge token`.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use chrono::{Days, NaiveTime};
use hexforge_application::app::App;
use hexforge_application::runner::manage;
use hexforge_application::token;
use hexforge_domain::id::TokenId;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::text::Secret;
use hexforge_domain::token::TokenValidity;

use super::print;
use crate::cli::Token;

pub(super) fn run(app: &App, command: Token) -> Result<ExitCode> {
    match command {
        Token::Create(new) => {
            // The given day is the last day on which the token is valid.
            let end = new.expires_at.map(|day| {
                day.checked_add_days(Days::new(1))
                    .map(|next| next.and_time(NaiveTime::MIN).and_utc())
                    .context("the date of --expires-at is too far in the future")
            });
            let end = end.transpose()?;
            let secret = token::create(app, Actor::OPERATOR, &new.user, &new.name, end)?;
            // Only the token is printed, so that a script can read it.
            print(&format!("{}\n", secret.reveal()))?;
        }
        Token::List(of) => list(app, &of.user)?,
        Token::Revoke(which) => {
            token::revoke(app, Actor::OPERATOR, TokenId(which.id))?;
            print(&format!("token {} is revoked\n", which.id))?;
        }
        Token::Rotate(which) => {
            let token = rotate(app, which.project.as_deref())?;
            print(&format!("{}\n", token.reveal()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Generates a new registration token for runners, for one project or for the whole service.
fn rotate(app: &App, project: Option<&str>) -> Result<Secret> {
    match project {
        Some(project) => {
            let rotated =
                manage::rotate_project_token(app, Actor::OPERATOR, &ProjectRef::parse(project));
            rotated.with_context(|| format!("the runners token of `{project}` cannot be replaced"))
        }
        None if app.settings.runners_token.is_some() => {
            bail!("the runners token is set in the settings (runners_token); change it there")
        }
        None => Ok(manage::rotate_service_token(app, Actor::OPERATOR)?),
    }
}

fn list(app: &App, user: &str) -> Result<()> {
    let now = app.clock.now();
    for token in token::list(app, Actor::OPERATOR, user, Page::Whole)?.items {
        let validity = match token.life.at(now) {
            TokenValidity::Active => "active",
            TokenValidity::Expired => "expired",
            TokenValidity::Revoked => "revoked",
        };
        print(&format!("{}\t{}\t{validity}\t{}\n", token.id, token.kind.as_str(), token.name))?;
    }
    Ok(())
}
