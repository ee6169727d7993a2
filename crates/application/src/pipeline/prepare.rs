//! Reads the commit and the CI configuration of a new pipeline from the repository. This module writes no rows.

use std::io::{self, Write};

use hexforge_domain::branch::BranchName;
use hexforge_domain::ci::config::{ConfigError, Configuration, FILE_NAME};
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::ports::git::{GitError, RefChange, Repository, Resolved};
use hexforge_domain::push::RefKind;
use hexforge_domain::tag::TagName;

use crate::app::App;

/// The maximum size of a configuration file, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The branch or tag and the commit of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The name of the branch or tag, without `refs/`.
    pub reference: String,
    /// Whether the name is that of a tag.
    pub tag: bool,
    /// The commit of the branch or tag.
    pub commit: ObjectId,
}

impl Target {
    /// Finds a branch or tag by name, with or without the `refs/` prefix. A branch wins over a tag of the same name.
    pub fn find(repository: &dyn Repository, name: &str) -> Result<Option<Self>, GitError> {
        let short = name.strip_prefix(BranchName::FOLDER).unwrap_or(name);
        if let Ok(branch) = BranchName::parse(short)
            && let Some(found) = repository.branch(&branch)?
        {
            let reference = short.to_owned();
            return Ok(Some(Self { reference, tag: false, commit: found.commit.id }));
        }
        let short = name.strip_prefix(TagName::FOLDER).unwrap_or(name);
        let Ok(tag) = TagName::parse(short) else { return Ok(None) };
        let found = repository.tag(&tag)?;
        Ok(found.map(|found| Self {
            reference: short.to_owned(),
            tag: true,
            commit: found.commit.id,
        }))
    }

    /// Returns the target of a pushed change. Returns `None` for a deleted ref, for other refs, and for a tag that does
    /// not lead to a commit.
    pub fn of_change(
        repository: &dyn Repository,
        change: &RefChange,
    ) -> Result<Option<Self>, GitError> {
        let Some(new) = change.new else { return Ok(None) };
        Ok(match RefKind::of(&change.name) {
            RefKind::Branch(name) => {
                Some(Self { reference: name.as_str().to_owned(), tag: false, commit: new })
            }
            RefKind::Tag(name) => {
                let commit = repository.resolve(&new.to_string())?;
                let reference = name.as_str().to_owned();
                commit.map(|Resolved { commit, .. }| Self { reference, tag: true, commit })
            }
            RefKind::Reserved | RefKind::Other => None,
        })
    }
}

/// The data from the repository for a new pipeline.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// The branch or tag of the pipeline.
    pub target: Target,
    /// The commit.
    pub commit: Commit,
    /// The parsed CI configuration of the commit; `None` when the commit has no configuration file.
    pub configuration: Option<Result<Configuration, ConfigError>>,
}

/// Reads the commit and its CI configuration. Returns `None` when the commit does not exist.
pub(crate) fn read(
    app: &App,
    repository: &dyn Repository,
    target: Target,
) -> Result<Option<Prepared>, GitError> {
    let Some(commit) = repository.commit(target.commit)? else { return Ok(None) };
    let configuration = read_configuration(app, repository, target.commit)?;
    Ok(Some(Prepared { target, commit, configuration }))
}

/// Prepares the pipeline of a pushed ref. Corrupt, missing or too large objects do not fail the push: it gets no
/// pipeline.
pub(crate) fn read_pushed(
    app: &App,
    repository: &dyn Repository,
    change: &RefChange,
) -> Result<Option<Prepared>, GitError> {
    let prepared = Target::of_change(repository, change)
        .and_then(|target| target.map_or(Ok(None), |target| read(app, repository, target)));
    match prepared {
        Err(GitError::Corrupt(_) | GitError::Missing | GitError::TooLarge) => Ok(None),
        prepared => prepared,
    }
}

fn read_configuration(
    app: &App,
    repository: &dyn Repository,
    commit: ObjectId,
) -> Result<Option<Result<Configuration, ConfigError>>, GitError> {
    let Some(blob) = repository.blob_at(commit, FILE_NAME)? else { return Ok(None) };
    if blob.size > MAX_BYTES {
        return Ok(Some(Err(ConfigError("config is too large".to_owned()))));
    }
    let mut text = BoundedBuffer(Vec::new());
    repository.write_blob(blob.id, &mut text)?;
    // Invalid UTF-8 becomes replacement characters.
    let text = String::from_utf8_lossy(&text.0);
    Ok(Some(Configuration::parse(&*app.yaml, &text)))
}

/// A buffer that refuses more than the maximum size of a configuration file.
struct BoundedBuffer(Vec<u8>);

impl Write for BoundedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() as u64 + bytes.len() as u64 > MAX_BYTES {
            return Err(io::Error::other(
                "the CI configuration file is larger than its announced size",
            ));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
