//! The styles of text that escape sequences select.

use anstyle_parse::Params;

/// The style of text, by the escape sequences before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// One of 16 colors.
    foreground: Option<u8>,
    background: Option<u8>,
    bold: bool,
    italic: bool,
    underlined: bool,
}

impl Style {
    /// The style as a word, for the request that continues a log.
    pub(crate) fn word(self) -> String {
        self.classes().replace(' ', ".")
    }

    /// Reads a word that [`word`](Self::word) made. Unknown parts are ignored.
    pub(crate) fn parse(word: &str) -> Self {
        let mut style = Self::default();
        for class in word.split('.').take(5) {
            let color = |digits: &str| digits.parse().ok().filter(|color| *color < 16);
            match class {
                "bold" => style.bold = true,
                "italic" => style.italic = true,
                "under" => style.underlined = true,
                _ if class.starts_with('f') => style.foreground = color(&class[1..]),
                _ if class.starts_with('b') => style.background = color(&class[1..]),
                _ => (),
            }
        }
        style
    }

    /// The classes of the stylesheet, separated by spaces.
    pub(super) fn classes(self) -> String {
        let color = |prefix: &str, color: Option<u8>| color.map(|color| format!("{prefix}{color}"));
        let flag = |name: &str, is_set: bool| is_set.then(|| name.to_owned());
        let all = [
            color("f", self.foreground),
            color("b", self.background),
            flag("bold", self.bold),
            flag("italic", self.italic),
            flag("under", self.underlined),
        ];
        all.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Applies the parameters of a sequence that selects a style.
    pub(super) fn select(&mut self, params: &Params) {
        let mut values = params.iter().flat_map(|values| values.iter().copied());
        let mut is_empty = true;
        while let Some(value) = values.next() {
            is_empty = false;
            match value {
                0 => *self = Self::default(),
                1 => self.bold = true,
                3 => self.italic = true,
                4 => self.underlined = true,
                22 => self.bold = false,
                23 => self.italic = false,
                24 => self.underlined = false,
                30..=37 => self.foreground = Some((value - 30) as u8),
                38 => self.foreground = extended(&mut values),
                39 => self.foreground = None,
                40..=47 => self.background = Some((value - 40) as u8),
                48 => self.background = extended(&mut values),
                49 => self.background = None,
                90..=97 => self.foreground = Some((value - 82) as u8),
                100..=107 => self.background = Some((value - 92) as u8),
                _ => (),
            }
        }
        if is_empty {
            *self = Self::default();
        }
    }
}

/// One of the 16 colors that is near to one of 256 or of 16 million.
fn extended(values: &mut impl Iterator<Item = u16>) -> Option<u8> {
    match values.next()? {
        5 => match values.next()? {
            color @ 0..=15 => Some(color as u8),
            color @ 16..=231 => {
                let cube = color - 16;
                let level = |step: u16| step * 51;
                Some(nearest(level(cube / 36), level(cube / 6 % 6), level(cube % 6)))
            }
            gray @ 232..=243 => Some(if gray < 238 { 0 } else { 8 }),
            244..=255 => Some(7),
            _ => None,
        },
        2 => Some(nearest(values.next()?, values.next()?, values.next()?)),
        _ => None,
    }
}

fn nearest(red: u16, green: u16, blue: u16) -> u8 {
    let is_strong = |level: u16| u8::from(level >= 128);
    let color = is_strong(red) | is_strong(green) << 1 | is_strong(blue) << 2;
    let is_bright = red.max(green).max(blue) >= 200 && color != 7;
    if is_bright { color + 8 } else { color }
}
