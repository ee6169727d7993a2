//! The services of a build: containers that run beside its steps, from the preparation to the end of the build.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::Job;
use crate::executor::Executor;
use crate::plan::AFTER_SCRIPT_TIMEOUT;
use crate::process::{self, Ended, Output};

/// The running services of a build. They are killed when it is dropped.
#[derive(Debug)]
pub(super) struct Services {
    /// The clients that started them. A client that ended before the build says so for the log.
    clients: JoinSet<Option<String>>,
    stop: watch::Sender<bool>,
}

impl Default for Services {
    fn default() -> Self {
        Self { clients: JoinSet::new(), stop: watch::Sender::new(false) }
    }
}

impl Job<'_> {
    /// Starts the services. Each has a supervisor until the end of the build: podman leaves a process that belongs to
    /// the container, and a supervisor that ends kills it.
    pub(super) fn start_services(&mut self, executor: &Executor) {
        // Services are there for `after_script`, which may follow a script that used up the time limit.
        let end = self.deadline + 2 * AFTER_SCRIPT_TIMEOUT;
        for (image, spec) in executor.services() {
            let spec = self.confined(executor, spec);
            let mut stop = self.services.stop.subscribe();
            self.services.clients.spawn(async move {
                let quiet: Output = Arc::new(|_| ());
                let problem = match process::run(&spec, quiet, end, &mut stop).await {
                    Ok(Ended::Stopped | Ended::TimedOut) => return None,
                    Ok(Ended::Exited(code)) => format!("exit status {code}"),
                    Ok(Ended::Lost) => "its supervisor was killed".to_owned(),
                    Err(error) => error.to_string(),
                };
                Some(format!("WARNING: service `{image}` ended before the build: {problem}"))
            });
        }
    }

    /// Ends the services. Those that had ended are named now, because a line in between could cut a secret value in the
    /// output of the job in two, and it would not be masked.
    pub(super) async fn stop_services(&mut self) {
        self.services.stop.send_replace(true);
        while let Some(ended) = self.services.clients.join_next().await {
            if let Ok(Some(line)) = ended {
                self.log.line(&line);
            }
        }
    }
}
