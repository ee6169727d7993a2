//! The attackers, in a process of their own: a user with projects, and an address without a token.

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::requests::{Busy, Slow, busy, slow};
use super::{ssh, wire};
use crate::load::Answer;

/// The interval at which a slow client sends or reads.
const TICK: Duration = Duration::from_secs(1);
/// The pause of an attacker after a connection failed.
const REST: Duration = Duration::from_millis(100);
/// The line that is printed when all attacks have begun.
pub(super) const READY: &str = "ready";
/// The stack size of a thread that only sends and reads.
const STACK: usize = 256 << 10;

/// The description of the server for the attackers.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub http: SocketAddr,
    pub ssh: SocketAddr,
    /// The token of the hostile user.
    pub token: String,
    /// The id of `eve/trap`, which has a long history.
    pub trap: i64,
    /// Some of its commits, the newest last.
    pub commits: Vec<String>,
    /// The id of `eve/noise`, which has a large file, and the ids of its only commit and of the blob.
    pub noise: i64,
    pub tip: String,
    pub blob: String,
}

impl Target {
    pub fn to_json(&self) -> Value {
        json!({
            "http": self.http.to_string(),
            "ssh": self.ssh.to_string(),
            "token": self.token,
            "trap": self.trap,
            "commits": self.commits,
            "noise": self.noise,
            "tip": self.tip,
            "blob": self.blob,
        })
    }

    fn from_json(value: &Value) -> Option<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let commits = value["commits"].as_array()?.iter();
        Some(Self {
            http: text("http")?.parse().ok()?,
            ssh: text("ssh")?.parse().ok()?,
            token: text("token")?,
            trap: value["trap"].as_i64()?,
            commits: commits.filter_map(|id| id.as_str().map(str::to_owned)).collect(),
            noise: value["noise"].as_i64()?,
            tip: text("tip")?,
            blob: text("blob")?,
        })
    }
}

/// An attacker.
#[derive(Clone, Debug)]
pub(super) struct Attacker {
    pub name: &'static str,
    pub from: IpAddr,
    /// The header line with the token; empty for an anonymous attacker.
    pub sign_in: String,
}

impl Attacker {
    fn user(target: &Target) -> Self {
        let sign_in = format!("PRIVATE-TOKEN: {}\r\n", target.token);
        Self { name: "user", from: IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2)), sign_in }
    }

    fn anonymous() -> Self {
        let from = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));
        Self { name: "anonymous", from, sign_in: String::new() }
    }

    pub fn is_user(&self) -> bool {
        !self.sign_in.is_empty()
    }
}

/// Counts the outcomes of each attack: HTTP statuses, or `closed`.
#[derive(Default)]
pub(super) struct Tally(Mutex<BTreeMap<String, BTreeMap<String, usize>>>);

impl Tally {
    pub fn count(&self, attacker: &Attacker, attack: &str, outcome: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_one = all.entry(format!("{}: {attack}", attacker.name)).or_default();
        *of_one.entry(outcome.to_owned()).or_default() += 1;
    }

    fn lines(&self) -> Vec<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |(attack, outcomes): (&String, &BTreeMap<String, usize>)| {
            let outcomes: Vec<_> =
                outcomes.iter().map(|(outcome, count)| format!("{outcome} × {count}")).collect();
            format!("{attack:<34} {}", outcomes.join(", "))
        };
        all.iter().map(line).collect()
    }
}

