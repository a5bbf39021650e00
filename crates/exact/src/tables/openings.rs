//! The exact values of openings.

use super::lookup::Tables;
use super::solvable::Solvable;
use jarmo_core::env::Line;
use jarmo_core::game::{Player, Proven};
use jarmo_core::games::{Jarmo, JarmoPosition};

impl Tables {
    /// All sequences of this many actions from a position, in the order of their actions, with their values for White.
    /// `None` outside the tables. Sequences that end the game earlier are left out.
    pub fn openings(
        &self,
        game: &Jarmo,
        start: &JarmoPosition,
        plies: u32,
    ) -> Option<Vec<(Line<JarmoPosition>, Proven)>> {
        let solved = |line: Line<JarmoPosition>| {
            let proven = self.proven(&line.position)?;
            Some(match line.position.to_move() {
                Player::White => (line, proven),
                Player::Black => (line, proven.flip()),
            })
        };
        Line::at(*start).longer(game, plies).into_iter().map(solved).collect()
    }
}

impl<G: Solvable> Tables<G> {
    /// The actions, as text, of a game from a position in which both players take the first of their best
    /// actions, to its end; at most `plies`, because a drawn game may never end. `None` outside the tables.
    pub fn best_line(&self, game: &G, start: &G::Position, plies: u32) -> Option<Vec<String>> {
        let mut line = Vec::new();
        let mut position = *start;
        while line.len() < plies as usize {
            let values = self.actions(game, &position)?;
            let Some(best) = values.first() else { break };
            line.push(game.action_text(&position, best.action));
            game.play(&mut position, best.action);
        }
        Some(line)
    }
}
