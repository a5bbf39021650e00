//! Openings, and the positions of a sequence of actions.

use rand::Rng;

use crate::game::{Action, ActionError, Game};
use crate::random::{Stream, any_of};

/// The first actions of a game, and the position after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening<P> {
    /// The position the game starts from.
    pub start: P,
    /// The actions from there.
    pub actions: Vec<Action>,
    /// The position after them.
    pub position: P,
}

impl<P: Copy> Opening<P> {
    /// Starts from this position without any action. Does not allocate.
    pub fn at(position: P) -> Opening<P> {
        Opening {
            start: position,
            actions: Vec::new(),
            position,
        }
    }

    /// Starts from this position with these actions. Fails if one of them is illegal.
    pub fn after<G: Game<Position = P>>(
        game: &G,
        start: P,
        actions: Vec<Action>,
    ) -> Result<Opening<P>, ActionError> {
        let mut position = start;
        for &action in &actions {
            game.try_play(&mut position, action)?;
        }
        Ok(Opening {
            start,
            actions,
            position,
        })
    }

    /// Starts with `plies` random actions, or with fewer if the next one would end the game.
    pub fn random<G: Game<Position = P>>(game: &G, plies: u32, stream: &mut Stream) -> Opening<P> {
        let mut opening = Opening::at(game.start());
        for _ in 0..plies {
            let mut position = opening.position;
            let action = any_of(&game.legal(&position), stream.next_u64());
            game.play(&mut position, action);
            if game.outcome(&position).is_some() {
                break;
            }
            opening.actions.push(action);
            opening.position = position;
        }
        opening
    }

    /// The same opening with one more action, which must be legal.
    pub fn then<G: Game<Position = P>>(&self, game: &G, action: Action) -> Opening<P> {
        let mut longer = self.clone();
        longer.actions.push(action);
        game.play(&mut longer.position, action);
        longer
    }
}

/// The positions from `start` through these legal actions: one more than there are actions.
pub fn positions<G: Game>(game: &G, start: G::Position, actions: &[Action]) -> Vec<G::Position> {
    let mut position = start;
    let mut positions = Vec::with_capacity(actions.len() + 1);
    positions.push(position);
    for &action in actions {
        game.play(&mut position, action);
        positions.push(position);
    }
    positions
}
