//! The commands of a page to a session, and the view of a session that the page gets.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Rejection, impossible};
use crate::agents::Seat;
use crate::board::RecordProblem;
use crate::error::SessionError;
use crate::lang::Texts;
use crate::levels::Level;
use crate::matches::Match;
use crate::session::{MOST_MOVES, Refusal, Session};
use crate::specs;
use crate::thought::by_winner;
use crate::tree::{Node, Remark, Token, tokens_of};
use crate::words;
use jarmo_core::game::{Player, shorten};
use jarmo_core::record::GameRecord;

/// Bytes that the variations and comments of a game may have.
const MOST_TEXT: usize = 1 << 16;

/// The commands of a page. Unit variants are written with braces, because otherwise serde ignores
/// `deny_unknown_fields`.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "a field is what its name says")]
pub enum Command {
    /// A move.
    Play { text: String },
    /// Goes back to the previous turn.
    Undo {},
    /// Redoes a move.
    Redo {},
    /// Shows another place of the line shown.
    Go { place: usize },
    /// Shows a position of any line.
    Show { node: Node },
    /// Plays moves for both sides, from a place on.
    Line { place: usize, moves: Vec<String> },
    /// Makes a variation the main line.
    Promote { node: Node },
    /// Removes a move and everything after it.
    Remove { node: Node },
    /// Brings back what was removed last.
    Unremove {},
    /// Annotates a move.
    Remark { node: Node, mark: String, comment: String },
    /// Plays on from the place shown.
    Resume {},
    /// Lets one of two agents move in this position.
    Advance { node: Node },
    /// Asks for a hint.
    Hint {},
    /// Swaps the players.
    Swap {},
    /// Begins another game.
    NewGame {},
    /// Begins a match of two games.
    NewMatch {},
    /// Begins the second game of a match.
    NextGame {},
    /// Begins another game with the sides swapped.
    Rematch {},
    /// Gives a side to another player.
    Seat { player: Player, who: String },
    /// Shows or hides the evaluation.
    Evaluate { on: bool },
    /// Enters or leaves analysis.
    Analyse { on: bool },
    /// Searches on at the place shown.
    Deepen { on: bool },
    /// Loads the game of a record.
    Load { record: String },
    /// Offers the other person something, or accepts the same offer.
    Offer { what: Offer },
    /// Declines an offer, or withdraws one's own.
    Decline {},
    /// Gives the game up.
    Resign {},
    /// Continues a game that the page has kept, at the position with this index and with these evaluations.
    Restore {
        record: String,
        seats: [String; 2],
        place: usize,
        #[serde(rename = "match")]
        current_match: Option<Match>,
        #[serde(default)]
        values: Vec<Option<f32>>,
    },
}

/// What one person offers the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offer {
    /// To take back the last move of the one who offers.
    Undo,
    /// A draw.
    Draw,
    /// Another game with the sides swapped.
    Rematch,
}

