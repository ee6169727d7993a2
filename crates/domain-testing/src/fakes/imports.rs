//! Fake of repository imports.

use hexforge_domain::ports::imports::{ImportError, Imported, Imports};

/// Rejects every import: there are no remote repositories.
#[derive(Clone, Copy, Debug, Default)]
pub struct FakeImports;

impl Imports for FakeImports {
    fn fetch(&self, _: &str) -> Result<Imported, ImportError> {
        Err(ImportError::Refused("there is no repository".into()))
    }

    fn stop(&self) {}
}
