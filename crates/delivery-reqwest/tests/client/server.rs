//! A small HTTP server with one thread per connection.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;

/// A request that the server received.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The request line.
    pub line: String,
    /// Names in lower case, with their values.
    pub headers: Vec<String>,
    pub body: Vec<u8>,
}

impl Seen {
    pub fn has(&self, header: &str) -> bool {
        self.headers.iter().any(|known| known == header)
    }

    pub fn has_any(&self, name: &str) -> bool {
        self.headers.iter().any(|known| known.starts_with(&format!("{name}:")))
    }
}

pub struct Server {
    pub address: SocketAddr,
    pub connections: Arc<AtomicUsize>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

type Answering = dyn Fn(&Seen, &mut dyn Write) + Send + Sync;

impl Server {
    /// Starts a server whose responses `answering` writes, headers included.
    pub fn new(
        address: &str,
        answering: impl Fn(&Seen, &mut dyn Write) + Send + Sync + 'static,
    ) -> Self {
        Self::start(address, None, Arc::new(answering))
    }

    /// Starts a server that always sends this response.
    pub fn answering(address: &str, head: &str, body: &str) -> Self {
        let answer = answer(head, body);
        Self::new(address, move |_, to| drop(to.write_all(answer.as_bytes())))
    }

    /// Like [`answering`](Self::answering), with a self-signed certificate.
    pub fn with_tls(body: &str) -> Self {
        let answer = answer("200 OK", body);
        let key = PrivatePkcs8KeyDer::from(include_bytes!("key.der").to_vec());
        let certificate = include_bytes!("certificate.der").to_vec().into();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring has them")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key.into())
            .expect("a certificate and its key");
        let answering = move |_: &Seen, to: &mut dyn Write| drop(to.write_all(answer.as_bytes()));
        Self::start("127.0.0.1", Some(Arc::new(config)), Arc::new(answering))
    }

    fn start(address: &str, tls: Option<Arc<ServerConfig>>, answering: Arc<Answering>) -> Self {
        let listener = TcpListener::bind((address, 0)).expect("a port");
        let server = Self {
            address: listener.local_addr().expect("an address"),
            connections: Arc::default(),
            seen: Arc::default(),
        };
        let (connections, seen) = (Arc::clone(&server.connections), Arc::clone(&server.seen));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                connections.fetch_add(1, Ordering::SeqCst);
                let (tls, seen, answering) =
                    (tls.clone(), Arc::clone(&seen), Arc::clone(&answering));
                std::thread::spawn(move || match tls {
                    None => {
                        let reader = stream.try_clone().expect("a second handle");
                        serve(BufReader::new(reader), &seen, &mut |one| {
                            answering(one, &mut stream);
                        });
                    }
                    Some(config) => {
                        let connection =
                            rustls::ServerConnection::new(config).expect("a connection");
                        let mut both = rustls::StreamOwned::new(connection, stream);
                        let request = read(&mut BufReader::new(&mut both));
                        if let Some(request) = request {
                            answering(&request, &mut both);
                            both.conn.send_close_notify();
                            let _ = both.flush();
                        }
                    }
                });
            }
        });
        server
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no panic").clone()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn answer(head: &str, body: &str) -> String {
    format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn serve(mut reader: impl BufRead, seen: &Mutex<Vec<Seen>>, answer: &mut dyn FnMut(&Seen)) {
    if let Some(request) = read(&mut reader) {
        seen.lock().expect("no panic").push(request.clone());
        answer(&request);
    }
}

fn read(reader: &mut impl BufRead) -> Option<Seen> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let mut lines = lines.into_iter();
    let mut request = Seen { line: lines.next()?, headers: lines.collect(), body: Vec::new() };
    for header in &mut request.headers {
        let (name, value) = header.split_once(':')?;
        *header = format!("{}: {}", name.to_lowercase(), value.trim());
    }
    let length = request.headers.iter().find_map(|header| header.strip_prefix("content-length: "));
    if let Some(length) = length.and_then(|length| length.parse().ok()) {
        request.body.resize(length, 0);
        reader.read_exact(&mut request.body).ok()?;
    } else if request.has("transfer-encoding: chunked") {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            let mut part = vec![0; size + 2];
            reader.read_exact(&mut part).ok()?;
            if size == 0 {
                break;
            }
            request.body.extend_from_slice(&part[..size]);
        }
    }
    Some(request)
}
