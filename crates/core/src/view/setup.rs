//! The position editor: what a position has besides its pieces, and the text of an edited position.

use serde::{Deserialize, Serialize};

use super::{Layout, Piece};
use crate::game::{BoardText, Player, write_board};

/// The largest ply that the editor offers.
pub(super) const MOST_PLY: u32 = 999;

/// The controls that the position editor offers for a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Palette {
    /// Whether the game has strong pieces: marked archers, guards, kings.
    pub strong: bool,
    /// Whether the user selects the player to move. Otherwise the player to move follows from the pieces.
    pub mover: bool,
    /// The fields of the position text after the player to move, in order.
    pub fields: Vec<Field>,
}

impl Palette {
    /// Controls with two kinds of pieces, a choice of the player to move, and these fields, given as (key, kind,
    /// usual text).
    pub(super) fn of(fields: Vec<(&'static str, FieldKind, &'static str)>) -> Palette {
        let field = |(key, kind, usual)| Field { key, kind, usual };
        Palette { strong: true, mover: true, fields: fields.into_iter().map(field).collect() }
    }
}

/// A field of position text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// The key of its label in the tables of languages.
    pub key: &'static str,
    /// What it contains.
    pub kind: FieldKind,
    /// Its text in most positions.
    pub usual: &'static str,
}

/// What a field of position text contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    /// A number, with the largest one that makes sense.
    Number(u32),
    /// A number for White and one for Black with a comma between them; with the largest one that makes sense.
    Pair(u32),
    /// One of these words. A word's label has the key KEY_WORD, where KEY is that of the field.
    Choice(&'static [&'static str]),
    /// Text of the form of this example.
    Text(&'static str),
}

/// A position from the editor, which may be illegal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The pieces.
    pub pieces: Vec<Piece>,
    /// The player to move.
    pub to_move: Player,
    /// The texts of [`Palette::fields`].
    pub fields: Vec<String>,
}

impl Setup {
    /// The text of the board field.
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
