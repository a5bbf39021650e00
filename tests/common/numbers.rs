//! A walk through the numbers of a command line, by the definition of the command.

use std::any::TypeId;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command};

/// Tries every number of a command and its subcommands at its bounds and beyond; returns how many there are. Types that
/// are not numbers must be among `others`, so that a new type cannot be forgotten.
pub(crate) fn try_every_number(command: &Command, others: &[TypeId]) -> usize {
    walk(command, command, &[], others)
}

fn walk(top: &Command, command: &Command, path: &[&str], others: &[TypeId]) -> usize {
    let mut tried = 0;
    for arg in command.get_arguments() {
        if is_number(arg, others) {
            try_number(top, path, arg.get_long().expect("numbers have names"));
            tried += 1;
        }
    }
    for inner in command.get_subcommands() {
        let path = [path, &[inner.get_name()]].concat();
        tried += walk(top, inner, &path, others);
    }
    tried
}

fn is_number(arg: &Arg, others: &[TypeId]) -> bool {
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    if !takes_value || !arg.get_possible_values().is_empty() {
        return false;
    }
    let parsed = arg.get_value_parser().type_id();
    let numbers = [
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<f64>(),
        TypeId::of::<Duration>(),
    ];
    let number = numbers.iter().any(|number| parsed == *number);
    let known = others.iter().any(|other| parsed == *other);
    assert!(number || known, "{arg}: {parsed:?} is not sorted in");
    number
}

fn try_number(top: &Command, path: &[&str], name: &str) {
    let refusal = |value: &str| refusal(top, path, name, value);
    let place = format!("{path:?} --{name}");
    let message = refusal("NaN").unwrap_or_else(|| panic!("{place} takes NaN"));
    let (least, most) = named_bounds(&message).unwrap_or_else(|| panic!("{place}: {message}"));
    for inside in [least, most] {
        assert_eq!(refusal(inside), None, "{place} {inside}");
    }
    let mut outside = vec!["-1".to_owned(), "inf".to_owned(), "-inf".to_owned(), String::new()];
    let (floor, ceiling): (f64, f64) = (least.parse().unwrap(), most.parse().unwrap());
    match (least.parse::<i128>(), most.parse::<i128>()) {
        (Ok(least), Ok(most)) if !message.contains(" a number") => {
            outside.extend([(least - 1).to_string(), (most + 1).to_string()]);
        }
        _ => outside.extend([(floor - 0.001).to_string(), (ceiling + 0.001).to_string(), f64::MAX.to_string()]),
    }
    let largest = [u32::MAX as f64, u64::MAX as f64];
    let largest = largest.into_iter().filter(|&number| number > ceiling);
    outside.extend(largest.map(|number| format!("{number:.0}")));
    for value in outside {
        let message = refusal(&value).unwrap_or_else(|| panic!("{place} takes {value}"));
        let found = named_bounds(&message);
        assert_eq!(found, Some((least, most)), "{place} {value}: {message}");
        assert!(message.contains(&format!("--{name}")), "{message}");
    }
    if least == "1" {
        assert!(refusal("0").is_some(), "{place}");
    }
}

/// The message that refuses this value, if it is refused: with exit status 2, before anything else.
fn refusal(top: &Command, path: &[&str], name: &str, value: &str) -> Option<String> {
    let mut words = vec![top.get_name().to_owned()];
    words.extend(path.iter().map(|&word| word.to_owned()));
    words.push(format!("--{name}={value}"));
    let error = top.clone().try_get_matches_from(words).err()?;
    let about_value = [ErrorKind::ValueValidation, ErrorKind::InvalidValue];
    about_value.contains(&error.kind()).then(|| {
        assert_eq!(error.exit_code(), 2);
        error.to_string()
    })
}

/// The bounds that a message names: `… number from LEAST to MOST…`.
fn named_bounds(message: &str) -> Option<(&str, &str)> {
    let (_, rest) = message.split_once("number from ")?;
    let (least, rest) = rest.split_once(" to ")?;
    let most = rest.split(|symbol: char| symbol.is_whitespace() || symbol == ';');
    Some((least, most.into_iter().next()?))
}
