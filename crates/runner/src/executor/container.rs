//! The `container` executor: builds run in containers of podman or docker, driven through their command lines.

use std::fs;
use std::path::PathBuf;

use super::{BuildFacts, Folders, Step, find_program, host_environment, text};
use crate::config::{Pull, Runner};
use crate::error::Error;
use crate::script::quote;
use crate::supervisor::Spec;

/// Where scripts are inside of the container.
const SCRIPTS: &str = "/hexforge";

/// Runs scripts in containers.
#[derive(Debug)]
pub struct ContainerExecutor {
    engine: PathBuf,
    image: String,
    services: Vec<String>,
    pull: Pull,
    /// The names of volumes, and where they are inside of the container.
    volumes: Vec<(String, String)>,
    network: bool,
    /// The prefix of the names of everything that belongs to the build.
    prefix: String,
    folders: Folders,
    memory_mb: Option<u64>,
    processes: Option<u64>,
    cpus: Option<f64>,
}

impl ContainerExecutor {
    /// Finds podman or docker, and the image.
    /// # Errors
    /// No engine is installed, or neither job nor configuration names an image.
    pub fn new(runner: &Runner, folders: &Folders, build: &BuildFacts<'_>) -> Result<Self, Error> {
        let engine = find_program("podman").or_else(|| find_program("docker")).ok_or_else(|| {
            Error::step("the container executor needs podman or docker: neither is installed on this runner")
        })?;
        let image = build.image.or(runner.image.as_deref()).ok_or_else(|| {
            Error::step(
                "the job names no `image`, and neither does the configuration of this runner",
            )
        })?;
        check_image(image)?;
        for service in build.services {
            check_image(service)?;
        }
        Ok(Self {
            engine,
            image: image.to_owned(),
            services: build.services.to_vec(),
            pull: runner.pull,
            volumes: volumes(runner, build.project)?,
            network: runner.network,
            prefix: format!("hexforge-{}-{}", runner.key(), build.id),
            folders: folders.clone(),
            memory_mb: runner.memory_mb,
            processes: runner.processes,
            cpus: runner.cpus,
        })
    }

    pub(super) fn describe(&self) -> String {
        format!("Using the container executor with image {}", self.image)
    }

    /// Creates the network of the build and starts the services in it.
    pub(super) fn preparation(&self) -> Vec<Spec> {
        let mut steps = Vec::new();
        if !self.services.is_empty() {
            let mut create = ["network", "create"].map(str::to_owned).to_vec();
            if !self.network {
                // Its containers reach each other and nothing else.
                create.push("--internal".to_owned());
            }
            create.push(self.prefix.clone());
            steps.push(self.spec(create));
        }
        for (at, service) in self.services.iter().enumerate() {
            let name = format!("{}-service-{at}", self.prefix);
            let mut run = ["run", "-d", "--rm", "--name", &name, "--network", &self.prefix]
                .map(str::to_owned)
                .to_vec();
            run.push(format!("--pull={}", self.pull.as_str()));
            run.extend(self.limits());
            for alias in aliases(service) {
                run.extend(["--network-alias".to_owned(), alias]);
            }
            run.push(service.clone());
            steps.push(self.spec(run));
        }
        steps
    }

    /// Steps of the runner itself run on the host, in a working copy that no job has touched. Steps of the job run in
    /// a container. Their variables are in the script, because everybody can read command lines.
    pub(super) fn command(&self, step: &Step<'_>) -> Result<Spec, Error> {
        if step.is_own {
            let mut environment = host_environment();
            environment.extend(step.variables.iter().cloned());
            let program = find_program("sh")
                .ok_or_else(|| Error::step("sh is not installed on this runner"))?;
            let folder = step.folder.to_owned();
            return Ok(Spec {
                program,
                arguments: vec![text(step.script)],
                environment,
                folder,
                ..Spec::default()
            });
        }
        let script = fs::read_to_string(step.script).map_err(Error::at(step.script))?;
        fs::write(step.script, exports(step.variables) + &script)
            .map_err(Error::at(step.script))?;
        let project = text(&self.folders.project);
        let scripts = step.script.parent().map(text).unwrap_or_default();
        let name = step
            .script
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let mut run: Vec<String> =
            ["run", "--rm", "--init", "--name", &self.prefix].map(str::to_owned).into();
        run.push(format!("--pull={}", self.pull.as_str()));
        run.extend([
            "--label".to_owned(),
            "hexforge-runner".to_owned(),
            "--entrypoint".to_owned(),
            String::new(),
        ]);
        match (self.services.is_empty(), self.network) {
            (false, _) => run.extend(["--network".to_owned(), self.prefix.clone()]),
            (true, false) => run.extend(["--network".to_owned(), "none".to_owned()]),
            (true, true) => (),
        }
        run.extend(self.limits());
        for (volume, place) in &self.volumes {
            run.extend(["-v".to_owned(), format!("{volume}:{place}")]);
        }
        run.extend(["-v".to_owned(), format!("{project}:{project}")]);
        run.extend([
            "-v".to_owned(),
            format!("{scripts}:{SCRIPTS}:ro"),
            "-w".to_owned(),
            text(step.folder),
        ]);
        run.extend([self.image.clone(), "sh".to_owned(), format!("{SCRIPTS}/{name}")]);
        Ok(self.spec(run))
    }