/// Executes a command. `ours` are the players that the page may choose besides the levels.
pub fn apply(session: &mut Session, command: Command, texts: &Texts, ours: &[String]) -> Result<(), Rejection> {
    session.trouble = None;
    match command {
        Command::Play { text } => {
            check_size(session.board().tree.size() + 1, 0, texts)?;
            session.play(&text).map_err(|refusal| words::refusal(texts, &text, &refusal))?;
        }
        Command::Undo {} => session.undo(),
        Command::Redo {} => session.redo(),
        Command::Go { place } => session.go_to(place),
        Command::Show { node } => session.show(node),
        Command::Line { place, moves } => {
            check_size(session.board().tree.size() + moves.len(), 0, texts)?;
            session
                .play_line(place, &moves)
                .map_err(|(text, error)| words::refusal(texts, &text, &Refusal::Move(error)))?;
        }
        Command::Promote { node } => session.promote(node),
        Command::Remove { node } => session.remove(node),
        Command::Unremove {} => session.unremove(),
        Command::Remark { node, mark, comment } => {
            let text = session.board().record().tree.unwrap_or_default();
            check_size(0, text.len() + comment.len(), texts)?;
            session.set_remark(node, Remark::new(&mark, &comment));
        }
        Command::Resume {} => session.resume(),
        Command::Advance { node } => session.advance(node),
        Command::Hint {} => session.ask_hint(),
        Command::Swap {} => session.swap(),
        Command::NewGame {} => session.new_game(),
        Command::NewMatch {} => session.new_match(),
        Command::NextGame {} => session.next_game().map_err(|refusal| words::refusal(texts, "", &refusal))?,
        Command::Rematch {} => {
            session.swap();
            session.new_game();
        }
        Command::Seat { player, who } => {
            let set = session.set_seat(player, offered(&who, ours, texts)?);
            set.map_err(|problem| session.store.without_folders(&problem.to_string(), ours))?;
        }
        Command::Evaluate { on } => session.evaluating = on,
        Command::Analyse { on } => session.set_analysing(on),
        Command::Deepen { on } => session.set_deepening(on),
        Command::Load { record } => load(session, &record, ours, texts)?,
        Command::Offer { .. } | Command::Decline {} | Command::Resign {} => {
            return Err(impossible(texts.get("no_friend")));
        }
        Command::Restore { record, seats, place, current_match, values } => {
            let record = without_players(&record, texts)?;
            session.load(&record).map_err(|problem| words::record_problem(texts, &problem))?;
            for (player, who) in Player::BOTH.into_iter().zip(&seats) {
                // A person plays for an agent that is not offered here any more, or cannot play this game. The page
                // compares the players, and reports that.
                let _ = session.set_seat(player, offered(who, ours, texts).unwrap_or("human"));
            }
            session.show(session.board().at_index(place));
            session.remember(&values);
            session.current_match = current_match.filter(Match::is_possible);
        }
    }
    Ok(())
}

/// Everything that the page shows of a session.
pub fn view(session: &Session) -> Value {
    let board = session.board();
    let places = 0..=board.length();
    let known = by_winner(&board.known(board.cursor()), serde_json::value::Serializer);
    let known = known.expect("a result is plain JSON");
    json!({
        "number": session.number,
        "record": session.record().to_line(),
        "game": board.game(),
        "layout": board.layout(),
        "drawing": board.drawing(),
        "scene": board.scene(),
        "position": board.position_text(),
        "moves": board.moves(),
        "cursor": board.cursor(),
        "tree": tree_view(session),
        "line": places.clone().map(|place| board.node(place)).collect::<Vec<_>>(),
        "live": session.is_live(),
        "asks": session.asks(),
        "seats": session.seats().each_ref().map(Seat::name),
        "human": session.human_to_move() || session.analysing(),
        "thinking": session.agents_turn(),
        "evaluating": session.evaluating,
        "analysing": session.analysing(),
        "deepening": session.deepening(),
        "deeper": session.next_round().is_some(),
        "unstudied": session.analysing().then(|| session.unstudied().count()),
        "assessments": session.analysing().then(|| session.assessments()),
        "values": places.map(|place| session.value(place)).collect::<Vec<_>>(),
        "thought": session.thought(board.cursor()),
        "hint": session.hint(),
        "removed": session.removed(),
        "match": session.current_match,
        "trouble": session.trouble.as_ref().map(SessionError::to_string),
        "known": known,
        "trained": board.agents().is_trained(),
        "evaluates": board.agents().evaluates,
        "refused": board.agents().refused().map(|refused| session.store.without_folders(refused, &[])),
    })
}

/// Every move of the tree in the order of its text.
fn tree_view(session: &Session) -> Vec<Value> {
    let (board, tree) = (session.board(), &session.board().tree);
    let moves = tree.nodes().into_iter().filter_map(|node| {
        let Remark { mark, comment } = &tree.at(node).remark;
        let played = board.move_to(node)?;
        let value = session.evaluation(node).map(|value| (value * 1000.0).round() / 1000.0);
        Some(json!({
            "node": node, "parent": tree.at(node).parent, "text": played.text, "player": played.player,
            "number": played.number, "mark": mark, "comment": comment, "value": value,
        }))
    });
    moves.collect()
}

