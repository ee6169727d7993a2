//! The `container` executor: builds run in containers of podman or docker, driven through their command lines.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::{
    BuildFacts, DEFAULT_PATH, Folders, Step, StepOwner, find_program, host_environment, text,
};
use crate::config::{Pull, Runner};
use crate::error::Error;
use crate::script::quote;
use crate::supervisor::Spec;

/// Where scripts are inside of the container.
const SCRIPTS: &str = "/hexforge";

/// Goes before the script that fetches the sources. Images have users of their own, who write into the working copy,
/// and nobody else reaches it: the folder of the slot is private.
pub const OPEN_SOURCES: &str = "umask 0000\n";

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

    /// Creates the network of the build and the containers of its services.
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
        for (name, service) in self.named_services() {
            let mut create = ["create", "--rm", "--name", &name, "--network", &self.prefix]
                .map(str::to_owned)
                .to_vec();
            create.push(format!("--pull={}", self.pull.as_str()));
            create.extend(self.limits());
            for alias in aliases(service) {
                create.extend(["--network-alias".to_owned(), alias]);
            }
            create.push(service.clone());
            steps.push(self.spec(create));
        }
        steps
    }

    /// Starts the services and waits for their ends.
    pub(super) fn services(&self) -> Vec<(String, Spec)> {
        let start = |name: &str| self.spec(["start", "--attach", name].map(str::to_owned).into());
        self.named_services().map(|(name, image)| (image.clone(), start(&name))).collect()
    }

    /// The names of the containers of the services, with their images.
    fn named_services(&self) -> impl Iterator<Item = (String, &String)> {
        let services = self.services.iter().enumerate();
        services.map(|(at, image)| (format!("{}-service-{at}", self.prefix), image))
    }

    /// Steps of the runner itself run on the host, in a working copy that no job has touched. Steps of the job run in
    /// a container. Their variables are in the script, because everybody can read command lines.
    pub(super) fn command(&self, step: &Step<'_>) -> Result<Spec, Error> {
        if step.owner == StepOwner::Runner {
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
        // The user of the image reads it, inside of the container. On the machine, the folder above both is private.
        let scripts = step.script.parent().unwrap_or(&self.folders.private);
        for (path, mode) in [(step.script, 0o644), (scripts, 0o755)] {
            fs::set_permissions(path, Permissions::from_mode(mode)).map_err(Error::at(path))?;
        }
        let (project, scripts) = (text(&self.folders.project), text(scripts));
        let name = step
            .script
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let mut run = self.container();
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

    /// Empties the project folder with the rights of root in a container, who may own files there that the runner
    /// cannot remove.
    pub(super) fn empty_project(&self) -> Spec {
        let project = text(&self.folders.project);
        let mut run = self.container();
        run.extend(["--network", "none", "--user", "0:0", "-v"].map(str::to_owned));
        run.extend([format!("{project}:{project}"), self.image.clone()]);
        run.extend(["find", &project, "!", "-path", &project, "-delete"].map(str::to_owned));
        self.spec(run)
    }

    /// The beginning of the command line of the container of the build.
    fn container(&self) -> Vec<String> {
        let mut run: Vec<String> =
            ["run", "--rm", "--init", "--name", &self.prefix].map(str::to_owned).into();
        run.push(format!("--pull={}", self.pull.as_str()));
        run.extend(["--label", "hexforge-runner", "--entrypoint", ""].map(str::to_owned));
        run
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
        let services = self.named_services().map(|(name, _)| name);
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

/// The environment that variables can refer to. The image has one of its own, which is only known inside of the
/// container, so this is the search path that most images have.
pub(super) fn environment() -> Vec<(String, String)> {
    vec![("PATH".to_owned(), DEFAULT_PATH.to_owned())]
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
