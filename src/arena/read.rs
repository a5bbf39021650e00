//! What a tournament written as JSON tells of its first agent.

use serde::Deserialize;

use super::tournament::ArenaError;
use crate::net::MatchResult;

#[derive(Deserialize)]
struct Told {
    matches: Vec<Match>,
}

#[derive(Deserialize)]
struct Match {
    first: String,
    second: String,
    wins: u64,
    draws: u64,
    losses: u64,
}

/// The matches of the agent that was named first, from the JSON of a tournament, for the header of an
/// agent file.
pub fn read_results(json: &str) -> Result<Vec<MatchResult>, ArenaError> {
    let told: Told = serde_json::from_str(json)
        .map_err(|error| ArenaError::new(format!("no result of `jarmo arena --json`: {error}")))?;
    let Some(agent) = told.matches.first().map(|played| played.first.clone()) else {
        return Err(ArenaError::new("no matches in it"));
    };
    let settings = agent.split_once('?').map_or("", |(_, settings)| settings);
    let own = told
        .matches
        .into_iter()
        .filter(|played| played.first == agent);
    let results = own.map(|played| MatchResult {
        settings: settings.to_owned(),
        opponent: played.second,
        wins: played.wins,
        draws: played.draws,
        losses: played.losses,
    });
    Ok(results.collect())
}
