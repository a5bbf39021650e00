//! Sentences about a session, shared by the front ends.

use crate::analysis::{MARKS, mistakes};
use crate::board::{Board, RecordProblem};
use crate::lang::Texts;
use crate::levels::Level;
use crate::session::{Refusal, Session};
use crate::thought::{Candidate, as_white, winner};
use jarmo_core::game::{Player, PositionError, Proven, shorten};

/// Who is to move or thinking, or how the game ended.
pub fn status(texts: &Texts, session: &Session) -> String {
    let board = session.board();
    let here = board.cursor();
    let Some(outcome) = board.outcome(here) else {
        let mover = board.mover(here).unwrap_or(Player::White);
        let key = if session.agent_to_move() { "thinking" } else { "to_move" };
        return texts.fill(key, &[("player", &texts.player(board.game(), mover))]);
    };
    let result = match outcome.winner {
        _ if outcome.truncated => texts.get("cut_off").to_owned(),
        None => texts.get("draw").to_owned(),
        Some(winner) => texts.fill("wins", &[("player", &texts.player(board.game(), winner))]),
    };
    match outcome.score {
        Some([white, black]) => format!("{result}, {white} : {black}"),
        None => result,
    }
}

/// The reason why an input was rejected.
pub fn refusal(texts: &Texts, input: &str, refusal: &Refusal) -> String {
    match refusal {
        Refusal::Move(error) => {
            let reason = texts.reason(&error.reason);
            texts.fill("illegal", &[("move", &shorten(input)), ("reason", &reason)])
        }
        Refusal::NotNow(key) => texts.get(key).to_owned(),
    }
}

/// Why the game of a record cannot be shown.
pub fn record_problem(texts: &Texts, problem: &RecordProblem) -> String {
    match problem {
        RecordProblem::Start(_) => texts.get("record_start").to_owned(),
        RecordProblem::Position(problem) => position_problem(texts, problem),
        RecordProblem::Tree => texts.get("record_tree").to_owned(),
        RecordProblem::Move { number, text, error } => {
            let reason = texts.reason(&error.reason);
            texts.fill("record_move", &[("n", number), ("move", &shorten(text)), ("reason", &reason)])
        }
    }
}

/// Why a position is illegal.
pub fn position_problem(texts: &Texts, problem: &PositionError) -> String {
    match &problem.reason {
        Some(reason) => texts.fill("position_illegal", &[("reason", &texts.reason(reason))]),
        None => texts.fill("position_unreadable", &[("text", &problem.found)]),
    }
}

/// The score of the match, if the game belongs to one.
pub fn match_score(texts: &Texts, session: &Session) -> Option<String> {
    let current_match = session.current_match.as_ref()?;
    let key = if current_match.over { "match_over" } else { "match_score" };
    let [first, second] = &current_match.points;
    Some(texts.fill(key, &[("game", &current_match.game), ("first", first), ("second", second)]))
}

/// Notes on the position and on the analysis.
pub fn notes(texts: &Texts, session: &Session) -> Vec<String> {
    let board = session.board();
    let mut notes: Vec<String> = Vec::new();
    for note in board.scene().notes {
        let player = note.player.map_or("", |player| texts.player(board.game(), player));
        notes.push(texts.fill(note.key, &[("player", &player), ("what", &note.what)]));
    }
    if session.analysing() {
        notes.extend(study_notes(texts, session));
    }
    if session.analysing() || session.evaluating {
        let here = board.cursor();
        let found = session.thought(here).and_then(|thought| thought.proven);
        let found = found.map(|found| proven(texts, board.game(), found));
        notes.extend(known(texts, session).or(found));
    }
    notes
}

/// The exact result of the position, if the tables hold it.
pub fn known(texts: &Texts, session: &Session) -> Option<String> {
    let board = session.board();
    let known = board.known(board.cursor())?;
    Some(texts.fill("by_tables", &[("result", &proven(texts, board.game(), known))]))
}

/// The rules of a game: the texts of this program, or else the game's own.
pub fn rules<'a>(texts: &'a Texts, board: &'a Board) -> &'a str {
    let own = board.own_rules().filter(|_| !texts.knows(board.game()));
    own.unwrap_or_else(|| texts.rules(board.game()))
}

/// Why the best level is not a trained agent; `None` if it is.
pub fn agent_problem(texts: &Texts, session: &Session) -> Option<String> {
    let agents = session.board().agents();
    match agents.refused() {
        Some(refused) => Some(texts.fill("trained_refused", &[("problem", &refused)])),
        None if agents.is_trained() || !agents.evaluates => None,
        None => Some(texts.get("untrained").to_owned()),
    }
}

/// The commands of the program with lines of text, with moves of this game as examples.
pub fn help(texts: &Texts, board: &Board) -> String {
    let legal = board.fresh().scene().legal;
    let moves: Vec<&str> = legal.iter().take(3).map(|legal| legal.text.as_str()).collect();
    let layout = board.layout();
    let cell = layout.cells.get(layout.cells.len() / 2);
    let cell = cell.map(|cell| cell.name.as_str());
    let help = texts.get("help_plain").lines();
    let lines = help.filter(|line| cell.is_some() || !line.contains("{cell}"));
    let text: Vec<&str> = lines.collect();
    let text = text.join("\n").replace("{moves}", &moves.join(", "));
    text.replace("{cell}", cell.unwrap_or_default())
}

