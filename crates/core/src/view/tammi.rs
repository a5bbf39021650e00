//! How tammi is shown: the dark squares of a chequered board.

use super::setup::MOST_PLY;
use super::{Cell, FieldKind, GameView, Gesture, Layout, Note, Palette, Piece, SideCount, Style};
use crate::game::{Action, Game, Player, bits};
use crate::games::tammi::{SIDE, SQUARES, Square};
use crate::games::{Tammi, TammiPosition};

impl GameView for Tammi {
    fn layout(&self) -> Layout {
        Layout {
            style: Style::Squares,
            columns: SIDE,
            rows: SIDE,
            cells: (0..SQUARES)
                .map(Square::at)
                .map(|square| Cell { name: square.to_string(), column: square.column(), row: square.row() })
                .collect(),
            lines: Vec::new(),
        }
    }

    fn pieces(&self, position: &TammiPosition) -> Vec<Piece> {
        let jumped = position.capture().map_or(0, |(_, jumped)| jumped);
        let standing = |cell: usize| {
            let bit = 1 << cell;
            let player = Player::BOTH.into_iter().find(|&player| position.pieces(player) & bit != 0)?;
            Some(Piece { cell, player, strong: position.kings(player) & bit != 0, leaving: jumped & bit != 0 })
        };
        (0..SQUARES).filter_map(standing).collect()
    }

    fn gesture(&self, position: &TammiPosition, action: Action) -> Gesture {
        let (from, to) = self.ends(position, action);
        let captured = bits(position.jumped_by(action).into()).next();
        let captured = captured.map(|square| Square::at(square).seen_by(position.to_move()).index());
        Gesture { from: Some(from.index()), to: Some(to.index()), captured }
    }

    fn tallies(&self, position: &TammiPosition) -> Vec<SideCount> {
        let count =
            |set: fn(&TammiPosition, Player) -> u32| Player::BOTH.map(|player| set(position, player).count_ones());
        vec![
            SideCount::new("tally_men", count(TammiPosition::men)),
            SideCount::new("tally_kings", count(TammiPosition::kings)),
        ]
    }

    fn notes(&self, position: &TammiPosition) -> Vec<Note> {
        let note = |key, player, what| Note { key, player, what };
        let mut notes = Vec::new();
        if let Some(outcome) = self.outcome(position) {
            let loser = outcome.winner.map(|winner| !winner);
            let key = match loser {
                Some(loser) if position.pieces(loser) == 0 => "end_no_piece",
                Some(_) => "end_blocked",
                None if outcome.truncated => return notes,
                None if position.quiet_plies() >= self.quiet_limit() => "end_quiet",
                None => "end_repeated",
            };
            return vec![note(key, loser, String::new())];
        }
        if let Some((jumper, _)) = position.capture() {
            notes.push(note("note_capturing", Some(position.to_move()), jumper.to_string()));
        }
        let quiet = position.quiet_plies();
        if 2 * quiet >= self.quiet_limit() {
            notes.push(note("note_quiet", None, format!("{quiet}/{}", self.quiet_limit())));
        }
        notes
    }

    fn palette(&self) -> Palette {
        let quiet = FieldKind::Number(self.quiet_limit());
        Palette::of(vec![
            ("field_capture", FieldKind::Text("e5xd4,f6"), "-"),
            ("field_quiet", quiet, "0"),
            ("field_ply", FieldKind::Number(MOST_PLY), "0"),
        ])
    }
}
