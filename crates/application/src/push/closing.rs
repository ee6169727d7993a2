//! What the messages of pushed commits do to issues: those that they close are closed, and on others that they
//! name a note tells so.

use std::collections::{HashMap, HashSet};

use hexforge_domain::Timestamp;
use hexforge_domain::branch::BranchName;
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::issue::Issue;
use hexforge_domain::issue::closing::closed_by;
use hexforge_domain::issue::reference::{IssueReference, references};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::IssueAbility;
use hexforge_domain::ports::git::RefChange;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::Project;
use hexforge_domain::user::User;
use hexforge_domain::user::email::EmailAddress;

use super::told::Told;
use crate::access::tracker::Tracker;
use crate::app::App;
use crate::error::Error;
use crate::issue::mentions::{self, Mention, Others, Where};
use crate::issue::update::Turn;

/// More issues than this no push speaks of.
const MOST: usize = 500;

/// A message that names issues.
struct Speaking {
    commit: ObjectId,
    author_email: String,
    closes: Vec<IssueReference>,
    mentions: Vec<IssueReference>,
}

/// All that the messages of a push say of issues.
#[derive(Default)]
pub(super) struct Said(Vec<Speaking>);

/// Reads the messages that came with changes. Only what comes to the default branch closes anything.
pub(super) fn said(
    changed: &mut [(RefChange, Told)],
    default: Option<&BranchName>,
    address: &str,
) -> Said {
    let default = default.map(BranchName::full);
    let is_default = |change: &RefChange| Some(&change.name) == default.as_ref();
    // A commit that comes to several branches is read where it closes something.
    let mut order: Vec<&mut (RefChange, Told)> = changed.iter_mut().collect();
    order.sort_by_key(|(change, _)| !is_default(change));
    let (mut read, mut count, mut said) = (HashSet::new(), 0, Vec::new());
    for (change, told) in order {
        for commit in told.take_messages() {
            if count >= MOST || !read.insert(commit.id) {
                continue;
            }
            let spoken = speaking(commit, is_default(change), address);
            let names = spoken.closes.len() + spoken.mentions.len();
            count += names;
            if names > 0 {
                said.push(spoken);
            }
        }
    }
    Said(said)
}

fn speaking(commit: Commit, may_close: bool, address: &str) -> Speaking {
    let closes = if may_close { closed_by(&commit.message, address) } else { vec![] };
    let mut mentions = references(&commit.message, address);
    mentions.retain(|reference| !closes.contains(reference));
    Speaking { commit: commit.id, author_email: commit.author.email, closes, mentions }
}

impl Said {
    /// Locks the project of the push with those whose issues are named.
    pub(super) fn locked(
        &self,
        app: &App,
        tx: &mut dyn Tx,
        pusher: &User,
        project: ProjectId,
    ) -> Result<(Option<Project>, Others), Error> {
        let named = self.0.iter().flat_map(|spoken| spoken.closes.iter().chain(&spoken.mentions));
        let named: Vec<IssueReference> = named.cloned().collect();
        Others::locked(app, tx, actor(pusher), project, &named)
    }

    /// Does what the messages say, as far as the pusher may.
    pub(super) fn act(
        &self,
        app: &App,
        tx: &mut dyn Tx,
        pusher: &User,
        project: &Project,
        others: &Others,
        at: Timestamp,
    ) -> Result<(), Error> {
        if self.0.is_empty() {
            return Ok(());
        }
        let home = mentions::visible(app, tx, actor(pusher), project.clone())?;
        let mut authors = HashMap::new();
        for spoken in &self.0 {
            let email = spoken.author_email.as_str();
            let author = match authors.get(email) {
                Some(author) => *author,
                None => {
                    let author = author(tx, email)?.unwrap_or(pusher.id);
                    *authors.entry(email).or_insert(author)
                }
            };
            for reference in &spoken.closes {
                if let Some(tracker) = others.of(home.as_ref(), reference) {
                    close(tx, tracker, reference.iid, project, spoken.commit, author, at)?;
                }
            }
            let mention = Mention { place: Where::Commit(spoken.commit), project, author, at };
            mention.write(tx, home.as_ref(), others, &spoken.mentions)?;
        }
        Ok(())
    }
}

fn actor(pusher: &User) -> Actor {
    Actor::of(pusher.id, &pusher.privileges)
}

/// The user who has the address of a commit's author.
fn author(tx: &mut dyn Tx, email: &str) -> Result<Option<UserId>, StoreError> {
    let Ok(address) = EmailAddress::parse(email) else { return Ok(None) };
    Ok(tx.emails().holder(&address)?.map(|holder| holder.user))
}

/// Closes an issue, if the pusher may.
fn close(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    iid: i64,
    project: &Project,
    commit: ObjectId,
    author: UserId,
    at: Timestamp,
) -> Result<(), StoreError> {
    let found = tx.issues().find_by_iids(tracker.project.id, &[iid])?;
    let may = |issue: &Issue| tracker.authorize(IssueAbility::Update, issue).is_ok();
    let Some(issue) = found.into_iter().find(|issue| issue.state.is_open() && may(issue)) else {
        return Ok(());
    };
    let near = tracker.project.id == project.id;
    let path = if near { String::new() } else { mentions::path_of(tx, project)? };
    let turn = Turn { user: author, project: &tracker.project, now: at };
    turn.close_via(tx, issue, &mentions::commit_name(&path, commit))
}
