//! Openings: what is played before the agents are asked, the same for both games of a pair.

use std::collections::HashSet;
use std::fs;
use std::hash::Hash;
use std::path::Path;

use rand::Rng;

use crate::env::Opening;
use crate::game::{Game, Mask};
use crate::random::{Stream, below, stream};
use crate::record::GameRecord;

/// The openings of a tournament, in the order in which its pairs take them. No game is over after one.
#[derive(Clone, Debug)]
pub struct Openings<P> {
    list: Vec<Opening<P>>,
    distinct: usize,
    source: String,
}

/// There is no way to get openings as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OpeningError(String);

/// Up to this many distinct openings are listed and shuffled; beyond, they are drawn by random play.
const LISTED: usize = 50_000;

/// Random plays without a new opening after which those there are count as all there are.
const PATIENCE: u32 = 2_000;

impl<P: Copy + Eq + Hash> Openings<P> {
    /// Draws `count` openings of `plies` random plies from a seed. None is drawn twice before
    /// all were drawn once; which come first does not depend on `count`.
    pub fn random<G: Game<Position = P>>(
        game: &G,
        plies: u32,
        count: usize,
        seed: u64,
    ) -> Result<Self, OpeningError> {
        let mut stream = stream(seed, OPENING_STREAM);
        let mut drawn = match list_all(game, plies) {
            Some(mut all) => {
                shuffle(&mut all, &mut stream);
                all
            }
            None => draw_distinct(game, plies, count, &mut stream),
        };
        if drawn.is_empty() {
            return Err(OpeningError(format!(
                "no game of {} is still open after {plies} random plies",
                game.id()
            )));
        }
        let distinct = drawn.len();
        while drawn.len() < count {
            // Another lap, in another order.
            let mut lap = drawn[..distinct].to_vec();
            shuffle(&mut lap, &mut stream);
            drawn.extend(lap);
        }
        drawn.truncate(count.max(1));
        Ok(Openings {
            list: drawn,
            distinct,
            source: format!("{plies} random plies"),
        })
    }

    /// Reads openings from a file: on every line a game record, or actions separated by spaces. With
    /// `plies`, only so many actions of each are taken. Empty lines and lines that begin with `#` are
    /// skipped.
    pub fn from_file<G: Game<Position = P>>(
        game: &G,
        path: &Path,
        plies: Option<u32>,
    ) -> Result<Self, OpeningError> {
        let text = fs::read_to_string(path)
            .map_err(|error| OpeningError(format!("{}: {error}", path.display())))?;
        let mut list: Vec<Opening<P>> = Vec::new();
        let mut seen = HashSet::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let opening = parse_opening(game, line, plies).map_err(|problem| {
                OpeningError(format!("{}: line {}: {problem}", path.display(), index + 1))
            })?;
            if seen.insert(opening.position) {
                list.push(opening);
            }
        }
        if list.is_empty() {
            return Err(OpeningError(format!(
                "{}: no openings; every line holds a game record or actions such as `A1-C2 D5-B4`",
                path.display()
            )));
        }
        Ok(Openings {
            distinct: list.len(),
            source: format!("{} from {}", list.len(), path.display()),
            list,
        })
    }

    /// The opening of a pair. When they run out they come again.
    pub fn of_pair(&self, pair: u32) -> &Opening<P> {
        &self.list[pair as usize % self.list.len()]
    }

    /// How many different ones there are, as far as is known.
    pub fn distinct(&self) -> usize {
        self.distinct
    }

    /// Where they come from, for people.
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// The stream that openings are drawn from; games have other ones.
const OPENING_STREAM: u64 = u64::MAX;

/// All distinct openings of so many plies, or nothing if there are too many to list.
fn list_all<G: Game>(game: &G, plies: u32) -> Option<Vec<Opening<G::Position>>> {
    let mut layer = vec![Opening::at(game.start())];
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

/// Up to `count` distinct openings by random play.
fn draw_distinct<G: Game>(
    game: &G,
    plies: u32,
    count: usize,
    stream: &mut Stream,
) -> Vec<Opening<G::Position>> {
    let mut drawn = Vec::new();
    let mut seen = HashSet::new();
    let mut in_vain = 0;
    while drawn.len() < count && in_vain < PATIENCE {
        in_vain += 1;
        let opening = Opening::random(game, plies, stream);
        if opening.actions.len() == plies as usize && seen.insert(opening.position) {
            drawn.push(opening);
            in_vain = 0;
        }
    }
    drawn
}

/// Fisher and Yates.
fn shuffle<T>(list: &mut [T], stream: &mut Stream) {
    for last in (1..list.len()).rev() {
        list.swap(last, below(stream.next_u64(), last as u32 + 1) as usize);
    }
}

fn parse_opening<G: Game>(
    game: &G,
    line: &str,
    plies: Option<u32>,
) -> Result<Opening<G::Position>, String> {
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
    record.max_plies = None; // the tournament has its own limit
    let replay = record.replay(game).map_err(|error| error.to_string())?;
    let position = *replay
        .positions
        .last()
        .expect("a replay has a first position");
    if game.outcome(&position).is_some() {
        return Err(format!(
            "the game is over after these {} plies; take fewer of each with --opening-plies",
            replay.actions.len()
        ));
    }
    Ok(Opening {
        start: replay.positions[0],
        actions: replay.actions,
        position,
    })
}
