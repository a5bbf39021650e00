//! The texts of the user interface, one table per language.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use jarmo_core::game::{Player, Reason};

/// A language of the user interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// English.
    En,
    /// German.
    De,
    /// Italian.
    It,
    /// Finnish.
    Fi,
    /// Esperanto.
    Eo,
}

impl Language {
    /// All languages, the fallback first.
    pub const ALL: [Language; 5] = [Language::En, Language::De, Language::It, Language::Fi, Language::Eo];

    /// Their codes and tables, in the same order.
    const SOURCES: [(&str, &str); 5] = [
        ("en", include_str!("en.toml")),
        ("de", include_str!("de.toml")),
        ("it", include_str!("it.toml")),
        ("fi", include_str!("fi.toml")),
        ("eo", include_str!("eo.toml")),
    ];

    /// Its two-letter code.
    pub const fn code(self) -> &'static str {
        Language::SOURCES[self as usize].0
    }

    /// The language of a tag such as `de`, `de_AT.UTF-8` or `de-AT`.
    pub fn parse(tag: &str) -> Option<Language> {
        let code = tag.split(['_', '-', '.', '@']).next()?;
        Language::ALL.into_iter().find(|language| language.code().eq_ignore_ascii_case(code))
    }

    /// The table of this language.
    pub fn texts(self) -> &'static Texts {
        static TABLES: LazyLock<[Texts; Language::ALL.len()]> = LazyLock::new(|| {
            Language::SOURCES.map(|(_, source)| toml::from_str(source).expect("the built-in tables are well-formed"))
        });
        &TABLES[self as usize]
    }
}

/// The texts of a step of a lesson.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepTexts {
    /// The subject of the step.
    pub title: String,
    /// The explanation.
    pub text: String,
    /// The task on the board.
    pub task: String,
    /// The reply to a right move.
    pub right: String,
    /// The reply to a legal move that does not solve the task.
    pub wrong: String,
}

/// The table of one language.
#[derive(Debug, Serialize, Deserialize)]
pub struct Texts {
    /// The rules of each game, by its name.
    rulebook: BTreeMap<String, String>,
    /// Why a move is illegal, by the key of the reason. Empty in English, which a [`Reason`] words itself.
    #[serde(default, skip_serializing)]
    reasons: BTreeMap<String, String>,
    /// The texts of the lessons, by game and step.
    #[serde(skip_serializing)]
    lessons: BTreeMap<String, BTreeMap<String, StepTexts>>,
    /// Everything else, by key.
    #[serde(flatten)]
    texts: BTreeMap<String, String>,
}

impl Texts {
    /// The text of a key.
    ///
    /// # Panics
    /// Panics if there is no such key. Every table has every key that the program uses.
    pub fn get(&self, key: &str) -> &str {
        match self.texts.get(key) {
            Some(text) => text,
            None => panic!("no text is called `{key}`"),
        }
    }

    /// The text of a key with its `{names}` filled in.
    pub fn fill(&self, key: &str, values: &[(&str, &dyn fmt::Display)]) -> String {
        let mut text = self.get(key).to_owned();
        for (name, value) in values {
            text = text.replace(&format!("{{{name}}}"), &value.to_string());
        }
        text
    }

    /// The name of a player in a game: White or Black, unless the game has its own words.
    pub fn player(&self, game: &str, player: Player) -> &str {
        self.own_name(game, player).unwrap_or_else(|| self.get(player.name()))
    }

    fn own_name(&self, game: &str, player: Player) -> Option<&str> {
        self.texts.get(&format!("{}_{game}", player.name())).map(String::as_str)
    }

    /// The letter of a player's pieces on a board of characters: that of the position's text, unless the game has its
    /// own words.
    pub fn letter(&self, game: &str, player: Player) -> char {
        let first = self.own_name(game, player).and_then(|name| name.chars().next());
        first.map_or(player.letter(), |letter| letter.to_ascii_lowercase())
    }

    /// Whether the table has the texts of a game: of shipped games, but not of games from other crates.
    pub fn knows(&self, game: &str) -> bool {
        self.rulebook.contains_key(game)
    }

    /// The rules of a game as lines; `# ` marks a heading.
    pub fn rules(&self, game: &str) -> &str {
        match self.rulebook.get(game) {
            Some(rules) => rules,
            None => self.get("no_rules"),
        }
    }

    /// The texts of a step of a game's lesson.
    pub fn lesson(&self, game: &str, step: &str) -> &StepTexts {
        &self.lessons[game][step]
    }

    /// Why a move is illegal. Falls back to English if the table lacks the reason. In a game with its own names for the
    /// players, no reason mentions a player.
    pub fn reason(&self, reason: &Reason) -> String {
        let player = |player: Player| self.get(player.name());
        match self.reasons.get(reason.key()) {
            Some(pattern) => reason.worded(pattern, player),
            None => reason.in_english(player),
        }
    }
}
