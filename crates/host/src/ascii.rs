//! Text for terminals that show ASCII alone.

use std::env;

/// The first of these variables of the locale that is set.
pub fn locale(names: [&str; 3]) -> Option<String> {
    names.into_iter().filter_map(|name| env::var(name).ok()).find(|tag| !tag.is_empty())
}

/// Whether the locale can show more than ASCII. One that is not set is taken to.
pub fn locale_has_unicode() -> bool {
    let tag = locale(["LC_ALL", "LC_CTYPE", "LANG"]).map(|tag| tag.to_ascii_lowercase());
    tag.is_none_or(|tag| tag.contains("utf-8") || tag.contains("utf8"))
}

/// Characters of the texts, and below each what stands in its place.
const OTHERS: &str = "‹›·•→–…äáàÄöòÖüŭùÜèéÈìßĉĈĝĜĥĵŝŜ’“”„";
const PLAIN: &str = "<>**>-.aaaAooOuuuUeeEiscCgGhjsS'\"\"\"";

/// The text with ASCII in place of other characters: letters without their accents, and a dot for a pattern of braille
/// dots.
pub fn to_ascii(text: &str) -> String {
    text.chars()
        .map(|letter| match letter {
            '\u{2800}'..='\u{28ff}' => '.',
            _ if letter.is_ascii() => letter,
            _ => OTHERS.chars().zip(PLAIN.chars()).find(|(other, _)| *other == letter).map_or('?', |(_, plain)| plain),
        })
        .collect()
}
