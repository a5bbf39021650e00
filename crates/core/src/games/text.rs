//! Parses fields that the position texts of several games share. Games in other crates use it, too.

use crate::game::{Player, PositionError};

/// Splits position text into its named fields.
pub fn fields<'a, const N: usize>(text: &'a str, names: &[&str; N]) -> Result<[&'a str; N], PositionError> {
    let parts: Vec<&str> = text.split(' ').collect();
    parts.try_into().map_err(|_| PositionError::field_count(text, names))
}

/// Reads `w` or `b`.
pub fn parse_player(text: &str) -> Result<Player, PositionError> {
    match text {
        "w" => Ok(Player::White),
        "b" => Ok(Player::Black),
        _ => Err(PositionError::new("to move", text, "expected `w` or `b`")),
    }
}

/// Reads a number without sign or leading zeros. Its limit leaves room to count up without overflow.
pub fn parse_number(field: &'static str, text: &str) -> Result<u32, PositionError> {
    const LIMIT: u32 = 1_000_000_000;
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = digits && (text == "0" || !text.starts_with('0'));
    text.parse()
        .ok()
        .filter(|&number| plain && number <= LIMIT)
        .ok_or_else(|| PositionError::new(field, text, format!("expected a number from 0 to {LIMIT}")))
}
