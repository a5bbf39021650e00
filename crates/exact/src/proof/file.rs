//! The file of a proof: a header and the claims as text, then the moves as bytes.

use std::path::Path;

use super::strategy::{Claim, Numbers, Proof};
use crate::ExactError;
use crate::tables::Solvable;
use jarmo_core::checksum::digits;
use jarmo_core::env::Line;
use jarmo_core::game::{Game, Player, shorten};
use jarmo_core::games::Jarmo;
use jarmo_host::files;

/// The first line. The number goes up when an older program would misread the file.
pub const TITLE: &str = "jarmo proof 1";

/// The text before the digits of the checksum in the second line.
pub const CHECKSUM: &str = "checksum: ";

/// The number of digits of a checksum.
const DIGITS: usize = 16;

/// The maximum size of a file in bytes.
const MOST_BYTES: u64 = 1 << 28;

/// The maximum length in plies of a win that a checker must find by search. Every two more plies take many times as
/// long.
pub const MOST_SEARCH: u32 = 7;

impl Proof {
    /// Reads a file, which must be for this game.
    pub fn load(game: &Jarmo, path: &Path) -> Result<Proof, ExactError> {
        let bytes = files::read(path, MOST_BYTES).map_err(ExactError::io(path))?;
        Proof::from_bytes(game, &bytes).map_err(|error| error.at(path))
    }

    /// Reads the content of a file, which must be for this game.
    pub fn from_bytes(game: &Jarmo, bytes: &[u8]) -> Result<Proof, ExactError> {
        let problem = |problem: &str| Err(ExactError::new(problem));
        let title = bytes.split(|&byte| byte == b'\n').next();
        let title = String::from_utf8_lossy(title.unwrap_or_default());
        if title != TITLE {
            return match title.starts_with("jarmo proof ") {
                true => problem(&format!("another format, `{}`; this program reads `{TITLE}`", shorten(&title))),
                false => problem("not a proof"),
            };
        }
        let before = TITLE.len() + 1 + CHECKSUM.len();
        let Some((digits_and_rest, start)) = bytes.get(before..).zip(bytes.get(..before)) else {
            return problem("it is truncated");
        };
        let Some((found, rest)) = digits_and_rest.split_at_checked(DIGITS) else {
            return problem("it is truncated");
        };
        if found != digits(&[start, rest]).as_bytes() {
            return problem("it is damaged or truncated: its checksum does not match");
        }
        let Some(end) = rest.windows(2).position(|pair| pair == b"\n\n") else {
            return problem("it has no header");
        };
        let head = String::from_utf8_lossy(&rest[..end]);
        read(game, &head, &rest[end + 2..]).map_err(ExactError::new)
    }
}

impl Claim {
    /// The opening in words: its actions, and the position where it begins if that is not the start.
    pub fn text(&self, game: &Jarmo) -> String {
        let actions = self.opening.move_texts(game).join(" ");
        if self.opening.start == game.start() {
            return actions;
        }
        let start = game.position_text(&self.opening.start);
        format!("{start} {actions}").trim_end().to_owned()
    }

    fn parse(game: &Jarmo, text: &str) -> Result<Claim, String> {
        let wrong = || format!("the claim `{}` cannot be read", shorten(text));
        let fields: Vec<&str> = text.split('|').map(str::trim).collect();
        let [winner, plies, start, actions] = fields[..] else { return Err(wrong()) };
        let winner = Player::BOTH.into_iter().find(|player| player.name() == winner).ok_or_else(wrong)?;
        let plies = plies.parse().map_err(|_| wrong())?;
        let start = game.parse_position(start).map_err(|error| error.to_string())?;
        let mut opening = Line::at(Jarmo::as_solved(&start));
        for word in actions.split_whitespace() {
            let action = game.play_text(&mut opening.position, word).map_err(|error| error.to_string())?;
            opening.actions.push(action);
        }
        if game.outcome(&opening.position).is_some() {
            return Err(format!("the game of `{}` is over", shorten(text)));
        }
        Ok(Claim { opening, winner, plies })
    }
}

/// The proof with this header and these moves.
fn read(game: &Jarmo, head: &str, bytes: &[u8]) -> Result<Proof, String> {
    let fields = || head.lines().filter_map(|line| line.split_once(": "));
    let field = |name: &str| {
        let value = fields().find(|(key, _)| *key == name).map(|(_, value)| value);
        value.ok_or_else(|| format!("its header has no `{name}`"))
    };
    let number =
        |name: &str| field(name)?.parse::<u32>().map_err(|_| format!("`{name}` in its header is not a number"));
    let (id, rules, board, made) = (field("game")?, number("rules")?, field("board")?, field("made")?.to_owned());
    let (search, count) = (number("search")?, number("moves")? as usize);
    if id != game.id() {
        return Err(format!("a proof for {}", shorten(id)));
    }
    if rules != game.rules_version() {
        return Err(format!("rules version {rules}, this program has version {}", game.rules_version()));
    }
    if board != game.board_text() {
        return Err("a proof for another board".to_owned());
    }
    if search > MOST_SEARCH {
        return Err(format!("its searches are longer than {MOST_SEARCH} plies"));
    }
    let game = game.clone().with_max_plies(0);
    let claims = fields().filter(|(key, _)| *key == "claim").map(|(_, text)| Claim::parse(&game, text));
    let claims = claims.collect::<Result<_, _>>()?;
    let numbers = Numbers::default();
    let (positions, actions) = read_moves(&game, &numbers, bytes)?;
    if actions.len() != count {
        return Err(format!("it holds {} moves, and its header says {count}", actions.len()));
    }
    Ok(Proof { game, made, claims, search, numbers, positions, actions })
}

/// Reads positions and actions. Each position is stored as the difference from the previous position's number, seven
/// bits per byte with the lowest first, followed by its action.
fn read_moves(game: &Jarmo, numbers: &Numbers, bytes: &[u8]) -> Result<(Vec<u64>, Vec<u8>), String> {
    let wrong = || "its moves cannot be read".to_owned();
    let mut bytes = bytes.iter().copied();
    let (mut keys, mut actions) = (Vec::new(), Vec::new());
    let mut key = 0;
    while let Some(byte) = bytes.next() {
        let difference = read_number(byte, &mut bytes).ok_or_else(wrong)?;
        let action = bytes.next().ok_or_else(wrong)?;
        let ascends = difference > 0 || keys.is_empty();
        key += difference;
        if !ascends || key >= numbers.count || usize::from(action) >= game.actions() {
            return Err(wrong());
        }
        keys.push(key);
        actions.push(action);
    }
    Ok((keys, actions))
}

fn read_number(first: u8, rest: &mut impl Iterator<Item = u8>) -> Option<u64> {
    const MOST_BITS: u32 = 42; // enough for all bare positions
    let (mut number, mut bits, mut byte) = (u64::from(first & 127), 7, first);
    while byte >= 128 {
        byte = rest.next()?;
        number |= u64::from(byte & 127) << bits;
        bits += 7;
        if bits > MOST_BITS {
            return None;
        }
    }
    Some(number)
}
