//! Repositories elsewhere, in memory.

use hexforge_domain::ports::imports::{ImportError, Imported, Imports};

/// Knows of no repository anywhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct FakeImports;

impl Imports for FakeImports {
    fn fetch(&self, _: &str) -> Result<Imported, ImportError> {
        Err(ImportError::Refused("there is no repository".into()))
    }

    fn stop(&self) {}
}
