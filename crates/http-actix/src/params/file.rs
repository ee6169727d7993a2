//! A file in a multipart form, read block by block while it arrives, so that only one block is in memory.

use std::sync::Arc;
use std::time::Duration;

use actix_multipart::Field;
use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_DISPOSITION;
use futures_util::StreamExt;
use hexforge_application::application_settings::SettingsCache;
use hexforge_domain::limiter::TransferRate;
use tokio::time::{Instant, timeout};

use super::Params;
use super::body::{WantedFile, too_large};
use super::form::{Form, multipart_error};
use crate::error::{ApiError, ApiResult};

/// Bytes per block.
const BLOCK: usize = 256 * 1024;

/// The setting that limits the size of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeLimit {
    /// The limit of uploaded files.
    Attachment,
    /// The limit of the artifacts of a build.
    Artifacts,
}

/// The maximum size of a file. It is read while the file arrives, because the settings are refreshed when the caller
/// signs in, which is after the beginning of the body was read.
#[derive(Clone)]
pub struct MaxSize {
    /// The setting.
    pub limit: SizeLimit,
    /// The settings of the service.
    pub settings: Arc<SettingsCache>,
}

impl MaxSize {
    /// The maximum size in bytes.
    pub fn bytes(&self) -> u64 {
        let settings = self.settings.newest();
        match self.limit {
            SizeLimit::Attachment => settings.max_attachment_bytes(),
            SizeLimit::Artifacts => settings.max_artifacts_bytes(),
        }
    }
}

/// A file that is arriving.
pub struct FilePart {
    name: String,
    // Dropped before `form`, which does not continue while one of its parts exists.
    field: Option<Field>,
    form: Form,
    behind: Params,
    max: MaxSize,
    received: u64,
    rate: TransferRate,
}

impl FilePart {
    pub(super) fn new(name: String, field: Field, form: Form, wanted: WantedFile) -> Self {
        let (behind, rate) = (Params::default(), TransferRate::new(wanted.transfer));
        Self { name, field: Some(field), form, behind, max: wanted.max, received: 0, rate }
    }

    /// The file name that the sender gave.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the next block. `None` after the last one; then the rest of the form has been read too.
    pub async fn next_block(&mut self) -> ApiResult<Option<Vec<u8>>> {
        let mut block = Vec::new();
        while block.len() < BLOCK
            && let Some(field) = &mut self.field
        {
            let Some(chunk) = in_time(&mut self.rate, field.next()).await? else {
                self.field = None;
                self.finish().await?;
                break;
            };
            let chunk = chunk.map_err(multipart_error)?;
            self.received += chunk.len() as u64;
            self.rate.record(Duration::ZERO, chunk.len());
            if self.received > self.max.bytes() {
                return Err(too_large());
            }
            block.extend_from_slice(&chunk);
        }
        Ok((!block.is_empty()).then_some(block))
    }

    /// The parameters after the file. Empty until the last block was read.
    pub fn params_after(&self) -> &Params {
        &self.behind
    }

    /// Reads the parts after the file. Fails if the form is incomplete.
    async fn finish(&mut self) -> ApiResult<()> {
        while let Some(part) = in_time(&mut self.rate, self.form.next()).await?? {
            let take = self.form.read_part(part, &mut self.behind.values);
            in_time(&mut self.rate, take).await??;
        }
        Ok(())
    }
}

pub(super) async fn in_time<T>(
    rate: &mut TransferRate,
    next: impl Future<Output = T>,
) -> ApiResult<T> {
    let since = Instant::now();
    let next = timeout(rate.timeout(), next).await.map_err(|_| too_slow())?;
    rate.record(since.elapsed(), 0);
    Ok(next)
}

/// The file name of a part (`filename*` or `filename`); `None` if the part is not a file. A browser sends an empty
/// name if no file was chosen.
pub(super) fn file_name(part: &Field) -> Option<String> {
    let disposition = part.content_disposition()?;
    if let Some(name) = disposition.get_filename_ext() {
        return Some(String::from_utf8_lossy(&name.value).into_owned());
    }
    let parsed = disposition.get_filename()?;
    let header = part.headers().get(CONTENT_DISPOSITION)?;
    let path = windows_path(&String::from_utf8_lossy(header.as_bytes()));
    Some(path.unwrap_or_else(|| parsed.to_owned()))
}

/// Returns the name in a header if it is a Windows path with unescaped backslashes, as some clients send it. The parser
/// of the header takes these for escapes.
fn windows_path(header: &str) -> Option<String> {
    const BEGIN: &str = "filename=\"";
    let start = header.to_ascii_lowercase().find(BEGIN)? + BEGIN.len();
    let rest = &header[start..];
    let bytes = rest.as_bytes();
    let end =
        (0..bytes.len()).find(|at| bytes[*at] == b'"' && (*at == 0 || bytes[at - 1] != b'\\'))?;
    let mut after = rest[..end].split('\\').skip(1);
    let meant = after.any(|next| !next.is_empty() && !next.starts_with('"'));
    (meant && !rest[..end].contains("\\\\")).then(|| rest[..end].to_owned())
}

/// The error for a client that sends too slowly.
pub(crate) fn too_slow() -> ApiError {
    ApiError::message(StatusCode::REQUEST_TIMEOUT, "408 Request Timeout")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexforge_domain::limiter::TransferLimits;

    #[tokio::test(start_paused = true)]
    async fn a_sender_that_sends_nothing_is_given_up() {
        let (since, mut rate) = (Instant::now(), TransferRate::new(TransferLimits::default()));
        assert!(in_time(&mut rate, std::future::pending::<()>()).await.is_err());
        assert_eq!(since.elapsed(), Duration::from_secs(60));
    }

    #[test]
    fn backslashes_are_taken_literally_where_they_are_no_escapes() {
        for (header, path) in [
            (r#"form-data; name="file"; filename="C:\temp\a.txt""#, Some(r"C:\temp\a.txt")),
            (r#"form-data; name="file"; FileName="..\..\x""#, Some(r"..\..\x")),
            (r#"form-data; name="file"; filename="a.txt""#, None),
            (r#"form-data; name="file"; filename="a\"b.txt""#, None),
            (r#"form-data; name="file"; filename="C:\\temp\\a.txt""#, None),
            (r#"form-data; name="file"; filename=a.txt"#, None),
            (r#"form-data; name="file"; filename="a.txt"#, None),
        ] {
            assert_eq!(windows_path(header).as_deref(), path, "{header}");
        }
    }
}
