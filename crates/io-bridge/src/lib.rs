//! Bridges between async connections and blocking threads: [`PieceReader`] reads what a client sends, [`PieceWriter`] sends
//! what is written. HTTP and SSH share them.
//!
//! Memory is bounded: each direction holds a few pieces, and the faster side waits for the slower one. The time that a
//! thread waits for a client counts against [`TransferLimits`](hexforge_domain::limiter::TransferLimits), because the thread
//! holds a permit meanwhile.
//!
//! The adapters of tokio-util (`SyncIoBridge`, `StreamReader`, `SinkWriter`) lack that limit, enter the runtime for each small
//! read, and copy what is written twice.

mod reader;
mod writer;

pub use reader::{Piece, PieceReader, channel};
pub use writer::PieceWriter;
