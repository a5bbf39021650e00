//! Text for terminals that can show only ASCII.

use std::env;

/// The value of the first of these variables of the locale that is set.
pub fn locale(names: [&str; 3]) -> Option<String> {
    names.into_iter().filter_map(|name| env::var(name).ok()).find(|tag| !tag.is_empty())
}

/// Whether the locale can show more than ASCII. If no locale is set, we assume that it can.
pub fn locale_has_unicode() -> bool {
    let tag = locale(["LC_ALL", "LC_CTYPE", "LANG"]).map(|tag| tag.to_ascii_lowercase());
    tag.is_none_or(|tag| tag.contains("utf-8") || tag.contains("utf8"))
}

/// Non-ASCII characters of our texts; [`PLAIN`] has the replacement of each at the same index.
const OTHERS: &str = "‹›·•→–…äáàÄöòÖüŭùÜèéÈìĉĈĝĜĥĵŝŜ’“”„«»";
const PLAIN: &str = "<>**>-.aaaAooOuuuUeeEicCgGhjsS'\"\"\"\"\"";

/// Replaces all characters that are not ASCII: letters lose their accents, and patterns of braille dots become a dot.
pub fn to_ascii(text: &str) -> String {
    text.replace('ß', "ss")
        .chars()
        .map(|letter| match letter {
            '\u{2800}'..='\u{28ff}' => '.',
            _ if letter.is_ascii() => letter,
            _ => OTHERS.chars().zip(PLAIN.chars()).find(|(other, _)| *other == letter).map_or('?', |(_, plain)| plain),
        })
        .collect()
}