/// Attacks until standard input ends, then prints the outcomes. Runs only attacks whose names contain `only`.
#[allow(clippy::print_stdout, reason = "the process that started this one reads it")]
pub fn run(file: &Path, only: &str) -> Result<()> {
    let value: Value = serde_json::from_slice(&std::fs::read(file)?)?;
    let target =
        Target::from_json(&value).context("the description of the target is incomplete")?;
    let attackers = [Attacker::user(&target), Attacker::anonymous()];
    let (over, tally) = (AtomicBool::new(false), Tally::default());
    // Packs are generated before the attack begins.
    let plans: Vec<_> = (attackers.iter())
        .map(|attacker| (attacker, slow(attacker, &target), busy(attacker, &target)))
        .collect();
    std::thread::scope(|scope| -> Result<()> {
        let (over, tally, target) = (&over, &tally, &target);
        let thread = || std::thread::Builder::new().stack_size(STACK);
        let mut slow_clients = Vec::new();
        for (attacker, slow, busy) in &plans {
            let wanted = |attack: &str| format!("{}: {attack}", attacker.name).contains(only);
            for attack in slow.iter().filter(|attack| wanted(attack.name)) {
                let client = || SlowClient { attacker, attack, connection: None };
                slow_clients.extend((0..attack.count).map(|_| client()));
            }
            for attack in busy.iter().filter(|attack| wanted(attack.name)) {
                for number in 0..attack.connections {
                    thread().spawn_scoped(scope, move || {
                        flood(attacker, target.http, attack, number, over, tally);
                    })?;
                }
            }
            if attacker.is_user() && wanted(ssh::NAME) {
                thread()
                    .spawn_scoped(scope, move || ssh::slow_pushes(attacker, target, over, tally))?;
            }
        }
        thread().spawn_scoped(scope, move || serve_slow_clients(slow_clients, over, tally))?;
        println!("{READY}");
        std::io::stdin().read_to_end(&mut Vec::new())?;
        over.store(true, Ordering::Relaxed);
        for line in tally.lines() {
            println!("{line}");
        }
        // The process exits here because threads may still wait for responses.
        std::process::exit(0);
    })
}

/// Sends requests without a pause.
fn flood(
    attacker: &Attacker,
    server: SocketAddr,
    attack: &Busy,
    number: usize,
    over: &AtomicBool,
    tally: &Tally,
) {
    let mut connection = None;
    for turn in (number..).step_by(attack.connections) {
        if over.load(Ordering::Relaxed) {
            return;
        }
        let mut reader = match connection.take() {
            Some(reader) => reader,
            None => match wire::connect(attacker.from, server, None) {
                Ok(stream) => BufReader::with_capacity(64 << 10, stream),
                Err(error) => {
                    tally.count(attacker, attack.name, &format!("no connection: {error}"));
                    std::thread::sleep(REST);
                    continue;
                }
            },
        };
        // The server may answer and close before it has read the whole request.
        let sent = reader.get_mut().write_all(&(attack.request)(turn));
        match Answer::try_read(&mut reader, &mut |_| ()) {
            Ok(answer) => {
                tally.count(attacker, attack.name, &answer.status.to_string());
                connection = sent.is_ok().then_some(reader);
            }
            Err(_) => tally.count(attacker, attack.name, "closed"),
        }
    }
}

/// A client that sends or reads very slowly.
struct SlowClient<'a> {
    attacker: &'a Attacker,
    attack: &'a Slow,
    connection: Option<TcpStream>,
}

impl SlowClient<'_> {
    fn begin(&mut self) -> std::io::Result<()> {
        let mut stream = wire::connect(self.attacker.from, self.attack.to, Some(4096))?;
        stream.write_all(&self.attack.beginning)?;
        stream.set_nonblocking(true)?;
        self.connection = Some(stream);
        Ok(())
    }

    /// Sends or reads a little. Returns the outcome if the connection ended.
    fn take_step(&mut self) -> Option<String> {
        let Some(stream) = &mut self.connection else {
            return self.begin().err().map(|error| format!("no connection: {error}"));
        };
        if let Some(byte) = self.attack.byte {
            // The write fails if the server closed the connection, which the read below detects.
            let _ = stream.write(&[byte]);
        }
        let mut buffer = [0; 512];
        let outcome = match stream.read(&mut buffer) {
            Ok(0) => "closed".to_owned(),
            // A slow reader continues; a slow sender got a response.
            Ok(_) if self.attack.byte.is_none() => return None,
            Ok(read) => status(&buffer[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return None,
            Err(_) => "closed".to_owned(),
        };
        self.connection = None;
        Some(outcome)
    }
}

/// Parses the status of a response.
fn status(answer: &[u8]) -> String {
    let line = String::from_utf8_lossy(answer);
    line.split(' ').nth(1).unwrap_or("no status").to_owned()
}

/// Serves all slow clients from one thread, so that they cost almost nothing on this side.
fn serve_slow_clients(mut clients: Vec<SlowClient<'_>>, over: &AtomicBool, tally: &Tally) {
    while !over.load(Ordering::Relaxed) {
        for client in &mut clients {
            if let Some(outcome) = client.take_step() {
                tally.count(client.attacker, client.attack.name, &outcome);
            }
        }
        std::thread::sleep(TICK);
    }
}
