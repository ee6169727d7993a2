//! `hexforge doctor`: reports faults of an installation, and changes nothing.

mod lfs_objects;
mod repositories;

use std::process::ExitCode;

use anyhow::{Context, Result};
use hexforge_application::app::App;
use hexforge_application::delivery;
use hexforge_domain::delivery::{FailingHook, HookRef};
use hexforge_persistence_diesel::{DatabaseUrl, store};

use super::print;
use crate::config::Config;
use crate::wiring;

/// Less free space than this is reported as a fault.
const ROOM_MB: u64 = 1024;

/// The result of a check: one line if all is well, otherwise one line per fault.
type Finding = std::result::Result<String, Vec<String>>;

/// Runs all checks. Checks that need an up-to-date database are skipped if it is not.
pub fn run(config: &Config, deep: bool) -> Result<ExitCode> {
    let database = database(config);
    let usable = database.is_ok();
    let mut findings = vec![("database", database), ("data folder", data_folder(config))];
    findings.push(("disk", disk(config)));
    let mut code = ExitCode::SUCCESS;
    if usable {
        let app = wiring::app(config)?;
        findings.push(("hooks", hooks(&app)));
        findings.push(("repositories", repositories::check(config, &app, deep)));
        findings.push(("packs", repositories::check_packs(&app)));
        findings.push(("LFS objects", lfs_objects::check(&app, deep)));
    }
    for (name, finding) in findings {
        match finding {
            Ok(line) => print(&format!("ok     {name}: {line}\n"))?,
            Err(lines) => {
                code = ExitCode::FAILURE;
                for line in lines {
                    print(&format!("wrong  {name}: {line}\n"))?;
                }
            }
        }
    }
    Ok(code)
}

/// Checks that the database answers and that its schema is up to date.
fn database(config: &Config) -> Finding {
    if let DatabaseUrl::Sqlite(path) = &config.database_url
        && !path.exists()
    {
        return Err(vec![format!(
            "{} does not exist; `hexforge serve` creates it",
            path.display()
        )]);
    }
    let pending = store::pending_migrations(&config.database_url).map_err(causes)?;
    if pending.is_empty() {
        return Ok(format!("{} answers and is up to date", config.database_url));
    }
    Err(pending.into_iter().map(|name| format!("the migration {name} is pending")).collect())
}

/// Checks that the data folder can be written.
fn data_folder(config: &Config) -> Finding {
    let mut wrong = Vec::new();
    for folder in ["", "repositories", "packs", "uploads", "builds", "lfs"] {
        let folder = config.data_dir.join(folder);
        // Missing directories are created with their first file.
        if folder.exists() || folder == config.data_dir {
            let probe = folder.join(format!(".doctor-{}", std::process::id()));
            let written = std::fs::write(&probe, b"").and_then(|()| std::fs::remove_file(&probe));
            if let Err(error) = written {
                wrong.push(format!("{} cannot be written: {error}", folder.display()));
            }
        }
    }
    if wrong.is_empty() {
        Ok(format!("{} can be written", config.data_dir.display()))
    } else {
        Err(wrong)
    }
}

/// Checks the free space on the disk of the data folder.
fn disk(config: &Config) -> Finding {
    let room = rustix::fs::statvfs(&config.data_dir)
        .context("the free space of the disk cannot be read")
        .map_err(|error| vec![format!("{error:#}")])?;
    let megabytes = room.f_bavail.saturating_mul(room.f_frsize) / (1024 * 1024);
    if megabytes < ROOM_MB {
        Err(vec![format!("only {megabytes} MiB are free, less than {ROOM_MB}")])
    } else if room.f_files > 0 && room.f_favail < 10_000 {
        Err(vec![format!("only {} more files can be created", room.f_favail)])
    } else {
        Ok(format!("{megabytes} MiB are free"))
    }
}

/// Checks that no hook keeps failing.
fn hooks(app: &App) -> Finding {
    let failing = delivery::list_failing_hooks(app).map_err(causes)?;
    let queue = delivery::queue_size(app).map_err(causes)?;
    if failing.is_empty() {
        return Ok(format!("none keeps failing, {} deliveries wait", queue.deliveries));
    }
    Err(failing.iter().map(describe_failing).collect())
}

/// Describes a failing hook by its id and the host of its receiver. The rest of the URL may be a secret.
fn describe_failing(hook: &FailingHook) -> String {
    let which = match (hook.hook, hook.project) {
        (HookRef::Project(id), Some(project)) => format!("hook {id} of project {project}"),
        (HookRef::Project(id), None) => format!("hook {id}"),
        (HookRef::System(id), _) => format!("system hook {id}"),
        (HookRef::Service(id), Some(project)) => format!("service {id} of project {project}"),
        (HookRef::Service(id), None) => format!("service {id}"),
    };
    format!(
        "{which} ({}) failed {} times since {}: {}",
        hook.host,
        hook.failures,
        hook.since.format("%Y-%m-%d %H:%M UTC"),
        hook.reason
    )
}

/// Formats an error with its causes on one line.
fn causes(error: impl std::error::Error + Send + Sync + 'static) -> Vec<String> {
    vec![format!("{:#}", anyhow::Error::new(error))]
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use hexforge_domain::id::{ProjectId, ServiceId, SystemHookId};

    use super::*;

    #[test]
    fn failing_hooks_are_described_by_id_and_host() {
        for (hook, project, expected) in [
            (HookRef::Service(ServiceId(4)), Some(ProjectId(7)), "service 4 of project 7"),
            (HookRef::System(SystemHookId(5)), None, "system hook 5"),
        ] {
            let failing = FailingHook {
                hook,
                project,
                host: "hooks.example:8080".to_owned(),
                failures: 12,
                since: DateTime::UNIX_EPOCH,
                reason: "it gave no answer".to_owned(),
            };
            let rest = "(hooks.example:8080) failed 12 times since 1970-01-01 00:00 UTC: \
                        it gave no answer";
            assert_eq!(describe_failing(&failing), format!("{expected} {rest}"));
        }
    }
}
