//! The self-signed certificate of a receiver, for loopback. Its key is public. Created by `openssl req -x509 -newkey ec
//! -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500`.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

const CERTIFICATE: &[u8] = include_bytes!("../../fixtures/self-signed.crt");
const KEY: &[u8] = include_bytes!("../../fixtures/self-signed.key");

/// The TLS configuration of the receiver.
pub(super) fn self_signed() -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(KEY).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("there are protocols that are safe")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key);
    Arc::new(config.expect("the key is that of the certificate"))
}
