//! TLS configuration: rustls with ring, and the root certificates of this machine.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::{ClientConfig, Error, RootCertStore};
use rustls_platform_verifier::Verifier;

/// Creates the TLS configuration of the client. A machine without root certificates trusts no server.
pub(crate) fn config() -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let mut config = match Verifier::new(provider) {
        Ok(verifier) => builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)),
        Err(error) => {
            tracing::warn!(
                %error,
                "root certificates could not be loaded, so servers over HTTPS cannot be reached: \
                 install ca-certificates or set SSL_CERT_FILE"
            );
            builder.with_root_certificates(RootCertStore::empty())
        }
    }
    .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
