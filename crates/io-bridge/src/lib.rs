//! Bridges between async connections and blocking threads: [`PieceReader`] reads the client's data, [`PieceWriter`]
//! sends data to the client. HTTP and SSH share them.
//!
//! Memory is bounded: each direction buffers a few pieces, and the faster side waits for the slower one. The time
//! that a thread waits for a client counts against [`TransferLimits`](hexforge_domain::limiter::TransferLimits),
//! because the thread holds a permit meanwhile.
//!
//! The adapters of tokio-util (`SyncIoBridge`, `StreamReader`, `SinkWriter`) lack that limit, enter the runtime for
//! each small read, and copy written data twice.

mod reader;
mod watched;
mod writer;

pub use reader::{Piece, PieceReader, piece_channel};
pub use watched::Watched;
pub use writer::PieceWriter;
