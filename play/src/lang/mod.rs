//! The texts that people read, one table per language.

use std::collections::BTreeMap;
use std::env;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use jarmo::game::Player;

/// A language that `play` speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
    /// All languages, the one to fall back to first.
    pub const ALL: [Language; 5] = [
        Language::En,
        Language::De,
        Language::It,
        Language::Fi,
        Language::Eo,
    ];

    /// The two letters it is chosen by.
    pub const fn code(self) -> &'static str {
        match self {
            Language::En => "en",
            Language::De => "de",
            Language::It => "it",
            Language::Fi => "fi",
            Language::Eo => "eo",
        }
    }

    /// The language of a tag such as `de`, `de_AT.UTF-8` or `de-AT`.
    pub fn parse(tag: &str) -> Option<Language> {
        let code = tag.split(['_', '-', '.', '@']).next()?;
        Language::ALL
            .into_iter()
            .find(|language| language.code().eq_ignore_ascii_case(code))
    }

    /// The language that the environment asks for, else English.
    pub fn from_environment() -> Language {
        // The order in which programs look for the language of messages.
        let wished = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .into_iter()
            .filter_map(|name| env::var(name).ok())
            .find(|tag| !tag.is_empty());
        wished
            .and_then(|tag| Language::parse(&tag))
            .unwrap_or(Language::En)
    }

    /// Its table.
    pub fn texts(self) -> &'static Texts {
        static TABLES: OnceLock<Vec<Texts>> = OnceLock::new();
        let tables = TABLES.get_or_init(|| {
            let sources = [
                include_str!("en.toml"),
                include_str!("de.toml"),
                include_str!("it.toml"),
                include_str!("fi.toml"),
                include_str!("eo.toml"),
            ];
            let read =
                |source| toml::from_str(source).expect("the built-in tables are well-formed");
            sources.into_iter().map(read).collect()
        });
        &tables[self as usize]
    }
}

/// The table of one language.
#[derive(Debug, Serialize, Deserialize)]
pub struct Texts {
    /// The rules of each game, by its name.
    rulebook: BTreeMap<String, String>,
    /// Why moves are illegal: the English reason with `{}` for what varies, and its translation.
    reasons: BTreeMap<String, String>,
    /// Everything else, by key.
    #[serde(flatten)]
    texts: BTreeMap<String, String>,
}

impl Texts {
    /// The text of a key.
    ///
    /// # Panics
    /// Panics if there is no such key: every table has every key that the program names.
    pub fn get(&self, key: &str) -> &str {
        match self.texts.get(key) {
            Some(text) => text,
            None => panic!("no text is called `{key}`"),
        }
    }

    /// The text of a key with its `{names}` filled in.
    pub fn fill(&self, key: &str, values: &[(&str, &str)]) -> String {
        let mut text = self.get(key).to_owned();
        for (name, value) in values {
            text = text.replace(&format!("{{{name}}}"), value);
        }
        text
    }

    /// White or Black.
    pub fn player(&self, player: Player) -> &str {
        self.get(player.name())
    }

    /// The rules of a game, for people: lines, `# ` before a heading.
    pub fn rules(&self, game: &str) -> &str {
        &self.rulebook[game]
    }

    /// Why a move is illegal, from the English reason that the rules give. A reason that the table does
    /// not have stays English.
    pub fn reason(&self, english: &str) -> String {
        let found = self.reasons.iter().find_map(|(pattern, translation)| {
            let parts = matches(pattern, english)?;
            Some((translation, parts))
        });
        let Some((translation, parts)) = found else {
            return english.to_owned();
        };
        let mut text = translation.clone();
        for (index, part) in parts.iter().enumerate() {
            let part = match Player::BOTH
                .into_iter()
                .find(|player| player.name() == *part)
            {
                Some(player) => self.player(player),
                None => part,
            };
            text = text.replace(&format!("{{{}}}", index + 1), part);
        }
        text
    }

    /// Whether the table translates this reason.
    pub fn knows_reason(&self, english: &str) -> bool {
        let mut patterns = self.reasons.keys();
        patterns.any(|pattern| matches(pattern, english).is_some())
    }

    /// All keys, those of rules and reasons after a slash.
    pub fn keys(&self) -> Vec<String> {
        let under = |name: &'static str, table: &BTreeMap<String, String>| {
            let keys = table.keys().map(move |key| format!("{name}/{key}"));
            keys.collect::<Vec<String>>()
        };
        let mut keys: Vec<String> = self.texts.keys().cloned().collect();
        keys.extend(under("rulebook", &self.rulebook));
        keys.extend(under("reasons", &self.reasons));
        keys
    }
}

/// What stands for each `{}` of a pattern, if the text has its form. What stands for one is a single
/// word: a circle, a player, a move.
fn matches<'a>(pattern: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let mut pieces = pattern.split("{}");
    let mut rest = text.strip_prefix(pieces.next()?)?;
    let mut parts = Vec::new();
    for piece in pieces {
        let length = if piece.is_empty() {
            rest.len()
        } else {
            rest.find(piece)?
        };
        let (part, after) = rest.split_at(length);
        if part.contains(' ') {
            return None;
        }
        parts.push(part);
        rest = &after[piece.len()..];
    }
    rest.is_empty().then_some(parts)
}
