//! Checks of LFS objects: each row has a file, and each file has a row.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::time::Duration;

use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_domain::id::ForkNetworkId;
use hexforge_domain::lfs::{LfsObject, LfsOid};
use hexforge_domain::ports::files::FilesError;
use sha2::{Digest, Sha256};

use super::repositories::{BATCH, Faults, MAX_SHOWN};
use super::{Finding, causes};

/// The size of the buffer for content.
const BLOCK: usize = 256 << 10;

/// The time before a fault is confirmed. Requests may change objects meanwhile.
const PAUSE: Duration = Duration::from_millis(200);

/// Checks that each LFS object has a file of the right size, with `deep` also that the content has the right SHA-256.
/// Names the files that belong to no object. Memory does not grow with the number of objects.
pub(super) fn check(app: &App, deep: bool) -> Finding {
    let mut faults = Faults::default();
    let objects = check_objects(app, deep, &mut faults).map_err(causes)?;
    if faults.count > 0 {
        return Err(faults.lines());
    }
    let UnnamedFiles { shown, count } = find_unnamed_files(app).map_err(causes)?;
    Ok(match count {
        0 => format!("{objects} objects, all whole"),
        count => format!(
            "{objects} objects, all whole; files that belong to no object: {count} ({})",
            shown.join(", ")
        ),
    })
}

fn describe(network: ForkNetworkId, oid: LfsOid) -> String {
    format!("{oid} of fork network {network}")
}

/// Checks the files of all objects, page by page. Returns the number of objects.
fn check_objects(app: &App, deep: bool, faults: &mut Faults) -> Result<u64, Error> {
    let (mut count, mut after) = (0, None);
    loop {
        let page =
            app.store.read::<_, Error>(|tx| Ok(tx.lfs_objects().list(after, BATCH as u32)?))?;
        let Some((network, last)) = page.last() else { return Ok(count) };
        after = Some((*network, last.oid));
        count += page.len() as u64;
        for (network, objects) in by_network(page) {
            for (oid, fault) in confirmed_faults(app, deep, network, &objects)? {
                faults.add(format!("{}: {fault}", describe(network, oid)));
            }
        }
    }
}

fn by_network<T>(all: Vec<(ForkNetworkId, T)>) -> BTreeMap<ForkNetworkId, Vec<T>> {
    let mut networks = BTreeMap::<_, Vec<_>>::new();
    for (network, of_network) in all {
        networks.entry(network).or_default().push(of_network);
    }
    networks
}

/// Returns the faults that a second check confirms.
fn confirmed_faults(
    app: &App,
    deep: bool,
    network: ForkNetworkId,
    objects: &[LfsObject],
) -> Result<Vec<(LfsOid, String)>, Error> {
    let wrong = find_faults(app, deep, network, objects)?;
    if wrong.is_empty() {
        return Ok(wrong);
    }
    std::thread::sleep(PAUSE);
    let oids: Vec<LfsOid> = wrong.iter().map(|(oid, _)| *oid).collect();
    let objects =
        app.store.read::<_, Error>(|tx| Ok(tx.lfs_objects().find_all(network, &oids)?))?;
    find_faults(app, deep, network, &objects)
}

fn find_faults(
    app: &App,
    deep: bool,
    network: ForkNetworkId,
    objects: &[LfsObject],
) -> Result<Vec<(LfsOid, String)>, Error> {
    let oids: Vec<LfsOid> = objects.iter().map(|object| object.oid).collect();
    let sizes = app.lfs_files.sizes(network, &oids)?;
    let mut wrong = Vec::new();
    for (object, size) in objects.iter().zip(sizes) {
        let fault = match size {
            None => Some("its file is missing".to_owned()),
            Some(size) if size != object.size => {
                Some(format!("its file has {size} bytes instead of {}", object.size))
            }
            Some(_) if deep => content_fault(app, network, object.oid),
            Some(_) => None,
        };
        wrong.extend(fault.map(|fault| (object.oid, fault)));
    }
    Ok(wrong)
}

/// Reads the content of an object, and compares its SHA-256 with the name.
fn content_fault(app: &App, network: ForkNetworkId, oid: LfsOid) -> Option<String> {
    match digest(app, network, oid) {
        Ok(Some(found)) if found == oid => None,
        Ok(Some(found)) => Some(format!("its file is damaged: its SHA-256 is {found}")),
        Ok(None) => Some("its file is missing".to_owned()),
        Err(error) => Some(format!("its file cannot be read: {error:#}")),
    }
}

fn digest(app: &App, network: ForkNetworkId, oid: LfsOid) -> anyhow::Result<Option<LfsOid>> {
    let Some(mut file) = app.lfs_files.open(network, oid, 0)? else { return Ok(None) };
    let (mut digest, mut block) = (Sha256::new(), vec![0; BLOCK]);
    loop {
        match file.content.read(&mut block)? {
            0 => return Ok(Some(LfsOid::from_bytes(digest.finalize().into()))),
            length => digest.update(&block[..length]),
        }
    }
}

/// Files that belong to no object.
#[derive(Default)]
struct UnnamedFiles {
    shown: Vec<String>,
    count: usize,
}

/// Looks for files without a row.
fn find_unnamed_files(app: &App) -> Result<UnnamedFiles, Error> {
    let (mut unnamed, mut batch) = (UnnamedFiles::default(), Vec::new());
    app.lfs_files.for_each(&mut |network, oid| {
        batch.push((network, oid));
        if batch.len() < BATCH {
            return Ok(());
        }
        let added = unnamed.add_without_row(app, std::mem::take(&mut batch));
        added.map_err(|error| {
            FilesError("rows of LFS objects could not be read".to_owned(), error.into())
        })
    })?;
    unnamed.add_without_row(app, batch)?;
    Ok(unnamed)
}

impl UnnamedFiles {
    /// Adds those files of a batch that have no row.
    fn add_without_row(
        &mut self,
        app: &App,
        batch: Vec<(ForkNetworkId, LfsOid)>,
    ) -> Result<(), Error> {
        for (network, oids) in by_network(batch) {
            let rows = app
                .store
                .read::<_, Error>(|tx| Ok(tx.lfs_objects().find_all(network, &oids)?))?;
            let named: BTreeSet<LfsOid> = rows.into_iter().map(|object| object.oid).collect();
            for oid in oids.into_iter().filter(|oid| !named.contains(oid)) {
                self.count += 1;
                if self.shown.len() < MAX_SHOWN {
                    self.shown.push(describe(network, oid));
                }
            }
        }
        Ok(())
    }
}
