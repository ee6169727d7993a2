//! Implements [`YamlReader`] with serde-saphyr.
//!
//! Anybody who can push controls the configuration file, so each text is parsed within limits: its size, its nesting
//! depth, and the number and length of its values after aliases are expanded. Without limits, a few lines of nested
//! aliases could fill the memory.

mod message;
mod tree;

use hexforge_domain::ci::config::{Node, YamlReader};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Options, Spanned};

use crate::tree::Tree;

/// The maximum size of a text, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// The maximum number of values in a document, with aliases expanded.
pub const MAX_NODES: usize = 20_000;

/// The maximum total size of scalars in bytes, with aliases expanded.
pub const MAX_SCALAR_BYTES: usize = 4 << 20;

/// The maximum nesting depth of lists and maps.
pub const MAX_DEPTH: usize = 50;

/// The maximum number of documents in a text, although only the first one is used.
pub const MAX_DOCUMENTS: usize = 100;

/// The maximum number of merge keys, with aliases expanded. Each merge key is processed more than once.
pub const MAX_MERGE_KEYS: usize = 2_000;

/// Reads YAML with serde-saphyr.
#[derive(Clone, Copy, Debug, Default)]
pub struct SaphyrReader;

impl YamlReader for SaphyrReader {
    fn read(&self, text: &str) -> Result<Node, String> {
        if text.len() > MAX_BYTES {
            return Err(format!("the file is larger than {MAX_BYTES} bytes"));
        }
        // As in the reference, only the first of several documents is used.
        let documents: Vec<Spanned<Tree>> =
            serde_saphyr::from_multiple_with_options(text, options())
                .map_err(|error| message::describe(&error))?;
        let first = documents.into_iter().next();
        Ok(first.map_or(Node::Null, |tree| tree::into_node(tree, text)))
    }
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: MAX_NODES,
            max_events: 4 * MAX_NODES,
            max_depth: MAX_DEPTH,
            // One more, so that exceeding the depth is reported as such.
            flow_nesting_limit: MAX_DEPTH + 1,
            max_total_scalar_bytes: MAX_SCALAR_BYTES,
            max_recorded_anchor_events: 4 * MAX_NODES,
            max_recorded_anchor_bytes: MAX_SCALAR_BYTES,
            max_documents: MAX_DOCUMENTS,
            max_merge_keys: MAX_MERGE_KEYS,
            // It is common that all jobs share one anchor, and the number of values is limited anyway.
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_NODES,
        },
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        // As in Ruby: `yes` and `on` are true, and 010 is eight.
        strict_booleans: false,
        legacy_octal_numbers: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        ignore_binary_tag_for_string: true,
        with_snippet: false,
    }
}
