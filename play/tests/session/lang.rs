//! The tables of texts: the same keys and placeholders in every language, and a text for every reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::common::chooser;
use jarmo::catalog::{CatalogGame, GAMES, GameSettings, GameTask, with_game};
use jarmo::game::{Action, Game, Mask, Player, Reason};
use jarmo::games::{Jarmo, reasons};
use play::lang::Language;

/// The texts of a language by key, as they are written.
pub(crate) fn written(language: Language) -> toml::Table {
    let path = format!("../crates/session/src/lang/{}.toml", language.code());
    fs::read_to_string(path).unwrap().parse().unwrap()
}

/// Its keys, of rules and lessons too, but without those of reasons.
fn keys(language: Language) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for (key, value) in written(language) {
        match value {
            toml::Value::Table(_) if key == "reasons" => {}
            toml::Value::Table(texts) => keys.extend(texts.keys().map(|name| format!("{key}/{name}"))),
            _ => drop(keys.insert(key)),
        }
    }
    keys
}

/// The placeholders `{name}` of a text.
fn holes(text: &str) -> BTreeSet<String> {
    let parts = text.split('{').skip(1);
    parts.filter_map(|part| Some(part.split_once('}')?.0.to_owned())).collect()
}

#[test]
fn all_languages_have_the_same_keys_and_placeholders() {
    let english = Language::En.texts();
    let keys = keys(Language::En);
    assert!(keys.len() > 100);
    for language in Language::ALL {
        let texts = language.texts();
        assert_eq!(self::keys(language), keys, "{language:?}");
        for key in keys.iter().filter(|key| !key.contains('/')) {
            let (ours, theirs) = (texts.get(key), english.get(key));
            assert_eq!(holes(ours), holes(theirs), "{language:?} {key}");
            assert!(!ours.trim().is_empty(), "{language:?} {key}");
        }
        for game in GAMES {
            let headings = |text: &str| text.lines().filter(|line| line.starts_with("# ")).count();
            let (ours, theirs) = (texts.rules(game), english.rules(game));
            assert_eq!(headings(ours), headings(theirs), "{language:?} {game}");
        }
    }
}

#[test]
fn connect_four_names_the_players_by_the_colours_of_their_discs() {
    for language in Language::ALL {
        let (texts, table) = (language.texts(), written(language));
        let lessons = table["lessons"]["connect_four"].to_string();
        let reasons = table.get("reasons").map_or(String::new(), |reasons| reasons["stone_counts"].to_string());
        let all = [texts.rules("connect_four"), &lessons, &reasons].join(" ").to_lowercase();
        for player in Player::BOTH {
            let [usual, own] = ["jarmo", "connect_four"].map(|game| texts.player(game, player).to_lowercase());
            assert_ne!(usual, own, "{language:?}");
            // The beginning, because endings vary.
            let begins = |word: &str, letters| all.contains(&word.chars().take(letters).collect::<String>());
            assert!(begins(&own, 3), "{language:?}: {own}");
            assert!(!begins(&usual, 4), "{language:?}: {usual} in {all}");
        }
    }
    assert_eq!(Language::En.texts().player("connect_four", Player::White), "Yellow");
}

#[test]
fn the_languages_differ() {
    let hints: BTreeSet<&str> = Language::ALL.map(|one| one.texts().get("help")).into();
    assert_eq!(hints.len(), 5);
    for game in GAMES {
        let rules: BTreeSet<&str> = Language::ALL.map(|one| one.texts().rules(game)).into();
        assert_eq!(rules.len(), 5);
    }
}

#[test]
fn the_keys_fit_a_terminal_of_80_columns() {
    for language in Language::ALL {
        for line in language.texts().get("help_keys").lines() {
            assert!(line.chars().count() <= 80, "{language:?}: {line}");
        }
    }
}

#[test]
fn the_rules_say_which_mark_is_lost_and_when_a_long_game_is_drawn() {
    // The board may be turned, so no side of it is left.
    let left = ["left-", "leftmost", "links", "sinistra", "vasem", "maldekstr"];
    for language in Language::ALL {
        let rules = language.texts().rules("jarmo");
        assert!(left.iter().all(|word| !rules.contains(word)), "{rules}");
        let last = |game| language.texts().rules(game).trim().lines().last().unwrap();
        for game in ["jarmo", "guard", "tammi"] {
            assert!(last(game).contains("200"), "{language:?} {game}");
        }
    }
}

#[test]
fn the_question_before_leaving_names_the_key_that_answers_yes() {
    for language in Language::ALL {
        let (question, key) = ("confirm_quit", "yes_key");
        let [question, key] = [question, key].map(|name| language.texts().get(name));
        let (_, answers) = question.split_once("? ").unwrap();
        assert_eq!(answers.split_once(" / ").unwrap().0, key, "{language:?}");
    }
}

