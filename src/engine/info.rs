//! What an agent thinks, as `info` lines.

use std::fmt::Write;
use std::time::Duration;

use jarmo_core::eval::Value;
use jarmo_core::game::{AnyPosition, Proven, Verdict};
use jarmo_exact::agent::{Candidate, Decision};
use jarmo_facade::AnyGame;

/// The widest an uncertain score gets, in centipawns.
const MOST_CENTIPAWNS: f32 = 9999.0;

/// One line for each of the best `count` candidates.
pub(super) fn lines(
    game: &dyn AnyGame,
    position: &AnyPosition,
    decision: &Decision,
    count: usize,
    spent: Duration,
) -> Vec<String> {
    let millis = spent.as_millis();
    let per_second = decision.nodes as f64 / spent.as_secs_f64().max(1e-6);
    let shown = decision.candidates.iter().take(count.max(1)).enumerate();
    shown
        .map(|(index, candidate)| {
            let mut line = format!("info depth {}", decision.depth);
            if count > 1 {
                write!(line, " multipv {}", index + 1).expect("a string takes everything");
            }
            write!(
                line,
                " score {} {} nodes {} nps {per_second:.0} time {millis} pv {}",
                score(candidate),
                wdl(&candidate.value),
                decision.nodes,
                game.line_texts(position, &candidate.line).join(" "),
            )
            .expect("a string takes everything");
            line
        })
        .collect()
}

/// `mate N` for a certain win or loss in N plies, else `cp N`: a hundred times the logarithm of the odds.
fn score(candidate: &Candidate) -> String {
    match candidate.proven {
        Some(Proven { verdict: Verdict::Draw, .. }) => "cp 0".to_owned(),
        Some(Proven { verdict, plies: Some(plies) }) => {
            format!("mate {}", i64::from(verdict.sign()) * i64::from(plies))
        }
        _ => {
            let Value { win, draw, loss, .. } = candidate.value;
            let odds = (win + 0.5 * draw) / (loss + 0.5 * draw);
            let centipawns = (100.0 * odds.ln()).clamp(-MOST_CENTIPAWNS, MOST_CENTIPAWNS);
            format!("cp {}", centipawns.round() as i32)
        }
    }
}

/// Win, draw and loss in thousandths.
fn wdl(value: &Value) -> String {
    let [win, loss] = [value.win, value.loss].map(|one| (1000.0 * one).round() as u32);
    let loss = loss.min(1000 - win);
    format!("wdl {win} {} {loss}", 1000 - win - loss)
}
