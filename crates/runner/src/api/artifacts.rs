//! Uploads and downloads of artifacts, block by block.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE};
use tokio::sync::mpsc;

use super::{Api, IDLE, describe, success};
use crate::error::Error;

/// The size of the blocks of a transfer.
const BLOCK: usize = 256 << 10;

/// A file to upload.
#[derive(Clone, Copy, Debug)]
pub struct Upload<'a> {
    /// The file.
    pub file: &'a Path,
    /// The name that the server shows.
    pub name: &'a str,
    /// How long the server keeps it.
    pub expire_in: Option<&'a str>,
}

impl Api {
    /// Uploads the artifacts of a build from a file, block by block.
    /// # Errors
    /// The file cannot be read; the server is away or refuses.
    pub async fn upload_artifacts(
        &self,
        build: i64,
        token: &str,
        upload: Upload<'_>,
    ) -> Result<(), Error> {
        let size = std::fs::metadata(upload.file).map_err(Error::at(upload.file))?.len();
        let boundary = format!("hexforge-{build}-{size:x}");
        let mut head = String::new();
        if let Some(expire_in) = upload.expire_in {
            head.push_str(&format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"expire_in\"\r\n\r\n{}\r\n",
                expire_in.replace(['\r', '\n'], " ")
            ));
        }
        head.push_str(&format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n",
            upload.name
        ));
        let tail = format!("\r\n--{boundary}--\r\n");
        let length = head.len() as u64 + size + tail.len() as u64;
        let blocks = read_blocks(upload.file.to_owned(), size);
        let body = stream::iter([Ok(Bytes::from(head))])
            .chain(blocks)
            .chain(stream::iter([Ok(Bytes::from(tail))]));
        let url = format!("{}/ci/api/v1/builds/{build}/artifacts", self.url);
        let call = self.http.post(url).header("BUILD-TOKEN", token);
        let call = call.header(CONTENT_TYPE, format!("multipart/form-data; boundary={boundary}"));
        let call = call.header(CONTENT_LENGTH, length).body(reqwest::Body::wrap_stream(body));
        success(self.send(call).await?).await.map(drop)
    }

    /// Downloads the artifacts of a build into a file, block by block, at most `limit` bytes.
    /// # Errors
    /// The file cannot be written or is too large; the server is away or refuses.
    pub async fn download_artifacts(
        &self,
        build: i64,
        token: &str,
        file: &Path,
        limit: u64,
    ) -> Result<(), Error> {
        let url = format!("{}/ci/api/v1/builds/{build}/artifacts", self.url);
        let call = self.http.get(url).header("BUILD-TOKEN", token);
        let mut answer = success(self.send(call).await?).await?;
        let mut out = std::fs::File::create(file).map_err(Error::at(file))?;
        let mut received = 0;
        loop {
            let chunk = tokio::time::timeout(IDLE, answer.chunk()).await;
            let chunk = chunk.map_err(|_| self.unreachable("no data arrived for two minutes"))?;
            let Some(chunk) = chunk.map_err(|error| self.unreachable(&describe(&error)))? else {
                return Ok(());
            };
            received += chunk.len() as u64;
            if received > limit {
                return Err(Error::step(format!(
                    "the artifacts of build {build} have more than {limit} bytes"
                )));
            }
            out.write_all(&chunk).map_err(Error::at(file))?;
        }
    }
}

/// Reads a file on a blocking thread, a few blocks ahead of the network.
fn read_blocks(
    file: PathBuf,
    size: u64,
) -> impl futures_util::Stream<Item = std::io::Result<Bytes>> {
    let (sender, receiver) = mpsc::channel(4);
    tokio::task::spawn_blocking(move || {
        let read = || -> std::io::Result<()> {
            let mut file = std::fs::File::open(&file)?.take(size);
            loop {
                let mut block = vec![0; BLOCK];
                let read = file.read(&mut block)?;
                block.truncate(read);
                if read == 0 || sender.blocking_send(Ok(Bytes::from(block))).is_err() {
                    return Ok(());
                }
            }
        };
        if let Err(error) = read() {
            let _ = sender.blocking_send(Err(error));
        }
    });
    stream::unfold(receiver, |mut receiver| async move { Some((receiver.recv().await?, receiver)) })
}
