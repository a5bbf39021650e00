//! Jarmo's part of the tables: the meaning of its values, and the values of positions that are not stored.

mod four;
mod way_forward;

use std::ops::Range;

use super::index::{self, JarmoLayer, LEAST_FORCE, MOST_FORCE, Material, Placement};
use super::lines::{is_over, score_difference};
use super::lookup::Tables;
use super::solvable::{Job, Layer, LayerEvent, Packed, PliesTo, Solvable, TableKind};
use super::solve;
use crate::ExactError;
use jarmo_core::game::{Action, Game, Mask, Player, Proven, Verdict};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_core::known::Endgames;
use jarmo_core::random::Stream;

impl Solvable for Jarmo {
    const TABLES: TableKind = TableKind {
        forces: LEAST_FORCE..=MOST_FORCE,
        quick: 6,
        force_counts: "archers and marks",
        files: "force",
        plies_to: PliesTo::End,
        // Half of the positions, four to a symbol.
        positions_per_symbol: 8,
        packs_plies: false,
        other_rules: ["another board", "; play on that board, or use another folder"],
    };

    type Layer = JarmoLayer;

    #[inline]
    fn force(position: &JarmoPosition) -> u32 {
        position.force()
    }

    /// The lines of the board; its name is ignored.
    fn solved_rules(&self) -> String {
        self.board().text()
    }

    /// The tables ignore the shuttle rule.
    fn as_solved(position: &JarmoPosition) -> JarmoPosition {
        Placement::of(position).position()
    }

    /// Packed positions.
    fn value_without_byte(
        &self,
        position: &JarmoPosition,
        packed: Option<Packed<'_, JarmoLayer>>,
        known: &dyn Fn(&JarmoPosition) -> Option<Proven>,
    ) -> Option<Proven> {
        let Packed { layer, symbol } = packed?;
        let placement = &Placement::of(position);
        layer.block_of(&Material::of(placement))?;
        if is_over(placement) {
            return Some(Proven::over(match score_difference(placement) {
                1.. => Verdict::Win,
                0 => Verdict::Draw,
                _ => Verdict::Loss,
            }));
        }
        let verdict = match placement.mover {
            Player::White => four::verdict(layer, symbol, placement)?,
            Player::Black => result_of_successors(self, &Jarmo::as_solved(position), known)?,
        };
        Some(Proven { verdict, plies: None })
    }

    fn each_symbol(&self, layer: &JarmoLayer, values: &[u8], visit: &mut dyn FnMut(f64, &[u8])) {
        four::each_symbol(layer, values, visit);
    }

    fn memory_needed(layer: &JarmoLayer) -> u64 {
        solve::memory_needed(layer)
    }

    fn solve(&self, job: &Job<'_, JarmoLayer>, tell: &mut dyn FnMut(LayerEvent)) -> Result<(), ExactError> {
        solve::solve(self.board(), job, tell)
    }
}

/// The result for the player to move, from the results of the successors.
fn result_of_successors(
    game: &Jarmo,
    position: &JarmoPosition,
    known: &dyn Fn(&JarmoPosition) -> Option<Proven>,
) -> Option<Verdict> {
    let mut best = Verdict::Loss;
    for action in game.legal(position).iter() {
        best = best.max(known(&game.after(position, action))?.verdict.flip());
        if best == Verdict::Win {
            break;
        }
    }
    Some(best)
}

impl Endgames<Jarmo> for Tables<Jarmo> {
    fn known(&self, game: &Jarmo, position: &JarmoPosition) -> Option<Proven> {
        in_game(self, game, position, self.proven(position)?)
    }

    fn known_all(&self, game: &Jarmo, positions: &[JarmoPosition], out: &mut Vec<Option<Proven>>) {
        self.known_by(positions, out, |position, proven| in_game(self, game, position, proven));
    }

    fn holds(&self, _: &Jarmo, position: &JarmoPosition, player: Player) -> Option<bool> {
        let bounds = self.bounds.as_ref().filter(|_| position.force() <= self.force())?;
        bounds.holds(position, player)
    }

    /// The move limit is far enough: `known` has checked it for the position before.
    fn successor(&self, game: &Jarmo, position: &JarmoPosition) -> Option<Proven> {
        Some(within_limit(game, position, self.proven(position)?))
    }

    fn force(&self, position: &JarmoPosition) -> u32 {
        position.force()
    }

    fn way_forward(&self, game: &Jarmo, position: &JarmoPosition, winning: &[Action], stream: &mut Stream) -> Action {
        way_forward::way_forward(self, game, position, winning, stream)
    }

    fn random(&self, stream: &mut Stream) -> JarmoPosition {
        self.draw(stream)
    }
}

/// The value by all rules of a position with this value in the tables. `None` if it is not certain here or after one
/// action. There are two such cases: the shuttle bounds cover the position, but do not prove that the player to whom
/// the tables give a draw or win holds it; or the move limit is close and the result is packed, so the plies that the
/// limit must be compared with are unknown.
fn in_game(tables: &Tables, game: &Jarmo, position: &JarmoPosition, proven: Proven) -> Option<Proven> {
    let holds = |player| tables.holds(game, position, player) != Some(false);
    let mover = position.to_move();
    let stands = match proven.verdict {
        Verdict::Win => holds(mover),
        Verdict::Loss => holds(!mover),
        Verdict::Draw => Player::BOTH.into_iter().all(holds),
    };
    let without_plies = proven.plies.is_none() && proven.verdict != Verdict::Draw;
    let is_close =
        game.plies_left(position).is_some_and(|left| without_plies && left <= tables.longest_packed(position.force()));
    (stands && !is_close).then(|| within_limit(game, position, proven))
}

/// The value with the move limit, which gives the loser a draw.
fn within_limit(game: &Jarmo, position: &JarmoPosition, proven: Proven) -> Proven {
    match (game.plies_left(position), proven.plies) {
        (Some(left), Some(plies)) if plies > left => Proven::DRAW,
        _ => proven,
    }
}

impl Layer for JarmoLayer {
    type Position = JarmoPosition;

    fn new(force: u32) -> JarmoLayer {
        JarmoLayer::new(force)
    }

    fn force(&self) -> u32 {
        self.force
    }

    fn size(&self) -> usize {
        self.size
    }

    #[inline]
    fn index_of(&self, position: &JarmoPosition) -> Option<usize> {
        self.index(&Placement::of(position))
    }

    fn position_at(&self, index: usize) -> JarmoPosition {
        self.placement(index).position()
    }

    fn sides(&self) -> Vec<(Option<Player>, Range<usize>)> {
        let side = |block: &index::Block| (Some(block.material.mover), block.start..block.start + block.size());
        self.blocks.iter().map(side).collect()
    }
}
