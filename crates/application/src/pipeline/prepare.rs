//! What a pipeline is made of, as far as the repository knows it. Nothing is stored here.

use std::io::{self, Write};

use hexforge_domain::branch::BranchName;
use hexforge_domain::ci::config::{ConfigError, Configuration, FILE_NAME};
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::ports::git::{GitError, RefChange, Repository, Resolved};
use hexforge_domain::push::RefKind;
use hexforge_domain::tag::TagName;

use crate::app::App;

/// A larger configuration is not read.
const LARGEST: u64 = 1024 * 1024;

/// For what a pipeline is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The branch or tag, without `refs/`.
    pub reference: String,
    /// Whether that is a tag.
    pub tag: bool,
    /// The commit there.
    pub commit: ObjectId,
}

impl Target {
    /// The branch or tag of a name, with or without `refs/`; a branch where there are both.
    pub fn named(repository: &dyn Repository, name: &str) -> Result<Option<Self>, GitError> {
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

    /// What a push changed, unless nothing is there afterwards that could be built.
    pub fn pushed(
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
            RefKind::Other => None,
        })
    }
}

/// What the repository says about a pipeline.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// For what it is.
    pub target: Target,
    /// The commit.
    pub commit: Commit,
    /// What the commit says is to be done; `None` without a word of that.
    pub configuration: Option<Result<Configuration, ConfigError>>,
}

/// Reads the commit and its configuration; `None` when the commit is not there.
pub(crate) fn read(
    app: &App,
    repository: &dyn Repository,
    target: Target,
) -> Result<Option<Prepared>, GitError> {
    let Some(commit) = repository.commit(target.commit)? else { return Ok(None) };
    let configuration = configuration(app, repository, target.commit)?;
    Ok(Some(Prepared { target, commit, configuration }))
}

/// What a push makes a pipeline of. The push is made: what is damaged makes none.
pub(crate) fn pushed(
    app: &App,
    repository: &dyn Repository,
    change: &RefChange,
) -> Result<Option<Prepared>, GitError> {
    let prepared = Target::pushed(repository, change)
        .and_then(|target| target.map_or(Ok(None), |target| read(app, repository, target)));
    match prepared {
        Err(GitError::Corrupt(_) | GitError::Missing | GitError::TooLarge) => Ok(None),
        prepared => prepared,
    }
}

fn configuration(
    app: &App,
    repository: &dyn Repository,
    commit: ObjectId,
) -> Result<Option<Result<Configuration, ConfigError>>, GitError> {
    let Some(blob) = repository.blob_at(commit, FILE_NAME)? else { return Ok(None) };
    if blob.size > LARGEST {
        return Ok(Some(Err(ConfigError("config is too large".to_owned()))));
    }
    let mut text = Bounded(Vec::new());
    repository.write_blob(blob.id, &mut text)?;
    // Bytes that are no text become signs that stand for nothing.
    let text = String::from_utf8_lossy(&text.0);
    Ok(Some(Configuration::parse(&*app.yaml, &text)))
}

/// Holds no more than the largest configuration, whatever comes.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() as u64 + bytes.len() as u64 > LARGEST {
            return Err(io::Error::other("more than was announced"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
