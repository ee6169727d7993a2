//! `seal_plain_texts` seals the secrets that earlier versions stored in plain text.

use std::sync::Arc;

use crate::support::{connect, databases};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::ports::vault::{Sealed, Vault, VaultError};
use hexforge_domain::service::ServiceKind;
use hexforge_domain::text::Secret;
use hexforge_domain_testing::builders::{
    a_hook, a_moment, a_project, a_service, a_system_hook, a_user, an_import, home_of,
};
use hexforge_domain_testing::fakes::FakeVault;
use hexforge_persistence_diesel::connection::DbConn;
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_persistence_diesel::{DieselStore, Options, SealError};

/// A vault whose sealed texts do not contain the plain text, so that the tests can search the database for it.
struct Reversing(&'static str);

impl Vault for Reversing {
    fn seal(&self, purpose: &str, text: &str) -> Sealed {
        let mut sealed = FakeVault.seal(&format!("{}{purpose}", self.0), text);
        sealed.0.reverse();
        sealed
    }

    fn open(&self, purpose: &str, sealed: &Sealed) -> Result<Secret, VaultError> {
        let mut sealed = sealed.clone();
        sealed.0.reverse();
        FakeVault.open(&format!("{}{purpose}", self.0), &sealed)
    }

    fn token(&self, subject: &str) -> Secret {
        FakeVault.token(&format!("{}{subject}", self.0))
    }

    fn is_token(&self, subject: &str, text: &str) -> bool {
        self.token(subject).reveal() == text
    }
}

fn open(database: &TestDatabase, key: &'static str) -> DieselStore {
    database.open(Options { vault: Some(Arc::new(Reversing(key))), ..Options::default() })
}

#[derive(QueryableByName)]
struct Column {
    #[diesel(sql_type = Text)]
    text: String,
}

/// Returns the content of all columns that contain secrets.
fn stored_texts(database: &TestDatabase) -> Vec<String> {
    let query = diesel::sql_query(
        "SELECT runners_token AS text FROM projects UNION ALL SELECT sealed FROM runners_tokens \
         UNION ALL SELECT proof FROM runners_tokens \
         UNION ALL SELECT url FROM project_hooks UNION ALL SELECT token FROM project_hooks \
         UNION ALL SELECT url FROM system_hooks UNION ALL SELECT token FROM system_hooks \
         UNION ALL SELECT url FROM repository_tasks UNION ALL SELECT coalesce(url, '') FROM deliveries",
    );
    let rows: Vec<Column> = match &mut connect(&database.url) {
        DbConn::Sqlite(conn) => query.load(conn),
        DbConn::Postgres(conn) => query.load(conn),
    }
    .expect("the tables are there");
    rows.into_iter().map(|row| row.text).collect()
}

/// Replaces all secrets by plain texts, as an earlier version stored them.
fn make_plain(database: &TestDatabase, project: i64) {
    database.execute(&format!(
        "UPDATE projects SET runners_token = 'runners-secret-' || id; DELETE FROM runners_tokens; \
         UPDATE project_hooks SET url = 'http://u:url-secret@example.com', token = 'sealed:token-secret'; \
         UPDATE system_hooks SET url = 'http://example.com/url-secret', token = 'token-secret'; \
         UPDATE repository_tasks SET url = 'https://u:import-secret@example.com' \
         WHERE project_id = {project}; \
         DELETE FROM sealing; INSERT INTO sealing (name, last_id) VALUES ('projects', 0), \
         ('project_hooks', 0), ('system_hooks', 0), ('repository_tasks', 0), ('deliveries', 0), \
         ('vacuum', 0);"
    ));
}

#[test]
fn plain_secrets_of_earlier_versions_are_sealed_and_still_work() {
    for database in databases() {
        let store = open(&database, "key");
        store.seal_plain_texts().expect("an empty database");
        let port: &dyn Store = &store;
        let ada = a_user("ada").stored_in(port).id;
        let home = home_of(port, ada);
        let site = a_project("site", home, ada).stored_in(port).id;
        let filled: Result<(), StoreError> = port.write(|tx| {
            let hook = a_hook("http://example.com");
            let token = Some(Secret::new("token"));
            let hook = hexforge_domain::project::hook::ProjectHookSettings { token, ..hook };
            tx.project_hooks().insert(site, hook, a_moment())?;
            let hook = a_system_hook("http://example.com");
            let token = Some(Secret::new("token"));
            let hook = hexforge_domain::system_hook::SystemHookSettings { token, ..hook };
            tx.system_hooks().insert(hook, a_moment())?;
            tx.repository_tasks().insert(site, &an_import(ada), a_moment()).map(drop)
        });
        filled.expect("the schema is complete");
        // More projects than one batch seals.
        for number in 0..1_201 {
            a_project(&format!("p{number}"), home, ada).stored_in(port);
        }
        make_plain(&database, site.0);
        let plain = stored_texts(&database);
        assert!(plain.iter().any(|text| text.contains("secret")), "the test has plain texts");

        open(&database, "key").seal_plain_texts().expect("it can be sealed");
        let texts = stored_texts(&database);
        assert!(!texts.iter().any(|text| text.contains("secret")), "nothing is plain: {texts:?}");
        let before = texts.len();
        // A second run finds nothing to seal.
        open(&database, "key").seal_plain_texts().expect("nothing to do");
        assert_eq!(stored_texts(&database).len(), before);

        let store = open(&database, "key");
        let port: &dyn Store = &store;
        let read: Result<(), StoreError> = port.read(|tx| {
            let token = tx.projects().runners_token(site)?.expect("it was sealed");
            assert_eq!(token.reveal(), format!("runners-secret-{site}"));
            assert_eq!(tx.runners().project_by_token(token.reveal())?, Some(site));
            let hook = tx.project_hooks().of_projects(&[site])?.pop().expect("it is there");
            assert_eq!(hook.settings.url.as_str(), "http://u:url-secret@example.com");
            assert_eq!(hook.settings.token, Some(Secret::new("sealed:token-secret")));
            Ok(())
        });
        read.expect("everything opens");
    }
}

#[test]
fn sealing_goes_on_where_it_was_interrupted() {
    for database in databases() {
        let store = open(&database, "key");
        let port: &dyn Store = &store;
        let ada = a_user("ada").stored_in(port).id;
        let home = home_of(port, ada);
        let made: Vec<i64> = (0..3)
            .map(|number| a_project(&format!("p{number}"), home, ada).stored_in(port).id.0)
            .collect();
        // The state after a process was killed: the batch with the first project is committed.
        database.execute(&format!(
            "UPDATE projects SET runners_token = 'secret-' || id WHERE id > {0}; \
             DELETE FROM runners_tokens WHERE project_id > {0}; DELETE FROM sealing; \
             INSERT INTO sealing (name, last_id) VALUES ('projects', {0});",
            made[0]
        ));
        store.seal_plain_texts().expect("it can be sealed");
        let tokens: Result<Vec<String>, StoreError> = port.read(|tx| {
            let ids = made.iter().map(|id| hexforge_domain::id::ProjectId(*id));
            ids.map(|id| {
                Ok(tx.projects().runners_token(id)?.map(|token| token.reveal().to_owned()))
            })
            .map(|token| token.map(Option::unwrap_or_default))
            .collect()
        });
        let expected = [
            format!("runners of p0 in {home}"),
            format!("secret-{}", made[1]),
            format!("secret-{}", made[2]),
        ];
        assert_eq!(tokens.expect("everything opens"), expected);
    }
}

#[test]
fn a_database_sealed_with_another_key_is_refused() {
    for database in databases() {
        open(&database, "key").seal_plain_texts().expect("an empty database");
        let refused = open(&database, "another key").seal_plain_texts();
        assert!(matches!(refused, Err(SealError::OtherKey)), "{refused:?}");
        open(&database, "key").seal_plain_texts().expect("its own key");
    }
}

/// After sealing, neither the database file nor the WAL of SQLite contains a plain secret.
#[test]
fn no_file_keeps_a_secret_in_plain_text() {
    let database = TestDatabase::sqlite();
    let store = open(&database, "key");
    let port: &dyn Store = &store;
    let ada = a_user("ada").stored_in(port).id;
    let site = a_project("site", home_of(port, ada), ada).stored_in(port).id;
    let hook = hexforge_domain::project::hook::ProjectHookSettings {
        token: Some(Secret::new("token-secret")),
        ..a_hook("http://example.com")
    };
    let added: Result<_, StoreError> =
        port.write(|tx| tx.project_hooks().insert(site, hook, a_moment()));
    added.expect("the schema is complete");
    make_plain(&database, site.0);
    let hexforge_persistence_diesel::DatabaseUrl::Sqlite(path) = &database.url else { return };
    let folder = path.parent().expect("it is in a folder");
    let found = || {
        let files = std::fs::read_dir(folder).expect("readable").flatten();
        let contents = files.map(|file| std::fs::read(file.path()).expect("readable"));
        contents
            .map(|bytes| bytes.windows(7).filter(|word| word == b"-secret").count())
            .sum::<usize>()
    };
    assert!(found() > 0, "the test has plain texts");
    store.seal_plain_texts().expect("it can be sealed");
    connect(&database.url)
        .batch_execute("PRAGMA wal_checkpoint(TRUNCATE)")
        .expect("nobody else reads");
    assert_eq!(found(), 0);
}

/// The properties of a service and its URL are sealed when they are written, and read back.
#[test]
fn properties_of_services_are_sealed() {
    for database in databases() {
        let store = open(&database, "key");
        let port: &dyn Store = &store;
        let ada = a_user("ada").stored_in(port).id;
        let site = a_project("site", home_of(port, ada), ada).stored_in(port).id;
        let slack = ServiceKind::slack().expect("it is in the table");
        let added: Result<_, StoreError> =
            port.write(|tx| tx.services().insert(site, slack, a_service(), a_moment()));
        let added = added.expect("the schema is complete");
        for stored in
            database.texts("SELECT properties FROM services UNION SELECT url FROM services")
        {
            assert!(!stored.contains("example"), "{stored}");
        }
        let found: Result<_, StoreError> = port.read(|tx| tx.services().find(site, slack));
        assert_eq!(found.expect("it can be opened"), Some(added));
    }
}
