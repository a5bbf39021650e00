//! Takes the moves of a proof from exact tables.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use jarmo_core::env::Line;
use jarmo_core::game::{Action, Game, Mask, Proven, Verdict};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_exact::ExactError;
use jarmo_exact::proof::{Claim, MOST_SEARCH, Proof, Strategy, after, replay, undoes};
use jarmo_exact::tables::{ActionValue, Tables};

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

/// Proves who wins after each opening, which must be decided. Wins of at most `search` plies are left to search.
///
/// # Panics
/// Panics if `search` is more than [`MOST_SEARCH`].
pub fn make(
    game: &Jarmo,
    tables: &Tables,
    openings: &[Line<JarmoPosition>],
    search: u32,
    made: String,
) -> Result<Proof, MakeError> {
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
    let [white, black] = &mut walks;
    let all: Vec<&Claim> = claims.iter().collect();
    let replayed = replay(game, &all, search, [white, black], |_, checked| {
        plies.push(checked.plies);
    });
    if let Some(problem) = walks.iter_mut().find_map(|walk| walk.problem.take()) {
        return Err(problem);
    }
    replayed?;
    for (claim, plies) in claims.iter_mut().zip(plies) {
        claim.plies = plies;
    }
    let moves = walks.into_iter().flat_map(|walk| walk.moves);
    Ok(Proof::new(game, made, claims, search, moves))
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

impl Strategy for &mut Walk<'_> {
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
}

impl Walk<'_> {
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
        let values = self.tables.actions(self.game, position);
        let values = values.ok_or_else(|| self.no_distance(position))?;
        let best: Option<Proven> = values.first().map(|value| value.proven);
        let best = values.iter().filter(|value| Some(value.proven) == best);
        let cost = |value: &&ActionValue| {
            let undoes = last.is_some_and(|last| undoes(self.game, last, value.action));
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
