//! The assessment of the moves of the line shown: how much value each move lost.

use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::board::Played;
use crate::session::Session;
use crate::specs;
use crate::thought::by_winner;
use crate::words::mine;
use jarmo_core::game::{Player, Proven};

/// The annotations of moves, and the smallest loss of value for each, on the scale from -1 to +1.
pub(crate) const MARKS: [(&str, f32); 3] = [("?!", 0.1), ("?", 0.25), ("??", 0.6)];

fn mark(lost: f32) -> &'static str {
    MARKS.iter().rfind(|(_, least)| lost >= *least).map_or("", |(mark, _)| mark)
}

/// The assessment of one move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assessment {
    /// Moves played before this one.
    pub place: usize,
    /// The move.
    pub text: String,
    /// The player who made it.
    pub player: Player,
    /// White's value before the move, -1 to +1.
    pub before: Option<f32>,
    /// White's value after the move.
    pub after: Option<f32>,
    /// White's proven result before the move.
    #[serde(serialize_with = "by_winner")]
    pub certain: Option<Proven>,
    /// The move that the reviewing agent prefers.
    pub best: Option<String>,
    /// Value that the move lost for its player, at least 0.
    pub lost: Option<f32>,
    /// `?!`, `?`, `??`, or empty.
    pub mark: &'static str,
    /// Whether the move made the result with best play worse; `None` without exact tables of the position.
    pub mistake: Option<bool>,
}

impl Session {
    /// The assessment of every move whose positions have been evaluated.
    pub fn assessments(&self) -> Vec<Assessment> {
        let moves = self.board().moves().into_iter().enumerate();
        let assessments = moves.map(|(place, played)| {
            let lost = lost(self, place, &played);
            let results = self.board().result(place).zip(self.board().result(place + 1));
            Assessment {
                place,
                player: played.player,
                before: self.value(place),
                after: self.value(place + 1),
                certain: self.certain(place),
                best: self.thought(place).map(|thought| thought.text.clone()),
                lost,
                mark: lost.map_or("", mark),
                mistake: results.map(|(before, after)| match played.player {
                    Player::White => after < before,
                    Player::Black => after > before,
                }),
                text: played.text,
            }
        });
        assessments.collect()
    }
}

/// The value that a move loses for its player. The agent's own decision loses nothing, even if a later search evaluates
/// its result lower.
pub(crate) fn lost(session: &Session, place: usize, played: &Played) -> Option<f32> {
    match session.thought(place) {
        Some(best) if best.text == played.text => Some(0.0),
        _ => Some(mine(played.player, session.value(place)? - session.value(place + 1)?).max(0.0)),
    }
}

/// The mistakes of White and Black, according to exact tables; `None` if the tables hold no
/// position of the game.
pub fn mistakes(assessments: &[Assessment]) -> Option<[usize; 2]> {
    assessments.iter().find_map(|one| one.mistake)?;
    Some(Player::BOTH.map(|player| {
        let is_own = |one: &&Assessment| one.player == player && one.mistake == Some(true);
        assessments.iter().filter(is_own).count()
    }))
}

/// The record of a session's game as one line without a newline: annotated in analysis mode, unless a variation is shown.
pub fn record_line(session: &Session) -> String {
    if session.analysing() && session.board().shows_main() { annotated(session) } else { session.record().to_line() }
}

/// The record of a session's game with the assessment of every move under the key `analysis`, as one line
/// without a newline.
pub fn annotated(session: &Session) -> String {
    let reviewer = session.board().agents().reviewer();
    let nodes = reviewer.nodes.expect("a reviewer has a number of nodes, so that an analysis can be repeated");
    let agent = specs::named(&reviewer.spec.with_nodes(nodes));
    let mut record: Json = serde_json::from_str(&session.record().to_line()).expect("a record is JSON");
    let moves = session.assessments();
    let mistakes = mistakes(&moves).map(|[white, black]| json!({"white": white, "black": black}));
    record["analysis"] = json!({
        "agent": agent.to_string(),
        "moves": moves,
        "mistakes": mistakes,
    });
    record.to_string()
}
