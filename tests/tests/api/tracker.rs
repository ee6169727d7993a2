//! Issues, notes, labels, milestones and boards.

mod awards;
mod boards;
mod group_labels;
mod issue_events;
mod issues;
mod issues_at_once;
mod issues_lists;
mod labels;
mod milestones;
mod notes;
mod notes_awards;
mod notes_commands;
mod notes_mentions;
mod personal_snippets;
mod snippet_notes;
mod snippets;
pub mod todo_support;
mod todos;
mod todos_limits;
pub mod tracker_support;
