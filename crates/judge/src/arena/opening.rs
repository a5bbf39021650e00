//! Openings: the actions before the agents choose. They are the same for both games of a pair.

use std::collections::HashSet;
use std::hash::Hash;
use std::path::Path;

use rand::Rng;

use crate::JudgeError;
use jarmo_core::env::Line;
use jarmo_core::game::{Game, Mask, shorten};
use jarmo_core::random::{Stream, below, stream};
use jarmo_data::OPENINGS;
use jarmo_host::files::{LINES_BYTES, read_text};
use jarmo_host::record::GameRecord;

/// The openings of a tournament, in the order of its pairs. No opening ends the game.
#[derive(Clone, Debug)]
pub struct Openings<P> {
    list: Vec<Line<P>>,
    /// The number of different openings.
    pub distinct: usize,
    /// Where they come from, for reports.
    pub source: String,
}

/// The line that states the board starts with this.
pub const BOARD: &str = "# board: ";

/// Up to this many different openings are listed and shuffled. If there are more, they are drawn by random play.
const LISTED: usize = 50_000;

/// Random play stops after this many attempts in a row that give no new opening.
const PATIENCE: u32 = 2_000;

impl<P: Copy + Eq + Hash> Openings<P> {
    /// Draws `count` openings of `plies` random plies from a seed. No opening is repeated until every one has occurred.
    /// The order does not depend on `count`.
    pub fn random<G: Game<Position = P>>(game: &G, plies: u32, count: usize, seed: u64) -> Result<Self, JudgeError> {
        let mut stream = stream(seed, OPENING_STREAM);
        let mut drawn = match list_all(game, plies) {
            Some(mut all) => {
                shuffle(&mut all, &mut stream);
                all
            }
            None => draw_distinct(game, plies, count, &mut stream),
        };
        if drawn.is_empty() {
            return Err(JudgeError::new(format!("every game of {} is over after {plies} random plies", game.id())));
        }
        let distinct = drawn.len();
        while drawn.len() < count {
            // Appends all openings again, in another order.
            let mut lap = drawn[..distinct].to_vec();
            shuffle(&mut lap, &mut stream);
            drawn.extend(lap);
        }
        drawn.truncate(count.max(1));
        Ok(Openings { list: drawn, distinct, source: format!("{plies} random plies") })
    }

    /// Rejects a number of plies that most random games do not reach. With any other number, [`Openings::random`]
    /// finds openings from every seed.
    pub fn check_plies<G: Game<Position = P>>(game: &G, plies: u32) -> Result<(), JudgeError> {
        const GAMES: usize = 200;
        let mut stream = stream(0, OPENING_STREAM);
        let lasts = |_: &usize| Line::random(game, plies, &mut stream).actions.len() == plies as usize;
        if (0..GAMES).filter(lasts).count() < GAMES / 10 {
            return Err(JudgeError::new(format!(
                "most games of {} are over after {plies} random plies; use fewer",
                game.id()
            )));
        }
        Ok(())
    }

    /// Reads openings from a file. Each line is a game record, or actions separated by spaces. With `plies`, only
    /// that many actions of each are used. Empty lines and lines that start with `#` are skipped.
    pub fn from_file<G: Game<Position = P>>(game: &G, path: &Path, plies: Option<u32>) -> Result<Self, JudgeError> {
        let text = read_text(path, LINES_BYTES).map_err(|error| JudgeError::in_file(path, error))?;
        let list = parse(game, &text, plies).map_err(|problem| JudgeError::in_file(path, problem))?;
        let source = format!("{} from {}", list.len(), path.display());
        Ok(Openings::of(list, source))
    }

    /// The balanced openings that are part of the program, shuffled by a seed. `None` if there are none for this game
    /// and board.
    pub fn balanced<G: Game<Position = P>>(game: &G, seed: u64) -> Option<Self> {
        let (_, text) = OPENINGS.iter().find(|(id, _)| *id == game.id())?;
        if board_of(text).unwrap_or("") != game.board_text() {
            return None;
        }
        let mut list = parse(game, text, None).expect("the program's own openings are sound");
        shuffle(&mut list, &mut stream(seed, OPENING_STREAM));
        let source = format!("{} balanced ones", list.len());
        Some(Openings::of(list, source))
    }

