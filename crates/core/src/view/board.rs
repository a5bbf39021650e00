//! How jarmo and guard are shown: circles and lines.

use super::setup::MOST_PLY;
use super::{Cell, FieldKind, GameView, Gesture, Layout, Note, Palette, Piece, SideCount, Style};
use crate::game::{Action, Game, Mask, Player};
use crate::games::board::{BoardAction, BoardGame, BoardPosition, BoardRules, Circle, Circles, PIECES, SIDE};
use crate::games::guard::{PASSES_TO_END, Turn};
use crate::games::jarmo::{SHUTTLE_LIMIT, Shuttles};
use crate::games::{Guard, GuardPosition, Jarmo, JarmoPosition};

/// What jarmo and guard show in addition to the board, see [`GameView`].
pub trait BoardView: BoardRules {
    /// Numbers for both players.
    fn tallies(position: &BoardPosition<Self>) -> Vec<SideCount>;

    /// Remarks about the position.
    fn notes(game: &BoardGame<Self>, position: &BoardPosition<Self>) -> Vec<Note>;

    /// The controls of the position editor.
    fn palette() -> Palette;
}

impl<R: BoardView> GameView for BoardGame<R> {
    fn layout(&self) -> Layout {
        Layout {
            style: Style::Board,
            columns: SIDE,
            rows: SIDE,
            cells: Circle::all()
                .map(|circle| Cell { name: circle.to_string(), column: circle.column(), row: circle.row() })
                .collect(),
            lines: self.board().lines().iter().map(|(from, to)| (from.index(), to.index())).collect(),
        }
    }

    fn pieces(&self, position: &BoardPosition<R>) -> Vec<Piece> {
        let standing = |circle: Circle| {
            let player = Player::BOTH.into_iter().find(|player| position.pieces(*player).contains(circle))?;
            Some(Piece { cell: circle.index(), player, strong: position.strong().contains(circle), leaving: false })
        };
        Circle::all().filter_map(standing).collect()
    }

    fn gesture(&self, position: &BoardPosition<R>, action: Action) -> Gesture {
        let (mover, enemy) = (position.to_move(), position.pieces(!position.to_move()));
        match self.board().decode(action) {
            BoardAction::Move { from, to } => Gesture {
                from: Some(from.index()),
                to: Some(to.index()),
                captured: enemy.contains(to).then_some(to.index()),
            },
            BoardAction::Deploy { column } => {
                Gesture { to: Some(Circle::home(mover, column).index()), ..Gesture::default() }
            }
            BoardAction::Pass => Gesture::default(),
        }
    }

    fn tallies(&self, position: &BoardPosition<R>) -> Vec<SideCount> {
        R::tallies(position)
    }

    fn notes(&self, position: &BoardPosition<R>) -> Vec<Note> {
        R::notes(self, position)
    }

    fn palette(&self) -> Palette {
        R::palette()
    }
}

impl BoardView for Shuttles {
    fn tallies(position: &JarmoPosition) -> Vec<SideCount> {
        vec![
            SideCount::new("tally_score", position.score().map(u32::from)),
            SideCount::new("tally_captured", Player::BOTH.map(|player| position.captured(player))),
        ]
    }

    fn notes(game: &Jarmo, position: &JarmoPosition) -> Vec<Note> {
        let banned = |player: Player| {
            let (last, streak) = position.shuttle(player).last_move()?;
            let BoardAction::Move { from, to } = game.board().decode(last) else { return None };
            (streak == SHUTTLE_LIMIT).then(|| Note {
                key: "note_shuttle",
                player: Some(player),
                what: format!("{to}-{from}"),
            })
        };
        let mut notes: Vec<Note> = match game.outcome(position) {
            Some(_) => Vec::new(), // no move is left to be forbidden
            None => Player::BOTH.into_iter().filter_map(banned).collect(),
        };
        if position.both_passed() {
            notes.push(Note::plain("end_passes", None));
        }
        notes.extend(home("end_home_jarmo", position));
        let deploys = |action| matches!(game.board().decode(action), BoardAction::Deploy { .. });
        if game.legal(position).iter().any(deploys) {
            notes.push(Note::plain("note_redeploy", Some(position.to_move())));
        }
        notes
    }

    fn palette() -> Palette {
        let shuttle = FieldKind::Text("A1-C2*3");
        Palette::of(vec![
            ("field_shuttle_white", shuttle, "-"),
            ("field_shuttle_black", shuttle, "-"),
            ("field_ply", FieldKind::Number(MOST_PLY), "0"),
        ])
    }
}

/// A remark about each player whose pieces are all on the goal row.
fn home<R: BoardRules>(key: &'static str, position: &BoardPosition<R>) -> impl Iterator<Item = Note> {
    let outside = Player::BOTH.map(|player| position.pieces(player) & !Circles::goal(player));
    let players = Player::BOTH.into_iter().filter(move |player| outside[player.index()].is_empty());
    players.map(move |player| Note::plain(key, Some(player)))
}

impl BoardView for Turn {
    fn tallies(position: &GuardPosition) -> Vec<SideCount> {
        vec![
            SideCount::new("tally_score", position.score().map(u32::from)),
            SideCount::new("tally_captured_archers", Player::BOTH.map(|player| position.captured_archers(player))),
            SideCount::new("tally_placements", Player::BOTH.map(|player| position.placements(player))),
            SideCount::new("tally_reserve", Player::BOTH.map(|player| position.reserve(player))),
        ]
    }

    fn notes(game: &Guard, position: &GuardPosition) -> Vec<Note> {
        let Some(outcome) = game.outcome(position) else {
            let note = Note::plain("note_placing", Some(position.to_move()));
            return position.moved().then_some(note).into_iter().collect();
        };
        if outcome.truncated {
            return Vec::new();
        }
        let mut notes: Vec<Note> = home("end_home_guard", position).collect();
        if notes.is_empty() {
            notes.push(Note::plain("end_passes", None));
        }
        notes
    }

    fn palette() -> Palette {
        let phase = FieldKind::Choice(&["start", "moved"]);
        Palette::of(vec![
            ("field_phase", phase, "start"),
            ("tally_captured_archers", FieldKind::Pair(PIECES), "0,0"),
            ("tally_placements", FieldKind::Pair(PIECES), "0,0"),
            ("field_passes", FieldKind::Number(PASSES_TO_END.into()), "0"),
            ("field_ply", FieldKind::Number(MOST_PLY), "0"),
        ])
    }
}
