//! What the moves of a game were worth: the value before and after each, and where it was lost.

use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::session::Session;
use crate::thought::by_winner;
use jarmo::game::{Player, Proven};

/// Expectation (of -1 to +1) that a move must lose to be called doubtful, a mistake, a blunder.
const DOUBTFUL: f32 = 0.1;
const MISTAKE: f32 = 0.25;
const BLUNDER: f32 = 0.6;

/// What a move was worth to the analyst.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assessment {
    /// Moves played before this one.
    pub place: usize,
    /// The move.
    pub text: String,
    /// Whose it was.
    pub player: Player,
    /// The position's worth before it, for White, -1 to +1.
    pub before: Option<f32>,
    /// The position's worth after it, for White.
    pub after: Option<f32>,
    /// How the game ends under best play from before it, if that is certain.
    #[serde(serialize_with = "by_winner")]
    pub certain: Option<Proven>,
    /// The move the analyst would have played.
    pub best: Option<String>,
    /// How much of its worth the player gave away.
    pub lost: Option<f32>,
    /// `?!`, `?` or `??`, or nothing.
    pub mark: &'static str,
}

/// Judges every move of a session's game as far as its positions were looked at.
pub(crate) fn assess(session: &Session) -> Vec<Assessment> {
    let table = session.table();
    let judged = table
        .moves()
        .into_iter()
        .enumerate()
        .map(|(place, played)| {
            let (before, after) = (session.value(place), session.value(place + 1));
            let best = session.thought(place).map(|thought| thought.text.clone());
            let sign = match played.player {
                Player::White => 1.0,
                Player::Black => -1.0,
            };
            let lost = match (before, after) {
                // The analyst's own choice costs nothing, whatever a longer look at its result says.
                _ if best.as_deref() == Some(&played.text) => Some(0.0),
                (Some(before), Some(after)) => Some((sign * (before - after)).max(0.0)),
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
            }
        });
    judged.collect()
}

fn mark(lost: f32) -> &'static str {
    match lost {
        lost if lost >= BLUNDER => "??",
        lost if lost >= MISTAKE => "?",
        lost if lost >= DOUBTFUL => "?!",
        _ => "",
    }
}

/// The record of a session's game as one line without its end: annotated, if it is being analysed.
pub fn record_line(session: &Session) -> String {
    if session.analysing() {
        annotated(session)
    } else {
        session.record().to_line()
    }
}

/// The record of a session's game with a assessment of every move under the key `analysis`, as one
/// line without its end.
pub fn annotated(session: &Session) -> String {
    let reviewer = session.table().crew().reviewer();
    let agent = match reviewer.nodes {
        Some(nodes) => reviewer.spec.with_nodes(nodes),
        None => reviewer.spec,
    };
    let mut record: Json =
        serde_json::from_str(&session.record().to_line()).expect("a record is JSON");
    record["analysis"] = json!({
        "agent": agent.to_string(),
        "moves": session.assessments(),
    });
    record.to_string()
}
