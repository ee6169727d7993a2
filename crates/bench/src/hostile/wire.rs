//! Opens connections from a chosen address, and builds raw requests.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

/// The timeout of a client. The server answers earlier: it refuses requests that wait 30 s for a permit.
pub(super) const PATIENCE: Duration = Duration::from_secs(90);

/// Connects from an address of this machine. `window` limits the receive buffer of the client.
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

/// The bytes of a request. Each header line ends with a line break.
pub(super) fn request(method: &str, target: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: hexforge\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A packet of git's protocol.
pub(super) fn packet(line: &str) -> String {
    format!("{:04x}{line}", line.len() + 4)
}
