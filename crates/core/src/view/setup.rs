//! Setting up a position by hand: what it has besides its pieces, and its text.

use serde::{Deserialize, Serialize};

use super::{Layout, Piece};
use crate::game::{BoardText, Player, write_board};

/// The most plies that an editor of positions offers.
pub(super) const MOST_PLY: u32 = 999;

/// What an editor of positions offers for a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Palette {
    /// Whether there are strong pieces: marked archers, guards, kings.
    pub strong: bool,
    /// Whether either player may be to move; otherwise that follows from the pieces.
    pub mover: bool,
    /// The fields of the position text after the player to move, in their order.
    pub fields: Vec<Field>,
}

impl Palette {
    /// Two kinds of pieces, either player to move, and these fields: key, kind, usual text.
    pub(super) fn of(fields: Vec<(&'static str, FieldKind, &'static str)>) -> Palette {
        let field = |(key, kind, usual)| Field { key, kind, usual };
        Palette { strong: true, mover: true, fields: fields.into_iter().map(field).collect() }
    }
}

/// A field of position text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// The key of the label in the language tables.
    pub key: &'static str,
    /// What it holds.
    pub kind: FieldKind,
    /// The text where there is nothing to say.
    pub usual: &'static str,
}

/// What a field of position text holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    /// A number, with the most that makes sense.
    Number(u32),
    /// A number for White and one for Black with a comma between them, and the most that makes sense.
    Pair(u32),
    /// One of these words. The key of a word's label is the key of the field, `_`, and the word.
    Choice(&'static [&'static str]),
    /// Text of this form.
    Text(&'static str),
}

/// A position as it was set up, which may be illegal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The pieces.
    pub pieces: Vec<Piece>,
    /// Who is to move.
    pub to_move: Player,
    /// The texts of the fields of the palette.
    pub fields: Vec<String>,
}

impl Setup {
    /// The board field of the position text.
    pub(super) fn board(&self, layout: &Layout) -> String {
        let (columns, rows) = (layout.columns, layout.rows);
        let shape = BoardText { columns, rows, letters: "wbWB" };
        write_board(shape, |place| {
            let cell = layout.cell_at(place % columns, place / columns)?;
            let piece = self.pieces.iter().find(|piece| piece.cell == cell)?;
            Some(piece.player.piece_letter(piece.strong))
        })
    }
}
