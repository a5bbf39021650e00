//! The lines a program sends, read into commands.

use std::time::Duration;

use jarmo_core::game::shorten;
use jarmo_host::input::Urgency;

/// A line of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command<'a> {
    /// `ugi`: the name of the engine and its options.
    Ugi,
    IsReady,
    /// The next position belongs to another game.
    NewGame,
    /// A position, as text or the start, and moves from there.
    Position {
        text: Option<&'a str>,
        moves: Vec<&'a str>,
    },
    Go(Spend),
    Stop,
    Query(&'a str),
    SetOption {
        name: &'a str,
        value: &'a str,
    },
    Quit,
}

/// The budget of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spend {
    /// The default of the agent's spec.
    Usual,
    /// A limit of nodes or simulations.
    Nodes(u64),
    Time(Duration),
    /// Until `stop`.
    Endless,
}

/// How a line affects the searches before it.
pub(super) fn urgency(line: &str) -> Urgency {
    match split_word(line.trim()).0 {
        "stop" => Urgency::Urgent,
        "quit" => Urgency::Last,
        _ => Urgency::Usual,
    }
}

/// Reads a line; the error says what is wrong with it. An empty line is nothing.
pub(super) fn parse(line: &str) -> Result<Option<Command<'_>>, String> {
    let line = line.trim();
    let (word, rest) = split_word(line);
    let command = match word {
        "" => return Ok(None),
        "ugi" => Command::Ugi,
        "isready" => Command::IsReady,
        "uginewgame" => Command::NewGame,
        "position" => parse_position(rest)?,
        "go" => Command::Go(parse_go(rest)?),
        "stop" => Command::Stop,
        "query" => Command::Query(rest),
        "setoption" => parse_option(rest)?,
        "quit" => Command::Quit,
        _ => {
            return Err(format!(
                "no command is called `{}`; there are ugi, isready, uginewgame, position, go, stop, \
                 query, setoption, quit",
                shorten(word)
            ));
        }
    };
    Ok(Some(command))
}

fn split_word(text: &str) -> (&str, &str) {
    match text.split_once(char::is_whitespace) {
        None => (text, ""),
        Some((word, rest)) => (word, rest.trim_start()),
    }
}

fn parse_position(rest: &str) -> Result<Command<'_>, String> {
    let (kind, rest) = split_word(rest);
    let (text, moves) = split_at_word(rest, "moves").unwrap_or((rest, ""));
    let text = match (kind, text.trim()) {
        ("startpos", "") => None,
        ("startpos", more) => {
            let more = shorten(more);
            return Err(format!("`{more}` after startpos; expected moves"));
        }
        ("fen", "") => return Err("position fen: the position text is missing".to_owned()),
        ("fen", text) => Some(text),
        _ => return Err("expected position startpos|fen TEXT [moves MOVE…]".to_owned()),
    };
    let moves = moves.split_whitespace().collect();
    Ok(Command::Position { text, moves })
}

/// What is before and after this word; part of a longer word does not count.
fn split_at_word<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    text.match_indices(word).find_map(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + word.len()..]);
        let ends = before.is_empty() || before.ends_with(char::is_whitespace);
        let begins = after.is_empty() || after.starts_with(char::is_whitespace);
        (ends && begins).then_some((before, after))
    })
}

fn parse_go(rest: &str) -> Result<Spend, String> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("go: `{}` is no whole number", shorten(text)));
    match words[..] {
        [] => Ok(Spend::Usual),
        ["infinite"] => Ok(Spend::Endless),
        ["nodes", nodes] => Ok(Spend::Nodes(number(nodes)?)),
        ["movetime", time] => Ok(Spend::Time(Duration::from_millis(number(time)?))),
        _ => Err(format!("go {}: expected go nodes N, movetime MS, infinite, or nothing", shorten(rest))),
    }
}

fn parse_option(rest: &str) -> Result<Command<'_>, String> {
    rest.strip_prefix("name ")
        .and_then(|rest| rest.split_once(" value "))
        .map(|(name, value)| Command::SetOption { name: name.trim(), value: value.trim() })
        .ok_or_else(|| "expected setoption name NAME value VALUE".to_owned())
}