fn study_notes(texts: &Texts, session: &Session) -> Vec<String> {
    let left = session.unstudied().count();
    let assessments = session.assessments();
    let mut notes = vec![if left > 0 {
        texts.fill("analysing", &[("n", &left)])
    } else {
        let [white, black] = Player::BOTH.map(|player| {
            let marks = MARKS.map(|(mark, _)| {
                let own = assessments.iter().filter(|one| one.player == player);
                format!("{mark} {}", own.filter(|one| one.mark == mark).count())
            });
            marks.join(", ")
        });
        let [first, second] = Player::BOTH.map(|player| texts.player(session.board().game(), player));
        texts.fill("analysed", &[("first", &first), ("second", &second), ("white", &white), ("black", &black)])
    }];
    if let Some(mistakes) = mistakes(&assessments) {
        let [white, black] = mistakes;
        notes.push(texts.fill("mistakes", &[("white", &white), ("black", &black)]));
    }
    let place = session.board().cursor().checked_sub(1);
    let assessment = place.and_then(|place| assessments.get(place));
    if let Some(one) = assessment.filter(|one| !one.mark.is_empty()) {
        let lost = percent(one.lost.unwrap_or(0.0) / 2.0);
        let best = one.best.as_deref().unwrap_or("?");
        let lost = texts.fill("lost", &[("mark", &one.mark), ("lost", &lost), ("best", &best)]);
        notes.push(format!("{} {lost}", one.text));
    }
    notes
}

/// A candidate move as a line of text: its proven result, or else the mover's expected share of the points,
/// the visits, and the expected line.
pub fn idea(texts: &Texts, game: &str, mover: Player, idea: &Candidate) -> String {
    if let Some(known) = idea.proven {
        return format!("{:<6} {}", idea.text, proven(texts, game, known));
    }
    let equal = if idea.equal { "= " } else { "" };
    let chance = format!("{equal}{}", chance(mine(mover, idea.value)));
    let line = idea.line.get(1..).unwrap_or_default().join(" ");
    format!("{:<6} {chance:>7} {:>8} {line}", idea.text, idea.visits)
}

/// White's proven result in a game, in words.
pub fn proven(texts: &Texts, game: &str, proven: Proven) -> String {
    let Some(winner) = winner(proven.verdict) else {
        return texts.get("surely_draw").to_owned();
    };
    let player = texts.player(game, winner);
    match proven.plies {
        None => texts.fill("surely_wins", &[("player", &player)]),
        Some(1) => texts.fill("wins_in_one", &[("player", &player)]),
        Some(plies) => texts.fill("wins_in", &[("player", &player), ("n", &plies)]),
    }
}

/// The display name of a player, from the text of the seat.
pub fn seat(texts: &Texts, who: &str) -> String {
    if who == "human" {
        texts.get("human").to_owned()
    } else if Level::parse(who).is_some() {
        texts.get(&format!("level_{who}")).to_owned()
    } else {
        who.to_owned()
    }
}

/// The display name of a player with the rating in a game, if it was measured.
pub fn rated_seat(texts: &Texts, session: &Session, game: &str, who: &str) -> String {
    let rating = Level::parse(who).and_then(|level| session.rating(level, game));
    let name = seat(texts, who);
    rating.map_or(name.clone(), |rating| format!("{name} ({rating})"))
}

/// What stands on a cell, where its lines lead and which moves are legal there, in lines. `None` if `name` is not the
/// name of a cell.
pub fn cell(texts: &Texts, board: &Board, name: &str) -> Option<Vec<String>> {
    let (layout, scene) = (board.layout(), board.scene());
    let cells = &layout.cells;
    let chosen = cells.iter().position(|cell| cell.name.eq_ignore_ascii_case(name))?;
    let content = |cell: usize| {
        let name = cells[cell].name.as_str();
        let Some(piece) = scene.pieces.iter().find(|piece| piece.cell == cell) else {
            return texts.fill("empty_cell", &[("cell", &name)]);
        };
        let kind = if piece.strong { "strong" } else { "piece" };
        let kind = texts.get(&format!("{kind}_{}", board.game()));
        let player = texts.player(board.game(), piece.player);
        texts.fill("piece_on", &[("cell", &name), ("player", &player), ("piece", &kind)])
    };
    let mut lines = vec![content(chosen)];
    let ends = layout.lines.iter().filter_map(|&(a, b)| match chosen {
        _ if a == chosen => Some(b),
        _ if b == chosen => Some(a),
        _ => None,
    });
    let ends: Vec<String> = ends.map(content).collect();
    if !ends.is_empty() {
        lines.push(format!("{}: {}", texts.get("lines"), ends.join("; ")));
    }
    let legal = scene.legal.iter().filter(|legal| {
        let gesture = &legal.gesture;
        gesture.from.or(gesture.to) == Some(chosen)
    });
    let legal: Vec<&str> = legal.map(|legal| legal.text.as_str()).collect();
    if !legal.is_empty() {
        lines.push(format!("{}: {}", texts.get("moves"), legal.join(" ")));
    }
    Some(lines)
}

/// Turns White's value into this player's.
pub fn mine(player: Player, value: f32) -> f32 {
    as_white(player, value, |value| -value)
}

/// A value from -1 to +1 as a percentage of the points.
pub fn chance(value: f32) -> String {
    percent((value + 1.0) / 2.0)
}

fn percent(share: f32) -> String {
    format!("{:.0} %", 100.0 * share)
}
