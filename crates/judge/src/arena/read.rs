//! Reads the results of the first agent from a tournament's JSON.

use serde::Deserialize;

use crate::JudgeError;
use jarmo_core::net::MatchResult;

#[derive(Deserialize)]
struct ReportJson {
    matches: Vec<MatchJson>,
}

#[derive(Deserialize)]
struct MatchJson {
    first: String,
    second: String,
    wins: u64,
    draws: u64,
    losses: u64,
}

/// The matches of the agent named first in a tournament's JSON, for the header of an agent file.
pub fn read_results(json: &str) -> Result<Vec<MatchResult>, JudgeError> {
    let report: ReportJson = serde_json::from_str(json)
        .map_err(|error| JudgeError::new(format!("not a tournament's report in JSON: {error}")))?;
    let Some(agent) = report.matches.first().map(|played| played.first.clone()) else {
        return Err(JudgeError::new("it contains no matches"));
    };
    let settings = agent.split_once('?').map_or("", |(_, settings)| settings);
    let results = report.matches.into_iter().filter(|played| played.first == agent).map(|played| MatchResult {
        settings: settings.to_owned(),
        opponent: played.second,
        wins: played.wins,
        draws: played.draws,
        losses: played.losses,
    });
    Ok(results.collect())
}