    /// The limits of a container, of the job as of a service.
    fn limits(&self) -> impl Iterator<Item = String> {
        let memory = self.memory_mb.map(|limit| format!("--memory={limit}m"));
        let processes = self.processes.map(|limit| format!("--pids-limit={limit}"));
        let cpus = self.cpus.map(|limit| format!("--cpus={limit}"));
        [memory, processes, cpus].into_iter().flatten()
    }

    /// Removes the container of a step. Killing the client of docker does not end it.
    pub(super) fn end_of_step(&self) -> Spec {
        self.spec(["rm", "-f", &self.prefix].map(str::to_owned).into())
    }

    /// Removes everything of the build.
    pub(super) fn cleanup(&self) -> Vec<Spec> {
        let services = (0..self.services.len()).map(|at| format!("{}-service-{at}", self.prefix));
        let mut remove = vec!["rm".to_owned(), "-f".to_owned(), self.prefix.clone()];
        remove.extend(services);
        let mut steps = vec![self.spec(remove)];
        if !self.services.is_empty() {
            steps.push(self.spec(["network", "rm", &self.prefix].map(str::to_owned).into()));
        }
        steps
    }

    fn spec(&self, arguments: Vec<String>) -> Spec {
        Spec {
            program: self.engine.clone(),
            arguments,
            environment: host_environment(),
            folder: self.folders.private.clone(),
            ..Spec::default()
        }
    }
}

/// The volumes of a project, one for each configured folder.
fn volumes(runner: &Runner, project: i64) -> Result<Vec<(String, String)>, Error> {
    let volume = |(at, place): (usize, &String)| {
        let is_valid = place.starts_with('/') && !place.contains([':', ',', '\0']);
        let name = format!("hexforge-{}-{project}-{at}", runner.key());
        is_valid.then(|| (name, place.clone())).ok_or_else(|| {
            Error::step(format!("`{place}` in `volumes` is not an absolute path without colons"))
        })
    };
    runner.volumes.iter().enumerate().map(volume).collect()
}

/// Refuses a name that the command line would take for an option.
fn check_image(image: &str) -> Result<(), Error> {
    let allowed =
        |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'/' | b':' | b'@');
    match image.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
        && image.bytes().all(allowed)
    {
        true => Ok(()),
        false => Err(Error::step(format!("`{image}` is not the name of an image"))),
    }
}

/// The host names of a service, as in the reference: the image without its tag, with `__` and with `-` for slashes.
fn aliases(image: &str) -> Vec<String> {
    let name = image.split('@').next().unwrap_or(image);
    let name = match name.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => name,
    };
    let mut aliases = vec![name.replace(['/', ':'], "__"), name.replace(['/', ':'], "-")];
    aliases.dedup();
    aliases
}

/// Statements that set all variables whose names a shell can set.
fn exports(variables: &[(String, String)]) -> String {
    let settable = |name: &str| {
        let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        name.bytes().all(word) && name.bytes().next().is_some_and(|b| !b.is_ascii_digit())
    };
    let settable = variables.iter().filter(|(name, _)| settable(name));
    settable.map(|(name, value)| format!("export {name}={}\n", quote(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_images_are_no_options() {
        for (image, valid) in [
            ("ruby:2.1", true),
            ("registry.example.com:5000/group/image@sha256:ab", true),
            ("--privileged", false),
            ("", false),
            ("a b", false),
        ] {
            assert_eq!(check_image(image).is_ok(), valid, "{image}");
        }
    }

    #[test]
    fn without_a_network_services_are_reached_and_nothing_else() {
        let of = |network, services: &[&str]| ContainerExecutor {
            engine: "podman".into(),
            image: "debian".into(),
            services: services.iter().map(|&service| service.to_owned()).collect(),
            pull: Pull::Missing,
            volumes: vec![],
            network,
            prefix: "hexforge-1".into(),
            folders: Folders { project: "/p".into(), private: "/q".into() },
            memory_mb: None,
            processes: None,
            cpus: None,
        };
        for (network, services, expected) in [
            (true, &["mysql"][..], vec!["network create hexforge-1"]),
            (false, &["mysql"], vec!["network create --internal hexforge-1"]),
            (false, &[], vec![]),
        ] {
            let steps = of(network, services).preparation();
            let created = steps.iter().map(|step| step.arguments.join(" "));
            let created: Vec<_> = created.filter(|line| line.starts_with("network")).collect();
            assert_eq!(created, expected, "{network} {services:?}");
        }
    }

    #[test]
    fn volumes_belong_to_a_project() {
        let mut runner = Runner { id: 3, volumes: vec!["/cache".into()], ..Runner::default() };
        let found = volumes(&runner, 7).expect("valid");
        let name = format!("hexforge-{}-7-0", runner.key());
        assert_eq!(found, [(name, "/cache".to_owned())]);
        for wrong in ["cache", "/a:/b", "/a,b"] {
            runner.volumes = vec![wrong.to_owned()];
            assert!(volumes(&runner, 7).is_err(), "{wrong}");
        }
    }

    #[test]
    fn services_have_host_names() {
        assert_eq!(aliases("mysql:5.7"), ["mysql"]);
        assert_eq!(aliases("tutum/wordpress"), ["tutum__wordpress", "tutum-wordpress"]);
        assert_eq!(aliases("host:5000/a"), ["host__5000__a", "host-5000-a"]);
    }

    #[test]
    fn only_names_of_the_shell_are_exported() {
        let variables =
            [("A".to_owned(), "it's".to_owned()), ("with-dash".to_owned(), "x".to_owned())];
        assert_eq!(exports(&variables), "export A='it'\\''s'\n");
    }
}
