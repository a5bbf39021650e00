//! A start position and the actions played from it.

use rand::Rng;

use crate::game::{Action, ActionError, Game, Mask};
use crate::random::{Stream, any_of};

/// A sequence of actions from a start position: an opening, an unfinished game or a finished one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<P> {
    /// The position the game starts from.
    pub start: P,
    /// The actions played from there.
    pub actions: Vec<Action>,
    /// The position after all actions.
    pub position: P,
}

impl<P: Copy + PartialEq> Line<P> {
    /// A line without actions. Does not allocate.
    pub fn at(position: P) -> Line<P> {
        Line { start: position, actions: Vec::new(), position }
    }

    /// The line with these actions. Fails if one of them is illegal.
    pub fn after<G: Game<Position = P>>(game: &G, start: P, actions: Vec<Action>) -> Result<Line<P>, ActionError> {
        let mut position = start;
        for &action in &actions {
            game.try_play(&mut position, action)?;
        }
        Ok(Line { start, actions, position })
    }

    /// A line of `plies` random actions from the start of the game. It is shorter if the next action would end the
    /// game.
    pub fn random<G: Game<Position = P>>(game: &G, plies: u32, stream: &mut Stream) -> Line<P> {
        let mut line = Line::at(game.start());
        for _ in 0..plies {
            let mut position = line.position;
            let action = any_of(&game.legal(&position), stream.next_u64());
            game.play(&mut position, action);
            if game.outcome(&position).is_some() {
                break;
            }
            line.actions.push(action);
            line.position = position;
        }
        line
    }

    /// This line and one more action, which must be legal.
    pub fn then<G: Game<Position = P>>(&self, game: &G, action: Action) -> Line<P> {
        let mut longer = self.clone();
        longer.actions.push(action);
        game.play(&mut longer.position, action);
        longer
    }

    /// All continuations of this line by exactly `plies` actions, in the order of their actions.
    pub fn longer<G: Game<Position = P>>(&self, game: &G, plies: u32) -> Vec<Line<P>> {
        let mut lines = vec![self.clone()];
        for _ in 0..plies {
            let longer = lines.iter().flat_map(|line| {
                let actions: Vec<Action> = game.legal(&line.position).iter().collect();
                actions.into_iter().map(move |action| line.then(game, action))
            });
            lines = longer.collect();
        }
        lines
    }

    /// All positions from the start position to the last one: one more than there are actions.
    pub fn positions<G: Game<Position = P>>(&self, game: &G) -> Vec<P> {
        let mut position = self.start;
        let mut positions = Vec::with_capacity(self.actions.len() + 1);
        positions.push(position);
        for &action in &self.actions {
            game.play(&mut position, action);
            positions.push(position);
        }
        positions
    }

    /// The start position as text; `None` if it is the start position of the game.
    pub fn start_text<G: Game<Position = P>>(&self, game: &G) -> Option<String> {
        (self.start != game.start()).then(|| game.position_text(&self.start))
    }

    /// The actions as text.
    pub fn move_texts<G: Game<Position = P>>(&self, game: &G) -> Vec<String> {
        game.line_texts(self.start, &self.actions)
    }
}
