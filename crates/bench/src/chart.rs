//! Draws line charts with two logarithmic axes as SVG.

use std::fmt::Write as _;

/// A chart of several panels.
pub struct Chart<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
    pub panels: Vec<Panel>,
}

/// A panel with its own axes; all panels of a chart have the same scale.
pub struct Panel {
    pub title: String,
    pub lines: Vec<Line>,
}

/// A line through points with positive coordinates.
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 60.0;
/// The width reserved after each panel for the names at the ends of the lines.
const NAMES: f64 = 190.0;
const BOTTOM: f64 = 50.0;
/// The least distance between two names.
const APART: f64 = 13.0;

const COLOURS: [&str; 8] =
    ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d35400", "#16817a", "#7f6000", "#5d6d7e"];

impl Chart<'_> {
    /// Renders the SVG file.
    pub fn svg(&self) -> String {
        let panels = self.panels.len().max(1) as f64;
        let (width, height) = (panels * (LEFT + WIDTH + NAMES), TOP + HEIGHT + BOTTOM);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"11\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        text(&mut svg, (LEFT, 22.0), "start", "font-size=\"15\"", self.title);
        let points =
            || self.panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.points);
        let x = Axis::over(points().map(|point| point.0), WIDTH);
        let y = Axis::over(points().map(|point| point.1), HEIGHT);
        for (number, panel) in self.panels.iter().enumerate() {
            let left = LEFT + number as f64 * (LEFT + WIDTH + NAMES);
            self.panel(&mut svg, panel, left, &x, &y);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn panel(&self, svg: &mut String, panel: &Panel, left: f64, x: &Axis, y: &Axis) {
        let bottom = TOP + HEIGHT;
        text(svg, (left, TOP - 12.0), "start", "font-weight=\"bold\"", &panel.title);
        text(svg, (left + WIDTH / 2.0, bottom + 36.0), "middle", "", self.x);
        let turned = format!("transform=\"rotate(-90 {} {})\"", left - 52.0, TOP + HEIGHT / 2.0);
        text(svg, (left - 52.0, TOP + HEIGHT / 2.0), "middle", &turned, self.y);
        for tick in x.ticks() {
            let at = left + x.at(tick);
            rule(svg, (at, TOP), (at, bottom));
            text(svg, (at, bottom + 16.0), "middle", "", &grouped(tick));
        }
        for tick in y.ticks() {
            let at = bottom - y.at(tick);
            rule(svg, (left, at), (left + WIDTH, at));
            text(svg, (left - 6.0, at + 4.0), "end", "", &grouped(tick));
        }
        let end = |line: &Line| line.points.last().map_or(bottom, |point| bottom - y.at(point.1));
        let mut order: Vec<usize> = (0..panel.lines.len()).collect();
        order.sort_by(|a, b| end(&panel.lines[*a]).total_cmp(&end(&panel.lines[*b])));
        let ends: Vec<f64> = order.iter().map(|line| end(&panel.lines[*line])).collect();
        for (place, (number, at)) in order.iter().zip(spread_out(&ends)).enumerate() {
            let line = &panel.lines[*number];
            // Adjacent lines get different colours.
            let colour = COLOURS[place % COLOURS.len()];
            let mut points = String::new();
            for point in &line.points {
                let _ =
                    write!(points, "{:.1},{:.1} ", left + x.at(point.0), bottom - y.at(point.1));
            }
            let points = points.trim_end();
            let _ = writeln!(
                svg,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"/>"
            );
            let last = line.points.last().map_or(left, |point| left + x.at(point.0));
            let _ = writeln!(
                svg,
                "<path d=\"M{last:.1} {:.1}L{:.1} {at:.1}\" stroke=\"{colour}\" stroke-width=\"0.6\"/>",
                ends[place],
                left + WIDTH + 12.0
            );
            let fill = format!("fill=\"{colour}\"");
            text(svg, (left + WIDTH + 15.0, at + 4.0), "start", &fill, &line.name);
        }
    }
}

/// A logarithmic axis over whole decades.
struct Axis {
    /// The decades at both ends, as powers of ten.
    from: f64,
    to: f64,
    length: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, length: f64) -> Self {
        let logs = values.filter(|value| *value > 0.0).map(f64::log10);
        let (low, high) =
            logs.fold((f64::MAX, f64::MIN), |(low, high), log| (low.min(log), high.max(log)));
        if low > high {
            return Self { from: 0.0, to: 1.0, length };
        }
        let (from, to) = (low.floor(), high.ceil());
        Self { from, to: to.max(from + 1.0), length }
    }

    fn at(&self, value: f64) -> f64 {
        let part = (value.max(1e-12).log10() - self.from) / (self.to - self.from);
        part.clamp(0.0, 1.0) * self.length
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        (self.from as i32..=self.to as i32).map(|power| 10_f64.powi(power))
    }
}

/// Moves positions apart, from top to bottom, so that names neither overlap nor leave the panel.
fn spread_out(places: &[f64]) -> Vec<f64> {
    let mut moved: Vec<f64> = Vec::with_capacity(places.len());
    for place in places {
        let least = moved.last().map_or(f64::MIN, |last| last + APART);
        moved.push(place.max(least));
    }
    let mut most = TOP + HEIGHT;
    for place in moved.iter_mut().rev() {
        *place = place.min(most);
        most = *place - APART;
    }
    moved
}

fn rule(svg: &mut String, from: (f64, f64), to: (f64, f64)) {
    let _ = writeln!(
        svg,
        "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"#ddd\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn text(svg: &mut String, at: (f64, f64), anchor: &str, attributes: &str, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" {attributes}>{text}</text>",
        at.0, at.1
    );
}

/// Formats a power of ten with thousands separators.
fn grouped(number: f64) -> String {
    if number < 1.0 {
        return format!("{number}");
    }
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decade_is_as_long_as_the_next() {
        let axis = Axis::over([20.0, 90_000.0].into_iter(), 400.0);
        assert_eq!(axis.ticks().collect::<Vec<_>>(), [10.0, 100.0, 1e3, 1e4, 1e5]);
        assert_eq!([10.0, 100.0, 1e5].map(|value| axis.at(value)), [0.0, 100.0, 400.0]);
        let empty = Axis::over(std::iter::empty(), 400.0);
        assert_eq!(empty.ticks().count(), 2, "no values, and still an axis");
    }

    #[test]
    fn names_do_not_lie_upon_each_other() {
        let bottom = TOP + HEIGHT;
        assert_eq!(spread_out(&[100.0, 101.0, 200.0]), [100.0, 100.0 + APART, 200.0]);
        assert_eq!(spread_out(&[bottom, bottom]), [bottom - APART, bottom]);
    }

    #[test]
    fn a_chart_has_each_line_and_escapes_its_name() {
        let line = Line { name: "a < b".into(), points: vec![(100.0, 10.0), (1000.0, 20.0)] };
        let panel = Panel { title: "sqlite".into(), lines: vec![line] };
        let svg = Chart { title: "t", x: "x", y: "y", panels: vec![panel] }.svg();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(svg.contains(">a &lt; b</text>"), "{svg}");
        assert!(svg.contains("points=\"70.0,480.0 710.0,353.6\""), "{svg}");
        assert!(svg.contains(">1,000</text>"), "{svg}");
    }
}
