//! Writes annotated tags.

use gix::objs::WriteTo;
use hexforge_domain::commit::{ObjectId, Signature};
use hexforge_domain::pack::Pack;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::tag::TagName;

use crate::content::commit::from_gix;
use crate::error::{failed, io_failed};
use crate::storage::pack_file::PackWriter;
use crate::storage::store::Shared;

/// Stores an annotated tag in a pack of its own.
pub(super) fn write(
    shared: &Shared,
    name: &TagName,
    commit: gix::ObjectId,
    tagger: &Signature,
    message: &str,
) -> Result<(ObjectId, Pack), GitError> {
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
    let mut data = Vec::new();
    tag.write_to(&mut data).map_err(io_failed)?;
    let kind = gix::object::Kind::Tag;
    let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, &data).map_err(failed)?;
    let scratch = shared.scratch()?;
    let mut writer = PackWriter::new(scratch.path(), 1)?;
    writer.put_object(id, kind, &data)?;
    let files = writer.finish()?;
    let pack = shared.store_pack(&files.data, &files.index, files.objects)?;
    Ok((from_gix(&id), pack))
}

/// Removes the characters that git does not allow in a name or an email address.
fn one_line(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '<' | '>') && !c.is_control()).collect()
}
