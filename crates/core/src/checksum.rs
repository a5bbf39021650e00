//! Checksums over all bytes of a file or a line: XXH3-64 as 16 hexadecimal digits. They reveal damage, but do not
//! protect from attackers.
//!
//! A file has its checksum in its header. It is computed with zeros in place of the checksum itself. A line is a JSON
//! object whose last field, `check`, is the checksum of everything before that field.

use xxhash_rust::xxh3::Xxh3;

/// How the field of the header begins. The header is JSON in a JSON string, hence the backslashes.
const FIELD: &[u8] = br#"\"checksum\":\""#;

/// Stands in place of the checksum until [`seal`] has computed it.
pub const BLANK: &str = "0000000000000000";

/// Computes the checksum of a file and writes it into the header. Does nothing if the header has no field for it.
pub fn seal(file: &mut [u8]) {
    if let Some(place) = place(file) {
        let digits = digits_of(file, place);
        file[place..][..BLANK.len()].copy_from_slice(digits.as_bytes());
    }
}

/// Whether the checksum in the header of a file is correct; `None` if it has none.
pub fn fits(file: &[u8]) -> Option<bool> {
    let place = place(file)?;
    Some(file[place..].starts_with(digits_of(file, place).as_bytes()))
}

/// The index of the first digit of the checksum in a file.
fn place(file: &[u8]) -> Option<usize> {
    let field = file.windows(FIELD.len()).position(|part| part == FIELD)?;
    let place = field + FIELD.len();
    (place + BLANK.len() <= file.len()).then_some(place)
}

/// The checksum of a file whose header has its checksum at `place`.
fn digits_of(file: &[u8], place: usize) -> String {
    digits(&[&file[..place], BLANK.as_bytes(), &file[place + BLANK.len()..]])
}

/// The checksum of some bytes, given in parts.
pub fn digits(parts: &[&[u8]]) -> String {
    let mut sum = Xxh3::new();
    for part in parts {
        sum.update(part);
    }
    format!("{:016x}", sum.digest())
}

/// A JSON object with its checksum added as the last field.
///
/// # Panics
/// Panics if the text does not end with `}`.
pub fn sealed_line(object: &str) -> String {
    let fields = object.strip_suffix('}').expect("a JSON object");
    format!("{fields}{}", check_of(fields))
}

/// A line as text, if its checksum is correct; `None` if the line is damaged or has no checksum.
pub fn sound_line(line: &[u8]) -> Option<&str> {
    let line = str::from_utf8(line).ok()?;
    let length = check_of("").len();
    let (fields, check) = line.split_at_checked(line.len().checked_sub(length)?)?;
    (check == check_of(fields)).then_some(line)
}

/// A line of a file in which every line has a checksum.
#[derive(Clone, Copy, Debug)]
pub struct SealedLine<'a> {
    /// Its number in the file; the first is 1.
    pub number: usize,
    /// Its bytes without the line break.
    pub bytes: &'a [u8],
    /// Whether it ends with a line break. Otherwise the program was interrupted while it wrote the line.
    pub is_whole: bool,
    /// The line as text; `None` if it is damaged.
    pub text: Option<&'a str>,
}

/// The lines of a file in which every line has a checksum.
pub fn sealed_lines(file: &[u8]) -> impl Iterator<Item = SealedLine<'_>> {
    file.split_inclusive(|&byte| byte == b'\n').enumerate().map(|(index, line)| {
        let bytes = line.strip_suffix(b"\n").unwrap_or(line);
        SealedLine { number: index + 1, bytes, is_whole: bytes.len() < line.len(), text: sound_line(bytes) }
    })
}

/// The end of a line that starts with `fields`: the checksum and the closing brace.
fn check_of(fields: &str) -> String {
    format!(r#","check":"{}"}}"#, digits(&[fields.as_bytes()]))
}
