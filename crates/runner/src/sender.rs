//! Sends the log of a build to the server while the build runs, and learns from the answers whether it was canceled.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::api::{Api, Appended, FinalReport};
use crate::error::Error;
use crate::log::Log;

/// The longest piece of a log.
const PIECE: usize = 1 << 20;

/// How long output is gathered before it is sent.
const GATHER: Duration = Duration::from_millis(400);

/// The interval of signs of life while there is no output. A cancellation is noticed within this time.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// The longest pause between two tries while the server is away.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often the end of a log is sent again that the server misses.
const RESENDS: u32 = 3;

/// A build as the sender needs it.
#[derive(Clone, Debug)]
pub struct Target {
    /// The server.
    pub api: Api,
    /// The id of the build.
    pub build: i64,
    /// The token of the build.
    pub token: String,
}

/// Why sending ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The server has the whole log.
    All,
    /// The server does not want more: the build was canceled, erased or removed.
    Refused,
}

/// Sends the log until `closed` is true and everything was sent, or the server does not want more.
pub async fn send(target: Target, log: Arc<Log>, mut closed: watch::Receiver<bool>) -> Sent {
    let (mut sent, mut last) = (0, Instant::now());
    loop {
        let is_closed = *closed.borrow();
        let waiting = log.length().saturating_sub(sent);
        if is_closed && waiting == 0 {
            return Sent::All;
        }
        let pause = if waiting > 0 { GATHER } else { HEARTBEAT };
        let pause = pause.saturating_sub(last.elapsed());
        if !is_closed && !pause.is_zero() && waiting < PIECE as u64 {
            tokio::select! {
                () = sleep(pause) => (),
                () = log.changed(), if waiting == 0 => (),
                _ = closed.changed() => (),
            }
            continue;
        }
        match send_piece(&target, &log, sent).await {
            Ok(length) => sent = length,
            Err(Stop) => return Sent::Refused,
        }
        last = Instant::now();
    }
}

struct Stop;

/// Sends one piece, again while the server is away. Returns the length of the log on the server.
async fn send_piece(target: &Target, log: &Log, sent: u64) -> Result<u64, Stop> {
    let mut pauses = Pauses::default();
    let (mut sent, mut corrections) = (sent, 0_u32);
    loop {
        let piece = log.read_at(sent, PIECE).map_err(|error| {
            tracing::error!(build = target.build, %error, "the log of a build cannot be read");
            Stop
        })?;
        let is_empty = piece.is_empty();
        let answer = target.api.append(target.build, &target.token, sent, piece).await;
        match answer {
            Ok(Appended::Accepted(length)) if length > sent || is_empty => {
                return Ok(length.max(sent));
            }
            Ok(Appended::Accepted(length)) => {
                tracing::debug!(build = target.build, length, "the server took nothing");
                sent = length;
                pauses.wait().await;
            }
            Ok(Appended::Ended) => return Err(Stop),
            // The server lost or got more than was acknowledged; the file has everything.
            Ok(Appended::WrongOffset(length)) if length <= log.length() && length != sent => {
                sent = length;
                corrections += 1;
                // A server that works corrects an offset once.
                if corrections > 1 {
                    pauses.wait().await;
                }
            }
            Ok(Appended::WrongOffset(length)) => {
                tracing::error!(
                    build = target.build,
                    length,
                    "the server has a longer log than this runner wrote"
                );
                return Err(Stop);
            }
            Err(error) if error.is_temporary() => {
                tracing::debug!(build = target.build, %error, "the log will be sent again");
                pauses.wait().await;
            }
            Err(error) => {
                tracing::warn!(build = target.build, %error, "the server refuses the log, so the build is stopped");
                return Err(Stop);
            }
        }
    }
}

/// Reports the final state, again while the server is away, at most for `longest`. If the server misses the end of the
/// log, sends it again.
/// # Errors
/// The server refuses, or stayed away.
pub async fn finish(
    target: &Target,
    runner_token: &str,
    end: &FinalReport,
    log: Option<&Arc<Log>>,
    longest: Duration,
) -> Result<(), Error> {
    let retry = async {
        let (mut pauses, mut again) = (Pauses::default(), 0_u32);
        loop {
            let Err(error) = target.api.finish(target.build, runner_token, end).await else {
                return Ok(());
            };
            match log {
                _ if error.is_temporary() => pauses.wait().await,
                Some(log) if error.status() == Some(416) && again < RESENDS => {
                    again += 1;
                    tracing::warn!(build = target.build, "the server misses a part of the log");
                    let (_open, closed) = watch::channel(true);
                    let _ = send(target.clone(), Arc::clone(log), closed).await;
                }
                Some(_) | None => return Err(error),
            }
        }
    };
    match timeout(longest, retry).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Error::step("the server did not come back to take the final state")),
    }
}

/// Growing pauses with jitter.
#[derive(Debug, Default)]
pub struct Pauses(u32);

impl Pauses {
    /// Waits: 100 ms at first, then twice as long each time, at most five seconds.
    pub async fn wait(&mut self) {
        sleep(jitter(Duration::from_millis(100 << self.0.min(6)).min(LONGEST_PAUSE))).await;
        self.0 += 1;
    }

    /// Starts again with a short pause.
    pub fn reset(&mut self) {
        self.0 = 0;
    }
}

/// Three quarters of the pause to all of it, so that many runners do not ask at the same moment.
pub fn jitter(pause: Duration) -> Duration {
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    pause * 3 / 4 + pause / 4 * (now.subsec_micros() % 1000) / 1000
}
