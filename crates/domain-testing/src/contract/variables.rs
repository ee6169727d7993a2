//! Variables; see [`Variables`](hexforge_domain::variable::port::Variables).

use super::check::{assert_duplicate, assert_pages, read, write};
use super::labels::a_project_with_owner;
use hexforge_domain::ports::store::Store;
use hexforge_domain::ports::vault::Sealed;
use hexforge_domain::variable::{Variable, VariableKey};

fn key(key: &str) -> VariableKey {
    VariableKey::parse(key).expect("tests use good names")
}

fn sealed(byte: u8) -> Sealed {
    Sealed(vec![0, byte])
}

/// Variables of one project are listed oldest first.
pub fn variables_are_listed_changed_and_removed(store: &dyn Store) {
    let ((project, _), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    let insert = |project, name: &str| {
        write(store, |tx| tx.variables().insert(project, &key(name), &sealed(1)))
    };
    let mut made = vec![insert(project, "B"), insert(project, "A"), insert(project, "b")];
    insert(other, "C");
    assert_pages(store, &made, |tx, page| tx.variables().list(project, page));
    made[1] = Variable { value: sealed(2), ..made[1].clone() };
    write(store, |tx| tx.variables().update(made[1].id, &sealed(2)));
    let gone = made.remove(0);
    write(store, |tx| tx.variables().delete(gone.id));
    assert_pages(store, &made, |tx, page| tx.variables().list(project, page));
    read(store, |tx| {
        assert_eq!(tx.variables().find(project, "A")?, Some(made[0].clone()));
        for nobody in ["B", "a", "C", "\0"] {
            assert_eq!(tx.variables().find(project, nobody)?, None, "{nobody}");
        }
        Ok(())
    });
}

/// Another project may use the same name.
pub fn names_of_variables_are_unique_in_a_project(store: &dyn Store) {
    let ((project, _), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    write(store, |tx| tx.variables().insert(project, &key("A"), &sealed(1)));
    write(store, |tx| tx.variables().insert(other, &key("A"), &sealed(1)));
    assert_duplicate(store, "key", |tx| tx.variables().insert(project, &key("A"), &sealed(2)));
}