/// Fails if a tree is too large.
fn check_size(moves: usize, bytes: usize, texts: &Texts) -> Result<(), String> {
    match (moves <= MOST_MOVES, bytes <= MOST_TEXT) {
        (true, true) => Ok(()),
        (false, _) => Err(texts.fill("game_too_long", &[("n", &MOST_MOVES)])),
        _ => Err(texts.fill("text_too_long", &[("n", &MOST_TEXT)])),
    }
}

/// The player that a browser asks for. Only the person who started the server can choose players that read files; a
/// browser knows them by names without folders.
pub(super) fn offered<'a>(who: &'a str, ours: &'a [String], texts: &Texts) -> Result<&'a str, String> {
    if who == "human" || Level::parse(who).is_some() || specs::is_harmless(who) {
        return Ok(who);
    }
    let is_named = |seat: &String| seat.parse().is_ok_and(|spec| specs::named(&spec).to_string() == who);
    let own = ours.iter().find(|seat| *seat == who || is_named(seat));
    own.map(String::as_str).ok_or_else(|| texts.fill("agent_not_offered", &[("agent", &shorten(who))]))
}

/// Reads a record, or the moves of a game alone.
pub(super) fn parse_record(text: &str, game: &str, texts: &Texts) -> Result<GameRecord, String> {
    let record = GameRecord::parse(text.trim()).or_else(|_| match moves_of(text) {
        Some(moves) if !game.is_empty() => Ok(GameRecord { game: game.to_owned(), moves, ..GameRecord::default() }),
        _ => Err(texts.get("record_unreadable").to_owned()),
    })?;
    let tree = record.tree.as_deref().unwrap_or_default();
    let moves = tokens_of(tree).iter().filter(|token| matches!(token, Token::Move(_))).count();
    check_size(moves.max(record.moves.len()), tree.len(), texts)?;
    Ok(record)
}

/// Reads a record without the players that it names, because they may be agents that the page may not choose.
pub(super) fn without_players(text: &str, texts: &Texts) -> Result<GameRecord, String> {
    Ok(GameRecord { white: None, black: None, ..parse_record(text, "", texts)? })
}

/// The moves of a text with or without their numbers: `1. A1-C2 A5-B3 2. …`; `None` for a text of another kind.
fn moves_of(text: &str) -> Option<Vec<String>> {
    let words = text.split(|one: char| one.is_whitespace() || ",;".contains(one));
    let is_number = |word: &str| word.trim_end_matches('.').bytes().all(|one| one.is_ascii_digit());
    let moves: Vec<String> = words
        .map(|word| word.trim_start_matches(|one: char| one.is_ascii_digit() || one == '.'))
        .filter(|word| !is_number(word))
        .map(str::to_owned)
        .collect();
    let short = |text: &String| {
        let mut signs = text.chars();
        text.len() <= 8 && signs.all(|one| one.is_ascii_alphanumeric() || "@-x".contains(one))
    };
    (!moves.is_empty() && moves.iter().all(short)).then_some(moves)
}

fn load(session: &mut Session, text: &str, ours: &[String], texts: &Texts) -> Result<(), String> {
    let mut record = parse_record(text, session.board().game(), texts)?;
    for name in [&mut record.white, &mut record.black] {
        let who = name.as_deref().map(|who| offered(who, ours, texts));
        *name = who.map(|who| who.unwrap_or("human").to_owned());
    }
    session.load(&record).map_err(|problem| match &problem {
        // Perhaps it was not meant to be moves.
        RecordProblem::Move { error, .. } if error.unreadable && !text.contains('{') => {
            texts.get("record_unreadable").to_owned()
        }
        _ => words::record_problem(texts, &problem),
    })
}
