//! Annotated tags.

use std::path::{Path, PathBuf};

use hexforge_domain::commit::{ObjectId, Signature};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::tag::TagName;

use crate::commit::from_gix;
use crate::durable::{sync_file, sync_folder};
use crate::error::failed;
use crate::repository::Bound;

/// Stores an annotated tag.
pub(super) fn write(
    bound: &Bound,
    name: &TagName,
    commit: gix::ObjectId,
    tagger: &Signature,
    message: &str,
) -> Result<ObjectId, GitError> {
    let tag = gix::objs::Tag {
        target: commit,
        target_kind: gix::object::Kind::Commit,
        name: name.as_str().into(),
        tagger: Some(gix::actor::Signature {
            name: one_line(&tagger.name).into(),
            email: one_line(&tagger.email).into(),
            time: gix::date::Time {
                seconds: tagger.at.timestamp(),
                offset: tagger.at.offset().local_minus_utc(),
            },
        }),
        message: format!("{}\n", message.replace('\0', "")).into(),
        signature: None,
    };
    let id = bound.repo().write_object(&tag).map_err(failed)?.detach();
    let file = loose(bound.repo().git_dir(), &id);
    sync_file(&file)?;
    // The folder may be new.
    for folder in file.ancestors().skip(1).take(2).filter(|folder| folder.is_dir()) {
        sync_folder(folder)?;
    }
    Ok(from_gix(&id))
}

/// A name as git can keep it: without what ends it.
fn one_line(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '<' | '>') && !c.is_control()).collect()
}

/// Where an object is that is in no pack.
pub(crate) fn loose(git_dir: &Path, id: &gix::oid) -> PathBuf {
    let hex = id.to_string();
    git_dir.join("objects").join(&hex[..2]).join(&hex[2..])
}
