//! Checksums over all bytes of a file or a line: XXH3-64 as 16 hexadecimal digits. They reveal damage, not intent.
//!
//! A file keeps the digits in its header, and they are computed with zeros in their place. A line is a JSON
//! object whose last field, `check`, has the digits of everything before that field.

use xxhash_rust::xxh3::Xxh3;

/// The field of a header that holds the digits, as it reads in JSON inside JSON.
const FIELD: &[u8] = br#"\"checksum\":\""#;

/// What stands in the place of the digits until [`seal`] has computed them.
pub const BLANK: &str = "0000000000000000";

/// Writes the checksum of a file into its header. Files without a place for it stay as they are.
pub fn seal(file: &mut [u8]) {
    if let Some(place) = place(file) {
        let digits = digits_of(file, place);
        file[place..][..BLANK.len()].copy_from_slice(digits.as_bytes());
    }
}

/// Whether the checksum in the header of a file fits its bytes; `None` for a file without one.
pub fn fits(file: &[u8]) -> Option<bool> {
    let place = place(file)?;
    Some(file[place..].starts_with(digits_of(file, place).as_bytes()))
}

/// Where the digits of a file begin.
fn place(file: &[u8]) -> Option<usize> {
    let field = file.windows(FIELD.len()).position(|part| part == FIELD)?;
    let place = field + FIELD.len();
    (place + BLANK.len() <= file.len()).then_some(place)
}

/// The digits of a file with its own digits at `place`.
fn digits_of(file: &[u8], place: usize) -> String {
    digits(&[&file[..place], BLANK.as_bytes(), &file[place + BLANK.len()..]])
}

/// The digits of these bytes, in several parts.
pub fn digits(parts: &[&[u8]]) -> String {
    let mut sum = Xxh3::new();
    for part in parts {
        sum.update(part);
    }
    format!("{:016x}", sum.digest())
}

/// A JSON object with its check as the last field.
///
/// # Panics
/// Panics if the text does not end like an object.
pub fn sealed_line(object: &str) -> String {
    let fields = object.strip_suffix('}').expect("a JSON object");
    format!("{fields}{}", check_of(fields))
}

/// The text of a line whose check fits; `None` for a damaged line, and for one without a check.
pub fn sound_line(line: &[u8]) -> Option<&str> {
    let line = str::from_utf8(line).ok()?;
    let length = check_of("").len();
    let (fields, check) = line.split_at_checked(line.len().checked_sub(length)?)?;
    (check == check_of(fields)).then_some(line)
}

/// A line of a file of sealed lines.
#[derive(Clone, Copy, Debug)]
pub struct SealedLine<'a> {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Its bytes without the line break.
    pub bytes: &'a [u8],
    /// Whether it has a line break at its end.
    pub is_whole: bool,
    /// Its text; `None` if it is damaged.
    pub text: Option<&'a str>,
}

/// The lines of a file of sealed lines.
pub fn sealed_lines(file: &[u8]) -> impl Iterator<Item = SealedLine<'_>> {
    file.split_inclusive(|&byte| byte == b'\n').enumerate().map(|(index, line)| {
        let bytes = line.strip_suffix(b"\n").unwrap_or(line);
        SealedLine { number: index + 1, bytes, is_whole: bytes.len() < line.len(), text: sound_line(bytes) }
    })
}

/// The end of a line with these fields.
fn check_of(fields: &str) -> String {
    format!(r#","check":"{}"}}"#, digits(&[fields.as_bytes()]))
}
