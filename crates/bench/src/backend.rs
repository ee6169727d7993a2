//! Runs `git http-backend` behind a plain HTTP server, for comparison.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

/// Serves the repositories in a folder until the process ends. Prints its address first.
pub fn serve(root: &Path) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", listener.local_addr()?)?;
    out.flush()?;
    for stream in listener.incoming() {
        let (stream, root) = (stream?, root.to_owned());
        std::thread::spawn(move || answer(stream, &root));
    }
    Ok(())
}

/// The backend server as a separate process, whose only children are git processes.
pub struct Backend {
    child: Child,
    pub address: String,
}

impl Backend {
    pub fn start(root: &Path) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("--serve-backend")
            .arg(root)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("the backend has no output pipe")?)
            .read_line(&mut line)?;
        Ok(Self { child, address: line.trim().to_owned() })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn answer(stream: TcpStream, root: &PathBuf) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut to = stream.try_clone()?;
    let mut from = BufReader::with_capacity(1 << 16, stream);
    let mut line = String::new();
    from.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (method, target) = (
        words.next().context("the request line has no method")?,
        words.next().context("the request line has no path")?,
    );
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut command = Command::new("git");
    command
        .args(["-c", "http.receivepack=true", "http-backend"])
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REMOTE_USER", "ada")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let (mut length, mut chunked) = (0, false);
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-type" => drop(command.env("CONTENT_TYPE", value)),
            "content-encoding" => drop(command.env("HTTP_CONTENT_ENCODING", value)),
            "git-protocol" => drop(command.env("GIT_PROTOCOL", value)),
            "content-length" => {
                length = value.parse()?;
                command.env("CONTENT_LENGTH", value);
            }
            "transfer-encoding" => chunked = true,
            "expect" => to.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?,
            _ => {}
        }
    }
    let mut git = command.spawn()?;
    let mut input = git.stdin.take().context("git http-backend has no input pipe")?;
    let mut output = BufReader::with_capacity(
        1 << 16,
        git.stdout.take().context("git http-backend has no output pipe")?,
    );
    if chunked {
        copy_chunks(&mut from, &mut input)?;
    } else {
        std::io::copy(&mut from.by_ref().take(length), &mut input)?;
    }
    drop(input);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if output.read_line(&mut head)? == 0 {
            bail!("git http-backend ended without a response");
        }
    }
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    write!(to, "HTTP/1.1 {status}\r\nConnection: close\r\n{head}")?;
    std::io::copy(&mut output, &mut to)?;
    git.wait()?;
    Ok(())
}

fn copy_chunks(from: &mut impl BufRead, to: &mut impl Write) -> Result<()> {
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let length = u64::from_str_radix(line.trim(), 16)?;
        std::io::copy(&mut from.by_ref().take(length), to)?;
        from.read_line(&mut line)?;
        if length == 0 {
            return Ok(());
        }
    }
}
