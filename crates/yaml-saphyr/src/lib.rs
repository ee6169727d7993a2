//! The domain's [`YamlReader`] on serde-saphyr.
//!
//! A configuration file comes from whoever can push, so each text is read within bounds: its size,
//! its depth, and the number and length of its values after aliases were replaced by what they
//! stand for. Few lines of aliases of aliases would fill any memory otherwise.

mod message;
mod tree;

use hexforge_domain::ci::config::{Node, YamlReader};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Options, Spanned};

use crate::tree::Tree;

/// The longest text, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// How many values a document has at most, aliases replaced.
pub const MAX_NODES: usize = 20_000;

/// How many bytes its scalars have at most, aliases replaced.
pub const MAX_SCALAR_BYTES: usize = 4 << 20;

/// How deep lists and maps may be nested.
pub const MAX_DEPTH: usize = 50;

/// How many documents a text may have, though only the first counts.
pub const MAX_DOCUMENTS: usize = 100;

/// How many merge keys there may be, aliases replaced. Each is read more than once.
pub const MAX_MERGE_KEYS: usize = 2_000;

/// Reads YAML with serde-saphyr.
#[derive(Clone, Copy, Debug, Default)]
pub struct SaphyrReader;

impl YamlReader for SaphyrReader {
    fn read(&self, text: &str) -> Result<Node, String> {
        if text.len() > MAX_BYTES {
            return Err(format!("the file is larger than {MAX_BYTES} bytes"));
        }
        // As in the original, only the first of several documents counts.
        let documents: Vec<Spanned<Tree>> =
            serde_saphyr::from_multiple_with_options(text, options())
                .map_err(|error| message::of(&error))?;
        let first = documents.into_iter().next();
        Ok(first.map_or(Node::Null, |tree| tree::node(tree, text)))
    }
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: MAX_NODES,
            max_events: 4 * MAX_NODES,
            max_depth: MAX_DEPTH,
            // One more, so that the limit above is the one that speaks.
            flow_nesting_limit: MAX_DEPTH + 1,
            max_total_scalar_bytes: MAX_SCALAR_BYTES,
            max_recorded_anchor_events: 4 * MAX_NODES,
            max_recorded_anchor_bytes: MAX_SCALAR_BYTES,
            max_documents: MAX_DOCUMENTS,
            max_merge_keys: MAX_MERGE_KEYS,
            // One anchor that all jobs share is common, and the number of values is bounded.
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_NODES,
        },
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        // As Ruby read them: `yes` and `on` are true, 010 is eight.
        strict_booleans: false,
        legacy_octal_numbers: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        ignore_binary_tag_for_string: true,
        with_snippet: false,
    }
}
