//! An in-memory S3 server on loopback, for tests: the part of the protocol that the `object_store` crate uses.
//!
//! Supported are PutObject, GetObject with a range, HeadObject, DeleteObject, DeleteObjects, ListObjectsV2 and
//! multipart uploads. Copies and conditional requests are answered with 501 NotImplemented. Attributes of objects are
//! ignored.
//!
//! Every key is the full key in the bucket. Signatures are not verified; only the access key id is compared.

mod store;
mod wire;

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use actix_web::dev::ServerHandle;
use actix_web::rt::System;
use actix_web::rt::time::sleep;
use actix_web::web::{self, Bytes};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use chrono::TimeDelta;
use hexforge_blobs_object_store::Bucket;
use sha2::{Digest, Sha256};

use self::store::{MAX_KEYS, Store, now};
use self::wire::{Answer, Call, access_denied, error, hex, no_such_bucket};

const BUCKET: &str = "forge";
const PREFIX: &str = "some-prefix";
/// Largest request body. The limit of S3 is 5 GiB.
const MAX_BODY: usize = 1 << 30;

/// How the server treats requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    /// Every request is executed and answered at once.
    #[default]
    Well,
    /// Every request is answered with 503 SlowDown.
    Away,
    /// Requests wait without an answer until the mood changes, then they are executed. A request whose client has
    /// closed the connection is dropped.
    Silent,
    /// Every PUT, POST and DELETE is answered with 403 AccessDenied.
    ReadOnly,
    /// Requests are executed at once, and answered after this time.
    Slow(Duration),
}

/// An S3 server with one bucket. It listens on loopback until it is dropped.
pub struct S3Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    running: Mutex<Option<Running>>,
}

impl S3Server {
    /// Starts a server with an empty bucket on a free port.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            // The id differs per server, so a request to the server of another test is refused.
            access_key_id: format!("test-key-{}", address.port()),
            state: Mutex::new(State {
                store: Store::new(),
                requests: Vec::new(),
                mood: Mood::Well,
            }),
        });
        let running = Mutex::new(Some(Running::start(listener, &shared)));
        Self { address, shared, running }
    }

    /// The address for AWS_ENDPOINT_URL, without a slash at the end.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address of the bucket with the prefix that tests use.
    pub fn url(&self) -> String {
        format!("s3://{BUCKET}/{PREFIX}")
    }

    /// The environment variables of a client that may use this server.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL", self.endpoint()),
            ("AWS_ACCESS_KEY_ID", self.shared.access_key_id.clone()),
            ("AWS_SECRET_ACCESS_KEY", "secret-of-the-tests".into()),
            ("AWS_REGION", "us-east-1".into()),
            ("AWS_ALLOW_HTTP", "true".into()),
        ]
    }

    /// A client of this server.
    pub fn bucket(&self) -> Bucket {
        let variables = self.variables().into_iter().map(|(name, value)| (name.to_owned(), value));
        Bucket::open(&self.url(), variables).expect("the address is right")
    }

    /// The keys of all objects, sorted by bytes.
    pub fn keys(&self) -> Vec<String> {
        self.shared.state().store.objects.keys().cloned().collect()
    }

    /// The content of an object.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.shared.state().store.objects.get(key).map(|object| object.content.to_vec())
    }

    /// The keys of multipart uploads that were neither completed nor aborted.
    pub fn unfinished_uploads(&self) -> Vec<String> {
        let state = self.shared.state();
        state.store.uploads.values().map(|upload| upload.key.clone()).collect()
    }

    /// All requests since the last `forget_requests`, in the order of their arrival, whatever their answer was:
    /// `PUT key`, `GET key`, `HEAD key`, `DELETE key`, `LIST prefix`, `POST ?delete`, and for multipart uploads
    /// `POST key?uploads`, `PUT key?partNumber=1`, `POST key?uploadId`, `DELETE key?uploadId`.
    pub fn requests(&self) -> Vec<String> {
        self.shared.state().requests.clone()
    }

    /// Empties the list of requests.
    pub fn forget_requests(&self) {
        self.shared.state().requests.clear();
    }

    /// Replaces the content of an object. Last-Modified and ETag stay, as after damage that the server did not notice.
    /// An object that does not exist is created.
    pub fn set_content(&self, key: &str, content: impl Into<Vec<u8>>) {
        self.shared.state().store.set_content(key, content.into().into());
    }

    /// Removes an object, which must exist.
    #[track_caller]
    pub fn remove(&self, key: &str) {
        let removed = self.shared.state().store.objects.remove(key);
        assert!(removed.is_some(), "object `{key}` does not exist");
    }

    /// Sets Last-Modified of an object, which must exist, to this long ago.
    #[track_caller]
    pub fn set_age(&self, key: &str, age: TimeDelta) {
        let mut state = self.shared.state();
        let object = state.store.objects.get_mut(key);
        object.unwrap_or_else(|| panic!("object `{key}` does not exist")).modified = now() - age;
    }

    /// Sets how requests are treated from now on.
    pub fn set_mood(&self, mood: Mood) {
        self.shared.state().mood = mood;
    }

    /// Sets how many keys a page of a list has at most. The default is 1000, which is also the maximum.
    pub fn set_page_size(&self, size: usize) {
        assert!((1..=MAX_KEYS).contains(&size), "page size {size} must be from 1 to {MAX_KEYS}");
        self.shared.state().store.page_size = size;
    }

    /// Stops listening and closes all connections. Connections are refused until `reopen`. Objects stay.
    pub fn close(&self) {
        if let Some(running) = self.running().take() {
            running.stop();
        }
    }

    /// Listens again on the same port after `close`.
    pub fn reopen(&self) {
        let mut running = self.running();
        if running.is_none() {
            let listener = bind_again(self.address);
            *running = Some(Running::start(listener, &self.shared));
        }
    }

    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        self.close();
    }
}

