//! Text for terminals that show ASCII alone.

use std::env;

/// Whether the locale can show more than ASCII. One that is not set is taken to.
pub fn locale_has_unicode() -> bool {
    let tag =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(|name| env::var(name).ok()).find(|tag| !tag.is_empty());
    tag.is_none_or(|tag| {
        let tag = tag.to_ascii_lowercase();
        tag.contains("utf-8") || tag.contains("utf8")
    })
}

/// The text with ASCII in place of other characters: letters without their accents, and a dot for a pattern of braille
/// dots.
pub fn to_ascii(text: &str) -> String {
    text.chars().map(letter).collect()
}

fn letter(letter: char) -> char {
    match letter {
        '\u{2800}'..='\u{28ff}' => '.',
        '‹' => '<',
        '›' => '>',
        '·' | '•' => '*',
        '→' => '>',
        '–' => '-',
        '…' => '.',
        'ä' | 'á' | 'à' => 'a',
        'Ä' => 'A',
        'ö' | 'ò' => 'o',
        'Ö' => 'O',
        'ü' | 'ŭ' | 'ù' => 'u',
        'Ü' => 'U',
        'è' | 'é' => 'e',
        'È' => 'E',
        'ì' => 'i',
        'ß' => 's',
        'ĉ' => 'c',
        'Ĉ' => 'C',
        'ĝ' => 'g',
        'Ĝ' => 'G',
        'ĥ' => 'h',
        'ĵ' => 'j',
        'ŝ' => 's',
        'Ŝ' => 'S',
        '’' => '\'',
        '“' | '”' | '„' => '"',
        other if other.is_ascii() => other,
        _ => '?',
    }
}
