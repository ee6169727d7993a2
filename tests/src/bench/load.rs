//! Load on one call, and what it cost.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// One kind of request, sent again and again.
#[derive(Clone, Debug)]
pub struct Call {
    /// What the table calls it.
    pub name: String,
    /// The path with its query.
    pub target: String,
    /// Who asks.
    pub token: String,
}

/// What a call cost.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Answers a second with all connections busy.
    pub per_second: f64,
    /// The time half of the answers took at most, with one connection.
    pub p50: Duration,
    /// The time 99 of 100 answers took at most, with all connections busy.
    pub p99: Duration,
    /// Processor time of the server for one answer.
    pub cpu: Duration,
}

/// Sends a call over `connections` for a while.
pub fn measure(
    address: SocketAddr,
    pids: &[u32],
    call: &Call,
    connections: usize,
    time: Duration,
) -> Cost {
    let alone = run(address, call, 1, time / 2);
    let cpu_before = processor_time(pids);
    let started = Instant::now();
    let busy = run(address, call, connections, time);
    let elapsed = started.elapsed();
    let cpu = processor_time(pids).saturating_sub(cpu_before);
    let answers = busy.len().max(1);
    Cost {
        per_second: answers as f64 / elapsed.as_secs_f64(),
        p50: quantile(&alone, 0.50),
        p99: quantile(&busy, 0.99),
        cpu: cpu / u32::try_from(answers).unwrap_or(u32::MAX),
    }
}

/// So many answers make a figure at least, however long they take.
const FEWEST: usize = 15;

/// What a call costs that nobody else disturbs.
#[derive(Clone, Copy, Debug)]
pub struct Alone {
    /// The time of the very first answer.
    pub first: Duration,
    /// The time half of the answers took at most.
    pub p50: Duration,
    /// Processor time of all processes for one answer.
    pub cpu: Duration,
}

/// Sends a call over one connection for a while. What serves it has to be there already.
pub fn measure_alone(address: SocketAddr, pids: &[u32], call: &Call, time: Duration) -> Alone {
    let started = Instant::now();
    run(address, call, 1, Duration::ZERO);
    let first = started.elapsed();
    let before = time_on_cpu(pids);
    let mut answers = run(address, call, 1, time);
    while answers.len() < FEWEST {
        answers.extend(run(address, call, 1, Duration::ZERO));
    }
    answers.sort_unstable();
    let cpu = time_on_cpu(pids).saturating_sub(before);
    let number = u32::try_from(answers.len().max(1)).unwrap_or(u32::MAX);
    Alone { first, p50: quantile(&answers, 0.50), cpu: cpu / number }
}

/// The time of every answer, sorted.
fn run(address: SocketAddr, call: &Call, connections: usize, time: Duration) -> Vec<Duration> {
    let over = AtomicBool::new(false);
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..connections)
            .map(|_| scope.spawn(|| one_connection(address, call, &over)))
            .collect();
        std::thread::sleep(time);
        over.store(true, Ordering::Relaxed);
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("a worker does not panic"))
            .collect()
    });
    times.sort_unstable();
    times
}

fn one_connection(address: SocketAddr, call: &Call, over: &AtomicBool) -> Vec<Duration> {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_nodelay(true).expect("delays can be switched off");
    let mut reader = BufReader::new(stream);
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {address}\r\nPRIVATE-TOKEN: {}\r\n\r\n",
        call.target, call.token
    );
    let mut times = Vec::new();
    while times.is_empty() || !over.load(Ordering::Relaxed) {
        let started = Instant::now();
        reader.get_mut().write_all(request.as_bytes()).expect("the server reads");
        read_answer(&mut reader);
        times.push(started.elapsed());
    }
    times
}

/// Reads one answer and insists that it is a good one.
fn read_answer(reader: &mut BufReader<TcpStream>) {
    let mut line = String::new();
    reader.read_line(&mut line).expect("the server answers");
    assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).expect("the server answers");
        let header = line.trim_end().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length is a number");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the body is as long as announced");
}

fn quantile(sorted: &[Duration], part: f64) -> Duration {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part) as usize).copied().unwrap_or_default()
}

/// Time that the threads of processes were on a processor, which Linux knows in nanoseconds. Threads that ended
/// meanwhile are forgotten, so this is for moments in which none does.
fn time_on_cpu(pids: &[u32]) -> Duration {
    let threads = pids
        .iter()
        .filter_map(|pid| std::fs::read_dir(format!("/proc/{pid}/task")).ok())
        .flat_map(Iterator::flatten);
    let nanoseconds = threads
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("schedstat")).ok())
        .filter_map(|stat| stat.split_whitespace().next()?.parse::<u64>().ok());
    Duration::from_nanos(nanoseconds.sum())
}

/// Processor time of processes and the children they waited for, as Linux counts it, in hundredths.
pub fn processor_time(pids: &[u32]) -> Duration {
    let ticks: u64 = pids
        .iter()
        .filter_map(|pid| std::fs::read_to_string(format!("/proc/{pid}/stat")).ok())
        .filter_map(|stat| {
            let fields: Vec<u64> = stat
                .rsplit(')')
                .next()?
                .split_whitespace()
                .skip(11)
                .take(4)
                .filter_map(|field| field.parse().ok())
                .collect();
            Some(fields.iter().sum::<u64>())
        })
        .sum();
    Duration::from_millis(ticks * 10)
}
