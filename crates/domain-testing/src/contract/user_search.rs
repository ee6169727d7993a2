//! The search of users; see [`UserFilter::search`].

use super::check::{insert, read, write};
use crate::builders::{a_user, an_address};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::user::{DisplayName, User, UserFilter, Username};

/// Returns the usernames that a search finds, sorted.
fn search_usernames(store: &dyn Store, search: &str) -> Vec<String> {
    let filter = UserFilter { search: Some(search.into()), ..UserFilter::default() };
    let page = read(store, |tx| tx.users().list(&filter, Page::Whole));
    assert_eq!(page.total, page.items.len() as u64, "{search:?}");
    let mut names: Vec<_> = page.items.iter().map(|u| u.username.as_str().to_owned()).collect();
    names.sort();
    names
}

/// The search finds substrings of name, primary e-mail address and username, ignoring case.
pub fn a_search_finds_parts_of_name_address_and_username(store: &dyn Store) {
    insert(store, a_user("countess").named("Ada Lovelace").email("al@engine.example"));
    insert(store, a_user("Babbage").named("Charles").email("cb@engine.example"));
    for (search, names) in [
        ("Ada Lovelace", &["countess"][..]),
        ("lovel", &["countess"]),
        ("LOVEL", &["countess"]),
        ("a l", &["countess"]),
        ("OUNTES", &["countess"]),
        ("babbage", &["Babbage"]),
        ("bbAg", &["Babbage"]),
        ("cb@Engine", &["Babbage"]),
        ("engine.EXAMPLE", &["Babbage", "countess"]),
        ("lovelace ada", &[]),
        ("engine-example", &[]),
        ("nobody", &[]),
    ] {
        assert_eq!(search_usernames(store, search), names, "{search:?}");
    }
}

/// Case is ignored for non-ASCII letters too.
pub fn a_search_ignores_the_case_of_every_letter(store: &dyn Store) {
    insert(store, a_user("odon").named("Ödön ÉVA").email("ÿ-mail@example.com"));
    insert(store, a_user("ilich").named("Владимир ИЛЬИЧ"));
    insert(store, a_user("jose").named("josé"));
    for (search, names) in [
        ("ödön éva", &["odon"][..]),
        ("ÖDÖN", &["odon"]),
        ("éV", &["odon"]),
        ("Ÿ-MAIL", &["odon"]),
        ("владимир", &["ilich"]),
        ("ильич", &["ilich"]),
        ("МИР И", &["ilich"]),
        ("JOSÉ", &["jose"]),
        ("Sé", &["jose"]),
        // Accents are significant.
        ("Odon Eva", &[]),
    ] {
        assert_eq!(search_usernames(store, search), names, "{search:?}");
    }
}

