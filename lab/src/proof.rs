//! Takes the moves of a proof from exact tables, and writes its file.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use foldhash::fast::RandomState;

use jarmo_core::checksum::digits;
use jarmo_core::env::Line;
use jarmo_core::game::{Action, Game, Mask, Proven, Verdict};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_exact::ExactError;
use jarmo_exact::proof::{CHECKSUM, Claim, MOST_SEARCH, Numbers, TITLE, replay};
use jarmo_exact::tables::index::Placement;
use jarmo_exact::tables::{ActionValue, Tables};
use jarmo_host::files::write_whole;

/// Why no proof can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MakeError {
    /// The position is outside the tables, or they have no distances there.
    #[error("the tables have no distance for {0}; exact tables up to its force are needed")]
    NoDistance(String),
    /// There is nothing to prove.
    #[error("the game is over in {0}")]
    Over(String),
    /// Nobody wins the position.
    #[error("{0} is drawn")]
    Drawn(String),
    /// The quickest win does not hold under the shuttle rule.
    #[error("the tables' win is none under the shuttle rule: {0}")]
    Flaw(#[from] ExactError),
}

/// A proof that was made.
#[derive(Clone, Debug)]
pub struct Made {
    /// The rules.
    pub game: Jarmo,
    /// How it was made.
    pub made: String,
    /// What it proves.
    pub claims: Vec<Claim>,
    /// The maximum length in plies of a win that is searched and not stored.
    pub search: u32,
    /// The moves of both players in positions that are not over.
    pub moves: Vec<(JarmoPosition, Action)>,
}

impl Made {
    /// Writes the file as a whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), ExactError> {
        write_whole(path, &self.to_bytes())
            .map_err(|error| ExactError::new(format!("{error}; nothing was written")).at(path))
    }

    /// The content of a file, as `Proof::from_bytes` reads it.
    ///
    /// # Panics
    /// Panics if the game is over in one of the positions with moves.
    pub fn to_bytes(&self) -> Vec<u8> {
        let game = &self.game;
        let mut rest = format!(
            "\ngame: {}\nrules: {}\nboard: {}\nmade: {}\nsearch: {}\nmoves: {}\n",
            game.id(),
            game.rules_version(),
            game.board_text(),
            self.made.replace(['\r', '\n'], " "),
            self.search,
            self.moves.len()
        );
        for claim in &self.claims {
            let start = game.position_text(&claim.opening.start);
            let actions = claim.opening.move_texts(game).join(" ");
            let (winner, plies) = (claim.winner.name(), claim.plies);
            let _ = writeln!(rest, "claim: {winner} | {plies} | {start} | {actions}");
        }
        rest.push('\n');
        let mut rest = rest.into_bytes();
        let numbers = Numbers::default();
        let number = |position| numbers.of(position).expect("both players have archers until the game is over");
        let mut moves: Vec<(u64, u8)> =
            self.moves.iter().map(|(position, action)| (number(position), action.0 as u8)).collect();
        moves.sort_unstable();
        let mut last = 0;
        for (number, action) in moves {
            push_number(&mut rest, number - last);
            rest.push(action);
            last = number;
        }
        let start = format!("{TITLE}\n{CHECKSUM}");
        [start.as_bytes(), digits(&[start.as_bytes(), &rest]).as_bytes(), &rest].concat()
    }
}

