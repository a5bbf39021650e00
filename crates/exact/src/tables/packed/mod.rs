//! Packed results: win, draw or loss of all positions of a force, without distances, in a twentieth of the
//! space of a table.
//!
//! Only positions with White to move are stored. The result of a position with Black to move follows from those of its
//! successors, in which White is to move. The positions of equal material are a matrix, with a row for every placement
//! of White and a column for every placement of Black on the circles left; that is the order of the positions with
//! Black to move in [`Layer`](super::index::Layer). So the successors by Black's moves to empty circles lie in one row.
//! The matrix is cut into blocks of [`BLOCK`] results, each coded by itself (`coder.rs`), so that a lookup decodes one.

mod cache;
mod coder;
mod file;
mod write;

pub(super) use file::PackedLayer;
pub use write::pack;

use jarmo_core::game::Verdict;

/// Results in a block.
const BLOCK: usize = 4096;

/// The results in a row: the columns, filled up to whole groups.
fn row_length(columns: usize) -> usize {
    columns.next_multiple_of(coder::GROUP)
}

/// The results for White, who is to move, by their numbers in a file.
const RESULTS: [Verdict; 3] = [Verdict::Loss, Verdict::Draw, Verdict::Win];
