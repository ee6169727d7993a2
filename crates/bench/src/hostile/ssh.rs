//! Pushes over SSH that send a byte per second, on the maximum number of channels per connection.

use std::io::Write;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::attack::{Attacker, Tally, Target};
use super::wire::packet;
use hexforge_tests::client::Request;
use hexforge_tests::ssh_client::Identity;

/// The name of the attack.
pub(super) const NAME: &str = "slow pushes over SSH";

/// The number of channels, and of channels per connection.
const CHANNELS: usize = 36;
const CHANNELS_PER_CONNECTION: usize = 9;
/// The most channels that are opened per second, because each is a process on this side.
const OPENED_PER_SECOND: usize = 4;

struct SlowPush {
    child: Child,
    stdin: ChildStdin,
}

impl SlowPush {
    fn start(key: &Identity, attacker: &Attacker, target: &Target, number: usize) -> Option<Self> {
        let socket = key.path().join(format!("connection-{}", number / CHANNELS_PER_CONNECTION));
        let (socket, from) = (socket.display().to_string(), attacker.from.to_string());
        let share = ["-b", &from, "-o", "ControlMaster=auto", "-S", &socket];
        let mut command = key.ssh(target.ssh, &share, &["git-receive-pack 'eve/trap.git'"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let mut stdin = child.stdin.take()?;
        let line = format!("{} {} refs/heads/x{number}\0report-status", "0".repeat(40), target.tip);
        let start = if number % 4 == 3 { "0".to_owned() } else { packet(&line) + "0000PACK" };
        // The server refuses channels beyond the share of the user after a while.
        let _ = stdin.write_all(start.as_bytes()).and_then(|()| stdin.flush());
        Some(Self { child, stdin })
    }

    fn has_ended(&mut self) -> bool {
        let _ = self.stdin.write_all(b"\0").and_then(|()| self.stdin.flush());
        self.child.try_wait().map_or(true, |status| status.is_some())
    }
}

impl Drop for SlowPush {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keeps the channels open until the attack is over.
pub(super) fn slow_pushes(attacker: &Attacker, target: &Target, over: &AtomicBool, tally: &Tally) {
    let key = Identity::new();
    let form = [("title", "many"), ("key", &*key.public())];
    Request::new(target.http, "POST", "/api/v3/user/keys")
        .token(&target.token)
        .form(&form)
        .send()
        .expect(201);
    let mut pushes: Vec<Option<SlowPush>> = (0..CHANNELS).map(|_| None).collect();
    while !over.load(Ordering::Relaxed) {
        let mut opened = 0;
        for (number, push) in pushes.iter_mut().enumerate() {
            if push.as_mut().is_some_and(SlowPush::has_ended) {
                *push = None;
                tally.count(attacker, NAME, "ended");
            }
            if push.is_none() && opened < OPENED_PER_SECOND {
                *push = SlowPush::start(&key, attacker, target, number);
                tally.count(attacker, NAME, "opened");
                opened += 1;
            }
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}