/// Binds the port, for which a short-lived socket of another process may have to end first.
fn bind_again(address: SocketAddr) -> TcpListener {
    let start = Instant::now();
    loop {
        match TcpListener::bind(address) {
            Ok(listener) => return listener,
            Err(error) if start.elapsed() > Duration::from_secs(10) => {
                panic!("{address} cannot be bound again: {error}")
            }
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// The thread of a listening server.
struct Running {
    handle: ServerHandle,
    thread: JoinHandle<()>,
    closed: Arc<AtomicBool>,
}

impl Running {
    fn start(listener: TcpListener, shared: &Arc<Shared>) -> Self {
        let closed = Arc::new(AtomicBool::new(false));
        let service = Service { shared: Arc::clone(shared), closed: Arc::clone(&closed) };
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            System::new().block_on(async move {
                let app = move || {
                    let service = web::Data::new(service.clone());
                    App::new().app_data(service).default_service(web::to(serve))
                };
                let server = HttpServer::new(app)
                    .workers(2)
                    .disable_signals()
                    .keep_alive(Duration::from_secs(75))
                    .client_request_timeout(Duration::ZERO)
                    // A request is dropped when its client has closed the connection.
                    .h1_allow_half_closed(false)
                    .tcp_nodelay(true)
                    .listen(listener)
                    .expect("a bound listener can be polled")
                    .run();
                sender.send(server.handle()).expect("the starting thread waits for the handle");
                server.await.expect("the server ends without an error");
            });
        });
        let handle = receiver.recv().expect("the server starts");
        Self { handle, thread, closed }
    }

    fn stop(self) {
        // The workers end a moment after the listener. Until then, requests get no answer.
        self.closed.store(true, Ordering::SeqCst);
        // The command is sent by the call; the future only waits for its end, as does the join.
        drop(self.handle.stop(false));
        // A panic of the server has been reported by its own thread.
        let _ = self.thread.join();
    }
}

/// What the requests and the methods of the server share.
struct Shared {
    access_key_id: String,
    state: Mutex<State>,
}

struct State {
    store: Store,
    requests: Vec<String>,
    mood: Mood,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mood(&self) -> Mood {
        self.state().mood
    }
}

/// What a worker needs to answer requests.
#[derive(Clone)]
struct Service {
    shared: Arc<Shared>,
    closed: Arc<AtomicBool>,
}

impl Service {
    /// Never returns once the server is closed: the connection ends with its worker.
    async fn wait_if_closed(&self) {
        if self.closed.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }
}

/// Answers one request, according to the mood.
async fn serve(
    request: HttpRequest,
    payload: web::Payload,
    service: web::Data<Service>,
) -> HttpResponse {
    service.wait_if_closed().await;
    let shared = &service.shared;
    let call = Call::new(&request);
    shared.state().requests.push(call.log_line());
    // The body is read even when it is not used: a client that still sends would miss the answer, and the end of a
    // connection is only noticed behind the body.
    let body = payload.to_bytes_limited(MAX_BODY).await;
    while shared.mood() == Mood::Silent {
        sleep(Duration::from_millis(10)).await;
    }
    service.wait_if_closed().await;
    let answer = match body {
        Ok(Ok(body)) => execute(shared, &call, body),
        Ok(Err(_)) => Err(error(400, "IncompleteBody", "the body ended too early")),
        Err(_) => Err(error(400, "EntityTooLarge", "the body is too large for this server")),
    };
    if let Mood::Slow(delay) = shared.mood() {
        sleep(delay).await;
    }
    service.wait_if_closed().await;
    answer.unwrap_or_else(|error| error.response(&call))
}

/// Checks the request and executes it.
fn execute(shared: &Shared, call: &Call, body: Bytes) -> Answer {
    let mood = shared.mood();
    if mood == Mood::Away {
        return Err(error(503, "SlowDown", "Please reduce your request rate."));
    }
    if call.access_key_id() != Some(&shared.access_key_id) {
        return Err(access_denied());
    }
    if call.bucket != BUCKET {
        return Err(no_such_bucket());
    }
    if mood == Mood::ReadOnly && call.changes_objects() {
        return Err(access_denied());
    }
    call.check_supported()?;
    // The body is hashed before the state is locked.
    let digest = hex(&Sha256::digest(&body));
    call.check_digest(&digest)?;
    shared.state().store.execute(call, body, &digest)
}
