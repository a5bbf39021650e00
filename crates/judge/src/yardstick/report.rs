//! Results as text and as a picture.

use std::fmt::Write as _;

use super::{ExamShare, PerfectGames, Row};
use crate::plot::{BOTTOM, COLOURS, GREY, INK, PALE, Scale, Svg, TOP, WIDTH, number, room};
use jarmo_host::text::table;

/// A table of rows, followed by what they were measured with.
pub fn to_text(rows: &[Row]) -> String {
    let none = || "-".to_owned();
    let share = |exam: &Option<ExamShare>| {
        let exam = exam.as_ref();
        exam.map_or_else(none, |exam| format!("{:.2} ±{:.2} %", 100.0 * exam.share, 100.0 * exam.error))
    };
    let head = ["agent", "budget", "exam wrong", "fresh wrong", "mistakes/game", "points", "held", "median plies"];
    let cells = |row: &Row| {
        let per_game = |value: f64, games: &PerfectGames| value / f64::from(games.games.max(1));
        let games = |text: &dyn Fn(&PerfectGames) -> String| row.games.as_ref().map_or_else(none, text);
        let worst = row.worst.as_ref();
        vec![
            row.agent.clone(),
            row.nodes(),
            share(&row.exam),
            share(&row.fresh),
            games(&|games| format!("{:.2}", per_game(games.mistakes.into(), games))),
            games(&|games| format!("{:.1} %", 100.0 * per_game(games.points, games))),
            worst.map_or_else(none, |worst| {
                let held = f64::from(worst.proven + worst.held);
                format!("{:.0} %", 100.0 * held / f64::from(worst.starts.max(1)))
            }),
            worst.and_then(|worst| worst.median_plies).map_or_else(none, |plies| plies.to_string()),
        ]
    };
    let mut text = table(&head, &[0], rows.iter().map(cells));
    let Some(first) = rows.first() else { return text };
    if let Some(exam) = &first.exam {
        let ExamShare { checksum, critical, .. } = exam;
        let _ = writeln!(text, "exam {checksum}: {critical} critical decisions");
    }
    if let Some(ExamShare { made, .. }) = &first.fresh {
        let _ = writeln!(text, "fresh: {made}");
    }
    if let Some(games) = &first.games {
        let _ = writeln!(text, "{} games from {}", games.games, first.starts);
    }
    if let Some(worst) = rows.iter().find_map(|row| row.worst.as_ref()) {
        let _ = writeln!(text, "held: no mistake within {} positions, against any play", worst.positions);
    }
    text
}

/// The shares of wrong critical decisions as bars, with their 95 % intervals: the exam's, and the fresh one's below.
pub fn to_svg(title: &str, rows: &[Row]) -> String {
    const BAR: f64 = 12.0;
    const EACH: f64 = 3.0 * BAR;
    let label = |row: &Row| format!("{}, {}", row.agent, row.nodes());
    let labels: Vec<String> = rows.iter().map(label).collect();
    let left = 24.0 + room(labels.iter().map(String::as_str));
    let shares = |row: &Row| [row.exam.clone(), row.fresh.clone()];
    let all = rows.iter().flat_map(shares).flatten();
    let highest = all.fold(0.01, |high: f64, exam| high.max(exam.share + exam.error));
    let bottom = TOP + EACH * rows.len() as f64;
    let along = Scale { values: (0.0, 105.0 * highest), places: (left, WIDTH - 24.0) };
    let mut picture = Svg::default();
    for tick in along.ticks(60.0) {
        let x = along.at(tick);
        picture.line((x, TOP), (x, bottom), PALE, 1.0);
        let text = format!("{} %", number(tick));
        picture.text((x, bottom + 18.0), &text, "middle", GREY, 12);
    }
    for (index, row) in rows.iter().enumerate() {
        let top = TOP + EACH * index as f64;
        picture.text((left - 8.0, top + 1.5 * BAR + 4.0), &labels[index], "end", INK, 12);
        for (which, exam) in shares(row).into_iter().enumerate() {
            let Some(exam) = exam else { continue };
            let y = top + BAR * (1.0 + which as f64);
            let x = |share: f64| along.at(100.0 * share);
            picture.line((left, y), (x(exam.share), y), COLOURS[which], BAR - 3.0);
            let interval = [exam.share - exam.error, exam.share + exam.error].map(|end| (x(end), y));
            picture.line(interval[0], interval[1], INK, 1.0);
        }
    }
    let axis = "critical decisions wrong: the exam, and below it a fresh one";
    picture.text((left, bottom + 40.0), axis, "start", GREY, 12);
    picture.text((24.0, 30.0), title, "start", INK, 17);
    picture.finish(bottom + BOTTOM)
}
