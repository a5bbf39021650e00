//! What all plots share: drawing of lines, dots and labels, and scales with round ticks.

use std::fmt::{Arguments, Write};

use crate::spread::Spread;
use jarmo_core::games::board::BRAILLE_DOTS;

pub(crate) const WIDTH: f64 = 900.0;
pub(crate) const LEFT: f64 = 70.0;
pub(crate) const TOP: f64 = 56.0;
pub(crate) const BOTTOM: f64 = 56.0;

/// The height of the area with the curves.
pub(crate) const PLOT: f64 = 400.0;

/// The approximate width of a character in labels.
const CHARACTER: f64 = 7.2;

/// Colours for curves. Colour-blind readers can tell them apart.
pub(crate) const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
pub(crate) const INK: &str = "#222";
pub(crate) const PALE: &str = "#ddd";
pub(crate) const GREY: &str = "#777";

/// A linear map from values to coordinates.
pub(crate) struct Scale {
    /// The lowest and the highest value.
    pub values: (f64, f64),
    /// The coordinates of these two values.
    pub places: (f64, f64),
}

impl Scale {
    /// The coordinate of a value. Values outside the scale are drawn at its border.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = (value - self.values.0) / (self.values.1 - self.values.0);
        self.places.0 + share.clamp(0.0, 1.0) * (self.places.1 - self.places.0)
    }

    /// Round values that are at least `apart` pixels apart.
    pub(crate) fn ticks(&self, apart: f64) -> Vec<f64> {
        let (low, high) = self.values;
        let least = (high - low) * apart / (self.places.1 - self.places.0).abs();
        let power = 10_f64.powf(least.log10().floor());
        let width = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            .find(|&width| width >= least)
            .unwrap_or(10.0 * power);
        let first = (low / width).ceil() as i64;
        let last = (high / width).floor() as i64;
        (first..=last).map(|index| index as f64 * width).collect()
    }
}

/// A number in short form: 20000 is `20k`.
pub(crate) fn number(value: f64) -> String {
    // Removes the rounding errors of ticks.
    let value = (value * 1e6).round() / 1e6;
    if value.abs() >= 1e6 {
        format!("{}M", value / 1e6)
    } else if value.abs() >= 1e4 {
        format!("{}k", value / 1e3)
    } else {
        format!("{value}")
    }
}

/// The width of the longest of these labels.
pub(crate) fn room<'a>(labels: impl Iterator<Item = &'a str>) -> f64 {
    CHARACTER * labels.map(|label| label.chars().count()).max().unwrap_or(0) as f64
}

/// A point of a curve, and the ends of its interval.
pub(crate) struct Point {
    pub x: f64,
    pub y: f64,
    pub interval: (f64, f64),
}

/// The body of an SVG file, with one shape per line.
#[derive(Default)]
pub(crate) struct Svg {
    body: String,
}

impl Svg {
    fn push(&mut self, shape: Arguments<'_>) {
        self.body.write_fmt(shape).expect("writing to a string cannot fail");
        self.body.push('\n');
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
        self.stroke(from, to, colour, format_args!(r#"stroke-width="{width}""#));
    }

    /// A line with this `style` attribute of its stroke.
    pub(crate) fn stroke(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, style: Arguments<'_>) {
        self.push(format_args!(
            r#"<line x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" stroke="{colour}" {style}/>"#,
            from.0, from.1, to.0, to.1
        ));
    }

    pub(crate) fn band(&mut self, x: (f64, f64), y: (f64, f64)) {
        self.push(format_args!(
            r#"<rect x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" fill="{GREY}" opacity="0.12"/>"#,
            x.0,
            y.0,
            x.1 - x.0,
            y.1 - y.0
        ));
    }

    pub(crate) fn dot(&mut self, at: (f64, f64), colour: &str) {
        self.push(format_args!(r#"<circle cx="{:.1}" cy="{:.1}" r="4" fill="{colour}"/>"#, at.0, at.1));
    }

    pub(crate) fn text(&mut self, at: (f64, f64), text: &str, anchor: &str, colour: &str, size: u32) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        self.push(format_args!(
            r#"<text x="{:.1}" y="{:.1}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{text}</text>"#,
            at.0, at.1
        ));
    }

    /// The axes of a plot with curves: horizontal lines at round values of the scale `up`, labelled with their unit;
    /// and below the plot, `ticks` on the scale `along`, with a label that says what they count.
    pub(crate) fn axes(
        &mut self,
        (up, unit): (&Scale, &str),
        (along, ticks, what): (&Scale, &[f64], &str),
        right: f64,
    ) {
        let bottom = TOP + PLOT;
        for tick in up.ticks(48.0) {
            let y = up.at(tick);
            self.line((LEFT, y), (right, y), PALE, 1.0);
            let text = number(tick) + unit;
            self.text((LEFT - 8.0, y + 4.0), &text, "end", GREY, 12);
        }
        for &tick in ticks {
            let x = along.at(tick);
            self.line((x, bottom), (x, bottom + 5.0), GREY, 1.0);
            self.text((x, bottom + 20.0), &number(tick), "middle", GREY, 12);
        }
        self.line((LEFT, bottom), (right, bottom), GREY, 1.0);
        let middle = 0.5 * (LEFT + right);
        self.text((middle, bottom + 42.0), what, "middle", GREY, 12);
    }

    /// Draws curves in different colours, with the interval of every point. Their labels, and the further ones in
    /// `labels`, stand to the right of `x` at the height of their values, or lower where they would overlap.
    pub(crate) fn curves<'a>(
        &mut self,
        x: f64,
        curves: impl IntoIterator<Item = (&'a str, Vec<Point>)>,
        mut labels: Vec<(f64, &'a str, &'static str)>, // height, text, colour
    ) {
        for ((label, points), colour) in curves.into_iter().zip(COLOURS.into_iter().cycle()) {
            for pair in points.windows(2) {
                self.line((pair[0].x, pair[0].y), (pair[1].x, pair[1].y), colour, 2.0);
            }
            for Point { x, y, interval: (low, high) } in &points {
                self.line((*x, *low), (*x, *high), colour, 1.2);
                self.dot((*x, *y), colour);
            }
            labels.extend(points.last().map(|last| (last.y, label, colour)));
        }
        labels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut lowest = f64::NEG_INFINITY;
        for (y, text, colour) in labels {
            lowest = y.max(lowest + 15.0);
            self.text((x + 10.0, lowest + 4.0), text, "start", colour, 12);
        }
    }

    pub(crate) fn finish(self, height: f64) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// A named curve of a measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name.
    pub label: String,
    /// Its points from left to right: each a horizontal position and the spread of the values there.
    pub points: Vec<(f64, Spread)>,
}

/// The lowest and the highest of some numbers, with a margin; `None` without numbers.
fn around(numbers: impl Iterator<Item = f64>, margin: f64) -> Option<(f64, f64)> {
    let (low, high) =
        numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), one| (low.min(one), high.max(one)));
    let margin = margin * (high - low).max(1e-6 * (1.0 + high.abs()));
    (low <= high).then_some((low - margin, high + margin))
}

/// The scales of some curves: places from 0 on, and values with their intervals. `None` without points.
fn scales(curves: &[Curve], places: [(f64, f64); 2]) -> Option<[Scale; 2]> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let (_, last) = around(points().map(|point| point.0), 0.0)?;
    let values = around(points().flat_map(|(_, at)| [at.low, at.median, at.high]), 0.04)?;
    let [along, up] = places;
    Some([Scale { values: (0.0, last.max(1e-9)), places: along }, Scale { values, places: up }])
}

