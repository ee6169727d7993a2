//! An answer of the server that never reaches the runner.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use super::scene::{Scene, wait_until};

/// Passes one request on, and throws its answer away.
fn swallow_one_answer(listener: &TcpListener, server: std::net::SocketAddr) {
    let (mut client, _) = listener.accept().expect("the runner connects");
    let mut upstream = TcpStream::connect(server).expect("the server listens");
    client.set_read_timeout(Some(Duration::from_secs(1))).expect("a valid time");
    let mut request = vec![0; 64 << 10];
    let length = client.read(&mut request).expect("the runner asks");
    upstream.write_all(&request[..length]).expect("the server reads");
    // The body may come in a packet of its own.
    if let Ok(more) = client.read(&mut request) {
        upstream.write_all(&request[..more]).expect("the server reads");
    }
    let _ = upstream.read(&mut request);
}

/// The build was assigned, and nobody runs it: it waits again, and the next runner takes it.
#[test]
fn an_assignment_that_is_not_acknowledged_returns_to_the_queue() {
    let scene = Scene::new();
    scene.register(&[]);
    scene.push("job: {script: [echo]}\n");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let lying = listener.local_addr().expect("it has an address").to_string();
    let (file, server) = (scene.config_file(), scene.server.address);
    let right = std::fs::read_to_string(&file).expect("it was written");
    std::fs::write(&file, right.replace(&server.to_string(), &lying)).expect("it can be written");
    let answering = thread::spawn(move || swallow_one_answer(&listener, server));
    let mut runner = scene.start_runner(&[]);
    assert!(wait_until(|| scene.status("job") == "running"));
    runner.kill();
    answering.join().expect("no thread panics");
    std::fs::write(&file, right).expect("it can be written");
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("job", "success");
}
