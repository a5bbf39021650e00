//! Exams as text files, and the exams that are part of the program.
//!
//! `docs/formats.md` describes the format.

use std::fmt::Write as _;
use std::path::Path;

use super::exam::{Exam, Question};
use super::tally::Phase;
use crate::JudgeError;
use jarmo_core::checksum::digits;
use jarmo_core::game::{Game, Mask, Proven, Verdict, shorten};
use jarmo_core::games::tammi::DEFAULT_QUIET_LIMIT;
use jarmo_host::files;

/// The exams that are part of the program, by game. A browser tab fetches its exam.
#[cfg(target_family = "wasm")]
const EXAMS: [(&str, &[u8]); 0] = [];
#[cfg(not(target_family = "wasm"))]
use jarmo_data::EXAMS;

/// The first line of a file. Its number is increased when an older program would misread the file.
const TITLE: &str = "jarmo exam 1";

/// The start of the second line, which the checksum completes.
const CHECKSUM: &str = "checksum: ";

/// The number of digits of a checksum.
const DIGITS: usize = 16;

/// The largest file that is read, in bytes. A million questions of jarmo take a third of it.
const MOST_BYTES: u64 = 1 << 28;

/// The header of an exam.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExamHeader {
    /// The game.
    pub game: String,
    /// The version of its rules.
    pub rules_version: u32,
    /// The lines of the board, if the game has boards.
    pub board: String,
    /// The plies without a capture after which tammi is drawn, unless they are the default.
    pub quiet_limit: Option<u32>,
    /// How the questions were chosen and solved.
    pub made: String,
    /// The number of questions.
    pub questions: usize,
}

impl ExamHeader {
    /// Reads the header of a file for any game, and checks that the file is complete and undamaged.
    pub fn load(path: &Path) -> Result<ExamHeader, JudgeError> {
        let bytes = read(path)?;
        let (header, _) = split(&bytes).map_err(|error| JudgeError::in_file(path, error))?;
        Ok(header)
    }

    /// Rejects an exam for another game, board or quiet limit, or other rules. The error states both.
    fn check<G: Game>(&self, game: &G) -> Result<(), JudgeError> {
        let (name, version) = (game.id(), game.rules_version());
        Err(JudgeError::new(if self.game != name {
            format!("an exam for {}, not for {name}; choose an exam for {name}", shorten(&self.game))
        } else if self.rules_version != version {
            let found = self.rules_version;
            format!("rules version {found} of {name}, this program has version {version}; make the exam again")
        } else if self.board != game.board_text() {
            format!("an exam for another board, with the lines {}", shorten(&self.board))
        } else if self.quiet_limit != unusual_quiet_limit(game) {
            let limits = [self.quiet_limit, unusual_quiet_limit(game)];
            let [found, wanted] = limits.map(|limit| limit.unwrap_or(DEFAULT_QUIET_LIMIT));
            format!("an exam for a quiet limit of {found} plies, not of {wanted}; choose another exam")
        } else {
            return Ok(());
        }))
    }
}

impl<G: Game> Exam<G> {
    /// The exam that is part of the program; `None` if there is none for this game with these settings.
    pub fn built_in(game: &G) -> Option<Exam<G>> {
        let (_, bytes) = EXAMS.iter().find(|(name, _)| *name == game.id())?;
        let (header, _) = split(bytes).expect("the program's own exams are whole");
        let fits = header.check(game).is_ok();
        fits.then(|| Exam::from_bytes(game, bytes).expect("the program's own exams are sound"))
    }

    /// Reads a file, and checks that it is for this game.
    pub fn load(game: &G, path: &Path) -> Result<Exam<G>, JudgeError> {
        Exam::from_bytes(game, &read(path)?).map_err(|error| JudgeError::in_file(path, error))
    }

    /// Writes the whole file, or nothing if that fails.
    pub fn save(&self, path: &Path) -> Result<(), JudgeError> {
        files::write_whole(path, self.to_text().as_bytes())
            .map_err(|error| JudgeError::in_file(path, format_args!("{error}; nothing was written")))
    }

    /// Reads the content of a file, and checks that it is for this game.
    pub fn from_bytes(game: &G, bytes: &[u8]) -> Result<Exam<G>, JudgeError> {
        let (header, lines) = split(bytes).map_err(JudgeError::new)?;
        header.check(game)?;
        let mut questions = Vec::with_capacity(header.questions);
        for (line, number) in lines.iter().zip(1..) {
            let question = parse_question(game, line);
            let wrong = |problem| JudgeError::new(format!("question {number}: {problem}"));
            questions.push(question.map_err(wrong)?);
        }
        Ok(Exam { game: game.clone(), made: header.made, questions })
    }

    /// The checksum of the exam's file. Reports identify an exam by it.
    pub fn checksum(&self) -> String {
        let from = TITLE.len() + 1 + CHECKSUM.len();
        self.to_text()[from..from + DIGITS].to_owned()
    }