    /// The openings that a tournament uses: `count` openings of `plies` random plies or, without a number, the
    /// balanced openings. Games that have none get openings of two random plies.
    pub fn usual<G: Game<Position = P>>(
        game: &G,
        plies: Option<u32>,
        count: usize,
        seed: u64,
    ) -> Result<Self, JudgeError> {
        const WITHOUT_LIST: u32 = 2;
        let balanced = if plies.is_none() { Openings::balanced(game, seed) } else { None };
        balanced.map_or_else(|| Openings::random(game, plies.unwrap_or(WITHOUT_LIST), count, seed), Ok)
    }

    /// These openings, which must all be different, in the order of the pairs.
    pub(super) fn of(list: Vec<Line<P>>, source: String) -> Self {
        Openings { distinct: list.len(), list, source }
    }

    /// All openings, in the order of the pairs.
    pub fn list(&self) -> &[Line<P>] {
        &self.list
    }

    /// The opening of a pair. After the last opening the list starts again.
    pub fn of_pair(&self, pair: u32) -> &Line<P> {
        &self.list[pair as usize % self.list.len()]
    }
}

/// The board that a list of openings is for, if it states one.
fn board_of(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix(BOARD))
}

/// The openings in the lines of a text, without duplicates.
fn parse<G: Game>(game: &G, text: &str, plies: Option<u32>) -> Result<Vec<Line<G::Position>>, String> {
    if let Some(board) = board_of(text).filter(|board| *board != game.board_text()) {
        return Err(format!("openings for another board, with the lines {}", shorten(board)));
    }
    let mut list: Vec<Line<G::Position>> = Vec::new();
    let mut seen = HashSet::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let opening = parse_opening(game, line, plies).map_err(|problem| format!("line {}: {problem}", index + 1))?;
        if seen.insert(opening.position) {
            list.push(opening);
        }
    }
    if list.is_empty() {
        return Err("no openings; every line must be a game record or actions such as `A1-C2 D5-B4`".to_owned());
    }
    Ok(list)
}

/// The index of the random stream for openings. Games use other streams.
const OPENING_STREAM: u64 = u64::MAX;

/// All different openings of `plies` plies; `None` if there are too many to list.
fn list_all<G: Game>(game: &G, plies: u32) -> Option<Vec<Line<G::Position>>> {
    let mut layer = vec![Line::at(game.start())];
    layer.retain(|opening| game.outcome(&opening.position).is_none());
    for _ in 0..plies {
        let mut next = Vec::new();
        let mut seen = HashSet::new();
        for opening in &layer {
            for action in game.legal(&opening.position).iter() {
                let longer = opening.then(game, action);
                let over = game.outcome(&longer.position).is_some();
                if !over && seen.insert(longer.position) {
                    next.push(longer);
                }
            }
            if next.len() > LISTED {
                return None;
            }
        }
        layer = next;
    }
    Some(layer)
}

/// Up to `count` different openings from random play.
fn draw_distinct<G: Game>(game: &G, plies: u32, count: usize, stream: &mut Stream) -> Vec<Line<G::Position>> {
    let mut drawn = Vec::new();
    let mut seen = HashSet::new();
    let mut failures = 0;
    while drawn.len() < count && failures < PATIENCE {
        failures += 1;
        let opening = Line::random(game, plies, stream);
        if opening.actions.len() == plies as usize && seen.insert(opening.position) {
            drawn.push(opening);
            failures = 0;
        }
    }
    drawn
}

/// The Fisher-Yates shuffle.
fn shuffle<T>(list: &mut [T], stream: &mut Stream) {
    for last in (1..list.len()).rev() {
        list.swap(last, below(stream.next_u64(), last as u32 + 1) as usize);
    }
}

pub(super) fn parse_opening<G: Game>(game: &G, line: &str, plies: Option<u32>) -> Result<Line<G::Position>, String> {
    let mut record = if line.trim_start().starts_with('{') {
        GameRecord::parse(line).map_err(|error| error.to_string())?
    } else {
        GameRecord {
            game: game.id().to_owned(),
            moves: line.split_whitespace().map(str::to_owned).collect(),
            ..GameRecord::default()
        }
    };
    if let Some(plies) = plies {
        record.moves.truncate(plies as usize);
    }
    record.max_plies = None; // the tournament has its own move limit
    let opening = record.replay(game).map_err(|error| error.to_string())?;
    if game.outcome(&opening.position).is_some() {
        return Err(format!("the game is over after these {} plies; use fewer of them", opening.actions.len()));
    }
    Ok(opening)
}
