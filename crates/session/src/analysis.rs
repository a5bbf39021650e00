//! Assessment of the moves of a game: the value before and after each move, and how much it lost.

use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::session::Session;
use crate::specs;
use crate::thought::by_winner;
use crate::words::mine;
use jarmo_core::game::{Player, Proven};

/// Loss of value, on the scale from -1 to +1, from which a move is marked as doubtful, a mistake, a blunder.
pub(crate) const DOUBTFUL: f32 = 0.1;
const MISTAKE: f32 = 0.25;
const BLUNDER: f32 = 0.6;

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

/// Assesses every move of a session's game; values are missing where no position was evaluated yet.
pub(crate) fn assess(session: &Session) -> Vec<Assessment> {
    let board = session.board();
    let moves = board.moves();
    let assessments = moves.into_iter().enumerate().map(|(place, played)| {
        let (before, after) = (session.value(place), session.value(place + 1));
        let best = session.thought(place).map(|thought| thought.text.clone());
        let lost = match (before, after) {
            // The agent's own decision loses nothing, even if a later search evaluates its result lower.
            _ if best.as_deref() == Some(&played.text) => Some(0.0),
            (Some(before), Some(after)) => Some(mine(played.player, before - after).max(0.0)),
            _ => None,
        };
        Assessment {
            place,
            text: played.text,
            player: played.player,
            before,
            after,
            certain: session.certain(place),
            best,
            lost,
            mark: lost.map_or("", mark),
            mistake: is_mistake(session, place, played.player),
        }
    });
    assessments.collect()
}

/// Whether the exact result after the move at a place is worse for its player than before.
fn is_mistake(session: &Session, place: usize, player: Player) -> Option<bool> {
    let (before, after) = (session.board().result(place)?, session.board().result(place + 1)?);
    Some(match player {
        Player::White => after < before,
        Player::Black => after > before,
    })
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

/// The marks of moves that lost value, the mildest first.
pub(crate) const MARKS: [&str; 3] = ["?!", "?", "??"];

fn mark(lost: f32) -> &'static str {
    match lost {
        lost if lost >= BLUNDER => "??",
        lost if lost >= MISTAKE => "?",
        lost if lost >= DOUBTFUL => "?!",
        _ => "",
    }
}

/// The record of a session's game as one line without a newline: annotated in analysis mode.
pub fn record_line(session: &Session) -> String {
    if session.analysing() { annotated(session) } else { session.record().to_line() }
}

/// The record of a session's game with the assessment of every move under the key `analysis`, as one line
/// without a newline.
pub fn annotated(session: &Session) -> String {
    let reviewer = session.board().agents().reviewer();
    let agent = match reviewer.nodes {
        Some(nodes) => reviewer.spec.with_nodes(nodes),
        None => reviewer.spec,
    };
    let agent = specs::named(&agent);
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
