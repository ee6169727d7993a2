//! Connections from an address of choice, and requests byte by byte.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

/// Longer than any answer takes: the server gives up whoever waits for a permit after 30 s.
pub(super) const PATIENCE: Duration = Duration::from_secs(90);

/// Connects from an address of this machine. `window` bounds the bytes that the client takes without reading them.
pub(super) fn connect(
    from: IpAddr,
    to: SocketAddr,
    window: Option<usize>,
) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, None)?;
    socket.bind(&SocketAddr::new(from, 0).into())?;
    if let Some(bytes) = window {
        socket.set_recv_buffer_size(bytes)?;
    }
    socket.connect_timeout(&to.into(), PATIENCE)?;
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// A request in bytes. `headers` are lines with their ends.
pub(super) fn request(method: &str, target: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: hexforge\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A line of git's protocol.
pub(super) fn packet(line: &str) -> String {
    format!("{:04x}{line}", line.len() + 4)
}
