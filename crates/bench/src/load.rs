//! Load on one call, and what it cost.

use std::io::{self, BufRead, BufReader, Read, Write};
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

impl Call {
    /// What is sent.
    pub fn bytes(&self, address: SocketAddr) -> String {
        let (target, token) = (&self.target, &self.token);
        format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nPRIVATE-TOKEN: {token}\r\n\r\n")
    }
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

/// The same of requests that are each sent once, such as those that change something.
pub fn measure_each(address: SocketAddr, pids: &[u32], requests: &[String]) -> Alone {
    let mut reader = connect(address);
    let mut times = Vec::new();
    let before = time_on_cpu(pids);
    for request in requests {
        let started = Instant::now();
        reader.get_mut().write_all(request.as_bytes()).expect("the server reads");
        read_answer(&mut reader);
        times.push(started.elapsed());
    }
    let cpu = time_on_cpu(pids).saturating_sub(before);
    let first = times.first().copied().unwrap_or_default();
    times.sort_unstable();
    let number = u32::try_from(times.len().max(1)).unwrap_or(u32::MAX);
    Alone { first, p50: quantile(&times, 0.50), cpu: cpu / number }
}

/// What is sent to change something.
pub fn a_post(address: SocketAddr, target: &str, headers: &str, form: &str) -> String {
    format!(
        "POST {target} HTTP/1.1\r\nHost: {address}\r\n{headers}\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    )
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
    let mut reader = connect(address);
    let request = call.bytes(address);
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
    let answer = Answer::read(reader, &mut |_| ());
    assert!((200..300).contains(&answer.status), "{}", answer.status);
}

/// What came back, without its body.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Whether it says when to come again.
    pub retry_after: bool,
    /// Bytes of the body.
    pub length: u64,
}

impl Answer {
    /// Reads one answer; `began` is told when its first byte is there. The body is not kept.
    pub fn read(reader: &mut BufReader<TcpStream>, began: &mut dyn FnMut(Instant)) -> Self {
        Self::try_read(reader, began).expect("the server answers in full")
    }

    /// The same for clients that are used to servers which close connections, refuse them or say nothing.
    pub fn try_read(
        reader: &mut BufReader<TcpStream>,
        began: &mut dyn FnMut(Instant),
    ) -> io::Result<Self> {
        let line = read_line(reader)?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| invalid(&line))?;
        let (mut length, mut retry_after, mut chunked) = (0, false, false);
        loop {
            let header = read_line(reader)?.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(|_| invalid(&header))?;
            }
            chunked |= header == "transfer-encoding: chunked";
            retry_after |= header.starts_with("retry-after:");
        }
        let empty = length == 0 && !chunked;
        if empty || reader.fill_buf().is_ok_and(|buffer| !buffer.is_empty()) {
            began(Instant::now());
        }
        if chunked {
            length = skip_chunks(reader)?;
        } else {
            skip(reader, length)?;
        }
        Ok(Self { status, retry_after, length })
    }
}

fn invalid(line: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("no HTTP answer has {line:?}"))
}

/// Reads a line, which does not end with the connection.
fn read_line(reader: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    if line.ends_with('\n') { Ok(line) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Reads all chunks of a body, and how much is in them.
fn skip_chunks(reader: &mut BufReader<TcpStream>) -> io::Result<u64> {
    let mut all = 0;
    loop {
        let line = read_line(reader)?;
        let length = u64::from_str_radix(line.trim_end(), 16).map_err(|_| invalid(&line))?;
        skip(reader, length + 2)?;
        if length == 0 {
            return Ok(all);
        }
        all += length;
    }
}

fn skip(reader: &mut BufReader<TcpStream>, length: u64) -> io::Result<()> {
    let skipped = io::copy(&mut reader.take(length), &mut io::sink())?;
    if skipped == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// A connection for requests one after the other.
pub fn connect(address: SocketAddr) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_nodelay(true).expect("delays can be switched off");
    BufReader::with_capacity(64 * 1024, stream)
}

/// Calls that are each made once, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Once {
    /// The time half of the answers took at most.
    pub p50: Duration,
    /// The time until half of the answers began.
    pub begun: Duration,
    /// Processor time of the server for one answer.
    pub cpu: Duration,
}

/// Sends each of some requests once.
pub fn measure_once(address: SocketAddr, pids: &[u32], requests: &[String]) -> Once {
    let mut reader = connect(address);
    let (mut times, mut beginnings) = (Vec::new(), Vec::new());
    let before = processor_time(pids);
    for request in requests {
        let started = Instant::now();
        reader.get_mut().write_all(request.as_bytes()).expect("the server reads");
        let answer = Answer::read(&mut reader, &mut |at| beginnings.push(at - started));
        assert!((200..300).contains(&answer.status), "{} to {request}", answer.status);
        times.push(started.elapsed());
    }
    let cpu = processor_time(pids).saturating_sub(before);
    times.sort_unstable();
    beginnings.sort_unstable();
    let number = u32::try_from(requests.len().max(1)).unwrap_or(u32::MAX);
    Once { p50: quantile(&times, 0.5), begun: quantile(&beginnings, 0.5), cpu: cpu / number }
}

/// Sends each of some requests once, over several connections: answers a second, and the time that 99 of 100
/// took at most.
pub fn measure_at_once(
    address: SocketAddr,
    requests: &[String],
    connections: usize,
) -> (f64, Duration) {
    let started = Instant::now();
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let share = |number: usize| requests.iter().skip(number).step_by(connections);
        let workers: Vec<_> = (0..connections)
            .map(|number| {
                scope.spawn(move || {
                    let mut reader = connect(address);
                    let one = |request: &String| {
                        let started = Instant::now();
                        let sent = reader.get_mut().write_all(request.as_bytes());
                        sent.expect("the server reads");
                        read_answer(&mut reader);
                        started.elapsed()
                    };
                    share(number).map(one).collect::<Vec<_>>()
                })
            })
            .collect();
        let joined = workers.into_iter().map(|worker| worker.join().expect("all answers are good"));
        joined.flatten().collect()
    });
    times.sort_unstable();
    (times.len() as f64 / started.elapsed().as_secs_f64(), quantile(&times, 0.99))
}

/// The time that a part of the answers took at most.
pub fn quantile(sorted: &[Duration], part: f64) -> Duration {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part) as usize).copied().unwrap_or_default()
}

/// Time that the threads of processes were on a processor, which Linux knows in nanoseconds. Threads that ended
/// meanwhile are forgotten, so this is for moments in which none does.
pub fn time_on_cpu(pids: &[u32]) -> Duration {
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
