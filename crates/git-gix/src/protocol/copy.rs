//! Copies a commit from one repository to another, for merge requests of forks.
//!
//! The source sends the objects as to a fetching client, and the target receives them as from a pushing client. So only
//! objects that the commit reaches are copied, with the checks and the limits of a push.

use std::io::{self, Cursor, Read, Write};

use hexforge_domain::branch::BranchName;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::pack::Pack;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::{
    Conversation, DisconnectSignal, GitTransport, ProtocolVersion,
};
use hexforge_domain::refs::reserved::kept_ref;

use crate::content::commit::to_gix;
use crate::error::{failed, io_failed};
use crate::protocol::packet::{self, Packet};
use crate::storage::repository::GixRepository;

/// The maximum number of branch tips that are named as common commits.
const MOST_HAVES: usize = 1000;

/// Copies a commit. Returns the stored packs with the objects that the target lacks.
pub(crate) fn copy_commit(
    commit: ObjectId,
    source: GixRepository,
    target: &GixRepository,
) -> Result<Vec<Pack>, GitError> {
    if let Some(handle) = target.handle()
        && handle.repo().try_find_header(to_gix(commit)).map_err(failed)?.is_some()
    {
        return Ok(vec![]);
    }
    let request = fetch_request(commit, target).map_err(io_failed)?;
    let (mut sent, mut pipe) = io::pipe().map_err(io_failed)?;
    std::thread::scope(|scope| {
        let sender = scope.spawn(move || {
            let mut from = Cursor::new(request);
            source.upload_pack(ProtocolVersion::V0, Conversation::Stateless, &mut from, &mut pipe)
        });
        let received = receive(commit, target, &mut sent);
        // A sender that still writes ends with an error when nothing reads from the pipe.
        drop(sent);
        let fetched = sender.join().map_err(|_| GitError::Failed("the fetch panicked".into()))?;
        match (fetched, received) {
            (Err(error), Err(GitError::Failed(_))) => Err(error),
            (_, Err(error)) => Err(error),
            (Err(error), Ok(_)) => Err(error),
            (Ok(()), Ok(packs)) => Ok(packs),
        }
    })
}

/// The request of a client that wants the commit and has the branches of the target.
fn fetch_request(commit: ObjectId, target: &GixRepository) -> io::Result<Vec<u8>> {
    let mut request = Vec::new();
    packet::write_line(&mut request, &format!("want {commit} ofs-delta no-progress"))?;
    packet::write_flush(&mut request)?;
    let refs = target.refs();
    let tips = refs.range(refs.folder(BranchName::FOLDER)).take(MOST_HAVES);
    for tip in tips {
        packet::write_line(&mut request, &format!("have {}", tip.target))?;
    }
    packet::write_line(&mut request, "done")?;
    Ok(request)
}

/// Receives the answer as a push.
fn receive(
    commit: ObjectId,
    target: &GixRepository,
    sent: &mut dyn Read,
) -> Result<Vec<Pack>, GitError> {
    // The line acknowledges a common commit, or says that there is none.
    match packet::read(sent).map_err(io_failed)? {
        Some(Packet::Data(_)) => (),
        Some(Packet::Flush | Packet::Delimiter | Packet::End) | None => {
            return Err(GitError::Failed("the source sent no objects".into()));
        }
    }
    let mut commands = Vec::new();
    let name = kept_ref(commit);
    write_command(&mut commands, commit, &name).map_err(io_failed)?;
    let mut from = Cursor::new(commands).chain(sent);
    let push = target.receive(&mut from, &DisconnectSignal::default())?;
    let refused = || GitError::Failed(format!("the commit {commit} cannot be copied"));
    let mut push = push.ok_or_else(refused)?;
    if push.changes().is_empty() {
        return Err(refused());
    }
    // The only reason to refuse what was received is the size.
    let proposal = push.store_objects(target.refs())?.ok_or(GitError::TooLarge)?;
    Ok(proposal.packs)
}

/// Writes the command of a push that creates one ref.
fn write_command(to: &mut dyn Write, commit: ObjectId, name: &str) -> io::Result<()> {
    packet::write_line(to, &format!("{} {commit} {name}\0", ObjectId::ZERO))?;
    packet::write_flush(to)
}
