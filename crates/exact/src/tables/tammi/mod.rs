//! Tammi's part of the tables: what its values mean, and how they follow for positions that are not stored.
//!
//! A value is the result under best play for the player to move, under all rules but two: the rule of repetition and
//! the limit on the length of a game. The limit on plies without a capture counts. A byte has the result of a position
//! right after a capture, and the plies until the next capture, or the end, if the winner hurries and the loser holds
//! out. A player wins with some plies played since the last capture exactly if these plies and those of the byte do not
//! exceed the limit. The winner never needs a position twice before the next capture, because the plies fall; so
//! repetition changes a win or loss only where a position has already occurred twice. It cannot change a draw.
//!
//! A position in the middle of a capture has no byte. Its value is the best of those after the capture.

mod index;
mod solve;

use std::ops::RangeInclusive;

pub(super) use index::FORCES;
pub use index::TammiLayer;
use solve::{Choices, best_capture, choices};

use super::code::{self, DRAWN};
use super::file::write_finished;
use super::lookup::Tables;
use super::solvable::{Job, Layer, LayerEvent, PliesTo, Solvable};
use crate::ExactError;
use jarmo_core::game::{Action, Game, Proven, Verdict};
use jarmo_core::games::{Tammi, TammiPosition};
use jarmo_core::random::Stream;

/// Positions in a row of the packed matrix.
const ROW: usize = 256;

/// Memory for everything but the layer: mostly the updates of a batch.
const BESIDES: u64 = 512 << 20;

impl Solvable for Tammi {
    const FORCES: RangeInclusive<u32> = FORCES;
    const FORCE_COUNTS: &'static str = "pieces";
    const FILES: &'static str = "tammi";
    const PLIES_TO: PliesTo = PliesTo::Capture;
    /// A win in 39 plies would be byte 81, which is no symbol.
    const PACKED_PLIES: Option<u32> = Some(38);
    const OTHER_RULES: [&'static str; 2] = ["another limit on plies without a capture", "; use another folder"];

    type Layer = TammiLayer;

    fn layer(force: u32) -> TammiLayer {
        TammiLayer::new(force)
    }

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
    fn value_without_byte(tables: &Tables<Tammi>, position: &TammiPosition) -> Option<Proven> {
        let after = |position: &TammiPosition| Some(tables.proven(position)?.verdict);
        if position.jumper().is_some() {
            return best_capture(&tables.game, position, &after).map(by_capture);
        }
        let (layer, packed) = tables.packed(Tammi::force(position))?;
        let index = layer.index_of(position)?;
        let placement = layer.position_at(index);
        let value = match choices(&tables.game, &placement) {
            Choices::None => Proven::over(Verdict::Loss),
            Choices::Captures => by_capture(best_capture(&tables.game, &placement, &after)?),
            Choices::Moves(_) => code::proven(packed.symbol(0, index)),
        };
        Some(tables.game.value(position, value))
    }

    fn value_before(position: &TammiPosition, next: &TammiPosition, after: Proven) -> Proven {
        let own = if position.to_move() == next.to_move() { after.verdict } else { after.verdict.flip() };
        let captured = next.jumper().is_some() || Tammi::force(next) < Tammi::force(position);
        if captured { by_capture(own) } else { after.flip().before() }
    }

    fn is_close(tables: &Tables<Tammi>, position: &TammiPosition, _: Proven, left: u32) -> bool {
        left <= tables.plies_up_to(Tammi::force(position))
    }

    /// The value without the plies to the next capture, which do not count to the end.
    fn in_game(&self, _: &TammiPosition, proven: Proven) -> Proven {
        if proven.is_over() { proven } else { Proven { plies: None, ..proven } }
    }

    /// The way of the fewest plies to the next capture or the end.
    fn way_forward(
        tables: &Tables<Tammi>,
        game: &Tammi,
        position: &TammiPosition,
        winning: &[Action],
        _: &mut Stream,
    ) -> Action {
        let plies = |action: &&Action| {
            let next = game.after(position, **action);
            tables.proven(&next).map(|after| Tammi::value_before(position, &next, after).plies)
        };
        *winning.iter().min_by_key(plies).expect("an action keeps the win")
    }

    /// One matrix, cut into rows so that several threads read it; the last row is padded.
    fn matrices(layer: &TammiLayer) -> Vec<[usize; 2]> {
        vec![[layer.size().div_ceil(ROW), ROW]]
    }

    /// The table's bytes. Where the player must capture or cannot move, the byte is never read back; it repeats the one
    /// before, which takes the least space.
    fn read_row(&self, layer: &TammiLayer, values: &[u8], (_, row): (usize, usize), symbols: &mut [u8]) {
        let mut last = DRAWN;
        for (symbol, index) in symbols.iter_mut().zip(row * ROW..) {
            if index < values.len() && matches!(choices(self, &layer.position_at(index)), Choices::Moves(_)) {
                last = values[index];
            }
            *symbol = last;
        }
    }

    fn memory_needed(layer: &TammiLayer) -> (u64, u64) {
        let bytes = layer.size() as u64 + BESIDES;
        (bytes, bytes)
    }

    fn build_layer(&self, job: &Job<'_, Tammi>, tell: &mut dyn FnMut(LayerEvent)) -> Result<(), ExactError> {
        let Job { folder, owner, layer, done, .. } = job;
        let (bytes, longest) = solve::solve(self, layer, done, &mut |share| tell(LayerEvent::Done(share)));
        write_finished::<Tammi>(folder, &bytes, *owner, layer, longest)
    }
}

/// The value of a position in which the player to move captures, with this result.
fn by_capture(verdict: Verdict) -> Proven {
    match verdict {
        Verdict::Win => Proven::win(1),
        Verdict::Draw => Proven::DRAW,
        Verdict::Loss => Proven::loss(1),
    }
}
