//! Where results are lost, as a picture: a curve for each number of simulations, over force or ply.

use super::report::Accuracy;
use super::stage::Stage;
use crate::plot::{BOTTOM, CHARACTER, COLOURS, GREY, INK, LEFT, PLOT, Scale, Svg, TOP, WIDTH};

/// The share of critical decisions that were wrong as SVG, over the stages of the game: one curve with a label for
/// each accuracy, and 95 % intervals. Only the [large stages](Accuracy::large_stages) are drawn.
pub fn draw_stages<P>(title: &str, curves: &[(String, &Accuracy<P>)]) -> String {
    let mut picture = Svg::default();
    let points: Vec<Vec<Point>> = curves.iter().map(|(_, accuracy)| wrong_by_stage(accuracy)).collect();
    let all = || points.iter().flatten();
    let stages = || all().map(|point| f64::from(point.stage.number()));
    let (first, last) = stages().fold((f64::INFINITY, 0.0_f64), |(low, high), stage| (low.min(stage), high.max(stage)));
    let highest = all().fold(1.0, |high: f64, point| high.max(point.wrong + point.error));
    let labels = curves.iter().map(|(label, _)| label.chars().count());
    let right = WIDTH - 24.0 - CHARACTER * labels.max().unwrap_or(0) as f64;
    let bottom = TOP + PLOT;
    let along =
        Scale { values: (first.min(last), last.max(first.min(last) + 1.0)), places: (LEFT + 10.0, right - 10.0) };
    let up = Scale { values: (0.0, 1.05 * highest), places: (bottom, TOP) };
    let unit = all().next().map_or("", |point| point.stage.unit());
    let mut ticks = along.ticks(40.0);
    ticks.retain(|tick| tick.fract() == 0.0);
    picture.axes((&up, " %"), (&along, &ticks, unit), right);
    picture.text((LEFT, TOP - 10.0), "critical decisions wrong, with 95 % intervals", "start", GREY, 12);
    let mut ends = Vec::new(); // labels: height, text, colour
    for (index, (points, (label, _))) in points.iter().zip(curves).enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        // The curves lie beside each other, so that their intervals can be told apart.
        let aside = 3.0 * (index as f64 - 0.5 * (curves.len() - 1) as f64);
        let x = |point: &Point| along.at(f64::from(point.stage.number())) + aside;
        let place = |point: &Point| (x(point), up.at(point.wrong));
        for pair in points.windows(2) {
            picture.line(place(&pair[0]), place(&pair[1]), colour, 2.0);
        }
        for point in points {
            let end = |error: f64| (x(point), up.at(point.wrong + error));
            picture.line(end(-point.error), end(point.error), colour, 1.0);
            picture.dot(place(point), colour);
        }
        if let Some(last) = points.last() {
            ends.push((place(last).1, label.as_str(), colour));
        }
    }
    picture.labels(right, ends);
    picture.text((LEFT, 30.0), title, "start", INK, 17);
    picture.finish(bottom + BOTTOM)
}

/// A dot of a curve.
struct Point {
    stage: Stage,
    wrong: f64, // in percent
    error: f64, // half the 95 % interval
}

fn wrong_by_stage<P>(accuracy: &Accuracy<P>) -> Vec<Point> {
    accuracy
        .large_stages()
        .map(|(stage, tally)| {
            let (wrong, error) = tally.critical_wrong();
            Point { stage, wrong: 100.0 * wrong, error: 100.0 * error }
        })
        .collect()
}