/// Seven bits a byte, the lowest first.
fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Proves who wins after each opening, which must be decided. Wins of at most `search` plies are searched and
/// not stored.
///
/// # Panics
/// Panics if `search` is more than [`MOST_SEARCH`].
pub fn make(
    game: &Jarmo,
    tables: &Tables,
    openings: &[Line<JarmoPosition>],
    search: u32,
    made: String,
) -> Result<Made, MakeError> {
    assert!(search <= MOST_SEARCH, "at most {MOST_SEARCH} plies");
    let game = &game.clone().with_max_plies(0);
    let claim = |opening: &Line<JarmoPosition>| {
        let position = &opening.position;
        if game.outcome(position).is_some() {
            return Err(MakeError::Over(game.position_text(position)));
        }
        let value = tables.proven(position);
        let winner = match value.map(|value| value.verdict) {
            Some(Verdict::Win) => position.to_move(),
            Some(Verdict::Loss) => !position.to_move(),
            Some(Verdict::Draw) => return Err(MakeError::Drawn(game.position_text(position))),
            None => return Err(MakeError::NoDistance(game.position_text(position))),
        };
        Ok(Claim { opening: opening.clone(), winner, plies: u32::MAX })
    };
    let mut claims = openings.iter().map(claim).collect::<Result<Vec<Claim>, MakeError>>()?;
    let mut walks = [(); 2].map(|()| Walk { game, tables, search, moves: HashMap::default(), problem: None });
    // The shuttle rule can delay a win, so the plies are not those of the tables.
    let mut plies = Vec::new();
    let strategies = walks.each_mut().map(|walk| |position: &JarmoPosition, last| walk.action(position, last));
    let all: Vec<&Claim> = claims.iter().collect();
    let replayed = replay(game, &all, search, strategies, |_, checked| {
        plies.push(checked.plies);
    });
    if let Some(problem) = walks.iter_mut().find_map(|walk| walk.problem.take()) {
        return Err(problem);
    }
    replayed?;
    for (claim, plies) in claims.iter_mut().zip(plies) {
        claim.plies = plies;
    }
    let moves = walks.into_iter().flat_map(|walk| walk.moves).collect();
    Ok(Made { game: game.clone(), made, claims, search, moves })
}

/// One player's strategy while it is made: the moves that the replay has asked for.
struct Walk<'a> {
    game: &'a Jarmo,
    tables: &'a Tables,
    search: u32,
    /// By position without history: the action.
    moves: HashMap<JarmoPosition, Action, RandomState>,
    /// Why a move could not be chosen.
    problem: Option<MakeError>,
}

impl Walk<'_> {
    /// The action in a position without history; `None` if a search finds the win.
    fn action(&mut self, position: &JarmoPosition, last: Option<Action>) -> Option<Action> {
        if let Some(&action) = self.moves.get(position) {
            return Some(action);
        }
        let chosen = match self.distance(position) {
            Ok(plies) if plies <= self.search => return None,
            Ok(_) => self.choose(position, last),
            Err(problem) => Err(problem),
        };
        match chosen {
            Ok(action) => {
                self.moves.insert(*position, action);
                Some(action)
            }
            Err(problem) => {
                self.problem = Some(problem);
                None
            }
        }
    }

    fn no_distance(&self, position: &JarmoPosition) -> MakeError {
        MakeError::NoDistance(self.game.position_text(position))
    }

    fn distance(&self, position: &JarmoPosition) -> Result<u32, MakeError> {
        let plies = self.tables.proven(position).and_then(|value| value.plies);
        plies.ok_or_else(|| self.no_distance(position))
    }

    /// The action of a quickest win that does not take the last one back, if there is one. Among them one whose
    /// replies are known already.
    fn choose(&self, position: &JarmoPosition, last: Option<Action>) -> Result<Action, MakeError> {
        let values = self.tables.actions(self.game, position).ok_or_else(|| self.no_distance(position))?;
        let best: Option<Proven> = values.first().map(|value| value.proven);
        let best = values.iter().filter(|value| Some(value.proven) == best);
        let cost = |value: &&ActionValue| {
            let undoes = last.is_some_and(|last| self.game.board().reverse(last) == value.action);
            let next = after(self.game, position, value.action);
            let is_new = |&reply: &Action| {
                let reply = after(self.game, &next, reply);
                self.game.outcome(&reply).is_none() && !self.moves.contains_key(&reply)
            };
            (undoes, self.game.legal(&next).iter().filter(is_new).count())
        };
        let chosen = best.min_by_key(cost);
        Ok(chosen.expect("the game is not over").action)
    }
}

/// The position after an action, without its history.
fn after(game: &Jarmo, position: &JarmoPosition, action: Action) -> JarmoPosition {
    let mut next = *position;
    game.play(&mut next, action);
    Placement::of(&next).position()
}
