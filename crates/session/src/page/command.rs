//! What a page asks a session to do, and what it shows of one.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::agents::Seat;
use crate::board::RecordProblem;
use crate::lang::Texts;
use crate::levels::Level;
use crate::matches::Match;
use crate::session::Session;
use crate::specs;
use crate::thought::by_winner;
use crate::words;
use jarmo_core::game::{Player, shorten};
use jarmo_core::record::GameRecord;

/// Moves a game may have; only a game without a limit of its own could have more.
const MOST_MOVES: usize = 2000;

/// What a page may ask a session to do. Those without anything to say are written with braces too:
/// only so are unknown fields refused.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "a field is what its name says")]
pub enum Command {
    /// A move.
    Play { text: String },
    /// Back to the turn before.
    Undo {},
    /// Takes an undo back.
    Redo {},
    /// Shows another place.
    Go { place: usize },
    /// Plays on from the place shown.
    Resume {},
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
    /// Looks further at the place shown.
    Deepen { on: bool },
    /// Loads the game of a record.
    Load { record: String },
    /// Tries a move in place of one that was played.
    Try { place: usize, text: String },
    /// Offers the other person something, or accepts the same offer.
    Offer { what: Offer },
    /// Turns an offer down, or takes the own one back.
    Decline {},
    /// Gives the game up.
    Resign {},
    /// Goes on with a game that the page has kept.
    Restore {
        record: String,
        seats: [String; 2],
        place: usize,
        #[serde(rename = "match")]
        current_match: Option<Match>,
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

/// Does what a page asks for; the error says why not. `ours` are the players that the page may name besides the levels.
pub fn obey(session: &mut Session, command: Command, texts: &Texts, ours: &[String]) -> Result<(), String> {
    session.trouble = None;
    match command {
        Command::Play { text } => {
            if session.board().cursor() >= MOST_MOVES {
                return Err(too_long(texts));
            }
            session.play(&text).map_err(|refusal| words::refusal(texts, &text, &refusal))?;
        }
        Command::Undo {} => session.undo(),
        Command::Redo {} => session.redo(),
        Command::Go { place } => session.go_to(place),
        Command::Resume {} => session.resume(),
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
            set.map_err(|problem| session.store.without_folders(&problem, ours))?;
        }
        Command::Evaluate { on } => session.evaluating = on,
        Command::Analyse { on } => session.set_analysing(on),
        Command::Deepen { on } => session.set_deepening(on),
        Command::Load { record } => load(session, &record, ours, texts)?,
        Command::Try { place, text } => {
            session.try_move(place, &text).map_err(|refusal| words::refusal(texts, &text, &refusal))?
        }
        Command::Offer { .. } | Command::Decline {} | Command::Resign {} => {
            return Err(texts.get("no_friend").to_owned());
        }
        Command::Restore { record, seats, place, current_match } => {
            let record = parse_record(&record, "", texts)?;
            session.load(&record).map_err(|problem| words::record_problem(texts, &problem))?;
            for (player, who) in Player::BOTH.into_iter().zip(&seats) {
                // A person plays for an agent that is not offered here any more, or cannot play this game.
                let _ = session.set_seat(player, offered(who, ours, texts).unwrap_or("human"));
            }
            session.go_to(place);
            session.current_match = current_match.filter(Match::is_possible);
        }
    }
    Ok(())
}

/// Everything that the page shows of a session.
pub fn view(session: &Session) -> Value {
    let board = session.board();
    let places = 0..=board.moves().len();
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
        "seats": session.seats().each_ref().map(Seat::name),
        "human": session.human_to_move() || session.analysing(),
        "thinking": session.agent_to_move(),
        "evaluating": session.evaluating,
        "analysing": session.analysing(),
        "deepening": session.deepening(),
        "deeper": session.next_round().is_some(),
        "unstudied": session.analysing().then(|| session.unstudied()),
        "assessments": session.analysing().then(|| session.assessments()),
        "values": places.map(|place| session.value(place)).collect::<Vec<_>>(),
        "thought": session.thought(board.cursor()),
        "hint": session.hint(),
        "tried": session.tried(),
        "match": session.current_match,
        "trouble": session.trouble,
        "known": known,
        "trained": board.agents().is_trained(),
        "refused": board.agents().refused().map(|refused| session.store.without_folders(refused, &[])),
    })
}

/// The player that a browser asks for. Those that read files are for the person who started the server; a browser
/// knows them by names without folders.
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
    if record.moves.len() > MOST_MOVES {
        return Err(too_long(texts));
    }
    Ok(record)
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

/// What is said about a game with more moves than a page may send.
fn too_long(texts: &Texts) -> String {
    texts.fill("game_too_long", &[("n", &MOST_MOVES)])
}
