//! Generates load on one call, and measures its cost.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A request that is sent repeatedly.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name in the table.
    pub name: String,
    /// The path with its query.
    pub target: String,
    /// The private token of the user.
    pub token: String,
}

impl Call {
    /// The bytes of the request.
    pub fn bytes(&self, address: SocketAddr) -> String {
        let (target, token) = (&self.target, &self.token);
        format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nPRIVATE-TOKEN: {token}\r\n\r\n")
    }
}

/// The cost of a call under load.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Responses per second with all connections busy.
    pub per_second: f64,
    /// The median response time with one connection.
    pub p50: Duration,
    /// The 99th percentile of the response time with all connections busy.
    pub p99: Duration,
    /// The processor time of the server per response.
    pub cpu: Duration,
}

/// Sends a call over `connections` for the given time.
pub fn measure(
    address: SocketAddr,
    pids: &[u32],
    call: &Call,
    connections: usize,
    time: Duration,
) -> Cost {
    let alone = repeat_call(address, call, 1, time / 2);
    let cpu_before = processor_time(pids);
    let started = Instant::now();
    let busy = repeat_call(address, call, connections, time);
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

/// The least number of responses per figure.
const MIN_RESPONSES: usize = 15;

/// The cost of a call without other load.
#[derive(Clone, Copy, Debug)]
pub struct IdleCost {
    /// The time of the first response.
    pub first: Duration,
    /// The median response time.
    pub p50: Duration,
    /// The processor time of all processes per response.
    pub cpu: Duration,
}

/// Sends a call over one connection for the given time. The processes in `pids` must exist already.
pub fn measure_alone(address: SocketAddr, pids: &[u32], call: &Call, time: Duration) -> IdleCost {
    let started = Instant::now();
    repeat_call(address, call, 1, Duration::ZERO);
    let first = started.elapsed();
    let before = time_on_cpu(pids);
    let mut answers = repeat_call(address, call, 1, time);
    while answers.len() < MIN_RESPONSES {
        answers.extend(repeat_call(address, call, 1, Duration::ZERO));
    }
    answers.sort_unstable();
    let cpu = time_on_cpu(pids).saturating_sub(before);
    let number = u32::try_from(answers.len().max(1)).unwrap_or(u32::MAX);
    IdleCost { first, p50: quantile(&answers, 0.50), cpu: cpu / number }
}

/// Sends each request once over one connection, for requests that change data.
pub fn measure_each(address: SocketAddr, pids: &[u32], requests: &[String]) -> IdleCost {
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
    IdleCost { first, p50: quantile(&times, 0.50), cpu: cpu / number }
}

/// The bytes of a `POST` request with a form.
pub fn post_request(address: SocketAddr, target: &str, headers: &str, form: &str) -> String {
    format!(
        "POST {target} HTTP/1.1\r\nHost: {address}\r\n{headers}\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    )
}

/// Returns the sorted times of all responses.
fn repeat_call(
    address: SocketAddr,
    call: &Call,
    connections: usize,
    time: Duration,
) -> Vec<Duration> {
    let over = AtomicBool::new(false);
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..connections)
            .map(|_| scope.spawn(|| repeat_on_connection(address, call, &over)))
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

fn repeat_on_connection(address: SocketAddr, call: &Call, over: &AtomicBool) -> Vec<Duration> {
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

/// Reads a response, and panics unless its status is a success or "not modified".
fn read_answer(reader: &mut BufReader<TcpStream>) {
    let answer = Answer::read(reader, &mut |_| ());
    assert!(matches!(answer.status, 200..300 | 304), "{}", answer.status);
}

/// A response without its body.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Whether it has a `Retry-After` header.
    pub retry_after: bool,
    /// The length of the body in bytes.
    pub length: u64,
}

impl Answer {
    /// Reads a response and skips its body. Calls `began` when the first byte arrives.
    pub fn read(reader: &mut BufReader<TcpStream>, began: &mut dyn FnMut(Instant)) -> Self {
        Self::try_read(reader, began).expect("the server answers in full")
    }

    /// Reads a response, for clients that expect servers to close or refuse connections.
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
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("invalid line in an HTTP response: {line:?}"),
    )
}

/// Reads a line. Fails if the connection ends before the line does.
fn read_line(reader: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    if line.ends_with('\n') { Ok(line) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Skips all chunks of a body, and returns their total length.
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

/// Opens a connection for consecutive requests.
pub fn connect(address: SocketAddr) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_nodelay(true).expect("delays can be switched off");
    BufReader::with_capacity(64 * 1024, stream)
}

/// The cost of requests that are each sent once, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct OnceCost {
    /// The median response time.
    pub p50: Duration,
    /// The median time to the first byte.
    pub first_byte: Duration,
    /// The processor time of the server per response.
    pub cpu: Duration,
}

/// Sends each request once, one after the other.
pub fn measure_once(address: SocketAddr, pids: &[u32], requests: &[String]) -> OnceCost {
    let mut reader = connect(address);
    let (mut times, mut first_bytes) = (Vec::new(), Vec::new());
    let before = processor_time(pids);
    for request in requests {
        let started = Instant::now();
        reader.get_mut().write_all(request.as_bytes()).expect("the server reads");
        let answer = Answer::read(&mut reader, &mut |at| first_bytes.push(at - started));
        assert!((200..300).contains(&answer.status), "{} to {request}", answer.status);
        times.push(started.elapsed());
    }
    let cpu = processor_time(pids).saturating_sub(before);
    times.sort_unstable();
    first_bytes.sort_unstable();
    let number = u32::try_from(requests.len().max(1)).unwrap_or(u32::MAX);
    OnceCost {
        p50: quantile(&times, 0.5),
        first_byte: quantile(&first_bytes, 0.5),
        cpu: cpu / number,
    }
}

/// Sends each request once, over several connections. Returns responses per second and the 99th
/// percentile of the response time.
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

/// A quantile of sorted times.
pub fn quantile(sorted: &[Duration], part: f64) -> Duration {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part) as usize).copied().unwrap_or_default()
}

/// The time that the threads of processes spent on a processor, in nanoseconds from Linux. Threads
/// that ended are not counted, so no thread may end between two measurements.
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

/// The processor time of processes and of the children they waited for, in steps of 10 ms.
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
