//! Evaluates the `.gitattributes` files of a tree.

use std::path::Path;

use gix::attrs::search::{MetadataCollection, Outcome};
use gix::attrs::{Search, StateRef};
use gix::bstr::{BStr, ByteSlice};
use gix::filter::plumbing::{Pipeline, eol, pipeline};
use gix::glob::pattern::Case;
use hexforge_domain::ports::git::GitError;

use crate::error::{failed, io_failed};

const NAMES: [&str; 5] = ["export-ignore", "export-subst", "ident", "eol", "working-tree-encoding"];

/// The attribute rules that apply in the current folder.
pub(super) struct AttributeRules {
    search: Search,
    names: MetadataCollection,
    found: Outcome,
    /// The number of `.gitattributes` files in effect.
    files: usize,
    pipeline: Pipeline,
}

/// The attributes of one file, as far as archives use them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ExportAttributes {
    /// `export-ignore`: the file is left out.
    pub(super) ignored: bool,
    /// `export-subst`: placeholders in the file are replaced.
    pub(super) subst: bool,
    /// The content changes on checkout: `eol=crlf`, `working-tree-encoding` or `ident`.
    pub(super) converted: bool,
}

impl AttributeRules {
    pub(super) fn new() -> Result<Self, GitError> {
        let mut names = MetadataCollection::default();
        let nowhere: [&Path; 0] = [];
        let search =
            Search::new_globals(nowhere, &mut Vec::new(), &mut names).map_err(io_failed)?;
        let mut found = Outcome::default();
        found.initialize_with_selection(&names, NAMES);
        // Lines end in LF, and external filter programs are never run.
        let options = pipeline::Options {
            eol_config: eol::Configuration { eol: Some(eol::Mode::Lf), ..Default::default() },
            ..Default::default()
        };
        let pipeline = Pipeline::new(Default::default(), gix::hash::Kind::Sha1, options);
        Ok(Self { search, names, found, files: 0, pipeline })
    }

    /// Adds the rules of a folder that the walk enters. `folder` is its path relative to the root of the repository.
    pub(super) fn enter(&mut self, folder: &BStr, rules: &[u8]) -> Result<(), GitError> {
        let source = gix::path::from_bstr(folder).map_err(failed)?.join(".gitattributes");
        // As in git, only the root folder may define macros.
        let macros = folder.is_empty();
        let root = Some(Path::new(""));
        self.search
            .add_patterns_buffer(rules, source, root, &mut self.names, macros)
            .map_err(io_failed)?;
        self.found.initialize(&self.names);
        self.files += 1;
        Ok(())
    }

    /// Removes the rules that were added last.
    pub(super) fn leave(&mut self) {
        self.search.pop_pattern_list();
        self.files -= 1;
    }

    /// The attributes of a path relative to the root of the repository, without a trailing slash.
    pub(super) fn attributes_of(&mut self, path: &BStr, folder: bool) -> ExportAttributes {
        if self.files == 0 {
            return ExportAttributes::default();
        }
        self.found.reset();
        self.search.pattern_matching_relative_path(
            path,
            Case::Sensitive,
            Some(folder),
            &mut self.found,
        );
        let mut attributes = ExportAttributes::default();
        for (name, found) in NAMES.iter().zip(self.found.iter_selected()) {
            match (*name, found.assignment.state) {
                ("export-ignore", StateRef::Set) => attributes.ignored = true,
                ("export-subst", StateRef::Set) => attributes.subst = true,
                ("ident", StateRef::Set) => attributes.converted = true,
                ("eol", StateRef::Value(end)) if end.as_bstr() == "crlf" => {
                    attributes.converted = true;
                }
                ("working-tree-encoding", StateRef::Value(_)) => attributes.converted = true,
                _ => {}
            }
        }
        attributes
    }

    /// Converts content in place to its working tree form.
    pub(super) fn convert(
        &mut self,
        path: &BStr,
        id: gix::ObjectId,
        content: &mut Vec<u8>,
    ) -> Result<(), GitError> {
        let mut attributes = |path: &BStr, found: &mut Outcome| {
            found.initialize(&self.names);
            self.search.pattern_matching_relative_path(path, Case::Sensitive, Some(false), found);
        };
        let converted = self
            .pipeline
            .convert_to_worktree(content, path, &mut attributes, Default::default())
            .map_err(failed)?;
        if let Some(bytes) = converted.as_bytes().filter(|_| converted.is_changed()) {
            // git puts a blank after the id in `$Id$`; gix does not.
            *content = bytes.replace(format!("$Id: {id}$"), format!("$Id: {id} $"));
        }
        Ok(())
    }
}
