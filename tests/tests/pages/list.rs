//! The list of pages, in `tests/pages.txt`.

use std::path::Path;

/// All pages that the program declares.
const PAGES: &str = include_str!("../../pages.txt");

#[test]
fn every_page_is_listed() {
    let declared = hexforge_web_askama::list();
    if std::env::var_os("HEXFORGE_WRITE_LISTS").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("pages.txt");
        std::fs::write(file, &declared).expect("the list can be written");
        return;
    }
    assert_eq!(PAGES, declared, "run again with HEXFORGE_WRITE_LISTS=1");
}
