//! `hexforge broadcast`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::broadcast::{self, BroadcastView};
use hexforge_domain::broadcast::BroadcastFields;
use hexforge_domain::id::BroadcastId;
use hexforge_domain::policy::Actor;

use super::{format_time, print, print_list, remove_control_characters};
use crate::cli::{Broadcast, BroadcastLook, BroadcastNumber};

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
    print_list(|page| {
        let messages = broadcast::list(app, Actor::OPERATOR, page)?.items;
        Ok(messages.iter().map(line).collect())
    })
}

/// Id, state, period, colours and text of a message, separated by tabs.
fn line(BroadcastView { broadcast, active }: &BroadcastView) -> String {
    let state = if *active { "active" } else { "inactive" };
    let content = &broadcast.content;
    let [start, end] = [content.starts_at, content.ends_at].map(format_time);
    let (color, font) = (content.color.as_str(), content.font.as_str());
    let text = remove_control_characters(content.message.as_str());
    format!("{}\t{state}\t{start}\t{end}\t{color} {font}\t{text}\n", broadcast.id)
}