/// Curves as SVG, over an axis that is named `along`; `None` without points.
pub fn draw_curves(title: &str, along: &str, curves: &[Curve]) -> Option<String> {
    let mut picture = Svg::default();
    let right = WIDTH - 24.0 - room(curves.iter().map(|curve| curve.label.as_str()));
    let [across, up] = scales(curves, [(LEFT, right), (TOP + PLOT, TOP)])?;
    picture.axes((&up, ""), (&across, &across.ticks(110.0), along), right);
    let drawn = curves.iter().map(|curve| {
        let point = |&(x, at): &(f64, Spread)| Point {
            x: across.at(x),
            y: up.at(at.median),
            interval: (up.at(at.low), up.at(at.high)),
        };
        (curve.label.as_str(), curve.points.iter().map(point).collect())
    });
    picture.curves(right, drawn, Vec::new());
    picture.text((LEFT, 30.0), title, "start", INK, 17);
    Some(picture.finish(TOP + PLOT + BOTTOM))
}

/// Curves as lines of Braille dots, 2 x 4 to a character, with the values of the top and the bottom at the left, and at
/// the right of each line the names of the curves that end there. Empty without points.
pub fn braille(curves: &[Curve], columns: usize, rows: usize) -> Vec<String> {
    let (width, height) = (2 * columns - 1, 4 * rows - 1);
    let Some([across, up]) = scales(curves, [(0.0, width as f64), (height as f64, 0.0)]) else { return Vec::new() };
    let digits = (2.0 - (up.values.1 - up.values.0).log10()).clamp(0.0, 4.0) as usize;
    let mut dots = vec![vec![0_u8; columns]; rows];
    let mut names = vec![Vec::new(); rows];
    for curve in curves {
        let places: Vec<_> = curve.points.iter().map(|point| (across.at(point.0), up.at(point.1.median))).collect();
        let ends = places.windows(2).map(|pair| (pair[0], pair[1]));
        for (from, to) in ends.chain(places.last().map(|&last| (last, last))) {
            let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().max(1.0) as usize;
            for step in 0..=steps {
                let share = step as f64 / steps as f64;
                let x = (from.0 + share * (to.0 - from.0)).round() as usize;
                let y = (from.1 + share * (to.1 - from.1)).round() as usize;
                dots[y / 4][x / 2] |= BRAILLE_DOTS[y % 4][x % 2];
            }
        }
        if let Some(last) = places.last() {
            names[last.1.round() as usize / 4].push(curve.label.as_str());
        }
    }
    let label = |row: usize| match row {
        0 => format!("{:.digits$}", up.values.1),
        _ if row + 1 == rows => format!("{:.digits$}", up.values.0),
        _ => String::new(),
    };
    let line = |(row, dots): (usize, &Vec<u8>)| {
        let drawn: String = dots.iter().map(|&dots| char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' ')).collect();
        format!("{:>10} {drawn} {}", label(row), names[row].join(", ")).trim_end().to_owned()
    };
    dots.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_an_axis_have_as_many_digits_as_its_range_needs() {
        for (values, labels) in [([-443.0, -20.5], ["-4", "-460"]), ([97.0, 98.0], ["98.0", "97.0"])] {
            let points = values.iter().zip(0..).map(|(&value, place)| (f64::from(place), Spread::exact(value)));
            let lines = braille(&[Curve { label: "A".to_owned(), points: points.collect() }], 20, 4);
            let label = |line: &String| line.split_whitespace().next().unwrap_or_default().to_owned();
            assert_eq!([label(&lines[0]), label(&lines[3])], labels);
        }
    }
}
