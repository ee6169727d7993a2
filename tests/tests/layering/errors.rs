//! Every variant of the application's errors is returned by a use case or a route. The compiler cannot tell, because the
//! enums are public.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns all source files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let paths = entries.map(|entry| entry.expect("the entry can be read").path());
    paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// Returns the variants of the public enums of a source, as `Enum::Variant`. Variants with `#[from]` are left out: the
/// operator `?` makes them.
fn variants(source: &str) -> Vec<String> {
    let mut current = None;
    let mut found = Vec::new();
    for line in source.lines() {
        if let Some(name) = line.strip_prefix("pub enum ") {
            current = name.split([' ', '<']).next();
        } else if line == "}" {
            current = None;
        } else if let Some(name) = current
            && let Some(variant) = line.strip_prefix("    ")
            && variant.starts_with(|first: char| first.is_ascii_uppercase())
            && !variant.contains("#[from]")
        {
            let variant = variant.split(|c: char| !c.is_ascii_alphanumeric()).next();
            found.push(format!("{name}::{}", variant.expect("the line has a word")));
        }
    }
    found
}

/// Removes comments and the unit tests at the end of a file.
fn code(source: &str) -> String {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_error_variant_is_returned_somewhere() {
    let crates = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates"));
    let root = crates.join("application/src");
    let is_error_file =
        |path: &PathBuf| path.starts_with(root.join("error")) || *path == root.join("error.rs");
    let (errors, mut others): (Vec<_>, Vec<_>) =
        sources(&root).into_iter().partition(is_error_file);
    others.extend(sources(&crates.join("http-actix/src/routes")));
    others.extend(sources(&crates.join("http-edge/src")));
    let read = |path: &PathBuf| code(&fs::read_to_string(path).expect("the file can be read"));
    let variants: Vec<String> = errors.iter().flat_map(|path| variants(&read(path))).collect();
    assert!(variants.len() > 60, "only {} variants were found", variants.len());
    let code: String = others.iter().map(read).collect();
    let is_unused = |variant: &&String| {
        let continues = |rest: &str| rest.starts_with(|next: char| next.is_ascii_alphanumeric());
        !code.split(variant.as_str()).skip(1).any(|rest| !continues(rest))
    };
    let unused: Vec<&String> = variants.iter().filter(is_unused).collect();
    assert!(unused.is_empty(), "nothing returns {unused:?}");
}
