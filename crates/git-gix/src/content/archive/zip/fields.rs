//! The fields of a zip archive.

use chrono::{DateTime, Datelike, Timelike};

use crate::content::archive::entry::{Content, Kind};

/// The creator version for Unix: the directory entry contains the file mode.
pub(super) const UNIX: u16 = 0x0317;
/// The DOS attribute of a folder.
const FOLDER: u32 = 1 << 4;
/// Flag: the path is encoded in UTF-8.
const UTF8: u16 = 1 << 11;

/// The fields of a directory entry that depend on the kind of the entry.
pub(super) struct KindFields {
    pub(super) maker: u16,
    pub(super) attributes: u32,
    pub(super) text: bool,
}

impl KindFields {
    /// As in `git archive`, ordinary files have no mode, so the unpacking program chooses it.
    pub(super) fn of(kind: &Kind<'_>) -> Self {
        let (maker, attributes) = match kind {
            Kind::Folder => (0, FOLDER),
            Kind::Link { .. } => (UNIX, 0o120_777 << 16),
            Kind::File { executable: true, .. } => (UNIX, 0o100_755 << 16),
            Kind::File { executable: false, .. } => (0, 0),
        };
        let text = match kind {
            Kind::File { content: Content::InMemory(bytes), .. } => is_text(bytes),
            Kind::Link { target } => is_text(target),
            _ => false,
        };
        Self { maker, attributes, text }
    }
}

/// Returns whether content is text. As in git, a zero byte among the first 8000 bytes makes it binary.
fn is_text(content: &[u8]) -> bool {
    !content.iter().take(8000).any(|byte| *byte == 0)
}

pub(super) fn utf8_flag(path: &[u8]) -> u16 {
    if !path.is_ascii() && std::str::from_utf8(path).is_ok() { UTF8 } else { 0 }
}

/// Converts a Unix time to DOS date and time, which begin in 1980 and have a resolution of two seconds.
pub(super) fn dos_time(seconds: u64) -> (u16, u16) {
    const FIRST: i64 = 315_532_800; // 1980-01-01 00:00:00
    const LAST: i64 = 4_354_819_198; // 2107-12-31 23:59:58
    let seconds = i64::try_from(seconds).unwrap_or(LAST).clamp(FIRST, LAST);
    let at = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    let date = (((at.year() - 1980) as u32) << 9) | (at.month() << 5) | at.day();
    let time = (at.hour() << 11) | (at.minute() << 5) | (at.second() / 2);
    (date as u16, time as u16)
}

pub(super) fn push16(to: &mut Vec<u8>, number: u16) {
    to.extend_from_slice(&number.to_le_bytes());
}

pub(super) fn push32(to: &mut Vec<u8>, number: u32) {
    to.extend_from_slice(&number.to_le_bytes());
}

pub(super) fn push64(to: &mut Vec<u8>, number: u64) {
    to.extend_from_slice(&number.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_moved_into_the_calendar_of_dos() {
        for (seconds, date, time) in [
            (0, (1980, 1, 1), (0, 0, 0)),
            (1_700_000_001, (2023, 11, 14), (22, 13, 20)),
            (u64::MAX, (2107, 12, 31), (23, 59, 58)),
        ] {
            let (packed_date, packed_time) = dos_time(seconds);
            let (year, month, day) = date;
            assert_eq!(packed_date, ((year - 1980) << 9) | (month << 5) | day, "{seconds}");
            let (hour, minute, second) = time;
            assert_eq!(packed_time, (hour << 11) | (minute << 5) | (second / 2), "{seconds}");
        }
    }
}