/// The keys that follow a marker in a source file.
fn named(text: &str, marker: &str) -> Vec<String> {
    let ends = text.split(marker).skip(1);
    ends.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())).collect()
}

#[test]
fn every_key_that_the_program_uses_exists() {
    let keys = keys(Language::En);
    let mut folders = vec!["src".into(), "../crates/session/src".into(), PathBuf::from("../crates/core/src/view")];
    let mut checked = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let markers: &[&str] = match path.extension().unwrap().to_str().unwrap() {
                "rs" => &["texts.get(\"", "texts.fill(\"", "key: \"", "note(\"", "NotNow(\""],
                "js" => &[" text(\"", "(text(\""],
                "html" => &["data-text=\"", "data-label=\""],
                _ => &[],
            };
            for key in markers.iter().flat_map(|marker| named(&text, marker)) {
                assert!(keys.contains(&key), "{}: {key}", path.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 80, "{checked}");
}

#[test]
fn every_reason_has_a_text_in_every_language_with_the_same_placeholders() {
    let english: BTreeMap<String, &str> = reasons::ALL.iter().map(|one| (one.key.to_owned(), one.english)).collect();
    assert_eq!(english.len(), reasons::ALL.len(), "no key twice");
    for language in &Language::ALL[1..] {
        let table = written(*language);
        let own = table["reasons"].as_table().unwrap();
        assert!(own.keys().collect::<BTreeSet<_>>().into_iter().eq(english.keys()), "{language:?}");
        for (key, text) in own {
            let text = text.as_str().unwrap();
            assert_eq!(holes(text), holes(english[key]), "{language:?} {key}");
            assert_ne!(text, english[key], "{language:?}");
        }
    }
    assert!(!written(Language::En).contains_key("reasons"));
}

/// Plays random games and collects the reason of every illegal action.
struct Reasons;

impl GameTask for Reasons {
    type Output = usize;

    fn run<G: CatalogGame>(self, game: G) -> usize {
        let mut found: BTreeMap<String, Reason> = BTreeMap::new();
        let mut add = |reason: &Reason| found.insert(reason.to_string(), reason.clone());
        let mut choose = chooser(11);
        for _ in 0..40 {
            let mut position = game.start();
            loop {
                let legal = game.legal(&position);
                for action in (0..game.actions() as u16).map(Action) {
                    if !legal.contains(action) {
                        add(&game.why_illegal(&position, action));
                    }
                }
                if legal.is_empty() {
                    break;
                }
                let rank = choose(legal.count() as usize) as u32;
                game.play(&mut position, legal.nth(rank));
            }
        }
        let start = game.start();
        let nonsense = ["", "x", "A1-A1", "a1-b2", "c3-c4", "c3xe5", "A1xC2", "@E5", "@Z9", "pass"];
        for text in nonsense {
            if let Err(error) = game.parse_action(&start, text) {
                add(&error.reason);
            }
        }
        for (english, reason) in &found {
            for language in Language::ALL {
                let text = language.texts().reason(reason);
                assert!(!text.contains('{'), "{language:?}: {text}");
                let translated = language == Language::En || text != *english;
                assert!(translated, "{language:?}: {text}");
            }
        }
        found.len()
    }
}

#[test]
fn reasons_of_played_games_are_translated() {
    for game in GAMES {
        let reasons = with_game(game, &GameSettings::default(), Reasons).unwrap();
        assert!(reasons > 2, "{game}: {reasons}");
    }
}

#[test]
fn reasons_name_the_player_and_the_circles() {
    let game = Jarmo::standard();
    let mut position = game.start();
    for text in ["A1-C2", "A5-C4", "C2-A1", "C4-A5"].repeat(3) {
        if let Err(error) = game.play_text(&mut position, text) {
            let text = Language::De.texts().reason(&error.reason);
            let facts = ["Weiß", "A1", "C2"];
            assert!(facts.iter().all(|fact| text.contains(fact)), "{text}");
            let text = Language::En.texts().reason(&error.reason);
            assert!(text.contains("White has moved back and forth"), "{text}");
            return;
        }
    }
    panic!("the shuttle is legal");
}

#[test]
fn locale_tags_select_a_language() {
    let cases = [
        ("de_AT.UTF-8", Some(Language::De)),
        ("fi", Some(Language::Fi)),
        ("eo@euro", Some(Language::Eo)),
        ("it-CH", Some(Language::It)),
        ("C.UTF-8", None),
        ("", None),
    ];
    for (tag, language) in cases {
        assert_eq!(Language::parse(tag), language, "{tag}");
    }
}
