//! Styles, scripts and icons, embedded in the program. Their addresses contain a digest, so browsers keep them for ever.

use std::sync::OnceLock;

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use hexforge_domain::hex;
use sha2::{Digest, Sha256};

use crate::error::{PageError, PageResult};
use crate::visit::Visit;

/// An embedded file.
pub(crate) struct Asset {
    name: &'static str,
    extension: &'static str,
    media_type: &'static str,
    bytes: &'static [u8],
    address: OnceLock<String>,
}

static ASSETS: [Asset; 7] = [
    Asset::new("style", "css", "text/css; charset=utf-8", include_bytes!("../assets/style.css")),
    Asset::new("icon", "svg", "image/svg+xml", include_bytes!("../assets/icon.svg")),
    Asset::new(
        "board",
        "js",
        "text/javascript; charset=utf-8",
        include_bytes!("../assets/board.js"),
    ),
    Asset::new("log", "js", "text/javascript; charset=utf-8", include_bytes!("../assets/log.js")),
    Asset::new(
        "folder",
        "js",
        "text/javascript; charset=utf-8",
        include_bytes!("../assets/folder.js"),
    ),
    Asset::new("keys", "js", "text/javascript; charset=utf-8", include_bytes!("../assets/keys.js")),
    Asset::new(
        "lines",
        "js",
        "text/javascript; charset=utf-8",
        include_bytes!("../assets/lines.js"),
    ),
];

impl Asset {
    const fn new(
        name: &'static str,
        extension: &'static str,
        media_type: &'static str,
        bytes: &'static [u8],
    ) -> Self {
        Self { name, extension, media_type, bytes, address: OnceLock::new() }
    }

    /// The address with the digest.
    pub(crate) fn address(&self) -> &str {
        self.address.get_or_init(|| {
            let digest = hex::encode(&Sha256::digest(self.bytes)[..8]);
            format!("/-/assets/{}.{digest}.{}", self.name, self.extension)
        })
    }
}

/// The stylesheet.
pub(crate) fn style() -> &'static Asset {
    &ASSETS[0]
}

/// The icon of the service.
pub(crate) fn icon() -> &'static Asset {
    &ASSETS[1]
}

/// The script that moves cards of a board by dragging.
pub(crate) fn board() -> &'static Asset {
    &ASSETS[2]
}

/// The script that follows the log of a running build.
pub(crate) fn log_script() -> &'static Asset {
    &ASSETS[3]
}

/// The script that adds last commits to a folder.
pub(crate) fn folder_script() -> &'static Asset {
    &ASSETS[4]
}

/// The script of the keyboard shortcuts.
pub(crate) fn keys_script() -> &'static Asset {
    &ASSETS[5]
}

/// The script that marks ranges of lines.
pub(crate) fn lines_script() -> &'static Asset {
    &ASSETS[6]
}

/// Sends an embedded file. An address with another digest belongs to another version of the program.
pub(crate) async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let address = format!("/-/assets/{}", visit.param("file"));
    match ASSETS.iter().find(|asset| asset.address() == address) {
        Some(asset) => Ok(sent(asset, "public, max-age=31536000, immutable")),
        None => Err(PageError::not_found(crate::visit::Viewer::default())),
    }
}

/// Sends the icon at the address where browsers look for it.
pub(crate) async fn favicon(_: Visit) -> PageResult<HttpResponse> {
    Ok(sent(icon(), "public, max-age=86400"))
}

fn sent(asset: &Asset, cache: &'static str) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(asset.media_type)
        .insert_header((CACHE_CONTROL, cache))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(asset.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages load fast on slow connections.
    #[test]
    fn scripts_and_styles_are_small() {
        for extension in ["js", "css"] {
            let files = ASSETS.iter().filter(|asset| asset.extension == extension);
            let bytes: usize = files.map(|asset| asset.bytes.len()).sum();
            assert!(bytes < 25_000, "{extension}: {bytes} bytes");
        }
    }
}
