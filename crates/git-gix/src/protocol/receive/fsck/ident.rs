//! Checks author, committer and tagger lines: `Name <address> seconds +zone`.

use gix::bstr::ByteSlice;

use super::Fault;

/// Returns the fault in the text after `author `, `committer ` or `tagger `.
pub(super) fn fault(line: &[u8]) -> Option<Fault> {
    if line.starts_with(b"<") {
        return Some(Fault::MissingNameBeforeEmail);
    }
    let Some(start) = line.find_byteset(b"<>") else {
        return Some(Fault::MissingEmail);
    };
    if line[start] == b'>' {
        return Some(Fault::BadName);
    }
    if line[start - 1] != b' ' {
        return Some(Fault::MissingSpaceBeforeEmail);
    }
    let email = &line[start + 1..];
    let Some(end) = email.find_byteset(b"<>").filter(|&end| email[end] == b'>') else {
        return Some(Fault::BadEmail);
    };
    let Some(date) = email[end + 1..].strip_prefix(b" ") else {
        return Some(Fault::MissingSpaceBeforeDate);
    };
    fault_of_date(date.trim_start_with(|letter| matches!(letter, ' ' | '\t')))
}

fn fault_of_date(date: &[u8]) -> Option<Fault> {
    let digits = date.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (seconds, zone) = date.split_at(digits);
    if digits == 0 {
        return Some(Fault::BadDate);
    }
    if date[0] == b'0' && date.get(1) != Some(&b' ') {
        return Some(Fault::ZeroPaddedDate);
    }
    let seconds = seconds.iter().try_fold(0i64, |seconds, digit| {
        seconds.checked_mul(10)?.checked_add(i64::from(digit - b'0'))
    });
    if seconds.is_none() {
        return Some(Fault::BadDateOverflow);
    }
    let Some(zone) = zone.strip_prefix(b" ") else {
        return Some(Fault::BadDate);
    };
    let is_zone = matches!(zone, [b'+' | b'-', digits @ ..]
        if digits.len() == 4 && digits.iter().all(u8::is_ascii_digit));
    (!is_zone).then_some(Fault::BadTimezone)
}