/// Wildcards and other special characters of databases are literal.
pub fn a_search_takes_every_character_literally(store: &dyn Store) {
    insert(store, a_user("percent").named("100% Ada"));
    insert(store, a_user("under_score").named("Under"));
    insert(store, a_user("back").named(r"back\slash"));
    insert(store, a_user("both").named(r"a\%b"));
    insert(store, a_user("quote").named(r#"O'Hara "Q" *star* [x] ?"#));
    insert(store, a_user("plain").named("100 Ada"));
    for (search, names) in [
        ("%", &["both", "percent"][..]),
        ("0%", &["percent"]),
        ("100%", &["percent"]),
        ("1%a", &[]),
        ("%%", &[]),
        ("_", &["under_score"]),
        ("er_sc", &["under_score"]),
        ("1_0", &[]),
        (r"\", &["back", "both"]),
        (r"k\s", &["back"]),
        (r"\s", &["back"]),
        (r"\%", &["both"]),
        (r"a\%b", &["both"]),
        (r"\\", &[]),
        (r"100\%", &[]),
        ("'", &["quote"]),
        ("o'hara", &["quote"]),
        ("\"", &["quote"]),
        ("\"q\"", &["quote"]),
        ("*", &["quote"]),
        ("*star*", &["quote"]),
        ("ada*", &[]),
        ("[x]", &["quote"]),
        (" ?", &["quote"]),
        ("ada or under", &[]),
        ("-ada", &[]),
    ] {
        assert_eq!(search_usernames(store, search), names, "{search:?}");
    }
}

/// A trigram index must not make searches of one or two characters miss anybody.
pub fn a_search_works_with_one_or_two_characters(store: &dyn Store) {
    insert(store, a_user("ada").named("Xy").email("q1@example.com"));
    insert(store, a_user("bob").named("🦀 Z").email("q2@example.com"));
    for (search, names) in [
        ("x", &["ada", "bob"][..]),
        ("xY", &["ada"]),
        ("D", &["ada"]),
        ("aD", &["ada"]),
        ("oB", &["bob"]),
        ("q", &["ada", "bob"]),
        ("2@", &["bob"]),
        ("z", &["bob"]),
        ("🦀", &["bob"]),
        ("🦀 ", &["bob"]),
        ("k", &[]),
        ("yx", &[]),
    ] {
        assert_eq!(search_usernames(store, search), names, "{search:?}");
    }
}

/// The empty search matches everyone.
pub fn a_search_for_nothing_finds_everybody(store: &dyn Store) {
    insert(store, a_user("ada"));
    insert(store, a_user("bob"));
    assert_eq!(search_usernames(store, ""), ["ada", "bob"]);
}

/// No input makes a search fail, not even text that a database cannot store.
pub fn an_unusual_search_finds_nobody(store: &dyn Store) {
    insert(store, a_user("ada"));
    for search in ["\0", "a\0", "ada\0", "ada\0ada", "\u{fffe}", &"ada".repeat(1000)] {
        assert_eq!(search_usernames(store, search), Vec::<String>::new(), "{search:?}");
    }
}

/// Secondary e-mail addresses are private and not searched.
pub fn a_search_does_not_look_at_secondary_addresses(store: &dyn Store) {
    let ada = insert(store, a_user("ada"));
    write(store, |tx| tx.emails().insert(ada.id, &an_address("hidden@secret.example")));
    for search in ["hidden", "hidden@secret.example", "secret"] {
        assert_eq!(search_usernames(store, search), Vec::<String>::new(), "{search:?}");
    }
}

/// Each field is searched on its own.
pub fn a_search_does_not_run_from_one_field_into_the_next(store: &dyn Store) {
    insert(store, a_user("user").named("name").email("m@mail"));
    let fields = ["user", "name", "m@mail"];
    for first in fields {
        for second in fields {
            for between in ["", " ", "\n", "\t", "|", ",", "\u{1}", "\u{1f}"] {
                let search = format!("{first}{between}{second}");
                assert_eq!(search_usernames(store, &search), Vec::<String>::new(), "{search:?}");
            }
        }
    }
}

/// A search reflects all changes of a user.
pub fn a_search_follows_every_change(store: &dyn Store) {
    let ada = insert(store, a_user("before").named("Formerly").email("old@example.com"));
    let changed = User {
        username: Username::parse("after").expect("letters make a name"),
        name: DisplayName::parse("LATER").expect("not blank"),
        ..ada
    };
    write(store, |tx| {
        tx.users().update(&changed)?;
        tx.emails().make_primary(changed.id, &an_address("new@example.com"))
    });
    for now in ["AFTER", "later", "new@"] {
        assert_eq!(search_usernames(store, now), ["after"], "{now:?}");
    }
    for gone in ["before", "formerly", "old@"] {
        assert_eq!(search_usernames(store, gone), Vec::<String>::new(), "{gone:?}");
    }
    write(store, |tx| tx.users().delete(changed.id));
    assert_eq!(search_usernames(store, "after"), Vec::<String>::new());
}
