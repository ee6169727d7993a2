//! Tests the error messages for invalid settings, and the generated documentation.

use hexforge_http_actix::Dialect;

use super::declaration::Description;
use super::*;

fn wrong(overrides: Overrides) -> String {
    match Config::resolve(overrides) {
        Ok(_) => "nothing is wrong".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn a_wrong_value_is_told_in_a_sentence_that_names_it() {
    let none = Overrides::default;
    for (overrides, sentence) in [
        (
            Overrides { listen: text("here"), ..none() },
            "listen is `here` and has to be an address such as 127.0.0.1:8080",
        ),
        (
            Overrides { database_url: text("mysql://me:hunter2@h/d"), ..none() },
            "database_url is wrong: a database address is `sqlite:PATH` or `postgres://...`",
        ),
        (
            Overrides { external_url: text("forge"), ..none() },
            "external_url has to be an address such as https://forge.example.com",
        ),
        (
            Overrides { external_url: text("ftp://forge.example.com"), ..none() },
            "external_url is `ftp://forge.example.com` and has to begin with http:// or https://",
        ),
        (
            Overrides { dialect: text("klingon"), ..none() },
            "dialect is `klingon` and has to be `specification` or `original`",
        ),
        (
            Overrides { max_body_mb: text("0"), ..none() },
            "max_body_mb has to be a number from 1 to 4096",
        ),
        (
            Overrides { max_body_mb: text("lots"), ..none() },
            "max_body_mb is `lots` and has to be a number from 1 to 4096",
        ),
        (
            Overrides { max_upload_mb: text("4097"), ..none() },
            "max_upload_mb has to be a number from 1 to 4096",
        ),
        (
            Overrides { trusted_proxies: text("127.0.0.1, proxy"), ..none() },
            "trusted_proxies has `proxy`, which is not an address or network such as `10.0.0.0/8`",
        ),
        (
            Overrides { min_transfer_rate: text("1025"), ..none() },
            "min_transfer_rate has to be a number from 0 to 1024",
        ),
        (
            Overrides { transfer_idle: text("0"), ..none() },
            "transfer_idle has to be a number from 1 to 3600",
        ),
        (
            Overrides { verify_fetches: text("often"), ..none() },
            "verify_fetches is `often` and has to be true or false",
        ),
        (
            Overrides { strict_rules: text("tags,all"), ..none() },
            "strict_rules has `all`, which is not a rule that can be stricter",
        ),
        (
            Overrides { accepted_object_errors: text("badTree, badLuck"), ..none() },
            "accepted_object_errors has `badLuck`, which is not an error of git fsck",
        ),
        (
            Overrides { max_upload_mb: text("lots"), ..none() },
            "max_upload_mb is `lots` and has to be a number from 1 to 4096",
        ),
        (
            Overrides { default_projects_limit: text("-1"), ..none() },
            "default_projects_limit has to be a number from 0 on",
        ),
        (
            Overrides { background_work: text("no"), ..none() },
            "background_work is `no` and has to be true or false",
        ),
        (
            Overrides { hook_timeout: text("61"), ..none() },
            "hook_timeout has to be a number from 1 to 60",
        ),
        (
            Overrides { rate_limit_per_token: text("-1"), ..none() },
            "rate_limit_per_token is `-1` and has to be a number from 0 on",
        ),
        (
            Overrides { max_push_mb: text("0"), ..none() },
            "max_push_mb has to be a number from 1 to 1048576",
        ),
        (
            Overrides { max_repository_mb: text("1048577"), ..none() },
            "max_repository_mb has to be a number from 1 to 1048576",
        ),
        (
            Overrides { max_object_mb: text("all"), ..none() },
            "max_object_mb is `all` and has to be a number from 1 to 1048576",
        ),
        (
            Overrides { push_memory_mb: text("100"), ..none() },
            "push_memory_mb has to be a number from 128 to 65536",
        ),
        (
            Overrides { runners_token: text("short"), ..none() },
            "runners_token has to have at least 8 characters",
        ),
        (
            Overrides { log_format: text("xml"), ..none() },
            "log_format is `xml` and has to be `text` or `json`",
        ),
    ] {
        assert_eq!(wrong(overrides), sentence);
    }
}

#[test]
fn flags_count_more_than_the_file_and_the_file_more_than_defaults() {
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let file = folder.path().join("hexforge.toml");
    std::fs::write(&file, "listen = \"127.0.0.1:1\"\nmax_body_mb = 3\nmax_upload_mb = 4\n")
        .expect("writable");
    let flags = Overrides {
        listen: text("127.0.0.1:2"),
        data_dir: Some(folder.path().display().to_string()),
        dialect: text(""),
        ..Overrides::default()
    };
    let config = Config::load(flags, None).expect("all of it is right");
    assert_eq!(config.listen.port(), 2);
    assert_eq!((config.max_body_mb, config.max_upload_mb), (3, 4));
    assert_eq!(config.dialect, Dialect::Specification);
    std::fs::write(&file, "lisen = \"x\"").expect("writable");
    let error = Config::load(Overrides::default(), Some(&file)).err().expect("unknown setting");
    assert!(format!("{error:#}").contains("lisen"), "{error:#}");
}

#[test]
fn printed_settings_have_no_secrets() {
    let config = Config::resolve(Overrides {
        database_url: text("postgres://me:hunter2@db/forge"),
        root_password: text("hunter2hunter2"),
        root_token: text("hunter2hunter2hunter2"),
        runners_token: text("hunter2hunter2hunter2"),
        ..Overrides::default()
    })
    .expect("all of it is right");
    assert!(!config.to_string().contains("hunter2"), "{config}");
}

/// Run with `HEXFORGE_WRITE_LISTS=1 cargo test -p hexforge-server the_documentation` to write the table again.
#[test]
fn the_documentation_lists_all_settings() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");
    let docs = std::fs::read_to_string(file).expect("the documentation can be read");
    let (before, rest) = docs.split_once(TABLE_BEGINS).expect("the table begins");
    let (table, after) = rest.split_once(TABLE_ENDS).expect("the table ends");
    let declared: String = flags::DESCRIPTIONS.iter().map(row).collect();
    let declared = format!("{TABLE_HEAD}{declared}\n");
    if std::env::var_os("HEXFORGE_WRITE_LISTS").is_some() {
        let written = [before, TABLE_BEGINS, &declared, TABLE_ENDS, after].concat();
        std::fs::write(file, written).expect("the documentation can be written");
    } else {
        assert_eq!(table, declared, "run this test with HEXFORGE_WRITE_LISTS=1");
    }
}

const TABLE_BEGINS: &str = "<!-- Generated from crates/server/src/config/settings.rs -->\n";
const TABLE_ENDS: &str = "<!-- End of the generated table -->\n";
const TABLE_HEAD: &str =
    "\n| Flag | Variable | In the file | Default | Range | Meaning |\n|---|---|---|---|---|---|\n";

fn row(setting: &Description) -> String {
    let Description { name, flag, variable, default, meaning, note, .. } = setting;
    let range = setting.range.as_deref().unwrap_or_default();
    let note = if note.is_empty() { String::new() } else { format!(". {note}") };
    let secret = if setting.is_secret { " (secret)" } else { "" };
    let meaning = format!("{meaning}{secret}{note}");
    format!("| `--{flag}` | `{variable}` | `{name}` | {default} | {range} | {meaning} |\n")
}
