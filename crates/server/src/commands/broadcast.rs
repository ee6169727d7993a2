//! `hexforge broadcast`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::broadcast::{self, BroadcastView};
use hexforge_domain::broadcast::BroadcastFields;
use hexforge_domain::id::BroadcastId;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;

use super::print;
use crate::cli::{Broadcast, BroadcastLook, BroadcastNumber};

/// How many messages are read and printed at once, because their number is unlimited.
const AT_ONCE: u64 = 100;

pub(super) fn run(app: &App, command: Broadcast) -> Result<ExitCode> {
    match command {
        Broadcast::List => list(app)?,
        Broadcast::Create { message, look } => {
            let made = broadcast::create(app, Actor::OPERATOR, &fields(Some(message), look));
            print(&line(&made.context("the message cannot be created")?))?;
        }
        Broadcast::Update { number: BroadcastNumber { id }, message, look } => {
            let fields = fields(message, look);
            let changed = broadcast::update(app, Actor::OPERATOR, BroadcastId(id), &fields);
            print(&line(&changed.with_context(|| format!("message {id} cannot be changed"))?))?;
        }
        Broadcast::Remove(BroadcastNumber { id }) => {
            let removed = broadcast::delete(app, Actor::OPERATOR, BroadcastId(id));
            removed.with_context(|| format!("message {id} cannot be removed"))?;
            print(&format!("message {id} is removed\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn fields(message: Option<String>, look: BroadcastLook) -> BroadcastFields {
    let BroadcastLook { starts_at, ends_at, color, font } = look;
    BroadcastFields { message, starts_at, ends_at, color, font }
}

fn list(app: &App) -> Result<()> {
    let mut number = 1;
    loop {
        let page = Page::Numbered { number, size: AT_ONCE };
        let messages = broadcast::list(app, Actor::OPERATOR, page)?.items;
        print(&messages.iter().map(line).collect::<String>())?;
        if (messages.len() as u64) < AT_ONCE {
            return Ok(());
        }
        number += 1;
    }
}

/// Id, state, period, colours and text of a message, separated by tabs.
fn line(BroadcastView { broadcast, active }: &BroadcastView) -> String {
    let state = if *active { "active" } else { "inactive" };
    let content = &broadcast.content;
    let [start, end] = [content.starts_at, content.ends_at]
        .map(|moment| moment.format("%Y-%m-%d %H:%M UTC").to_string());
    let (color, font) = (content.color.as_str(), content.font.as_str());
    // A message is one line, and must not control the terminal.
    let text: String = content.message.as_str().chars().filter(|c| !c.is_control()).collect();
    format!("{}\t{state}\t{start}\t{end}\t{color} {font}\t{text}\n", broadcast.id)
}