    /// The content of the exam's file.
    pub fn to_text(&self) -> String {
        let board = match self.game.board_text() {
            lines if lines.is_empty() => lines,
            lines => format!("board: {lines}\n"),
        };
        let quiet_limit = unusual_quiet_limit(&self.game).map(|limit| format!("quiet limit: {limit}\n"));
        let quiet_limit = quiet_limit.unwrap_or_default();
        let mut rest = format!(
            "\ngame: {}\nrules: {}\n{board}{quiet_limit}made: {}\nquestions: {}\n\n",
            self.game.id(),
            self.game.rules_version(),
            self.made.replace(['\r', '\n'], " "),
            self.questions.len()
        );
        for question in &self.questions {
            let position = self.game.position_text(&question.position);
            let results = question.results.iter().map(|result| result_text(*result));
            let results = results.collect::<Vec<String>>().join(" ");
            let phase = question.phase.name();
            let _ = writeln!(rest, "{position}\t{phase}\t{results}");
        }
        let start = format!("{TITLE}\n{CHECKSUM}");
        let digits = digits(&[start.as_bytes(), rest.as_bytes()]);
        format!("{start}{digits}{rest}")
    }
}

/// The quiet limit of tammi, which changes results, if it is not the default.
fn unusual_quiet_limit<G: Game>(game: &G) -> Option<u32> {
    game.draw_plies().filter(|limit| *limit != DEFAULT_QUIET_LIMIT)
}

fn read(path: &Path) -> Result<Vec<u8>, JudgeError> {
    files::read(path, MOST_BYTES).map_err(|error| JudgeError::in_file(path, error))
}

/// The header of an undamaged file, and the lines of its questions.
fn split(bytes: &[u8]) -> Result<(ExamHeader, Vec<&str>), String> {
    let title = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if title != TITLE.as_bytes() {
        let found = shorten(&String::from_utf8_lossy(title));
        return Err(match title.starts_with(b"jarmo exam ") {
            true => format!("another format, `{found}`; this program reads `{TITLE}`"),
            false => "not an exam".to_owned(),
        });
    }
    let before = TITLE.len() + 1 + CHECKSUM.len();
    let after = before + DIGITS;
    if bytes.len() < after {
        return Err("it ends in the header".to_owned());
    }
    let sum = digits(&[&bytes[..before], &bytes[after..]]);
    let is_sound = bytes[..before].ends_with(CHECKSUM.as_bytes()) && bytes[before..after] == *sum.as_bytes();
    let parsed = std::str::from_utf8(bytes).ok().and_then(parse_header);
    match parsed {
        // Most damaged files just end too early, so there is a message for that.
        Some((header, lines)) if !is_sound && lines.len() < header.questions => {
            Err(format!("it ends after {} of {} questions", lines.len(), header.questions))
        }
        _ if !is_sound => Err("it is damaged: its checksum does not match".to_owned()),
        Some((header, lines)) if lines.len() == header.questions => Ok((header, lines)),
        _ => Err("its header or its number of questions is wrong".to_owned()),
    }
}

/// The header and the lines after it. The last line may be incomplete.
fn parse_header(text: &str) -> Option<(ExamHeader, Vec<&str>)> {
    let (head, questions) = text.split_once("\n\n")?;
    let field = |name: &str| {
        let mut fields = head.lines().filter_map(|line| line.split_once(": "));
        fields.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let header = ExamHeader {
        game: field("game")?.to_owned(),
        rules_version: field("rules")?.parse().ok()?,
        board: field("board").unwrap_or_default().to_owned(),
        quiet_limit: field("quiet limit").map(str::parse).transpose().ok()?,
        made: field("made")?.to_owned(),
        questions: field("questions")?.parse().ok()?,
    };
    Some((header, questions.lines().collect()))
}

fn parse_question<G: Game>(game: &G, line: &str) -> Result<Question<G::Position>, String> {
    let parts: Vec<&str> = line.split('\t').collect();
    let [position, phase, results] = parts[..] else {
        return Err(format!("expected 3 parts between tabs, found {}", parts.len()));
    };
    let position = game.parse_position(position).map_err(|error| error.to_string())?;
    let phase = Phase::ALL.into_iter().find(|known| known.name() == phase);
    let phase = phase.ok_or("expected the phase `opening`, `middle` or `end`")?;
    let results: Option<Vec<Proven>> = results.split(' ').map(parse_result).collect();
    let results = results.ok_or("expected results such as `w5 d l12`")?;
    let actions = game.legal(&position).count() as usize;
    if actions == 0 || results.len() != actions {
        let found = results.len();
        return Err(format!("{found} results for {actions} legal actions"));
    }
    Ok(Question { position, phase, results })
}

/// The letter of each result.
const LETTERS: [(&str, Verdict); 3] = [("w", Verdict::Win), ("d", Verdict::Draw), ("l", Verdict::Loss)];

/// The letter of a result, followed by the plies to the end if they are known.
fn result_text(result: Proven) -> String {
    let (letter, _) = LETTERS.into_iter().find(|(_, verdict)| *verdict == result.verdict).expect("each has a letter");
    result.plies.map_or(letter.to_owned(), |plies| format!("{letter}{plies}"))
}

fn parse_result(text: &str) -> Option<Proven> {
    let (letter, plies) = text.split_at_checked(1)?;
    let (_, verdict) = LETTERS.into_iter().find(|(known, _)| *known == letter)?;
    let plies = if plies.is_empty() { None } else { Some(plies.parse().ok()?) };
    Some(Proven { verdict, plies })
}
