//! Git's wire protocol: the server side for clients, and the client side for imports.

pub(crate) mod copy;
pub(crate) mod import;
pub(crate) mod intake;
pub(crate) mod limits;
pub(crate) mod packet;
pub(crate) mod receive;
pub(crate) mod ref_names;
pub(crate) mod transport;
pub(crate) mod upload;
pub(crate) mod upload_archive;
