//! Tammi's part of the tables: what its values mean, and how they follow for positions that are not stored.
//!
//! A value is the result under best play for the player to move, under all rules but two: the rule of repetition and
//! the move limit. The limit on plies without a capture counts. A byte has the result of a position
//! right after a capture, and the plies until the next capture, or the end, if the winner hurries and the loser holds
//! out. A player wins with some plies played since the last capture exactly if these plies and those of the byte do not
//! exceed the limit. The winner never needs a position twice before the next capture, because the plies fall; so
//! repetition changes a win or loss only where a position has already occurred twice. It cannot change a draw.
//!
//! A position in the middle of a capture has no byte. Its value is the best of those after the capture.

mod index;
mod solve;

use rayon::prelude::*;

pub(super) use index::FORCES;
pub use index::TammiLayer;
use solve::{Choices, best_capture, choices};

use super::code::{self, DRAWN};
use super::lookup::Tables;
use super::solvable::{Job, Layer, LayerEvent, Packed, PliesTo, Solvable, TableKind};
use crate::ExactError;
use jarmo_core::game::{Action, Game, Proven, Verdict};
use jarmo_core::games::{Tammi, TammiPosition};
use jarmo_core::known::Endgames;
use jarmo_core::random::Stream;

/// Memory for everything but the layer: mostly the updates of a batch.
const BESIDES: u64 = 512 << 20;

impl Solvable for Tammi {
    const TABLES: TableKind = TableKind {
        forces: FORCES,
        quick: 4,
        force_counts: "pieces",
        files: "tammi",
        plies_to: PliesTo::Capture,
        positions_per_symbol: 1,
        packs_plies: true,
        other_rules: ["another limit on plies without a capture", "; use another folder"],
    };

    type Layer = TammiLayer;

    #[inline]
    fn force(position: &TammiPosition) -> u32 {
        let [own, enemy, ..] = position.mover_view();
        (own | enemy).count_ones()
    }

    fn solved_rules(&self) -> String {
        format!("tammi {}", self.quiet_limit())
    }

    fn value(&self, position: &TammiPosition, placement: Proven) -> Proven {
        let (quiet, limit) = (position.quiet_plies(), self.quiet_limit());
        match placement.plies {
            Some(plies) if quiet + plies <= limit => placement,
            _ if quiet >= limit => Proven::over(Verdict::Draw),
            _ => Proven::DRAW,
        }
    }

    /// Captures in progress, and packed positions.
    fn value_without_byte(
        &self,
        position: &TammiPosition,
        packed: Option<Packed<'_, TammiLayer>>,
        known: &dyn Fn(&TammiPosition) -> Option<Proven>,
    ) -> Option<Proven> {
        let after = |position: &TammiPosition| Some(known(position)?.verdict);
        if position.jumper().is_some() {
            return best_capture(self, position, &after).map(by_capture);
        }
        let Packed { layer, symbol } = packed?;
        let index = layer.index_of(position)?;
        let placement = layer.position_at(index);
        let value = match choices(self, &placement) {
            Choices::None => Proven::over(Verdict::Loss),
            Choices::Captures => by_capture(best_capture(self, &placement, &after)?),
            Choices::Moves(_) => code::proven(symbol(index)),
        };
        Some(self.value(position, value))
    }

    fn value_before(position: &TammiPosition, next: &TammiPosition, after: Proven) -> Proven {
        let own = if position.to_move() == next.to_move() { after.verdict } else { after.verdict.flip() };
        let captured = next.jumper().is_some() || Tammi::force(next) < Tammi::force(position);
        if captured { by_capture(own) } else { after.flip().before() }
    }

    /// The table's bytes. Where the player must capture or cannot move, the byte is never read back; it repeats the one
    /// before, which takes the least space.
    fn each_symbol(&self, layer: &TammiLayer, values: &[u8], visit: &mut dyn FnMut(f64, &[u8])) {
        const TASK: usize = 1 << 12;
        const AT_ONCE: usize = TASK << 8;
        for first in (0..layer.size()).step_by(AT_ONCE) {
            let end = layer.size().min(first + AT_ONCE);
            let mut symbols = values[first..end].to_vec();
            symbols.par_chunks_mut(TASK).enumerate().for_each(|(task, symbols)| {
                let mut last = DRAWN;
                for (symbol, index) in symbols.iter_mut().zip(first + task * TASK..) {
                    if matches!(choices(self, &layer.position_at(index)), Choices::Moves(_)) {
                        last = *symbol;
                    }
                    *symbol = last;
                }
            });
            visit(end as f64 / layer.size() as f64, &symbols);
        }
    }

    fn memory_needed(layer: &TammiLayer) -> u64 {
        layer.size() as u64 + BESIDES
    }

    fn solve(&self, job: &Job<'_, TammiLayer>, tell: &mut dyn FnMut(LayerEvent)) -> Result<(), ExactError> {
        let (bytes, longest) = solve::solve(self, job.layer, job.lower, &mut |share| tell(LayerEvent::Done(share)));
        job.id.write(&bytes, longest)
    }
}

impl Endgames<Tammi> for Tables<Tammi> {
    fn known(&self, game: &Tammi, position: &TammiPosition) -> Option<Proven> {
        in_game(self, game, position, self.proven(position)?)
    }

    fn known_all(&self, game: &Tammi, positions: &[TammiPosition], out: &mut Vec<Option<Proven>>) {
        self.known_by(positions, out, |position, proven| in_game(self, game, position, proven));
    }

    /// The move limit is far enough: `known` asked that of the position before.
    fn successor(&self, _: &Tammi, position: &TammiPosition) -> Option<Proven> {
        self.proven(position).map(without_plies)
    }

    fn force(&self, position: &TammiPosition) -> u32 {
        Tammi::force(position)
    }

    /// The way of the fewest plies to the next capture or the end.
    fn way_forward(&self, game: &Tammi, position: &TammiPosition, winning: &[Action], _: &mut Stream) -> Action {
        let plies = |action: &&Action| {
            let next = game.after(position, **action);
            self.proven(&next).map(|after| Tammi::value_before(position, &next, after).plies)
        };
        *winning.iter().min_by_key(plies).expect("an action keeps the win")
    }

    fn random(&self, stream: &mut Stream) -> TammiPosition {
        self.draw(stream)
    }
}

/// The value of a position with this value in the tables. `None` if the move limit is so close that it could matter.
fn in_game(tables: &Tables<Tammi>, game: &Tammi, position: &TammiPosition, proven: Proven) -> Option<Proven> {
    let most: u32 = tables.longest_up_to(Tammi::force(position)).sum(); // to the end, capture by capture
    let is_far = game.plies_left(position).is_none_or(|left| left > most);
    is_far.then(|| without_plies(proven))
}

/// The value without the plies to the next capture, which do not count to the end.
fn without_plies(proven: Proven) -> Proven {
    if proven.is_over() { proven } else { Proven { plies: None, ..proven } }
}

/// The value of a position in which the player to move captures, with this result.
fn by_capture(verdict: Verdict) -> Proven {
    match verdict {
        Verdict::Win => Proven::win(1),
        Verdict::Draw => Proven::DRAW,
        Verdict::Loss => Proven::loss(1),
    }
}
