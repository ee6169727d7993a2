//! Requests to the server that a build waits for, also while the server is away.

use tokio::time::{Instant, sleep_until};

use super::{Job, TRIES};
use crate::error::Error;
use crate::sender::Pauses;

impl Job<'_> {
    /// Tries a transfer until it succeeds: again and again while the server is away, a few times after other failures
    /// that may pass, and at most until `end`.
    pub(super) async fn transfer<T, F: Future<Output = Result<T, Error>>>(
        &self,
        end: Instant,
        call: impl Fn() -> F,
    ) -> Result<T, Error> {
        let (mut pauses, mut failures) = (Pauses::default(), 0);
        loop {
            let error = match self.unless_stopped(end, call()).await {
                Err(error) if error.is_temporary() => error,
                outcome => return outcome,
            };
            if self.wait_for_server(end).await {
                self.log.line("WARNING: the server was away: trying again");
            } else {
                failures += 1;
            }
            if failures == 2 * TRIES {
                return Err(error);
            }
            pauses.wait().await;
        }
    }

    /// Waits while the server cannot be reached, at most until `end`. Returns whether it was away and came back.
    pub(super) async fn wait_for_server(&self, end: Instant) -> bool {
        let (api, token) = (&self.context.api, &self.context.runner.token);
        let (mut pauses, mut was_away) = (Pauses::default(), false);
        loop {
            match self.unless_stopped(end, api.verify(token)).await {
                Ok(_) => return was_away,
                Err(error) if error.is_temporary() => was_away = true,
                Err(_) => return false,
            }
            pauses.wait().await;
        }
    }

    /// Waits for a call until `end`, or until the build is canceled.
    async fn unless_stopped<T>(
        &self,
        end: Instant,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let mut halted = self.halted.clone();
        let stopped = async {
            if halted.wait_for(|halted| *halted).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            outcome = call => outcome,
            () = stopped => Err(Error::step("the build was canceled or the runner was stopped")),
            () = sleep_until(end) => Err(Error::step("it took too long")),
        }
    }
}
