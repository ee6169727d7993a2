//! The manifest of a backup.

use anyhow::{Context, Result, ensure};

/// The path of the manifest, which is the first entry.
pub(super) const MANIFEST: &str = "manifest";
/// The path of the entry with earlier values of refs that changed during the backup. Only backups
/// of releases that stored refs in files have it.
pub(super) const REWINDS: &str = "rewinds";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The time of the backup.
    pub made: String,
    /// The version of the program.
    pub program: String,
    /// The kind of database.
    pub database: String,
    /// The migrations that the database has applied.
    pub migrations: Vec<String>,
    /// The number of repositories; `None` in backups of earlier releases.
    pub repositories: Option<u64>,
}

impl Manifest {
    pub fn write(&self) -> String {
        let Self { made, program, database, migrations, repositories } = self;
        let repositories =
            repositories.map(|count| format!("repositories {count}\n")).unwrap_or_default();
        let migrations: Vec<String> =
            migrations.iter().map(|version| format!("migration {version}\n")).collect();
        format!(
            "made {made}\nprogram {program}\ndatabase {database}\n{repositories}{}",
            migrations.concat()
        )
    }

    pub fn parse(text: &str) -> Result<Self> {
        let all = |word: &str| -> Vec<String> {
            let lines = text.lines().filter_map(|line| line.split_once(' '));
            lines.filter(|(first, _)| *first == word).map(|(_, rest)| rest.to_owned()).collect()
        };
        let one = |word: &str| {
            all(word).into_iter().next().with_context(|| format!("the manifest has no `{word}`"))
        };
        let migrations = all("migration");
        ensure!(!migrations.is_empty(), "the manifest has no migrations");
        Ok(Self {
            made: one("made")?,
            program: one("program")?,
            database: one("database")?,
            migrations,
            repositories: one("repositories").ok().and_then(|count| count.parse().ok()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_was_written() {
        let manifest = Manifest {
            made: "2026-11-15 10:00:00 UTC".into(),
            program: "0.1.0".into(),
            database: "sqlite".into(),
            migrations: vec!["20260101000000".into(), "20260102000000".into()],
            repositories: Some(3),
        };
        assert_eq!(Manifest::parse(&manifest.write()).expect("it is whole"), manifest);
        assert!(Manifest::parse("made now\n").is_err());
    }
}
